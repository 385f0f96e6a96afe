//! A platform under synthetic traffic: curves of latency and throughput.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;
use titr_common::format::count;
use titr_network::Unreachable;
use titr_network::packet::PacketSpec;
use titr_network::topology::{HostId, Paths, RoutePeriod, Topology};
use titr_network::traffic::{
    Arrangement, Destinations, Injection, Loads, NoPattern, Pattern, Plan, Point, Sizes, measure_run, point,
};
use titr_platform::{Model, Platform};

use crate::cpu_time::{cpu_time, per_second};
use crate::parallel::Jobs;
use crate::result::{ChannelUse, NetworkName};

/// Synthetic traffic on a platform, measured at each of several loads.
#[derive(Clone, Debug)]
pub struct TrafficSweep {
    /// The destinations of each host's messages.
    pub pattern: Pattern,
    /// The sizes of messages.
    pub sizes: Sizes,
    /// The load of each point.
    pub demand: TrafficDemand,
    /// Cycles before the first that counts.
    pub warmup: u64,
    /// Cycles that count.
    pub cycles: u64,
    /// Runs of each point, which differ in their random choices.
    pub runs: u32,
    /// Whether the serialised result lists each virtual channel.
    pub channels: bool,
}

/// The load that the hosts offer.
#[derive(Clone, Debug)]
pub enum TrafficDemand {
    /// A point for each load.
    Loads(Loads),
    /// A single point: every host sends this many messages at once.
    Burst(u32),
}

/// An error of a measurement of traffic.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum TrafficError {
    #[error(transparent)]
    Pattern(#[from] NoPattern),
    #[error(
        "synthetic traffic is for the packet model: write model = \"packet\" under [network], or --set network.model=packet"
    )]
    NotPackets,
    #[error(transparent)]
    Message(#[from] Unreachable),
    #[error("synthetic traffic does not choose rails: leave network.rails out, or write --set network.rails.count=1")]
    Rails,
    #[error(
        "these measurements would take a processor some {} years: choose fewer cycles, loads or runs, or a smaller network",
        count(*.years)
    )]
    Endless { years: u64 },
}

/// The result of a sweep.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrafficResult {
    /// The network.
    pub network: NetworkName,
    /// The pattern.
    pub traffic: String,
    /// The number of cycles of each run before the measurement.
    pub warmup: u64,
    /// The number of measured cycles of each run.
    pub cycles: u64,
    /// Runs of each point.
    pub runs: u32,
    /// The seed of the first run.
    pub seed: u64,
    /// The points, by load.
    pub points: Vec<MeasuredPoint>,
    /// Sentences on properties of the platform that affect the result.
    pub warnings: Vec<String>,
    /// The phit-hops (phits times the channels that they took) of all points.
    pub phit_hops: u64,
    /// Time on the wall, in seconds.
    pub wall_seconds: f64,
    /// Time of a processor, in seconds.
    pub cpu_seconds: f64,
    /// Phit-hops per second of processor time.
    pub phit_hops_per_second: f64,
}

/// Phit-hops that a processor simulates in a second, to an order of magnitude.
const PHIT_HOPS_PER_SECOND: f64 = 1e8;
/// Pairs of hosts whose distance is taken for that of all.
const SAMPLED: u32 = 64;
const SECONDS_A_YEAR: f64 = 365.25 * 24.0 * 3600.0;

/// The part of the offered load that a network accepts at least, unless it is saturated.
const ACCEPTED: f64 = 0.95;

/// A point of a curve.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MeasuredPoint {
    /// The figures of this point.
    #[serde(flatten)]
    pub point: Point,
    /// Whether the network accepts less than 95 % of the offered load, by all of the 99 % confidence interval; of no use if no
    /// message arrived.
    pub saturated: bool,
    /// The use of each virtual channel, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<ChannelUse>>,
}

impl MeasuredPoint {
    /// Whether the network accepts too little by the mean of the runs, if not by the whole interval.
    #[must_use]
    pub fn is_perhaps_saturated(&self) -> bool {
        let Self { point, saturated, .. } = self;
        !saturated && point.burst.is_none() && point.figures.accepted < ACCEPTED * point.offered
    }
}

impl TrafficSweep {
    /// Prepares to measure this traffic on a platform.
    ///
    /// # Errors
    /// If the platform's network is not one of packets, if it has several rails, if its topology has no such pattern, if
    /// messages are too large, or if all would take longer than a year.
    pub fn on<'a>(&self, platform: &'a Platform) -> Result<PlatformTraffic<'a>, TrafficError> {
        let Model::Packet(spec) = &platform.model else { return Err(TrafficError::NotPackets) };
        if platform.topology.rails().count.get() > 1 {
            return Err(TrafficError::Rails);
        }
        spec.parameters().check_size(self.sizes.largest())?;
        let arrangement = Arrangement::of(spec.graph());
        let destinations = Destinations::new(self.pattern, platform.topology.hosts(), arrangement)?;
        let &Self { warmup, cycles, runs, .. } = self;
        let plan = Plan { destinations, sizes: self.sizes.clone(), warmup, cycles, runs };
        let processor_seconds = self.processor_seconds(&*platform.topology);
        let years = processor_seconds / SECONDS_A_YEAR;
        if years > 1.0 {
            return Err(TrafficError::Endless { years: years as u64 });
        }
        Ok(PlatformTraffic { platform, spec, plan, sweep: self.clone(), processor_seconds })
    }

    /// The time that all measurements take a processor, in seconds: an estimate to an order of magnitude.
    fn processor_seconds(&self, topology: &dyn Topology) -> f64 {
        let hosts = topology.hosts();
        let host = |number: u32| HostId(number.wrapping_mul(0x9e37_79b1) % hosts);
        let mut paths = Paths::default();
        let mut hops = |pair: u32| {
            paths.find(topology, RoutePeriod(0), (host(2 * pair), host(2 * pair + 1)));
            paths.parts().map(|(_, part)| part).sum::<f64>()
        };
        let hops = (0..SAMPLED).map(&mut hops).sum::<f64>() / f64::from(SAMPLED);
        let load = match &self.demand {
            TrafficDemand::Loads(loads) => loads.0.iter().sum(),
            TrafficDemand::Burst(_) => 1.0,
        };
        let cycles = (self.warmup + self.cycles) as f64 * f64::from(self.runs);
        f64::from(hosts) * load * cycles * hops / PHIT_HOPS_PER_SECOND
    }
}

/// Traffic that fits a platform.
pub struct PlatformTraffic<'a> {
    platform: &'a Platform,
    spec: &'a PacketSpec,
    plan: Plan,
    sweep: TrafficSweep,
    /// The time that all measurements take a processor: an estimate to an order of magnitude.
    pub processor_seconds: f64,
}

impl PlatformTraffic<'_> {
    /// The length of a cycle in seconds.
    #[must_use]
    pub fn cycle(&self) -> f64 {
        self.spec.cycle()
    }

    /// Measures all points, this many runs at a time. `each` receives every point, in order, as soon as it is measured.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn run<E: Send>(
        self,
        jobs: Jobs,
        mut each: impl FnMut(&MeasuredPoint) -> Result<(), E>,
    ) -> Result<TrafficResult, E> {
        let Self { platform, spec, plan, sweep, .. } = self;
        let network = NetworkName::from(platform);
        let start = Instant::now();
        let injections: Vec<Injection> = match &sweep.demand {
            TrafficDemand::Burst(messages) => vec![Injection::Burst(*messages)],
            TrafficDemand::Loads(loads) => loads.0.iter().map(|&load| Injection::Load(load)).collect(),
        };
        let of_a_point = plan.runs as usize;
        let mut points = Vec::with_capacity(injections.len());
        let (mut runs, mut cpu) = (Vec::with_capacity(of_a_point), Duration::ZERO);
        let measure = |number: usize| {
            let start = cpu_time();
            let run = measure_run(spec, &plan, injections[number / of_a_point], (number % of_a_point) as u32);
            Ok((run, cpu_time().saturating_sub(start)))
        };
        let take = |(run, time)| {
            cpu += time;
            runs.push(run);
            if runs.len() < of_a_point {
                return Ok(());
            }
            let point = point(spec, injections[points.len()], std::mem::take(&mut runs));
            let channels = sweep.channels.then(|| network.named(&point.figures.channels));
            let most = point.figures.accepted + point.figures.accepted_ci99.unwrap_or(0.0);
            let saturated = point.burst.is_none() && point.figures.messages > 0 && most < ACCEPTED * point.offered;
            let point = MeasuredPoint { point, saturated, channels };
            each(&point)?;
            points.push(point);
            Ok(())
        };
        jobs.in_order(|| Ok(()), injections.len() * of_a_point, measure, take)?;
        let phit_hops: u64 = points.iter().map(|measured| measured.point.phit_hops).sum();
        Ok(TrafficResult {
            network,
            traffic: sweep.pattern.to_string(),
            warmup: sweep.warmup,
            cycles: sweep.cycles,
            runs: sweep.runs,
            seed: spec.parameters().seed,
            points,
            warnings: platform.warnings.clone(),
            phit_hops,
            wall_seconds: start.elapsed().as_secs_f64(),
            cpu_seconds: cpu.as_secs_f64(),
            phit_hops_per_second: per_second(phit_hops as f64, cpu),
        })
    }
}
