//! Statistics of a network under a load. Loads are in phits per cycle and host, latencies in cycles.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Delivery;
use super::spec::PacketSpec;
use super::usage::{ChannelUsage, Usage};
use crate::statistics::{Estimate, Histogram, Percentiles};
use crate::topology::{ChannelIndex, LinkId};

/// The observations of one run of a network over a number of cycles.
#[derive(Clone, Debug)]
pub struct Observation {
    /// Consecutive parts of the observed cycles.
    pub batches: Vec<Batch>,
    /// The latency of each message, from its offer until it was consumed, in cycles.
    pub latencies: Histogram,
    /// Counts of the packets that passed each channel.
    pub usage: Usage,
}

/// Counts of the packets and messages that arrived in a number of cycles, and the sums of their latencies in cycles.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)] // Named as in `Figures`.
pub struct Batch {
    pub cycles: u64,
    pub packets: u64,
    /// Phits by which these packets were shorter than others.
    pub missing_phits: u64,
    pub packet_latency: u64,
    pub messages: u64,
    pub message_latency: u64,
    pub network_latency: u64,
}

impl Batch {
    /// Counts an arrived message.
    pub(crate) fn count(&mut self, delivery: &Delivery) {
        self.messages += 1;
        self.message_latency += delivery.at - delivery.created;
        self.network_latency += delivery.at - delivery.injected;
    }

    fn merge(self, other: &Self) -> Self {
        Self {
            cycles: self.cycles + other.cycles,
            packets: self.packets + other.packets,
            missing_phits: self.missing_phits + other.missing_phits,
            packet_latency: self.packet_latency + other.packet_latency,
            messages: self.messages + other.messages,
            message_latency: self.message_latency + other.message_latency,
            network_latency: self.network_latency + other.network_latency,
        }
    }
}

impl Observation {
    /// The observations of the rails of a machine in the same cycles. Each rail has this number of links, and there is at least
    /// one rail. A part of a striped message counts as a message.
    pub(crate) fn of_rails(rails: &[Self], links: u32) -> Self {
        let all = rails.iter().map(Self::whole).fold(Batch::default(), |all, rail| all.merge(&rail));
        let cycles = rails.iter().map(|rail| rail.whole().cycles).max().unwrap_or_default();
        let mut latencies = Histogram::default();
        rails.iter().for_each(|rail| latencies.merge(&rail.latencies));
        let usage = Usage::of_rails(&rails.iter().map(|rail| &rail.usage).collect::<Vec<_>>(), links);
        Self { batches: vec![Batch { cycles, ..all }], latencies, usage }
    }

    fn whole(&self) -> Batch {
        self.batches.iter().fold(Batch::default(), Batch::merge)
    }
}

/// A summary of observations. An interval is half the width of the 99 % confidence interval; `None` if there is only
/// one sample.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Figures {
    /// Load that left the hosts, in phits a cycle and host.
    pub injected: f64,
    /// Load that reached the hosts, in phits a cycle and host.
    pub accepted: f64,
    /// Interval of [`accepted`](Self::accepted).
    pub accepted_ci99: Option<f64>,
    /// The mean number of cycles from the offer of a message until it is consumed.
    pub message_latency: f64,
    /// Interval of [`message_latency`](Self::message_latency).
    pub message_latency_ci99: Option<f64>,
    /// Percentiles of the latencies of messages, in cycles.
    pub message_latency_percentiles: Percentiles<u64>,
    /// Intervals of the percentiles of messages, if there are several runs.
    pub message_latency_percentiles_ci99: Percentiles<Option<f64>>,
    /// The mean number of cycles from the moment the first header of a message leaves its host until the message is
    /// consumed.
    pub network_latency: f64,
    /// Interval of [`network_latency`](Self::network_latency).
    pub network_latency_ci99: Option<f64>,
    /// The mean number of cycles from the moment the header of a packet leaves its host until its tail is consumed.
    pub packet_latency: f64,
    /// Interval of [`packet_latency`](Self::packet_latency).
    pub packet_latency_ci99: Option<f64>,
    /// Percentiles of the latencies of packets, in cycles.
    pub packet_latency_percentiles: Percentiles<u64>,
    /// Intervals of the percentiles of packets, if there are several runs.
    pub packet_latency_percentiles_ci99: Percentiles<Option<f64>>,
    /// The mean number of channels on the path of a packet.
    pub hops: f64,
    /// The number of packets that took 0, 1, … channels.
    pub hop_histogram: Vec<u64>,
    /// The mean number of packets in a queue, over all queues at the ends of channels.
    pub queue_occupancy: f64,
    /// The fraction of the time in which a link between routers was in use, by any of its channels: the mean over all links.
    pub link_use: f64,
    /// The fraction of the time in which the busiest link was in use.
    pub link_use_max: f64,
    /// The number of messages that arrived.
    pub messages: u64,
    /// Statistics of each virtual channel of each link.
    #[serde(skip)]
    pub channels: Vec<ChannelFigures>,
}

/// Statistics of a virtual channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelFigures {
    /// The link of the channel.
    pub link: LinkId,
    /// The number of the channel on its link.
    pub channel: ChannelIndex,
    /// The number of packets that the channel carried.
    pub packets: u64,
    /// The fraction of the time in which the channel used its link.
    pub utilization: f64,
    /// The mean number of packets in the queue at the end of the channel.
    pub occupancy: f64,
}

impl Figures {
    /// The statistics of `runs`: at least one run, each with at least one batch.
    #[must_use]
    pub fn of(spec: &PacketSpec, runs: &[Observation]) -> Self {
        let length = f64::from(spec.parameters().packet_phits);
        let hosts = spec.graph().hosts().len() as f64;
        // One sample a run, or one a batch of the only run.
        let samples: Vec<Batch> = match runs {
            [only] => only.batches.clone(),
            _ => runs.iter().map(Observation::whole).collect(),
        };
        let all = samples.iter().fold(Batch::default(), Batch::merge);
        let cycles = all.cycles.max(1) as f64;
        let mut latencies = Histogram::default();
        let mut usage = runs.first().map_or_else(Usage::default, |run| run.usage.empty());
        for run in runs {
            latencies.merge(&run.latencies);
            usage.add(&run.usage);
        }
        let estimate =
            |of: &dyn Fn(&Batch) -> Option<f64>| Estimate::of(&samples.iter().filter_map(of).collect::<Vec<_>>());
        let mean = |sum: u64, count: u64| (count > 0).then(|| sum as f64 / count as f64);
        let phits = |packets: u64, missing_phits: u64| packets as f64 * length - missing_phits as f64;
        let accepted = estimate(&|batch| {
            (batch.cycles > 0).then(|| phits(batch.packets, batch.missing_phits) / batch.cycles as f64 / hosts)
        });
        let percentiles = |of: &dyn Fn(&Observation) -> Percentiles<u64>| {
            let each: Vec<_> = runs.iter().map(of).collect();
            let interval = |which: fn(&Percentiles<u64>) -> u64| {
                Estimate::of(&each.iter().map(|run| which(run) as f64).collect::<Vec<_>>()).half_width
            };
            Percentiles {
                p50: interval(|of| of.p50),
                p95: interval(|of| of.p95),
                p99: interval(|of| of.p99),
                max: interval(|of| of.max),
            }
        };
        let used = |ChannelUsage { link, carried, .. }: ChannelUsage| {
            (carried.packets as f64 * spec.packet_cycles(link) - carried.missing_phits as f64) / cycles
        };
        let mut links: BTreeMap<LinkId, f64> = BTreeMap::new();
        usage.channels().for_each(|channel| *links.entry(channel.link).or_default() += used(channel));
        // A packet counts as a whole in the cycle in which it begins, although the last ones end after the observation.
        let uses = || links.values().map(|used| used.min(1.0));
        let queues = usage.channels().count().max(1) as f64;
        let channels = usage.channels().map(|channel| ChannelFigures {
            link: channel.link,
            channel: channel.channel,
            packets: channel.carried.packets,
            utilization: used(channel),
            occupancy: channel.stays as f64 / cycles,
        });
        Self {
            injected: phits(usage.injected.packets, usage.injected.missing_phits) / cycles / hosts,
            accepted: accepted.mean,
            accepted_ci99: accepted.half_width,
            message_latency: mean(all.message_latency, all.messages).unwrap_or(0.0),
            message_latency_ci99: estimate(&|batch| mean(batch.message_latency, batch.messages)).half_width,
            message_latency_percentiles: latencies.percentiles(),
            message_latency_percentiles_ci99: percentiles(&|run| run.latencies.percentiles()),
            network_latency: mean(all.network_latency, all.messages).unwrap_or(0.0),
            network_latency_ci99: estimate(&|batch| mean(batch.network_latency, batch.messages)).half_width,
            packet_latency: mean(all.packet_latency, all.packets).unwrap_or(0.0),
            packet_latency_ci99: estimate(&|batch| mean(batch.packet_latency, batch.packets)).half_width,
            packet_latency_percentiles: usage.latencies.percentiles(),
            packet_latency_percentiles_ci99: percentiles(&|run| run.usage.latencies.percentiles()),
            hops: usage.mean_hops(),
            hop_histogram: usage.hops.clone(),
            queue_occupancy: usage.channels().map(|channel| channel.stays).sum::<u64>() as f64 / cycles / queues,
            link_use: uses().fold(0.0, |sum, used| sum + used) / links.len().max(1) as f64,
            link_use_max: uses().fold(0.0, f64::max),
            messages: all.messages,
            channels: channels.collect(),
        }
    }
}
