//! `titr replay`: predicts how long a program takes on a machine.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use titr_analyses::AnalysedResult;
use titr_analyses::interval::IntervalMeter;
use titr_common::event::{Activity, Rank};
use titr_common::output::{OutputFile, can_be_file, claim};
use titr_common::time::Time;
use titr_common::timeline::{EventSorter, Subject};
use titr_simulation::network_traces::NetworkTraceWriter;
use titr_simulation::observe::Observer;
use titr_simulation::{Simulation, SimulationError};

use super::machine::MachineArgs;
use super::meter::Meter;
use super::page::{PageArgs, origin};
use super::program::{EVERY_ITERATION, ProgramArgs};
use super::report::ReportArgs;
use super::runs::RunsArgs;
use super::spread::SpreadArgs;
use super::time::TimeArgs;
use super::timeline::{ExcerptArgs, TimelineArgs};
use super::{Failure, Out, suggestion};
use crate::call_sites::CallSiteNames;
use crate::page::Recorder;
use crate::recorders::{LinkHistory, NetworkTraceRecorder, Timeline};
use crate::report::{Results, text};
use crate::studies::steady::Steady;

const EXAMPLES: &str = "\
Examples:
  titr replay --platform examples/torus.toml traces/
  titr replay --platform examples/torus.toml --set 'network.bandwidth=40 Gbit/s' traces/
  titr replay --platform examples/fat-tree.toml --json traces/ | jq .simulated_time
  titr replay --platform examples/torus.toml jobs.toml
  titr replay --platform examples/packet.toml --network-trace messages.gz traces/

titr-replay is titr replay. titr vary compares platforms, titr traffic measures a network, and titr trigger
replays a network trace.

Exit status: 0 replayed; 1 the trace, the platform or a value is at fault; 2 wrong usage.";

/// Predicts how long a traced MPI program takes on another machine.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReplayArgs {
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    runs: RunsArgs,
    #[command(flatten)]
    spread: SpreadArgs,
    /// Prints each virtual channel of a packet network, not only the busiest links.
    #[arg(long, group = EVERY_ITERATION)]
    channels: bool,
    /// Simulates only a sample of the iterations of the main loop, if the prediction is then within this many percent, 0.5 if
    /// there is no number; otherwise simulates all iterations (see docs/REPLAYING.md).
    #[arg(
        long,
        value_name = "PERCENT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0.5",
        value_parser = tolerance,
        conflicts_with = EVERY_ITERATION
    )]
    steady: Option<f64>,
    #[command(flatten)]
    time: TimeArgs,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    timeline: TimelineArgs,
    #[command(flatten)]
    excerpt: ExcerptArgs,
    /// Writes a table (CSV) of the states of each rank and of its threads: rank, activity, begin and end in seconds. With
    /// `--runs`, the table describes the first run.
    #[arg(long, value_name = "FILE", group = EVERY_ITERATION, help_heading = "Timelines")]
    states: Option<PathBuf>,
    /// Also predicts the time between two places of the program, FROM..TO: `start`, `end`, `region:NAME`, `barrier`, `call:SITE`,
    /// each with `:NUMBER` for one pass of several. One place stands for both: `region:solve`.
    #[arg(long, value_name = "PLACES", group = EVERY_ITERATION, help_heading = "Program")]
    interval: Option<String>,
    /// Writes each message that enters the network to this file, gzipped (see docs/NETWORK-TRACES.md). With `--runs`, the
    /// file describes the first run.
    #[arg(long, value_name = "FILE", group = EVERY_ITERATION, help_heading = "Network traces")]
    network_trace: Option<PathBuf>,
}

/// The number of links, the busiest ones, whose load a timeline shows.
pub(super) const DRAWN_LINKS: usize = 32;

/// The accepted error of `--steady`, in percent.
fn tolerance(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').trim_end().parse().ok();
    percent
        .filter(|percent| *percent > 0.0 && *percent < 100.0)
        .ok_or_else(|| "a percentage between 0 and 100 is expected, as in --steady=1".into())
}

pub(super) fn replay(args: &ReplayArgs, out: &mut Out) -> Result<(), Failure> {
    args.time.measure(out, |out| {
        let result = args.run(out)?;
        args.report.write(Results::Simulation(&result), out)?;
        if args.report.has_summary() {
            text::details(&result, out)?;
        }
        Ok(Some(result.events))
    })
}

impl ReplayArgs {
    /// Replays, prints the answer as soon as it is known, and writes the requested files apart from the forms of the result.
    fn run(&self, out: &mut Out) -> Result<AnalysedResult, Failure> {
        self.excerpt.is_of(!self.timeline.is_empty() || self.page.file.is_some())?;
        let platform = self.machine.load()?;
        let program = self.program.open_on(&platform)?;
        let replays_again = self.runs.runs.is_some() || self.program.check_sensitivities;
        let program = if replays_again { program.kept() } else { program };
        let before = self.page.compared()?;
        let outputs = [self.page.file.as_deref(), self.network_trace.as_deref(), self.states.as_deref()];
        let outputs = outputs.into_iter().flatten();
        outputs.clone().try_for_each(can_be_file)?;
        let outputs = outputs.map(PathBuf::from);
        claim(outputs.chain(self.report.files()).chain(self.timeline.files()))?;
        if self.steady.is_some() && program.is_job_mix() {
            return Err(Failure::Value(
                "--steady leaves out iterations of one program, and this is a mix of jobs: replay the trace of a job by itself".into(),
            ));
        }
        let platform = program.on(platform)?;
        if let Some(percent) = self.steady {
            if platform.changes_over_time() {
                let message = "--steady leaves out iterations that are alike, and hosts, links or routes of the platform change over time";
                return Err(Failure::Value(message.to_owned()));
            }
            let steady = Steady { tolerance: percent / 100.0, jobs: self.runs.jobs() };
            let result = steady.run(&program.trace, |trace, times| {
                let simulation = self.program.simulation(&platform, trace).jobs(self.runs.jobs());
                let times = times.into_iter().map(|times| times as &mut dyn Observer);
                Ok(times.fold(simulation, Simulation::observe).run_observed(Vec::new())?.0)
            })?;
            self.answer(&result, out)?;
            return Ok(result);
        }
        let ranks = program.trace.ranks();
        let (excerpt, jobs) = (self.excerpt.of(ranks)?, program.jobs());
        let subject = Subject { ranks, time: "simulated time", excerpt, jobs };
        let mut writers = self.timeline.begin(&subject)?;
        let page = self.page.file.is_some().then(|| Recorder::new(&subject));
        writers.extend(page.iter().flat_map(Recorder::writers));
        let mut timeline = match writers.is_empty() {
            true => None,
            false => {
                let links = LinkHistory::new(&platform, ranks).map_err(SimulationError::from)?;
                Some((Timeline::new(EventSorter::new(writers)), links))
            }
        };
        let mut states = self.states.as_deref().map(States::create).transpose()?;
        let mut interval = self.interval_meter(ranks)?;
        let mut recorder = self.recorder(platform.topology.hosts())?;
        let mut meter = if self.report.quiet { None } else { Meter::new(&program.trace) };
        let analyses = self.page.analyses(self.program.analyses());
        let names = CallSiteNames::default();
        let is_named = !analyses.is_empty() || interval.is_some();
        let mut simulation = program.simulation(&platform, &names, is_named);
        simulation = simulation.runs(self.runs.runs.unwrap_or(1)).jobs(self.runs.jobs()).channels(self.channels);
        if let Some((timeline, links)) = &mut timeline {
            simulation = simulation.observe(timeline).observe(links);
        }
        let further: [Option<&mut dyn Observer>; 3] = [
            states.as_mut().map(|states| states as _),
            recorder.as_mut().map(|recorder| recorder as _),
            interval.as_mut().map(|interval| interval as _),
        ];
        simulation = further.into_iter().flatten().fold(simulation, Simulation::observe);
        if let Some(meter) = &mut meter {
            simulation = simulation.follow(meter);
        }
        let analysed = self.program.analysed(simulation, &analyses, self.runs.jobs());
        let mut result = analysed.split_communication(!analyses.is_empty()).run()?;
        result.warnings.extend(names.unnamed());
        drop(meter);
        if let Some(interval) = interval {
            let time = interval.finish().map_err(|why| Failure::Value(format!("--interval: {why}")))?;
            result.analyses.get_or_insert_default().interval = Some(time);
        }
        self.answer(&result, out)?;
        let program = if replays_again { program } else { program.kept() };
        if self.report.suggests() || self.page.file.is_some() {
            result.tried = suggestion::tried(&result, &self.machine, &program, self.runs.jobs(), self.report.suggest);
        }
        match self.spread.find(&program, (&self.machine, &platform), self.runs.jobs())? {
            Some(Ok(spread)) => result.spread = Some(spread),
            Some(Err(why)) => result.warnings.push(why.to_owned()),
            None => {}
        }
        states.map_or(Ok(()), States::finish)?;
        let mut loads = Vec::new();
        if let Some((timeline, links)) = timeline {
            loads = links.busiest(DRAWN_LINKS);
            timeline.finish(&loads)?;
        }
        if let Some(page) = page {
            let _line = self.page.file.as_deref().filter(|_| !self.report.quiet).and_then(Meter::writing);
            let machine = (&platform, &*self.machine.platform, self.machine.text()?);
            let origin = origin(&program.trace, self.program.trace_name(), machine)?;
            self.page.write(page, (&result, before.as_ref()), &loads, &origin)?;
        }
        if let Some(recorder) = recorder {
            recorder.finish()?.finish()?;
        }
        Ok(result)
    }

    /// Prints the answer, if people are to read it.
    fn answer(&self, result: &AnalysedResult, out: &mut Out) -> io::Result<()> {
        if self.report.has_summary() { text::answer(result, out) } else { Ok(()) }
    }

    /// Measures the requested interval, if any.
    fn interval_meter(&self, ranks: u32) -> Result<Option<IntervalMeter>, Failure> {
        let Some(written) = &self.interval else { return Ok(None) };
        let meter = IntervalMeter::new(written.clone(), ranks);
        Ok(Some(meter.map_err(|why| Failure::Value(format!("--interval: {why}")))?))
    }

    /// Begins the requested network trace, if any, of a network of `nodes` nodes.
    fn recorder(&self, nodes: u32) -> Result<Option<NetworkTraceRecorder<OutputFile>>, Failure> {
        let writer = self.network_trace.as_ref().map(|path| NetworkTraceWriter::create(path, nodes, true));
        Ok(writer.transpose()?.map(NetworkTraceRecorder::new))
    }
}

/// An observer that writes a row for each state of a rank, or of a thread of it.
struct States {
    out: OutputFile,
    /// The first error; nothing is written after it.
    written: io::Result<()>,
}

impl States {
    fn create(path: &Path) -> io::Result<Self> {
        let mut out = OutputFile::create(path)?;
        writeln!(out, "rank,activity,begin,end")?;
        Ok(Self { out, written: Ok(()) })
    }

    fn finish(mut self) -> io::Result<()> {
        self.written?;
        self.out.finish()
    }
}

impl Observer for States {
    fn active(&mut self, rank: Rank, activity: Activity, from: Time, to: Time) {
        if from == to || self.written.is_err() {
            return;
        }
        let activity = match activity {
            Activity::Compute => "compute",
            Activity::Send => "send",
            Activity::Recv => "recv",
            Activity::Wait => "wait",
            Activity::File => "file",
            Activity::Collective => "collective",
        };
        self.written = writeln!(self.out, "{},{activity},{},{}", rank.0, from.seconds().0, to.seconds().0);
    }
}
