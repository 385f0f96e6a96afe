//! `titr-replay`.

mod values;

use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, Command, CommandFactory, Parser};
use titr_analyses::steady::Steady;
use titr_analyses::{AnalysedResult, AnalysedSimulation, LinkHistory, Timeline, apply_machine_changes};
use titr_call_sites::CallSiteNames;
use titr_common::collectives::Selection;
use titr_common::output::Claims;
use titr_common::terminal::Escaped;
use titr_common::trace::Trace;
use titr_formats::timeline::{EventSorter, Subject};
use titr_hypotheses::{Hypotheses, HypothesesError, MachineChange};
use titr_platform::Policy;
use titr_simulation::parallel::Jobs;
use titr_simulation::profile::{self, OwnWork, Profiler};
use titr_simulation::triggered::TriggeredReplay;
use titr_simulation::{Platform, Simulation, SimulationError};

use super::jobs::JobsArgs;
use super::meter::Meter;
use super::network_trace::{self, NetworkTraceArgs};
use super::page::PageArgs;
use super::report::ReportArgs;
use super::timeline::{ExcerptArgs, TimelineArgs};
use super::traffic::{self, TrafficArgs};
use super::vary::{self, VariedKey};
use super::{Failure, Out, TraceArgs, arguments, claim_files, claims, run};
use crate::page::Recorder;
use crate::report::{Results, own_profile, text, variations};
use values::{Collectives, Compute, WaitsFor, analyses, collectives, factor};

const EXAMPLES: &str = "\
Examples:
  titr-replay --platform examples/torus.toml traces/
  titr-replay --platform examples/torus.toml --set 'network.bandwidth=40 Gbit/s' traces/
  titr-replay --platform examples/fat-tree.toml --json traces/ | jq .simulated_time
  titr-replay --platform examples/packet.toml --traffic uniform --load 0.05..1.0:0.05
  titr-replay --platform examples/packet.toml --network-trace messages.gz traces/
  titr-replay --platform examples/packet.toml --triggered messages.gz

Exit status: 0 replayed; 1 the trace, the platform or a value is at fault; 2 wrong usage.";

/// Predicts how long a traced MPI program takes on another machine.
#[derive(Parser)]
#[command(name = "titr-replay", version, after_help = EXAMPLES, mut_arg("places", or_messages))]
struct ReplayArgs {
    /// The machine: a platform file of titr's (TOML) or of SimGrid's (XML).
    #[arg(short, long, value_name = "FILE")]
    platform: PathBuf,
    /// Sets a key of the platform, such as network.flow.preset=cm02. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Replays with each of these values of a key of the platform, such as network.latency=1us,2us, and compares the predicted
    /// times. Given several times, it replays with each combination.
    #[arg(long, value_name = "KEY=VALUE,...", conflicts_with_all = NEEDS_ONE)]
    vary: Vec<VariedKey>,
    /// Makes collectives from the algorithms of `openmpi`, `mpich`, `simgrid` or `simgrid-openmpi`, or from the messages
    /// `recorded` in an extended trace [default: the platform's].
    #[arg(long, value_name = "WHOSE", value_parser = collectives)]
    collectives: Option<Collectives>,
    /// Says how long computation takes.
    #[arg(long, value_enum, default_value_t, value_name = "SOURCE")]
    compute: Compute,
    /// Multiplies all computation by this factor.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    compute_scale: f64,
    /// Replays the program and the machine with the changes in a TOML file: balanced computation, fewer messages, another
    /// algorithm (see docs/WHAT-IF.md).
    #[arg(long, value_name = "FILE", conflicts_with = "traffic")]
    what_if: Option<PathBuf>,
    /// Replays what there is of a torn trace: the program was killed, or is still running.
    #[arg(long)]
    partial: bool,
    /// Makes the computation of all ranks comparable, if they were counted on different processors, or partly in
    /// instructions and partly in CPU time. The factors come from a reference kernel that every rank ran when it was
    /// traced; `titr check` shows them.
    #[arg(long)]
    normalise: bool,
    /// Says what a send waits for.
    #[arg(long, value_enum, default_value_t, conflicts_with = "traffic")]
    causality: WaitsFor,
    /// Runs a packet network with N different seeds, and prints confidence intervals [default: 1, with traffic 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: Option<u32>,
    #[command(flatten)]
    jobs: JobsArgs,
    /// Prints each virtual channel of a packet network, not only the busiest links.
    #[arg(long)]
    channels: bool,
    /// Adds the findings of an analysis to the JSON object. May be given several times.
    #[arg(long = "analyse", value_name = "ANALYSIS", value_parser = analyses(), conflicts_with = "traffic")]
    analyses: Vec<String>,
    /// Checks the sensitivities of the critical path by eight more replays, with 1 % more and less of each parameter, and finds
    /// those to each class of links by four more for each.
    #[arg(long, requires = "analyses")]
    check_sensitivities: bool,
    /// Simulates some iterations of the program's main loop only, if these tell the time of the others to half a percent, and
    /// all of them otherwise (see docs/REPLAYING.md).
    #[arg(long, conflicts_with_all = NEEDS_ALL)]
    steady: bool,
    /// Prints on standard error where titr's own time and memory went: processor time of reading, ranks, network and results,
    /// and bytes a rank.
    #[arg(long)]
    time: bool,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    timeline: TimelineArgs,
    #[command(flatten)]
    excerpt: ExcerptArgs,
    #[command(flatten)]
    trace: TraceArgs,
    #[command(flatten)]
    traffic: TrafficArgs,
    #[command(flatten)]
    network_trace: NetworkTraceArgs,
}

/// Options that need all iterations of a program, and so do not go with leaving some out.
const NEEDS_ALL: [&str; 9] =
    ["traffic", "triggered", "what_if", "partial", "runs", "channels", "analyses", "network_trace", "file"];

/// Options that go with a single replay of a trace.
const NEEDS_ONE: [&str; 6] = ["traffic", "triggered", "steady", "channels", "network_trace", "file"];

/// How wrong the time may be because iterations were left out, as a part of it.
const STEADY_TOLERANCE: f64 = 0.005;

/// A trace is needed where there is neither synthetic traffic nor a network trace.
fn or_messages(trace: Arg) -> Arg {
    let others = ["traffic", "triggered"];
    trace.required(false).required_unless_present_any(others).conflicts_with_all(others)
}

/// How many of the busiest links a timeline shows.
const DRAWN_LINKS: usize = 32;

/// Whether standard output shows letters in bold, and the user has nothing against it (<https://no-color.org>).
fn is_bold() -> bool {
    stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The options and their help, for manual pages and shells.
pub(super) fn command() -> Command {
    ReplayArgs::command()
}

/// The command.
#[must_use]
pub fn main() -> ExitCode {
    let args: ReplayArgs = arguments();
    run("titr-replay", |out| {
        let profiler = args.time.then(Profiler::start);
        let events = command_of(&args, out)?;
        if let Some(profiler) = profiler {
            out.flush()?;
            own_profile::summary(&profiler.finish(), events, &mut Escaped::new(stderr().lock()))?;
        }
        Ok(())
    })
}

/// Does what the options ask for; returns the number of events where a trace of a program was replayed.
fn command_of(args: &ReplayArgs, out: &mut Out) -> Result<Option<u64>, Failure> {
    args.excerpt.is_of(!args.timeline.is_empty() || args.page.is_asked_for())?;
    let platform = platform(args, &[])?;
    let claims = claim(args, &platform)?;
    if let Some(trace) = args.network_trace.triggered() {
        let (runs, open_loop) = (args.runs.unwrap_or(1), args.network_trace.open_loop());
        let jobs = args.jobs.jobs();
        let replay = TriggeredReplay { platform: &platform, trace, open_loop, runs, jobs, channels: args.channels };
        network_trace::replay(&replay, &args.report, out)?;
        return Ok(None);
    }
    match args.traffic.pattern() {
        Some(pattern) => {
            let runs = args.runs.unwrap_or(3);
            traffic::sweep(
                &platform,
                pattern,
                &args.traffic,
                (runs, args.jobs.jobs()),
                args.channels,
                &args.report,
                out,
            )?;
            Ok(None)
        }
        None if !args.vary.is_empty() => vary(args, claims, out).map(Some),
        None => replay(args, platform, claims, out).map(Some),
    }
}

/// Refuses outputs that are inputs, or one file twice.
fn claim(args: &ReplayArgs, platform: &Platform) -> Result<Claims, Failure> {
    let mut claims = claims(&args.trace)?;
    let placement = match &platform.policy {
        Policy::Explicit { file, .. } => Some(file.as_path()),
        Policy::Block | Policy::RoundRobin | Policy::Random { .. } => None,
    };
    let inputs =
        [Some(args.platform.as_path()), args.what_if.as_deref(), args.page.compared(), args.network_trace.triggered()];
    inputs.into_iter().flatten().chain(placement).try_for_each(|path| claims.read(path))?;
    let outputs = [args.page.file(), args.network_trace.file()].into_iter().flatten().map(PathBuf::from);
    outputs.chain(args.report.files()).chain(args.timeline.files()).try_for_each(|path| claims.write(&path))?;
    Ok(claims)
}

/// The platform that the options ask for, with further keys set.
fn platform(args: &ReplayArgs, further: &[String]) -> Result<Platform, Failure> {
    let mut platform = Platform::load(&args.platform, &[&args.set, further].concat())?;
    if let Some(Collectives::Of(library)) = args.collectives {
        platform.mpi.collectives = Selection::from(library);
    }
    Ok(platform)
}

/// Replays on variations of the platform; returns the number of events of all replays.
fn vary(args: &ReplayArgs, mut claims: Claims, out: &mut Out) -> Result<u64, Failure> {
    let hypotheses = args.what_if.as_deref().map(Hypotheses::load).transpose()?;
    let trace = args.trace.open_partial(args.partial)?;
    claim_files(&mut claims, &trace)?;
    let jobs = args.jobs.jobs();
    let results = vary::replay(&args.vary, jobs, |set| {
        let platform = assumed(args, hypotheses.as_ref(), platform(args, set)?)?;
        let names = CallSiteNames::default();
        let mut simulation = simulation(args, &platform, &trace).jobs(Jobs::ONE).read_ahead(!jobs.are_several());
        simulation = simulation.transform(&names);
        if let Some(hypotheses) = &hypotheses {
            simulation = simulation.transform(hypotheses);
        }
        let mut result = analysed(args, simulation, &args.analyses, Jobs::ONE).run()?;
        result.warnings.extend(names.unnamed());
        Ok(result)
    })?;
    args.report.write(Results::Variations(&results), out)?;
    if args.report.has_summary() {
        variations::summary(&results, out)?;
    }
    Ok(results.variations.iter().map(|varied| varied.result.events).sum())
}

/// The platform with the changes that hypotheses ask for.
fn assumed(args: &ReplayArgs, hypotheses: Option<&Hypotheses>, platform: Platform) -> Result<Platform, Failure> {
    let Some(hypotheses) = hypotheses else { return Ok(platform) };
    for change in hypotheses.machine() {
        if let (MachineChange::Collective { written, .. }, Some(Collectives::Recorded)) = (change, args.collectives) {
            let message = "--collectives recorded takes the messages that the trace has, whatever the algorithm";
            return Err(HypothesesError::from(written.mistake(message)).into());
        }
    }
    Ok(apply_machine_changes(hypotheses.machine(), platform).map_err(HypothesesError::from)?)
}

fn replay(args: &ReplayArgs, platform: Platform, mut claims: Claims, out: &mut Out) -> Result<u64, Failure> {
    let hypotheses = args.what_if.as_deref().map(Hypotheses::load).transpose()?;
    let platform = assumed(args, hypotheses.as_ref(), platform)?;
    let trace = args.trace.open_partial(args.partial)?;
    claim_files(&mut claims, &trace)?;
    if args.steady {
        let steady = Steady { tolerance: STEADY_TOLERANCE, jobs: args.jobs.jobs() };
        let result = steady.run(&trace, |trace, times| {
            let simulation = simulation(args, &platform, trace);
            match times {
                Some(times) => simulation.observe(times).run(),
                None => simulation.run(),
            }
        })?;
        return show(args, &result.analysed(None), out);
    }
    let subject = Subject { ranks: trace.ranks(), time: "simulated time", excerpt: args.excerpt.of(trace.ranks())? };
    let mut writers = args.timeline.begin(&subject)?;
    let page = args.page.is_asked_for().then(|| Recorder::new(&subject));
    writers.extend(page.iter().flat_map(Recorder::writers));
    let mut timeline = match writers.is_empty() {
        true => None,
        false => {
            let links = LinkHistory::new(&platform, trace.ranks()).map_err(SimulationError::from)?;
            Some((Timeline::new(EventSorter::new(writers)), links))
        }
    };
    let mut recorder = args.network_trace.recorder(platform.topology.hosts())?;
    let mut meter = if args.report.is_quiet() { None } else { Meter::new(&trace) };
    let mut simulation = simulation(args, &platform, &trace);
    let analyses = args.page.analyses(&args.analyses);
    let names = CallSiteNames::default();
    if !analyses.is_empty() || hypotheses.is_some() {
        simulation = simulation.transform(&names);
    }
    if let Some(hypotheses) = &hypotheses {
        simulation = simulation.transform(hypotheses);
    }
    if let Some((timeline, links)) = &mut timeline {
        simulation = simulation.observe(timeline).observe(links);
    }
    if let Some(recorder) = &mut recorder {
        simulation = simulation.observe(recorder);
    }
    if let Some(meter) = &mut meter {
        simulation = simulation.follow(meter);
    }
    let mut result = analysed(args, simulation, &analyses, args.jobs.jobs()).run()?;
    let _results = profile::enter(OwnWork::Results);
    result.warnings.extend(names.unnamed());
    drop(meter);
    let mut loads = Vec::new();
    if let Some((timeline, links)) = timeline {
        loads = links.busiest(DRAWN_LINKS);
        timeline.finish(&loads)?;
    }
    if let Some(page) = page {
        args.page.write(page, &result, &loads, &args.platform)?;
    }
    args.network_trace.finish(recorder)?;
    show(args, &result, out)
}

/// The simulation that the options ask for, without observers.
fn simulation<'a>(args: &ReplayArgs, platform: &'a Platform, trace: &'a Trace) -> Simulation<'a> {
    Simulation::new(platform, trace)
        .runs(args.runs.unwrap_or(1))
        .jobs(args.jobs.jobs())
        .computation(args.compute.into())
        .compute_scale(args.compute_scale)
        .normalise(args.normalise)
        .recorded_collectives(args.collectives == Some(Collectives::Recorded))
        .causality(args.causality.into())
        .channels(args.channels)
}

/// The simulation with analyses, and with checks of sensitivities where these are asked for.
fn analysed<'a>(
    args: &ReplayArgs,
    simulation: Simulation<'a>,
    analyses: &'a [impl AsRef<str>],
    jobs: Jobs,
) -> AnalysedSimulation<'a> {
    let analysed = AnalysedSimulation::new(simulation);
    let analysed = analyses.iter().fold(analysed, |analysed, name| analysed.analyse(name.as_ref()));
    if args.check_sensitivities { analysed.check_sensitivities(jobs) } else { analysed }
}

/// Writes a result in the forms that are asked for; returns the number of its events.
fn show(args: &ReplayArgs, result: &AnalysedResult, out: &mut Out) -> Result<u64, Failure> {
    let _results = profile::enter(OwnWork::Results);
    args.report.write(Results::Simulation(result), out)?;
    if args.report.has_summary() {
        text::summary(result, is_bold(), out)?;
    }
    Ok(result.events)
}
