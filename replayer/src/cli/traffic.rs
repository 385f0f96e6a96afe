//! `titr-replay --traffic`: curves of latency and throughput.

use clap::Args;
use clap::builder::RangedU64ValueParser;
use titr_platform::Platform;
use titr_simulation::parallel::Jobs;
use titr_simulation::traffic::{Loads, Pattern, Sizes, TrafficDemand, TrafficSweep};

use super::report::ReportArgs;
use super::{Failure, Out};
use crate::report::{Results, text};

/// The options for synthetic traffic.
#[derive(Debug, Args)]
#[command(next_help_heading = "Synthetic traffic")]
pub struct TrafficArgs {
    /// Measures synthetic traffic instead of replaying a trace: uniform, hot-spot, hot-region, transpose, bit-reversal,
    /// bit-complement, perfect-shuffle, butterfly, tornado or neighbour.
    #[arg(long, value_name = "PATTERN")]
    traffic: Option<Pattern>,
    /// Offers this load, in phits per cycle and host: one load, a list (0.1,0.3), or a range with a step (0.05..1.0:0.05).
    #[arg(long, default_value = "0.05..1.0:0.05", requires = "traffic")]
    load: Loads,
    /// Sends bursts instead of a load: each host sends so many messages at once, and the next ones when the messages of
    /// all hosts have arrived.
    #[arg(long, value_name = "MESSAGES", value_parser = clap::value_parser!(u32).range(1..), requires = "traffic", conflicts_with = "load")]
    burst: Option<u32>,
    /// Size of messages: one size (64B), a range of sizes (64B..4KiB), or sizes with weights (64B:9,64KiB:1).
    #[arg(long, value_name = "SIZE", default_value = "64B", requires = "traffic")]
    message: Sizes,
    /// Cycles before the measurement.
    #[arg(long, default_value_t = 5000, value_parser = RangedU64ValueParser::<u64>::new().range(..=MOST_CYCLES), requires = "traffic")]
    warmup: u64,
    /// Cycles of the measurement.
    #[arg(long, default_value_t = 15000, value_parser = RangedU64ValueParser::<u64>::new().range(1..=MOST_CYCLES), requires = "traffic")]
    cycles: u64,
}

/// The most cycles that a measurement may have: a simulation of so many would take years.
const MOST_CYCLES: u64 = 1 << 50;

impl TrafficArgs {
    /// The pattern, if there is to be traffic.
    pub fn pattern(&self) -> Option<Pattern> {
        self.traffic
    }
}

/// Measures a platform under traffic at each load in so many runs, so many of them at the same time, and prints that.
pub fn sweep(
    platform: &Platform,
    pattern: Pattern,
    args: &TrafficArgs,
    (runs, jobs): (u32, Jobs),
    channels: bool,
    report: &ReportArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let &TrafficArgs { warmup, cycles, .. } = args;
    let demand = args.burst.map_or_else(|| TrafficDemand::Loads(args.load.clone()), TrafficDemand::Burst);
    let sizes = args.message.clone();
    let traffic = TrafficSweep { pattern, sizes, demand, warmup, cycles, runs, channels }.on(platform)?;
    if report.has_summary() {
        let (topology, nanoseconds) = (platform.topology.name(), traffic.cycle() * 1e9);
        let what = format!("{pattern} traffic on {topology}, {runs} × {cycles} cycles of {nanoseconds:.3} ns");
        text::curve_heading(&what, out)?;
    }
    let result =
        traffic.run(jobs, |point| if report.has_summary() { text::curve_point(point, out) } else { Ok(()) })?;
    report.write(Results::Traffic(&result), out)?;
    if report.has_summary() {
        text::curve_end(&result, out)?;
    }
    Ok(())
}
