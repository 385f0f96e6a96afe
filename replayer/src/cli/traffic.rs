//! `titr traffic`: curves of latency and throughput.

use clap::Args;
use clap::builder::RangedU64ValueParser;
use titr_common::output::claim;
use titr_simulation::traffic::{Loads, Pattern, Sizes, TrafficDemand, TrafficSweep};

use super::machine::MachineArgs;
use super::report::ReportArgs;
use super::runs::RunsArgs;
use super::time::TimeArgs;
use super::{Failure, Out};
use crate::report::{Results, text};

const EXAMPLES: &str = "\
Examples:
  titr traffic uniform --platform examples/packet.toml --load 0.05..1.0:0.05
  titr traffic tornado --platform examples/packet.toml --burst 100 --message 4KiB";

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
    #[command(flatten)]
    runs: RunsArgs,
    /// Prints each virtual channel, not only the busiest links.
    #[arg(long)]
    channels: bool,
    #[command(flatten)]
    time: TimeArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// The largest number of cycles of a measurement. Their simulation would take years.
const MOST_CYCLES: u64 = 1 << 50;

/// The default number of runs of a load: enough for a confidence interval.
const RUNS: u32 = 3;

/// The command.
pub(super) fn traffic(args: &TrafficArgs, out: &mut Out) -> Result<(), Failure> {
    args.time.measure(out, |out| args.sweep(out).map(|()| None))
}

impl TrafficArgs {
    fn sweep(&self, out: &mut Out) -> Result<(), Failure> {
        let platform = self.machine.load()?;
        claim(self.report.files())?;
        let &Self { pattern, warmup, cycles, channels, ref report, .. } = self;
        let demand = self.burst.map_or_else(|| TrafficDemand::Loads(self.load.clone()), TrafficDemand::Burst);
        let (sizes, runs) = (self.message.clone(), self.runs.runs().unwrap_or(RUNS));
        let traffic = TrafficSweep { pattern, sizes, demand, warmup, cycles, runs, channels }.on(&platform)?;
        if report.has_summary() {
            let (topology, nanoseconds) = (platform.topology.name(), traffic.cycle() * 1e9);
            let what = format!("{pattern} traffic on {topology}, {runs} × {cycles} cycles of {nanoseconds:.3} ns");
            text::curve_heading(&what, out)?;
        }
        let result = traffic
            .run(self.runs.jobs(), |point| if report.has_summary() { text::curve_point(point, out) } else { Ok(()) })?;
        report.write(Results::Traffic(&result), out)?;
        if report.has_summary() {
            text::curve_end(&result, out)?;
        }
        Ok(())
    }
}
