//! One point of a curve: traffic at one load, warmed up and measured.

use schemars::JsonSchema;
use serde::Serialize;

use super::pattern::Destinations;
use super::size::Sizes;
use super::source::{Bursts, Offers, OpenLoop, generator};
use crate::packet::{self, Batch, Delivery, Figures, Message, Observation, PacketSpec};
use crate::statistics::{Estimate, Histogram};
use crate::topology::{HostId, RoutePeriod};

/// A measurement: the traffic, and how long it lasts.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The hosts that hosts send to.
    pub destinations: Destinations,
    /// The sizes of messages.
    pub sizes: Sizes,
    /// Cycles before the first that counts.
    pub warmup: u64,
    /// Cycles that count: at least 1.
    pub cycles: u64,
    /// Runs with different chance: at least 1.
    pub runs: u32,
}

/// The load that hosts inject.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Injection {
    /// This many phits per cycle on average, above 0 and up to 1, regardless of how many are accepted.
    Load(f64),
    /// This many messages at once, and again when all hosts' messages have arrived.
    Burst(u32),
}

/// A point of the curve.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Point {
    /// The load that hosts were to offer, in phits per cycle and host; in bursts, as much as the network accepts.
    pub offered: f64,
    /// The results of bursts, if hosts sent in bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
    /// The figures of the network under that load.
    #[serde(flatten)]
    pub figures: Figures,
    /// The phit-hops (phits times the channels that they took) of all runs, including the warm-up.
    pub phit_hops: u64,
}

/// The results of bursts.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Burst {
    /// The number of messages that each host sends in a burst.
    pub messages: u32,
    /// The mean number of cycles until all messages of a burst have arrived.
    pub cycles: f64,
    /// Half the width of the 99 % confidence interval of [`cycles`](Self::cycles).
    pub cycles_ci99: Option<f64>,
}

/// Parts of a run for confidence intervals where there is one run.
const BATCHES: u64 = 10;

/// The empty batch `number` of those that `cycles` are divided into.
fn batch(number: u64, cycles: u64) -> Batch {
    // Cycle c counts in batch ⌊c·BATCHES / cycles⌋, so that a batch begins where that becomes its number.
    let first = |number: u64| (u128::from(number) * u128::from(cycles)).div_ceil(BATCHES.into()) as u64;
    Batch { cycles: first(number + 1) - first(number), ..Batch::default() }
}

/// The observations of one of the runs that a point is measured in.
pub struct MeasuredRun {
    warmup: u64,
    cycles: u64,
    /// Observations in the cycles that count.
    seen: Observation,
    /// Channels that packets took before.
    warmup_hops: u64,
    /// The duration of each burst, in cycles.
    bursts: Vec<f64>,
}

impl MeasuredRun {
    /// The batch that a cycle counts in.
    fn batch(&mut self, cycle: u64) -> Option<&mut Batch> {
        let counted = cycle.checked_sub(self.warmup)?;
        self.seen.batches.get_mut((counted.saturating_mul(BATCHES) / self.cycles) as usize)
    }

    fn count(&mut self, delivery: &Delivery) {
        let Some(batch) = self.batch(delivery.at) else { return };
        batch.count(delivery);
        self.seen.latencies.add(delivery.at - delivery.created);
    }
}

/// Measures a network under synthetic traffic, in one run after the other.
#[must_use]
pub fn measure(spec: &PacketSpec, plan: &Plan, injection: Injection) -> Point {
    point(spec, injection, (0..plan.runs).map(|number| measure_run(spec, plan, injection, number)).collect())
}

/// The point that all runs of a measurement make, in the order of their numbers.
#[must_use]
pub fn point(spec: &PacketSpec, injection: Injection, runs: Vec<MeasuredRun>) -> Point {
    let (offered, burst) = match injection {
        Injection::Load(load) => (load, None),
        Injection::Burst(messages) => {
            // The bursts of a run are as independent as runs are: they begin with an empty network.
            let cycles = Estimate::of(&runs.iter().flat_map(|run| run.bursts.iter().copied()).collect::<Vec<_>>());
            (1.0, Some(Burst { messages, cycles: cycles.mean, cycles_ci99: cycles.half_width }))
        }
    };
    let packet_hops: u64 = runs.iter().map(|run| run.warmup_hops + run.seen.usage.carried.packets).sum();
    let observations: Vec<_> = runs.into_iter().map(|run| run.seen).collect();
    Point {
        offered,
        burst,
        figures: Figures::of(spec, &observations),
        phit_hops: packet_hops * u64::from(spec.parameters().packet_phits),
    }
}

/// Measures a network under synthetic traffic in one run; the number of the run determines the random choices.
#[must_use]
pub fn measure_run(spec: &PacketSpec, plan: &Plan, injection: Injection, number: u32) -> MeasuredRun {
    let parameters = spec.parameters();
    let hosts = spec.graph().hosts().len() as u32;
    let mut random = generator(parameters.seed, number);
    let message_phits = plan.sizes.mean_packets(parameters) * f64::from(parameters.packet_phits);
    let mut offers = match injection {
        Injection::Load(load) => Offers::Steady(OpenLoop::new(hosts, (load / message_phits).min(1.0), &mut random)),
        Injection::Burst(messages) => Offers::Bursts(Bursts::new(hosts, messages)),
    };

    let (warmup, cycles) = (plan.warmup, plan.cycles);
    let mut engine = packet::engine(spec);
    let batches = (0..BATCHES).map(|number| batch(number, cycles)).collect();
    let seen = Observation { batches, latencies: Histogram::default(), usage: engine.usage().empty() };
    let mut run = MeasuredRun { warmup, cycles, seen, warmup_hops: 0, bursts: Vec::new() };
    let (mut warm, mut consumed) = (false, (0, 0));
    let mut delivered = Vec::new();
    loop {
        // If no host has a destination, nothing ever happens.
        let next = [engine.next_cycle(), offers.next()].into_iter().flatten().min();
        let now = next.unwrap_or(u64::MAX);
        if !warm && now >= warmup {
            run.warmup_hops = engine.take_usage().carried.packets;
            (warm, consumed) = (true, (0, 0));
        }
        if now >= warmup.saturating_add(cycles) {
            run.seen.usage = engine.take_usage();
            if let Offers::Bursts(bursts) = offers {
                let counted = bursts.over.into_iter().filter(|&(at, _)| at >= warmup);
                run.bursts = counted.map(|(_, cycles)| cycles as f64).collect();
            }
            return run;
        }
        offers.take(now, &mut random, |from, random| {
            let packets = parameters.packets(plan.sizes.draw(random));
            if let Some(to) = plan.destinations.draw(from, random) {
                let (from, to, period) = (HostId(from), HostId(to), RoutePeriod::default());
                engine.offer(now, Message { tag: 0, from, to, packets, last_phits: None, connection: None, period });
            }
        });
        engine.advance(now, &mut delivered);
        if engine.next_cycle().is_none() {
            offers.drained(now);
        }
        let usage = engine.usage();
        let before = std::mem::replace(&mut consumed, (usage.consumed.packets, usage.latency));
        if let Some(batch) = run.batch(now) {
            batch.packets += consumed.0 - before.0;
            batch.packet_latency += consumed.1 - before.1;
        }
        for delivery in delivered.drain(..) {
            run.count(&delivery);
        }
    }
}
