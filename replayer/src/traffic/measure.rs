//! One point of a curve: traffic at one load, warmed up and measured.

use serde::Serialize;

use super::histogram::Histogram;
use super::pattern::Destinations;
use super::size::Sizes;
use super::source::{OpenLoop, generator};
use super::statistics::Estimate;
use crate::network::packet::{Delivery, Design, Engine, Message, Usage};

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Who sends to whom.
    pub destinations: Destinations,
    /// How much.
    pub sizes: Sizes,
    /// Cycles before the first that counts.
    pub warmup: u64,
    /// Cycles that count: at least 1.
    pub cycles: u64,
    /// Runs with different chance: at least 1.
    pub runs: u32,
}

/// A point of the curve. Loads are phits a cycle and host, latencies cycles.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Load that hosts were to offer.
    pub offered: f64,
    /// Load that left the hosts.
    pub injected: f64,
    /// Load that reached them.
    pub accepted: f64,
    /// Half the width of its 99 % confidence interval.
    pub accepted_ci99: Option<f64>,
    /// From the offer of a message until it is consumed, in the mean.
    pub message_latency: f64,
    /// Likewise.
    pub message_latency_ci99: Option<f64>,
    /// From when its first header leaves the host.
    pub network_latency: f64,
    /// Likewise.
    pub network_latency_ci99: Option<f64>,
    /// From their offer.
    pub message_latency_percentiles: Percentiles,
    /// Channels that a packet takes in the mean.
    pub hops: f64,
    /// Packets that took 0, 1, … channels.
    pub hop_histogram: Vec<u64>,
    /// Packets in a queue in the mean, over all queues at the ends of channels.
    pub queue_occupancy: f64,
    /// Part of its time that a channel of the fabric was used: over all, and of the one most used.
    pub channel_use: f64,
    /// Likewise.
    pub channel_use_max: f64,
    /// Messages that arrived in the cycles that count.
    pub messages: u64,
    /// Phits times channels that they took, in all runs and with the warm-up.
    pub phit_hops: u64,
}

/// Percentiles of a latency, in cycles.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Percentiles {
    /// Of half of the messages at most.
    pub p50: u64,
    /// Of 95 %.
    pub p95: u64,
    /// Of 99 %.
    pub p99: u64,
    /// Of all.
    pub max: u64,
}

/// Parts of a run for confidence intervals where there is one run.
const BATCHES: u64 = 10;

/// What arrived in a batch of cycles.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    cycles: u64,
    packets: u64,
    messages: u64,
    message_latency: u64,
    network_latency: u64,
}

impl Batch {
    /// One of so many parts of `cycles`.
    fn new(number: u64, cycles: u64) -> Self {
        // Cycle c counts in batch ⌊c·BATCHES / cycles⌋, so that a batch begins where that becomes its number.
        let first = |number: u64| (u128::from(number) * u128::from(cycles)).div_ceil(BATCHES.into()) as u64;
        Self { cycles: first(number + 1) - first(number), ..Self::default() }
    }

    fn merge(self, other: &Self) -> Self {
        Self {
            cycles: self.cycles + other.cycles,
            packets: self.packets + other.packets,
            messages: self.messages + other.messages,
            message_latency: self.message_latency + other.message_latency,
            network_latency: self.network_latency + other.network_latency,
        }
    }
}

/// What was seen in a run.
struct Run {
    warmup: u64,
    cycles: u64,
    batches: Vec<Batch>,
    latencies: Histogram,
    /// What was used where, in the cycles that count.
    usage: Usage,
    /// Channels that packets took in all.
    packet_hops: u64,
}

impl Run {
    /// The batch that a cycle counts in.
    fn batch(&mut self, cycle: u64) -> Option<&mut Batch> {
        let counted = cycle.checked_sub(self.warmup)?;
        self.batches.get_mut((counted.saturating_mul(BATCHES) / self.cycles) as usize)
    }

    fn count(&mut self, delivery: &Delivery) {
        let latency = delivery.at - delivery.created;
        let Some(batch) = self.batch(delivery.at) else { return };
        batch.messages += 1;
        batch.message_latency += latency;
        batch.network_latency += delivery.at - delivery.injected;
        self.latencies.add(latency);
    }
}

/// Measures what comes of hosts offering `load`, above 0.
#[must_use]
pub fn measure(design: &Design, plan: &Plan, load: f64) -> Point {
    let runs: Vec<Run> = (0..plan.runs).map(|number| run(design, plan, load, number)).collect();
    summary(design, load, &runs)
}

fn run(design: &Design, plan: &Plan, load: f64, number: u32) -> Run {
    let parameters = design.parameters();
    let hosts = design.fabric().sockets.len() as u32;
    let mut random = generator(parameters.seed, number);
    let message_phits = plan.sizes.mean_packets(parameters) * f64::from(parameters.packet_phits);
    let mut offers = OpenLoop::new(hosts, (load / message_phits).min(1.0), &mut random);

    let (warmup, cycles) = (plan.warmup, plan.cycles);
    let mut engine = Engine::new(design);
    let (mut before, mut warm, mut consumed) = (engine.usage().clone(), false, 0);
    let mut run = Run {
        warmup,
        cycles,
        batches: (0..BATCHES).map(|batch| Batch::new(batch, cycles)).collect(),
        latencies: Histogram::default(),
        usage: before.clone(),
        packet_hops: 0,
    };
    let mut delivered = Vec::new();
    loop {
        let now = engine.next_cycle().map_or(offers.next().0, |cycle| cycle.min(offers.next().0));
        if !warm && now >= warmup {
            (before, warm) = (engine.usage().clone(), true);
        }
        if now >= warmup.saturating_add(cycles) {
            run.usage = engine.usage().since(&before);
            run.packet_hops = engine.usage().packet_hops();
            return run;
        }
        while offers.next().0 == now {
            let from = offers.next().1;
            offers.go_on(&mut random);
            let packets = parameters.packets(plan.sizes.draw(&mut random));
            if let Some(to) = plan.destinations.draw(from, &mut random) {
                engine.offer(now, Message { tag: 0, from, to, packets });
            }
        }
        engine.advance(now, &mut delivered);
        let all_consumed = engine.usage().consumed();
        if let Some(batch) = run.batch(now) {
            batch.packets += all_consumed - consumed;
        }
        consumed = all_consumed;
        for delivery in delivered.drain(..) {
            run.count(&delivery);
        }
    }
}

/// Puts together what runs have seen.
fn summary(design: &Design, offered: f64, runs: &[Run]) -> Point {
    let length = f64::from(design.parameters().packet_phits);
    let hosts = design.fabric().sockets.len() as f64;
    let cycles: f64 = runs.iter().map(|run| run.cycles as f64).sum();
    let (mut latencies, mut usage) = (Histogram::default(), runs[0].usage.empty());
    for run in runs {
        latencies.merge(&run.latencies);
        usage.add(&run.usage);
    }
    // One sample a run, or one a batch of the only run.
    let samples: Vec<Batch> = match runs {
        [only] => only.batches.clone(),
        _ => runs.iter().map(|run| run.batches.iter().fold(Batch::default(), Batch::merge)).collect(),
    };
    let estimate =
        |of: &dyn Fn(&Batch) -> Option<f64>| Estimate::of(&samples.iter().filter_map(of).collect::<Vec<_>>());
    let accepted = estimate(&|batch| Some(batch.packets as f64 * length / batch.cycles as f64 / hosts));
    let mean = |sum: u64, batch: &Batch| (batch.messages > 0).then(|| sum as f64 / batch.messages as f64);
    let message_latency = estimate(&|batch| mean(batch.message_latency, batch));
    let network_latency = estimate(&|batch| mean(batch.network_latency, batch));
    let all = samples.iter().fold(Batch::default(), Batch::merge);
    let uses = usage.channels().map(|(carried, _)| carried as f64 * length / cycles);
    Point {
        offered,
        injected: usage.injected() as f64 * length / cycles / hosts,
        accepted: accepted.mean,
        accepted_ci99: accepted.half_width,
        message_latency: mean(all.message_latency, &all).unwrap_or(0.0),
        message_latency_ci99: message_latency.half_width,
        network_latency: mean(all.network_latency, &all).unwrap_or(0.0),
        network_latency_ci99: network_latency.half_width,
        message_latency_percentiles: Percentiles {
            p50: latencies.quantile(0.5),
            p95: latencies.quantile(0.95),
            p99: latencies.quantile(0.99),
            max: latencies.greatest(),
        },
        hops: usage.mean_hops(),
        hop_histogram: usage.hops().to_vec(),
        queue_occupancy: usage.channels().map(|(_, stays)| stays as f64).sum::<f64>()
            / cycles
            / usage.channels().count().max(1) as f64,
        channel_use: uses.clone().sum::<f64>() / usage.channels().count().max(1) as f64,
        channel_use_max: uses.fold(0.0, f64::max),
        messages: all.messages,
        phit_hops: runs.iter().map(|run| run.packet_hops).sum::<u64>() * u64::from(design.parameters().packet_phits),
    }
}
