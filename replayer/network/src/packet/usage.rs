//! Counts of the packets that passed each channel.

use std::sync::Arc;

use super::layout::{InputQueue, Layout, Source};
use super::{OutputId, QueueId};
use crate::statistics::Histogram;
use crate::topology::{ChannelIndex, LinkId, RouterGraph};

/// Counts of packets.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// For each queue, numbered as in [`Layout`], the channel that ends there, unless it belongs to a host.
    channels: Arc<[Option<Channel>]>,
    /// For each queue, the total cycles from header to tail of the packets that left it.
    stays: Vec<u64>,
    /// Packets that each virtual channel carried, port by port.
    carried: Vec<u64>,
    /// For each of these, the phits by which packets were shorter than others; empty if none was.
    missing: Vec<u64>,
    /// The same of all packets that were carried, injected and consumed.
    missing_phits: MissingPhits,
    virtual_channels: u32,
    /// Packets consumed, by the number of channels that they took.
    hops: Vec<u64>,
    injected: u64,
    consumed: u64,
    packet_hops: u64,
    /// Cycles from each packet's departure from its host until its consumption.
    latencies: Histogram,
    latency: u64,
}

/// A virtual channel of a link.
#[derive(Clone, Copy, Debug)]
struct Channel {
    link: LinkId,
    channel: ChannelIndex,
    /// Its index among all ports.
    place: u32,
}

/// Phits by which packets were shorter than others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MissingPhits {
    /// Over all channels that the packets took.
    pub carried: u64,
    pub injected: u64,
    pub consumed: u64,
}

/// A number of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCount {
    /// The number.
    pub packets: u64,
    /// The phits that they have fewer than as many of full length.
    pub missing_phits: u64,
}

impl PacketCount {
    /// Counts a packet that is shorter than others by some phits.
    pub(super) fn add(&mut self, missing_phits: u64) {
        self.packets += 1;
        self.missing_phits += missing_phits;
    }

    /// The phits of all, where a packet of full length has this number.
    pub(crate) fn phits(self, length: u32) -> u64 {
        self.packets * u64::from(length) - self.missing_phits
    }
}

/// Counts of the packets that passed over a virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChannelUsage {
    /// The link that it shares.
    pub link: LinkId,
    /// Its number there.
    pub channel: ChannelIndex,
    /// Packets that it carried.
    pub carried: PacketCount,
    /// Cycles that they were in the queue at its end, in all.
    pub stays: u64,
}

impl Usage {
    pub(super) fn new(layout: &Layout, graph: &RouterGraph, virtual_channels: u32) -> Self {
        let channel = |state: &InputQueue| {
            let Source::Channel { output, vc } = state.source() else { return None };
            let (link, channel) = layout.link(state.source(), graph)?;
            Some(Channel { link, channel, place: output.0 * virtual_channels + vc.channel.0 })
        };
        let channels = layout.queues.iter().map(channel).collect();
        Self::of(channels, virtual_channels, layout.outputs.len() * virtual_channels as usize)
    }

    fn of(channels: Arc<[Option<Channel>]>, virtual_channels: u32, places: usize) -> Self {
        Self {
            stays: vec![0; channels.len()],
            carried: vec![0; places],
            missing: Vec::new(),
            missing_phits: MissingPhits::default(),
            channels,
            virtual_channels,
            hops: Vec::new(),
            injected: 0,
            consumed: 0,
            packet_hops: 0,
            latencies: Histogram::default(),
            latency: 0,
        }
    }

    /// A packet starts over a virtual channel of a port.
    pub(super) fn carry(&mut self, output: OutputId, channel: ChannelIndex) {
        self.carried[(output.0 * self.virtual_channels + channel.0) as usize] += 1;
        self.packet_hops += 1;
    }

    /// A packet that starts over a virtual channel is shorter than others by some phits.
    pub(super) fn carry_shorter(&mut self, output: OutputId, channel: ChannelIndex, missing_phits: u64) {
        if missing_phits > 0 {
            self.missing.resize(self.carried.len(), 0);
            self.missing[(output.0 * self.virtual_channels + channel.0) as usize] += missing_phits;
            self.missing_phits.carried += missing_phits;
        }
    }

    /// A packet starts to leave a queue, in which it will have been for so long.
    pub(super) fn leave(&mut self, queue: QueueId, cycles: u64) {
        self.stays[queue.index()] += cycles;
    }

    /// A packet leaves its host that is shorter than others by some phits.
    pub(super) fn inject(&mut self, missing_phits: u64) {
        self.injected += 1;
        self.missing_phits.injected += missing_phits;
    }

    /// A packet that is consumed is shorter than others by some phits.
    pub(super) fn consume_shorter(&mut self, missing_phits: u64) {
        self.missing_phits.consumed += missing_phits;
    }

    /// Loads where a packet is counted that leaves a queue by a port.
    #[inline]
    pub(super) fn peek(&self, queue: QueueId, output: OutputId) -> u32 {
        (self.stays[queue.index()] ^ self.carried[(output.0 * self.virtual_channels) as usize]) as u32
    }

    /// A packet is consumed, `latency` cycles after it left its host.
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

    /// Phits by which packets were shorter than others.
    pub(super) fn missing_phits(&self) -> MissingPhits {
        self.missing_phits
    }

    /// Packets that left their host.
    pub(crate) fn injected(&self) -> u64 {
        self.injected
    }

    /// Packets that reached the host that they were sent to.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Channels that packets took, in all.
    pub(crate) fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    /// Packets that took 0, 1, … channels.
    pub(crate) fn hops(&self) -> &[u64] {
        &self.hops
    }

    /// Channels that a packet took in the mean.
    pub(crate) fn mean_hops(&self) -> f64 {
        let sum: u64 = (0..).zip(&self.hops).map(|(hops, packets)| hops * packets).sum();
        sum as f64 / self.consumed.max(1) as f64
    }

    /// Cycles from when each packet left its host until it was consumed.
    pub(crate) fn latencies(&self) -> &Histogram {
        &self.latencies
    }

    /// The sum of the [latencies](Self::latencies) of packets.
    pub(crate) fn latency(&self) -> u64 {
        self.latency
    }

    /// Counts for each virtual channel of each link.
    pub(crate) fn channels(&self) -> impl Iterator<Item = ChannelUsage> + Clone {
        self.channels.iter().zip(&self.stays).filter_map(|(channel, &stays)| {
            let &Channel { link, channel, place } = channel.as_ref()?;
            let missing_phits = self.missing.get(place as usize).copied().unwrap_or(0);
            let carried = PacketCount { packets: self.carried[place as usize], missing_phits };
            Some(ChannelUsage { link, channel, carried, stays })
        })
    }

    /// The counts of the same network before anything passes.
    pub(crate) fn empty(&self) -> Self {
        Self::of(Arc::clone(&self.channels), self.virtual_channels, self.carried.len())
    }

    /// The counts of copies of a network with this number of links. Their links are numbered copy by copy.
    pub(crate) fn of_rails(rails: &[&Self], links: u32) -> Self {
        let mut channels = Vec::new();
        let (mut first_link, mut first_place) = (0, 0);
        for rail in rails {
            let shifted = |Channel { link, channel, place }: Channel| Channel {
                link: LinkId(first_link + link.0),
                channel,
                place: first_place + place,
            };
            channels.extend(rail.channels.iter().map(|channel| channel.map(shifted)));
            first_link += links;
            first_place += rail.carried.len() as u32;
        }
        let mut all = Self {
            channels: channels.into(),
            stays: rails.iter().flat_map(|rail| rail.stays.iter().copied()).collect(),
            carried: rails.iter().flat_map(|rail| rail.carried.iter().copied()).collect(),
            missing: rails
                .iter()
                .flat_map(|rail| (0..rail.carried.len()).map(|at| rail.missing.get(at).copied().unwrap_or(0)))
                .collect(),
            virtual_channels: rails.first().map_or(0, |rail| rail.virtual_channels),
            ..Self::default()
        };
        rails.iter().for_each(|rail| all.add_sums(rail));
        all
    }

    /// Adds the counts of another run of the same network.
    pub(crate) fn add(&mut self, other: &Self) {
        self.carried.iter_mut().zip(&other.carried).for_each(|(mine, theirs)| *mine += theirs);
        self.missing.resize(self.missing.len().max(other.missing.len()), 0);
        self.missing.iter_mut().zip(&other.missing).for_each(|(mine, theirs)| *mine += theirs);
        self.stays.iter_mut().zip(&other.stays).for_each(|(mine, theirs)| *mine += theirs);
        self.add_sums(other);
    }

    /// Adds the counts that are of no single channel.
    fn add_sums(&mut self, other: &Self) {
        self.hops.resize(self.hops.len().max(other.hops.len()), 0);
        self.hops.iter_mut().zip(&other.hops).for_each(|(mine, theirs)| *mine += theirs);
        self.injected += other.injected;
        self.consumed += other.consumed;
        self.packet_hops += other.packet_hops;
        self.missing_phits.carried += other.missing_phits.carried;
        self.missing_phits.injected += other.missing_phits.injected;
        self.missing_phits.consumed += other.missing_phits.consumed;
        self.latencies.merge(&other.latencies);
        self.latency += other.latency;
    }
}
