//! `titr-replay --traffic`: curves of latency and throughput.

use std::io::{BufWriter, StdoutLock, Write};
use std::time::Instant;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use serde::Serialize;

use super::Failure;
use crate::platform::{Model, Platform};
use crate::topology::Plan as Structure;
use crate::traffic::{Destinations, Loads, Pattern, Plan, Point, Sizes, measure};

/// What there is to say of traffic.
#[derive(Debug, Args)]
#[command(next_help_heading = "Synthetic traffic")]
pub struct TrafficArgs {
    /// Instead of a trace: uniform, hot-spot, hot-region, transpose, bit-reversal, bit-complement, perfect-shuffle, butterfly,
    /// tornado or neighbour.
    #[arg(long, value_name = "PATTERN")]
    traffic: Option<Pattern>,
    /// Phits that a host offers in a cycle: one load, several (0.1,0.3), or from, to and step (0.05..1.0:0.05).
    #[arg(long, default_value = "0.05..1.0:0.05", requires = "traffic")]
    load: Loads,
    /// How large messages are: 64B, any size of a range (64B..4KiB), or sizes with weights (64B:9,64KiB:1).
    #[arg(long, value_name = "SIZE", default_value = "64B", requires = "traffic")]
    message: Sizes,
    /// Cycles before the first that counts.
    #[arg(long, default_value_t = 5000, value_parser = RangedU64ValueParser::<u64>::new().range(..=MOST_CYCLES), requires = "traffic")]
    warmup: u64,
    /// Cycles that count.
    #[arg(long, default_value_t = 15000, value_parser = RangedU64ValueParser::<u64>::new().range(1..=MOST_CYCLES), requires = "traffic")]
    cycles: u64,
    /// Runs with different chance, over which confidence intervals are.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000), requires = "traffic")]
    runs: u32,
}

/// Years.
const MOST_CYCLES: u64 = 1 << 50;

impl TrafficArgs {
    /// The pattern, if there is to be traffic.
    pub fn pattern(&self) -> Option<Pattern> {
        self.traffic
    }
}

/// A sweep over loads, as `--json` prints it.
#[derive(Serialize)]
struct Sweep {
    network: crate::report::NetworkName,
    traffic: String,
    /// Of each run.
    warmup: u64,
    cycles: u64,
    runs: u32,
    seed: u64,
    points: Vec<Point>,
    warnings: Vec<String>,
    /// Phits times channels that they took in all, what that took on the wall, and the one over the other.
    phit_hops: u64,
    wall_seconds: f64,
    phit_hops_per_second: f64,
}

/// Measures a platform under traffic, at each load.
pub fn sweep(
    platform: &Platform,
    pattern: Pattern,
    args: &TrafficArgs,
    json: bool,
    out: &mut BufWriter<StdoutLock>,
) -> Result<(), Failure> {
    let Model::Packet(design) = &platform.model else { return Err(Failure::NotPackets) };
    let grid = match &design.fabric().plan {
        Structure::Grid(lattice) => Some(lattice.sizes()),
        Structure::Tree(_) | Structure::Dragonfly(_) => None,
    };
    let destinations = Destinations::new(pattern, platform.topology.hosts(), grid)?;
    let TrafficArgs { warmup, cycles, runs, .. } = *args;
    let plan = Plan { destinations, sizes: args.message.clone(), warmup, cycles, runs };
    if !json {
        writeln!(
            out,
            "{pattern} traffic on {}, {runs} × {cycles} cycles of {:.3} ns",
            platform.topology.name(),
            design.cycle() * 1e9
        )?;
        writeln!(out, "{HEADING}")?;
    }
    let start = Instant::now();
    let mut points = Vec::with_capacity(args.load.0.len());
    for &load in &args.load.0 {
        let point = measure(design, &plan, load);
        if !json {
            row(&point, out)?;
            out.flush()?;
        }
        points.push(point);
    }
    let wall_seconds = start.elapsed().as_secs_f64();
    let phit_hops: u64 = points.iter().map(|point| point.phit_hops).sum();
    let phit_hops_per_second = if wall_seconds > 0.0 { phit_hops as f64 / wall_seconds } else { 0.0 };
    if json {
        let sweep = Sweep {
            network: platform.into(),
            traffic: pattern.to_string(),
            warmup,
            cycles,
            runs,
            seed: design.parameters().seed,
            points,
            warnings: platform.warnings.clone(),
            phit_hops,
            wall_seconds,
            phit_hops_per_second,
        };
        serde_json::to_writer(&mut *out, &sweep).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        for warning in &platform.warnings {
            writeln!(out, "warning: {warning}")?;
        }
        writeln!(out, "{:.1} million phit-hops a second", phit_hops_per_second / 1e6)?;
    }
    Ok(())
}

const HEADING: &str = "
 offered  injected  accepted          message latency   network   p95   p99      max   hops  use  most
               phits a cycle and host                                  cycles                channels";

fn row(point: &Point, out: &mut impl Write) -> std::io::Result<()> {
    let sure = |half_width: Option<f64>| half_width.map_or(String::new(), |half_width| format!("± {half_width:.2}"));
    let percentiles = point.message_latency_percentiles;
    writeln!(
        out,
        "{:8.3}  {:8.4}  {:8.4} {:<9}{:9.2} {:<9} {:8.2} {:5} {:5} {:8}  {:5.2}  {:.2}  {:.2}",
        point.offered,
        point.injected,
        point.accepted,
        point.accepted_ci99.map_or(String::new(), |half_width| format!("± {half_width:.4}")),
        point.message_latency,
        sure(point.message_latency_ci99),
        point.network_latency,
        percentiles.p95,
        percentiles.p99,
        percentiles.max,
        point.hops,
        point.channel_use,
        point.channel_use_max,
    )
}
