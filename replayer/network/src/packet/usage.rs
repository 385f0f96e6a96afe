//! Counts of the packets that passed each channel.

use std::ops::AddAssign;
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
    by_channel: Vec<u64>,
    /// For each of these, the phits by which packets were shorter than others; empty if none was.
    missing: Vec<u64>,
    virtual_channels: u32,
    /// Packets over all channels that they took.
    pub(crate) carried: PacketCount,
    /// Packets that left their host.
    pub(super) injected: PacketCount,
    /// Packets that reached the host that they were sent to.
    pub(crate) consumed: PacketCount,
    /// Packets consumed, by the number of channels that they took.
    pub(super) hops: Vec<u64>,
    /// Cycles from each packet's departure from its host until its consumption.
    pub(super) latencies: Histogram,
    /// The sum of these.
    pub(crate) latency: u64,
}

/// A virtual channel of a link.
#[derive(Clone, Copy, Debug)]
struct Channel {
    link: LinkId,
    channel: ChannelIndex,
    /// Its index among all ports.
    place: u32,
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
    #[inline]
    pub(super) fn add(&mut self, missing_phits: u64) {
        self.packets += 1;
        self.missing_phits += missing_phits;
    }

    /// The phits of all, where a packet of full length has this number.
    pub(crate) fn phits(self, length: u32) -> u64 {
        self.packets * u64::from(length) - self.missing_phits
    }
}

impl AddAssign for PacketCount {
    fn add_assign(&mut self, more: Self) {
        self.packets += more.packets;
        self.missing_phits += more.missing_phits;
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
            by_channel: vec![0; places],
            channels,
            virtual_channels,
            ..Self::default()
        }
    }

    /// A packet that is shorter than others by some phits starts over a virtual channel of a port.
    #[inline]
    pub(super) fn carry(&mut self, output: OutputId, channel: ChannelIndex, missing_phits: u64) {
        let place = (output.0 * self.virtual_channels + channel.0) as usize;
        self.by_channel[place] += 1;
        self.carried.add(missing_phits);
        if missing_phits > 0 {
            self.missing.resize(self.by_channel.len(), 0);
            self.missing[place] += missing_phits;
        }
    }

    /// A packet starts to leave a queue, in which it will have been for so long.
    pub(super) fn leave(&mut self, queue: QueueId, cycles: u64) {
        self.stays[queue.index()] += cycles;
    }

    /// Loads where a packet is counted that leaves a queue by a port.
    #[inline]
    pub(super) fn peek(&self, queue: QueueId, output: OutputId) -> u32 {
        (self.stays[queue.index()] ^ self.by_channel[(output.0 * self.virtual_channels) as usize]) as u32
    }

    /// A packet that is shorter than others by some phits is consumed, `latency` cycles after it left its host.
    pub(super) fn consume(&mut self, hops: u32, latency: u64, missing_phits: u64) {
        self.consumed.add(missing_phits);
        self.latency += latency;
        self.latencies.add(latency);
        let hops = hops as usize;
        if self.hops.len() <= hops {
            self.hops.resize(hops + 1, 0);
        }
        self.hops[hops] += 1;
    }

    /// Channels that a packet took in the mean.
    pub(crate) fn mean_hops(&self) -> f64 {
        let sum: u64 = (0..).zip(&self.hops).map(|(hops, packets)| hops * packets).sum();
        sum as f64 / self.consumed.packets.max(1) as f64
    }

    /// Counts for each virtual channel of each link.
    pub(crate) fn channels(&self) -> impl Iterator<Item = ChannelUsage> + Clone {
        self.channels.iter().zip(&self.stays).filter_map(|(channel, &stays)| {
            let &Channel { link, channel, place } = channel.as_ref()?;
            let missing_phits = self.missing.get(place as usize).copied().unwrap_or(0);
            let carried = PacketCount { packets: self.by_channel[place as usize], missing_phits };
            Some(ChannelUsage { link, channel, carried, stays })
        })
    }

    /// The packets that each link has carried, where each host sent and received this many over its cable.
    pub(super) fn of_links(
        &self,
        graph: &RouterGraph,
        hosts: impl Iterator<Item = [PacketCount; 2]>,
    ) -> Vec<(LinkId, PacketCount)> {
        let channels = self.channels().map(|channel| (channel.link, channel.carried));
        let cables = hosts.zip(graph.hosts()).filter_map(|([sent, received], host)| {
            let (to_router, to_host) = host.cable?;
            Some([(to_router, sent), (to_host, received)])
        });
        channels.chain(cables.flatten()).collect()
    }

    /// The counts of the same network before anything passes.
    pub(crate) fn empty(&self) -> Self {
        Self::of(Arc::clone(&self.channels), self.virtual_channels, self.by_channel.len())
    }

    /// Takes the counts out, and begins anew.
    pub(super) fn take(&mut self) -> Self {
        let empty = self.empty();
        std::mem::replace(self, empty)
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
            first_place += rail.by_channel.len() as u32;
        }
        let mut all = Self {
            channels: channels.into(),
            stays: rails.iter().flat_map(|rail| rail.stays.iter().copied()).collect(),
            by_channel: rails.iter().flat_map(|rail| rail.by_channel.iter().copied()).collect(),
            missing: rails
                .iter()
                .flat_map(|rail| (0..rail.by_channel.len()).map(|at| rail.missing.get(at).copied().unwrap_or(0)))
                .collect(),
            virtual_channels: rails.first().map_or(0, |rail| rail.virtual_channels),
            ..Self::default()
        };
        rails.iter().for_each(|rail| all.add_sums(rail));
        all
    }

    /// Adds the counts of another run of the same network.
    pub(crate) fn add(&mut self, other: &Self) {
        self.by_channel.iter_mut().zip(&other.by_channel).for_each(|(mine, theirs)| *mine += theirs);
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
        self.carried += other.carried;
        self.latencies.merge(&other.latencies);
        self.latency += other.latency;
    }
}
