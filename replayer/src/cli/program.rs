//! The traced program that a command replays, and how.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, ValueEnum};
use titr_analyses::{ANALYSES, AnalysedSimulation, apply_machine_changes};
use titr_common::collectives::{Library, Selection};
use titr_common::timeline::JobRanks;
use titr_common::trace::Trace;
use titr_formats::input;
use titr_hypotheses::{Hypotheses, HypothesesError, MachineChange};
use titr_platform::job_mix::JobMix;
use titr_platform::{Platform, Policy};
use titr_simulation::parallel::Jobs;
use titr_simulation::{Causality, Computation, Simulation};

use super::{Failure, TraceArgs};
use crate::call_sites::CallSiteNames;

/// The group of the options that need each iteration of the program, and so do not go with leaving some out.
pub(super) const EVERY_ITERATION: &str = "every-iteration";

/// The options for the replay of a program.
#[derive(Debug, Args)]
#[command(next_help_heading = "Program", group = ArgGroup::new(EVERY_ITERATION).multiple(true))]
pub(super) struct ProgramArgs {
    /// Chooses the algorithms of collectives: those of openmpi, openmpi-4.0, openmpi-5.0, mpich, simgrid or simgrid-openmpi; or `recorded`, the
    /// messages recorded in an extended trace [default: the platform's].
    #[arg(long, value_name = "WHOSE", value_parser = collectives)]
    collectives: Option<Collectives>,
    /// Sets the time of computation: `counted`, its volume divided by the speed of the host; `timed`, the time between
    /// the calls of a trace with times; `scaled=FACTOR`, this time multiplied by a factor; or `none`, no time [default:
    /// `timed` for a trace that another tool recorded, `counted` otherwise].
    #[arg(long, value_name = "SOURCE", value_parser = compute)]
    compute: Option<Compute>,
    /// Multiplies all computation by this factor.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    compute_scale: f64,
    /// Corrects the computation of ranks that count differently: on different processors, or some of them as CPU time.
    /// `titr check` prints the factors.
    #[arg(long)]
    normalise: bool,
    /// Selects what a send waits for: `none`, nothing; `causal`, the receives before it; or `timed`, the receives and
    /// the computation before it.
    #[arg(long, value_enum, default_value_t, value_name = "CAUSES", hide_possible_values = true)]
    causality: WaitsFor,
    /// Changes the program or the machine as a TOML file describes: balanced computation, fewer messages, another
    /// algorithm (see docs/WHAT-IF.md).
    #[arg(long, value_name = "FILE", group = EVERY_ITERATION)]
    what_if: Option<PathBuf>,
    /// Replays a torn trace up to the point where it breaks off, because the program was killed or is still running.
    #[arg(long, group = EVERY_ITERATION)]
    partial: bool,
    /// Runs an analysis and adds its findings to the result. You can repeat this option.
    #[arg(long = "analyse", alias = "analyze", value_name = "ANALYSIS", value_parser = analyses(), group = EVERY_ITERATION)]
    analyses: Vec<String>,
    /// Checks the sensitivities of the critical path with eight more replays, and finds the sensitivities to each class
    /// of links with four more replays for each class.
    #[arg(long, requires = "analyses", group = EVERY_ITERATION)]
    pub(super) check_sensitivities: bool,
    #[command(flatten)]
    trace: TraceArgs,
}

/// A program that is going to be replayed.
pub(super) struct Program<'a> {
    args: &'a ProgramArgs,
    pub(super) trace: Trace,
    /// The jobs that the trace is of, if there are several.
    mix: Option<JobMix>,
    hypotheses: Option<Hypotheses>,
}

impl ProgramArgs {
    /// The analyses that are asked for.
    pub(super) fn analyses(&self) -> &[String] {
        &self.analyses
    }

    /// The trace as the user named it.
    pub(super) fn trace_name(&self) -> String {
        self.trace.to_string()
    }

    /// Opens the trace and the hypotheses.
    pub(super) fn open(&self) -> Result<Program<'_>, Failure> {
        if let Some(file) = self.trace.job_file() {
            let message = format!("{}: this command replays one trace; titr replay replays jobs", file.display());
            return Err(Failure::Value(message));
        }
        let trace = self.trace.open_partial(self.partial)?;
        self.opened(trace, None)
    }

    /// Opens the trace, or the traces of the jobs that share `platform`, and the hypotheses.
    pub(super) fn open_on(&self, platform: &Platform) -> Result<Program<'_>, Failure> {
        let Some(file) = self.trace.job_file() else { return self.open() };
        let open = |places: &[PathBuf]| input::open(places)?.partial_unless_empty(self.partial);
        let mix = JobMix::load(file, platform, open)?;
        let trace = mix.trace.clone().partial(self.partial);
        self.opened(trace, Some(mix))
    }

    fn opened(&self, trace: Trace, mix: Option<JobMix>) -> Result<Program<'_>, Failure> {
        let hypotheses = self.what_if.as_deref().map(Hypotheses::load).transpose()?;
        Ok(Program { args: self, trace, mix, hypotheses })
    }

    /// The simulation of a trace, without observers.
    pub(super) fn simulation<'a>(&self, platform: &'a Platform, trace: &'a Trace) -> Simulation<'a> {
        let (source, factor) = self.compute.unzip();
        source
            .into_iter()
            .fold(Simulation::new(platform, trace), Simulation::computation)
            .compute_scale(self.compute_scale * factor.flatten().unwrap_or(1.0))
            .normalise(self.normalise)
            .recorded_collectives(self.collectives == Some(Collectives::Recorded))
            .causality(self.causality.into())
    }

    /// The simulation with analyses, and with checks of sensitivities where these are asked for.
    pub(super) fn analysed<'a>(
        &self,
        simulation: Simulation<'a>,
        analyses: &'a [impl AsRef<str>],
        jobs: Jobs,
    ) -> AnalysedSimulation<'a> {
        let analysed = AnalysedSimulation::new(simulation);
        let analysed = analyses.iter().fold(analysed, |analysed, name| analysed.analyse(name.as_ref()));
        if self.check_sensitivities { analysed.check_sensitivities(jobs) } else { analysed }
    }
}

impl Program<'_> {
    /// Whether several jobs share the machine.
    pub(super) fn is_job_mix(&self) -> bool {
        self.mix.is_some()
    }

    /// The program with a trace whose events are kept for several replays.
    pub(super) fn kept(self) -> Self {
        Self { trace: self.trace.kept(), ..self }
    }

    /// The ranks of each job, if there are several.
    pub(super) fn jobs(&self) -> Vec<JobRanks> {
        let jobs = self.mix.iter().flat_map(|mix| &mix.jobs);
        jobs.map(|job| JobRanks::new(&job.name, job.ranks.clone())).collect()
    }

    /// The platform with the collectives and the changes that the options ask for, and the hosts of the jobs.
    pub(super) fn on(&self, platform: Platform) -> Result<Platform, Failure> {
        let mut platform = platform.for_trace(&self.trace);
        if let Some(mix) = &self.mix {
            platform.policy = Policy::Assigned { hosts: mix.hosts(), cores: Vec::new() };
        }
        if let Some(Collectives::Of(library)) = self.args.collectives {
            platform.mpi.collectives = Selection::from(library);
        }
        let Some(hypotheses) = &self.hypotheses else { return Ok(platform) };
        for change in &hypotheses.machine {
            if let (MachineChange::Collective { written, .. }, Some(Collectives::Recorded)) =
                (change, self.args.collectives)
            {
                let message = "--collectives recorded takes the messages that the trace has, whatever the algorithm";
                return Err(HypothesesError::from(written.mistake(message)).into());
            }
        }
        Ok(apply_machine_changes(&hypotheses.machine, platform).map_err(HypothesesError::from)?)
    }

    /// The simulation with the hypotheses, and with `names` of call sites where anything names them.
    pub(super) fn simulation<'a>(
        &'a self,
        platform: &'a Platform,
        names: &'a CallSiteNames,
        is_named: bool,
    ) -> Simulation<'a> {
        let mut simulation = self.args.simulation(platform, &self.trace);
        if let Some(mix) = &self.mix {
            simulation = simulation.job_mix(mix);
        }
        if is_named || self.hypotheses.is_some() {
            simulation = simulation.transform(names);
        }
        self.hypotheses.iter().fold(simulation, |simulation, hypotheses| simulation.transform(hypotheses))
    }
}

/// The messages that collectives are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Collectives {
    /// The messages that the trace has of them.
    Recorded,
    /// A library's algorithms.
    Of(Library),
}

/// Where the length of computation comes from, and the factor that it is multiplied by, if one was given with it.
pub(super) type Compute = (Computation, Option<f64>);

pub(super) fn compute(text: &str) -> Result<Compute, String> {
    match text {
        "counted" => Ok((Computation::Counted, None)),
        "timed" => Ok((Computation::Timed, None)),
        "none" => Ok((Computation::Ignored, None)),
        text => match text.strip_prefix("scaled=") {
            Some(number) => factor(number).map(|factor| (Computation::Timed, Some(factor))),
            None => Err("expected counted, timed, scaled=FACTOR or none".into()),
        },
    }
}

/// The events that a send waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum WaitsFor {
    /// A send waits for nothing: each rank sends all its messages in order, as fast as the network takes them (§4.1).
    None,
    /// A send waits for the receives before it; computation and MPI itself take no time (§4.2).
    Causal,
    /// A send waits for the receives and the computation before it (§4.3).
    #[default]
    Timed,
}

impl From<WaitsFor> for Causality {
    fn from(waits_for: WaitsFor) -> Self {
        match waits_for {
            WaitsFor::None => Self::None,
            WaitsFor::Causal => Self::Causal,
            WaitsFor::Timed => Self::Timed,
        }
    }
}

/// The names of all analyses.
fn analyses() -> PossibleValuesParser {
    ANALYSES.iter().map(|kind| kind.name).collect::<Vec<_>>().into()
}

fn factor(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(factor) if (0.0..f64::INFINITY).contains(&factor) => Ok(factor),
        _ => Err("expected a factor from 0 on, such as 0.5".into()),
    }
}

fn collectives(name: &str) -> Result<Collectives, String> {
    match name {
        "recorded" => Ok(Collectives::Recorded),
        name => crate::cli::library(name).map(Collectives::Of).map_err(|others| format!("{others}, and recorded")),
    }
}
