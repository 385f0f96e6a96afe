//! `titr-replay --traffic`: curves of latency and throughput.

use std::io::{BufWriter, StdoutLock, Write};
use std::path::Path;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use serde::Serialize;

use super::Failure;
use crate::cpu::Stopwatch;
use crate::report::{ChannelUse, Tables, channel_table};
use titr_network::topology::Lattice;
use titr_network::traffic::{Burst, Destinations, Injection, Loads, Pattern, Plan, Point, Sizes, measure};
use titr_platform::{Model, Platform};

/// What there is to say of traffic.
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

/// Years.
const MOST_CYCLES: u64 = 1 << 50;

impl TrafficArgs {
    /// The pattern, if there is to be traffic.
    pub fn pattern(&self) -> Option<Pattern> {
        self.traffic
    }
}

/// What is to be told, and where.
pub struct Shown<'a> {
    pub json: bool,
    /// Each virtual channel too.
    pub channels: bool,
    /// Where tables go.
    pub csv: Option<&'a Path>,
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
    points: Vec<Measured>,
    warnings: Vec<String>,
    /// Phits times channels that they took in all, what that took, and how many that are in a second of a processor's time.
    phit_hops: u64,
    wall_seconds: f64,
    cpu_seconds: f64,
    phit_hops_per_second: f64,
}

#[derive(Serialize)]
struct Measured {
    #[serde(flatten)]
    point: Point,
    #[serde(skip_serializing_if = "Option::is_none")]
    channels: Option<Vec<ChannelUse>>,
}

/// Measures a platform under traffic, at each load.
pub fn sweep(
    platform: &Platform,
    pattern: Pattern,
    args: &TrafficArgs,
    runs: u32,
    shown: Shown,
    out: &mut BufWriter<StdoutLock>,
) -> Result<(), Failure> {
    let Model::Packet(spec) = &platform.model else { return Err(Failure::NotPackets) };
    let grid = spec.graph().geometry::<Lattice>().map(Lattice::sizes);
    let destinations = Destinations::new(pattern, platform.topology.hosts(), grid)?;
    let TrafficArgs { warmup, cycles, .. } = *args;
    let Shown { json, channels, csv } = shown;
    let plan = Plan { destinations, sizes: args.message.clone(), warmup, cycles, runs };
    if !json {
        writeln!(
            out,
            "{pattern} traffic on {}, {runs} × {cycles} cycles of {:.3} ns",
            platform.topology.name(),
            spec.cycle() * 1e9
        )?;
        writeln!(out, "{HEADING}")?;
    }
    let stopwatch = Stopwatch::start();
    let injections = match args.burst {
        Some(messages) => vec![Injection::Burst(messages)],
        None => args.load.0.iter().map(|&load| Injection::Load(load)).collect(),
    };
    let mut points = Vec::with_capacity(injections.len());
    for injection in injections {
        let point = measure(spec, &plan, injection);
        if !json {
            row(&point, out)?;
            if channels {
                channel_table(&ChannelUse::all(platform, &point.figures.channels), out)?;
            }
            out.flush()?;
        }
        points.push(point);
    }
    let (wall_seconds, cpu_seconds) = (stopwatch.wall().as_secs_f64(), stopwatch.cpu().as_secs_f64());
    let phit_hops: u64 = points.iter().map(|point| point.phit_hops).sum();
    let phit_hops_per_second = if cpu_seconds > 0.0 { phit_hops as f64 / cpu_seconds } else { 0.0 };
    if let Some(directory) = csv {
        Tables::create(directory)?.of_points(platform, &points)?;
    }
    if json {
        let measured = |point: Point| {
            let channels = channels.then(|| ChannelUse::all(platform, &point.figures.channels));
            Measured { point, channels }
        };
        let sweep = Sweep {
            network: platform.into(),
            traffic: pattern.to_string(),
            warmup,
            cycles,
            runs,
            seed: spec.parameters().seed,
            points: points.into_iter().map(measured).collect(),
            warnings: platform.warnings.clone(),
            phit_hops,
            wall_seconds,
            cpu_seconds,
            phit_hops_per_second,
        };
        serde_json::to_writer(&mut *out, &sweep).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        for warning in &platform.warnings {
            writeln!(out, "warning: {warning}")?;
        }
        writeln!(out, "{:.1} million phit-hops a second of a processor's time", phit_hops_per_second / 1e6)?;
    }
    Ok(())
}

const HEADING: &str = "
 offered  injected  accepted          message latency   network   p95   p99      max   hops  use  most
               phits a cycle and host                                  cycles                channels";

fn row(point: &Point, out: &mut impl Write) -> std::io::Result<()> {
    let sure = |half_width: Option<f64>| half_width.map_or(String::new(), |half_width| format!("± {half_width:.2}"));
    let figures = &point.figures;
    let percentiles = figures.message_latency_percentiles;
    writeln!(
        out,
        "{:8.3}  {:8.4}  {:8.4} {:<9}{:9.2} {:<9} {:8.2} {:5} {:5} {:8}  {:5.2}  {:.2}  {:.2}",
        point.offered,
        figures.injected,
        figures.accepted,
        figures.accepted_ci99.map_or(String::new(), |half_width| format!("± {half_width:.4}")),
        figures.message_latency,
        sure(figures.message_latency_ci99),
        figures.network_latency,
        percentiles.p95,
        percentiles.p99,
        percentiles.max,
        figures.hops,
        figures.channel_use,
        figures.channel_use_max,
    )?;
    let Some(Burst { messages, cycles, cycles_ci99 }) = point.burst else { return Ok(()) };
    let sure = cycles_ci99.map_or(String::new(), |half_width| format!(" ± {half_width:.1}"));
    writeln!(out, "a burst of {messages} messages a host takes {cycles:.1}{sure} cycles")
}
