//! `titr traffic`: curves of latency and throughput.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use indicatif::HumanDuration;
use serde::Serialize;
use titr_common::output::{can_be_file, claim};
use titr_common::terminal::say;
use titr_network::traffic::{Loads, Pattern, Sizes};
use titr_simulation::traffic::{TrafficDemand, TrafficResult, TrafficSweep};

use super::machine::MachineArgs;
use super::report::ReportArgs;
use super::runs::RunsArgs;
use super::time::TimeArgs;
use super::vary::{VariedKey, combination, count_combinations, settings};
use super::{Failure, Out};
use crate::page::{ResultKind, write_result};
use crate::report::{Results, text};

const EXAMPLES: &str = "\
Examples:
  titr traffic uniform --platform examples/packet.toml --load 0.05..1.0:0.05
  titr traffic tornado --platform examples/packet.toml --burst 100 --message 4KiB
  titr traffic uniform --platform examples/packet.toml --load 0.4 --key network.failures.links=0,1,3,10";

/// Measures the latency and the throughput of a network under synthetic traffic.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct TrafficArgs {
    /// The pattern of senders and receivers: uniform, hot-spot, hot-region, group-adversarial, transpose, bit-reversal,
    /// bit-complement, perfect-shuffle, butterfly, tornado or neighbour.
    pattern: Pattern,
    #[command(flatten)]
    machine: MachineArgs,
    /// Offers this load, in phits per cycle and host: one load, a list (0.1,0.3), or a range with a step (0.05..1.0:0.05).
    #[arg(long, default_value = "0.05..1.0:0.05")]
    load: Loads,
    /// Sends bursts instead of a load: each host sends this many messages at once, and the next ones when the messages of all
    /// hosts have arrived.
    #[arg(long, value_name = "MESSAGES", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "load")]
    burst: Option<u32>,
    /// Size of messages: one size (64B), a range of sizes (64B..4KiB), or sizes with weights (64B:9,64KiB:1).
    #[arg(long, value_name = "SIZE", default_value = "64B")]
    message: Sizes,
    /// Cycles before the measurement.
    #[arg(long, default_value_t = 5000, value_parser = RangedU64ValueParser::<u64>::new().range(..=MOST_CYCLES))]
    warmup: u64,
    /// Cycles of the measurement.
    #[arg(long, default_value_t = 15000, value_parser = RangedU64ValueParser::<u64>::new().range(1..=MOST_CYCLES))]
    cycles: u64,
    /// Measures with each of these values of a key of the platform. If you repeat this option, with every combination of values.
    #[arg(short, long = "key", value_name = "KEY=VALUE,...", conflicts_with = "csv")]
    keys: Vec<VariedKey>,
    #[command(flatten)]
    runs: RunsArgs,
    /// Prints each virtual channel, not only the busiest links.
    #[arg(long)]
    channels: bool,
    #[command(flatten)]
    time: TimeArgs,
    #[command(flatten)]
    report: ReportArgs,
    /// Also writes a page for a browser, in one file of HTML: curves of latency and accepted load.
    #[arg(long = "report", value_name = "FILE", conflicts_with = "burst")]
    page: Option<PathBuf>,
}

/// The largest number of cycles of a measurement. Their simulation would take years.
const MOST_CYCLES: u64 = 1 << 50;

/// The seconds from which the time that the measurements take is told before.
const LONG: f64 = 300.0;

/// The default number of runs of a load: enough for a confidence interval.
const RUNS: u32 = 3;

pub(super) fn traffic(args: &TrafficArgs, out: &mut Out) -> Result<(), Failure> {
    args.time.measure(out, |out| {
        args.page.iter().try_for_each(|page| can_be_file(page))?;
        let curve = |number| args.sweep(settings(&combination(&args.keys, number)), out);
        let curves = (0..count_combinations(&args.keys)?).map(curve).collect::<Result<Vec<_>, _>>()?;
        if let Some(path) = &args.page {
            let (settings, command) = (&*args.machine.set, super::recorded_command(None));
            write_result(ResultKind::Traffic, &[], &Curves { settings, command, curves }, path)?;
        }
        Ok(None)
    })
}

/// The curves of a page.
#[derive(Serialize)]
struct Curves<'a> {
    /// The keys that all have.
    settings: &'a [String],
    /// The words of the command line.
    command: Vec<String>,
    curves: Vec<Curve>,
}

/// The curve of a platform, for the page.
#[derive(Serialize)]
struct Curve {
    topology: String,
    settings: Vec<String>,
    /// The length of a cycle in seconds.
    cycle: f64,
    result: TrafficResult,
}

impl TrafficArgs {
    /// Measures the platform with these settings.
    fn sweep(&self, settings: Vec<String>, out: &mut Out) -> Result<Curve, Failure> {
        let platform = self.machine.load_with(&settings)?;
        claim(self.report.files().chain(self.page.clone()))?;
        let &Self { pattern, warmup, cycles, channels, ref report, .. } = self;
        let demand = self.burst.map_or_else(|| TrafficDemand::Loads(self.load.clone()), TrafficDemand::Burst);
        let (sizes, runs) = (self.message.clone(), self.runs.runs.unwrap_or(RUNS));
        let traffic = TrafficSweep { pattern, sizes, demand, warmup, cycles, runs, channels }.on(&platform)?;
        let seconds = traffic.processor_seconds / self.runs.jobs().0.get() as f64;
        if seconds > LONG {
            let long = HumanDuration(Duration::from_secs_f64(seconds));
            say(format_args!("titr: this takes some {long}; fewer --cycles, --load or --runs take less"));
        }
        let (topology, cycle) = (platform.topology.name(), traffic.cycle());
        if report.has_summary() {
            let on = [std::slice::from_ref(&topology), &*self.machine.set, &settings].concat().join(", ");
            let what = format!("{pattern} traffic on {on}, {runs} × {cycles} cycles of {:.3} ns", cycle * 1e9);
            text::curve_heading(&what, out)?;
        }
        let result = traffic
            .run(self.runs.jobs(), |point| if report.has_summary() { text::curve_point(point, out) } else { Ok(()) })?;
        report.write(Results::Traffic(&result), out)?;
        if report.has_summary() {
            text::curve_end(&result, out)?;
        }
        Ok(Curve { topology, settings, cycle, result })
    }
}
