//! `titr-replay`.

use std::io::{BufWriter, IsTerminal, StdoutLock, Write, stderr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Arg, Parser, ValueEnum};
use titr_common::collectives::{Library, Selection};
use titr_common::trace::manifest::{Mode, RankEntry};
use titr_common::trace::{RankStream, Trace, TraceError};

use super::timeline::TimelineArgs;
use super::traffic::{self, TrafficArgs};
use super::{Failure, TraceArgs, run};
use crate::cpu::Stopwatch;
use crate::inspect::Comparison;
use crate::report::{ChannelUse, Replays, Report, Tables, manifest_warnings, summary};
use titr_common::format::count;
use titr_network::packet::PacketStatistics;
use titr_platform::Platform;
use titr_simulation::models;
use titr_simulation::observe::Breakdown;
use titr_simulation::ranks::{Causality, Recorded, Seat};
use titr_simulation::replay::{Options, Progress};
use titr_simulation::workload::{Computation, Recomputed, Workload};

const EXAMPLES: &str = "\
Examples:
  titr-replay --platform examples/torus.toml traces/
  titr-replay --platform examples/torus.toml --set 'network.bandwidth=40 Gbit/s' traces/
  titr-replay --platform examples/fat-tree.toml --json traces/ | jq .simulated_time
  titr-replay --platform examples/packet.toml --traffic uniform --load 0.05..1.0:0.05

Exit status: 0 replayed; 1 the trace, the platform or a value is at fault; 2 wrong usage.";

/// Predicts how long a traced MPI program takes on another machine.
#[derive(Debug, Parser)]
#[command(name = "titr-replay", version, after_help = EXAMPLES, mut_arg("places", or_traffic))]
struct Args {
    /// The machine: a platform file of titr's (TOML) or of SimGrid's (XML).
    #[arg(short, long, value_name = "FILE")]
    platform: PathBuf,
    /// Sets a key of the platform, such as network.flow.preset=cm02. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
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
    /// Prints one JSON object instead of a summary.
    #[arg(long)]
    json: bool,
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
    causality: Causality,
    /// Runs a packet network with N different seeds, and prints confidence intervals [default: 1, with traffic 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: Option<u32>,
    /// Also writes tables into this directory: CSV files of the summary, ranks, links, channels and hops, or of the points
    /// of a curve.
    #[arg(long, value_name = "DIRECTORY")]
    csv: Option<PathBuf>,
    /// Prints each virtual channel of a packet network, not only the busiest links.
    #[arg(long)]
    channels: bool,
    #[command(flatten)]
    timeline: TimelineArgs,
    #[command(flatten)]
    trace: TraceArgs,
    #[command(flatten)]
    traffic: TrafficArgs,
}

/// A trace is needed where there is no synthetic traffic.
fn or_traffic(trace: Arg) -> Arg {
    trace.required(false).required_unless_present("traffic").conflicts_with("traffic")
}

/// What collectives are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Collectives {
    /// The messages that the trace has of them.
    Recorded,
    /// A library's algorithms.
    Of(Library),
}

/// Where computation comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Compute {
    /// The recorded volume divided by the speed of the simulated host.
    #[default]
    Counted,
    /// The time between the calls of an extended trace, whatever the simulated host.
    Timed,
    /// No time.
    None,
}

impl From<Compute> for Computation {
    fn from(compute: Compute) -> Self {
        match compute {
            Compute::Counted => Self::Counted,
            Compute::Timed => Self::Timed,
            Compute::None => Self::Ignored,
        }
    }
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
        name => super::library(name).map(Collectives::Of).map_err(|others| format!("{others}, and recorded")),
    }
}

/// The command.
#[must_use]
pub fn main() -> ExitCode {
    let args = Args::parse();
    run("titr-replay", |out| {
        let mut platform = Platform::load(&args.platform, &args.set)?;
        if let Some(Collectives::Of(library)) = args.collectives {
            platform.mpi.collectives = Selection::from(library);
        }
        match args.traffic.pattern() {
            Some(pattern) => {
                let Args { json, runs, channels, ref csv, .. } = args;
                let shown = traffic::Shown { json, channels, csv: csv.as_deref() };
                traffic::sweep(&platform, pattern, &args.traffic, runs.unwrap_or(3), shown, out)
            }
            None => replay_and_report(&args, &platform, out),
        }
    })
}

fn replay_and_report(args: &Args, platform: &Platform, out: &mut BufWriter<StdoutLock>) -> Result<(), Failure> {
    let source = args.trace.open()?.partial(args.partial);
    let (factors, unlike) = computation(&source, args.normalise)?;
    let seats = platform.place(source.ranks())?.0.into_iter().zip(factors);
    let seats = seats.map(|(host, factor)| Seat { host, speed: platform.speed(host).for_counts_worth(factor) });
    let seats: Vec<Seat> = seats.collect();
    let replays = replays(args, platform, &source, &seats)?;

    let mut report = Report::new(platform, replays);
    report.warnings.extend(source.manifest().map(manifest_warnings).unwrap_or_default());
    report.warnings.extend(unlike);
    if let Some(directory) = &args.csv {
        Tables::create(directory)?.of_replay(platform, &report)?;
    }
    if args.channels
        && let Some(packets) = &mut report.packets
    {
        packets.channels = Some(ChannelUse::all(platform, &packets.figures.channels));
    }
    if args.json {
        serde_json::to_writer(&mut *out, &report).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        summary(&report, out)?;
    }
    Ok(())
}

/// Which collectives are as they were recorded: non-blocking ones only if all of them were, as one rank cannot follow
/// another schedule than the next.
fn recorded(args: &Args, source: &Trace) -> Recorded {
    let nonblocking = |name: &String| name.strip_prefix("MPI_I").is_some_and(|rest| !rest.starts_with("neighbor"));
    let opaque = |entry: &RankEntry| entry.opaque.keys().any(nonblocking);
    match (args.collectives, source.manifest()) {
        (Some(Collectives::Recorded), Some(manifest)) if !manifest.per_rank.iter().any(opaque) => Recorded::All,
        (Some(Collectives::Recorded), _) => Recorded::Blocking,
        _ => Recorded::None,
    }
}

/// The events of all ranks, with the computation that was asked for.
fn programs(args: &Args, source: &Trace) -> Result<Vec<Recomputed<RankStream>>, TraceError> {
    if args.compute == Compute::Timed && source.manifest().is_some_and(|manifest| manifest.mode != Mode::Extended) {
        let what = "the trace is not an extended one, and has no times (TITRACE_MODE=extended)".into();
        return Err(TraceError::Directory { path: "--compute timed".into(), what });
    }
    let program = |stream| Recomputed::new(stream, args.compute.into(), args.compute_scale);
    Ok(source.streams()?.into_iter().map(program).collect())
}

/// Replays as often as asked.
fn replays(args: &Args, platform: &Platform, source: &Trace, seats: &[Seat]) -> Result<Replays, Failure> {
    let runs = args.runs.unwrap_or(1);
    let recorded = recorded(args, source);
    let stopwatch = Stopwatch::start();
    let (mut first, mut times, mut observations, mut phit_hops) = (None, Vec::new(), Vec::new(), None);
    for run in 0..runs {
        let mut network = models::build(platform, run);
        let mut meter = Meter::new(source);
        let progress = meter.as_mut().map(|meter| meter as &mut dyn Progress);
        let options = Options { causality: args.causality, partial: args.partial, recorded, progress };
        let workload = Workload::read_ahead(programs(args, source)?);
        let breakdown = Breakdown::new(source.ranks());
        let timeline = if run == 0 { &args.timeline } else { &TimelineArgs::default() };
        let outcome = timeline.replay(workload, seats.to_vec(), &platform.mpi, network.as_mut(), breakdown, options)?;
        times.push(outcome.simulated_time);
        if let Some(packets) = PacketStatistics::of(&*network, outcome.simulated_time) {
            observations.push(packets.observation);
            phit_hops = Some(packets.phit_hops + phit_hops.unwrap_or(0));
        }
        first.get_or_insert_with(|| (outcome, network.link_loads()));
    }
    let (outcome, loads) = first.ok_or(Failure::Usage("--runs 0 replays nothing".to_owned()))?;
    let (wall, cpu) = (stopwatch.wall(), stopwatch.cpu());
    Ok(Replays { outcome, loads, times, observations, phit_hops, wall, cpu })
}

/// What each rank's computation is multiplied with, and what should be known of it if it is not.
fn computation(source: &Trace, normalise: bool) -> Result<(Vec<f64>, Vec<String>), TraceError> {
    let as_recorded = vec![1.0; source.ranks() as usize];
    let Some(manifest) = source.manifest() else { return Ok((as_recorded, Vec::new())) };
    let comparison = Comparison::of(manifest);
    if !normalise {
        return Ok((as_recorded, comparison.warnings()));
    }
    let refused = |what| TraceError::Directory { path: "--normalise".into(), what };
    Ok((comparison.factors().map_err(refused)?, Vec::new()))
}

/// Shows how far a replay is, on one line of a terminal.
struct Meter {
    start: Instant,
    shown: Duration,
    /// How many events there are, where the trace says so.
    total: Option<u64>,
}

impl Meter {
    /// None where nobody looks.
    fn new(source: &Trace) -> Option<Self> {
        let total = |manifest: &titr_common::trace::Manifest| manifest.per_rank.iter().map(|rank| rank.events).sum();
        let total = source.manifest().map(total).filter(|&total| total > 0);
        stderr().is_terminal().then(|| Self { start: Instant::now(), shown: Duration::ZERO, total })
    }
}

impl Progress for Meter {
    fn at(&mut self, events: u64, simulated: f64) {
        let elapsed = self.start.elapsed();
        if elapsed < self.shown + Duration::from_millis(200) {
            return;
        }
        self.shown = elapsed;
        let part =
            self.total.map_or(String::new(), |total| format!(" ({:.0} %)", 100.0 * events as f64 / total as f64));
        eprint!("\r\x1b[K{} events{part}, {simulated:.6} s simulated", count(events));
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        eprint!("\r\x1b[K");
    }
}
