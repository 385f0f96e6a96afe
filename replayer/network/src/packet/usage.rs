//! Counts of the packets that passed each channel.

use super::ids::QueueId;
use crate::statistics::Histogram;
use crate::topology::{ChannelIndex, LinkId};

/// Counts of packets. Queues are numbered as [`Layout`](super::layout::Layout) does; a queue stands for the channel that
/// leads to it, or for its host.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// By queue.
    queues: Vec<QueueUsage>,
    /// Packets consumed, by the number of channels that they took.
    hops: Vec<u64>,
    injected: u64,
    consumed: u64,
    packet_hops: u64,
    /// From when each packet left its host until it was consumed, in cycles.
    latencies: Histogram,
    latency: u64,
}

/// The virtual channel of a link that leads to a queue.
pub(super) type Channel = (LinkId, ChannelIndex);

/// Counts of the packets that passed over a virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelUsage {
    /// The link that it shares.
    pub link: LinkId,
    /// Its number there.
    pub channel: ChannelIndex,
    /// Packets that it carried.
    pub packets: u64,
    /// Cycles that they were in the queue at its end, in all.
    pub stays: u64,
}

#[derive(Clone, Copy, Debug)]
struct QueueUsage {
    /// The channel that it is at the end of, if it is no host's.
    channel: Option<Channel>,
    /// Packets that went to it.
    packets: u64,
    /// Cycles from header to tail of each that left it, in all.
    stays: u64,
}

impl Usage {
    pub(super) fn new(channels: impl Iterator<Item = Option<Channel>>) -> Self {
        let queues = channels.map(|channel| QueueUsage { channel, packets: 0, stays: 0 }).collect();
        Self {
            queues,
            hops: Vec::new(),
            injected: 0,
            consumed: 0,
            packet_hops: 0,
            latencies: Histogram::default(),
            latency: 0,
        }
    }

    /// A packet starts over the channel to a queue.
    pub(super) fn carry(&mut self, queue: QueueId) {
        self.queues[queue.index()].packets += 1;
        self.packet_hops += 1;
    }

    /// A packet starts to leave a queue, in which it will have been for so long.
    pub(super) fn leave(&mut self, queue: QueueId, cycles: u64) {
        let queue = &mut self.queues[queue.index()];
        queue.stays += cycles;
        self.injected += u64::from(queue.channel.is_none());
    }

    /// A packet is consumed, so many cycles after it left its host.
    pub(super) fn consume(&mut self, hops: u32, latency: u64) {
        self.consumed += 1;
        self.latency += latency;
        self.latencies.add(latency);
        let hops = hops as usize;
        if self.hops.len() <= hops {
            self.hops.resize(hops + 1, 0);
        }
        self.hops[hops] += 1;
    }

    /// Packets that left their host.
    #[must_use]
    pub fn injected(&self) -> u64 {
        self.injected
    }

    /// Packets that reached the host that they were sent to.
    #[must_use]
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Channels that packets took, in all.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    /// Packets that took 0, 1, … channels.
    #[must_use]
    pub fn hops(&self) -> &[u64] {
        &self.hops
    }

    /// Channels that a packet took in the mean.
    #[must_use]
    pub fn mean_hops(&self) -> f64 {
        let sum: f64 = (0_u32..).zip(&self.hops).map(|(hops, &packets)| f64::from(hops) * packets as f64).sum();
        sum / self.consumed.max(1) as f64
    }

    /// Cycles from when each packet left its host until it was consumed.
    #[must_use]
    pub fn latencies(&self) -> &Histogram {
        &self.latencies
    }

    /// The sum of the [latencies](Self::latencies) of packets.
    #[must_use]
    pub fn latency(&self) -> u64 {
        self.latency
    }

    /// Counts for each virtual channel of each link.
    pub fn channels(&self) -> impl Iterator<Item = ChannelUsage> + Clone {
        self.queues.iter().filter_map(|&QueueUsage { channel, packets, stays }| {
            channel.map(|(link, channel)| ChannelUsage { link, channel, packets, stays })
        })
    }

    /// The counts of the same network before anything passes.
    #[must_use]
    pub fn empty(&self) -> Self {
        Self::new(self.queues.iter().map(|queue| queue.channel))
    }

    /// Adds the counts of another run of the same network.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.queues.iter_mut().zip(&other.queues) {
            mine.packets += theirs.packets;
            mine.stays += theirs.stays;
        }
        self.hops.resize(self.hops.len().max(other.hops.len()), 0);
        self.hops.iter_mut().zip(&other.hops).for_each(|(mine, theirs)| *mine += theirs);
        self.injected += other.injected;
        self.consumed += other.consumed;
        self.packet_hops += other.packet_hops;
        self.latencies.merge(&other.latencies);
        self.latency += other.latency;
    }
}
