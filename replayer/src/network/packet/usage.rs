//! What passed where.

/// Counts of packets. Queues are numbered as [`Layout`](super::layout::Layout) does; a queue stands for the channel that
/// leads to it, or for its host.
#[derive(Clone, Debug)]
pub struct Usage {
    /// By queue.
    queues: Vec<QueueUsage>,
    /// Packets consumed, by the number of channels that they took.
    hops: Vec<u64>,
    injected: u64,
    consumed: u64,
    packet_hops: u64,
}

#[derive(Clone, Copy, Debug)]
struct QueueUsage {
    /// Whether it is at the end of a channel.
    of_channel: bool,
    /// Packets that went to it.
    packets: u64,
    /// Cycles from header to tail of each that left it, in all.
    stays: u64,
}

impl Usage {
    pub(super) fn new(of_channel: impl Iterator<Item = bool>) -> Self {
        let queues = of_channel.map(|of_channel| QueueUsage { of_channel, packets: 0, stays: 0 }).collect();
        Self { queues, hops: Vec::new(), injected: 0, consumed: 0, packet_hops: 0 }
    }

    /// A packet starts over the channel to a queue.
    pub(super) fn carry(&mut self, queue: u32) {
        self.queues[queue as usize].packets += 1;
        self.packet_hops += 1;
    }

    /// A packet starts to leave a queue, in which it will have been for so long.
    pub(super) fn leave(&mut self, queue: u32, cycles: u64) {
        let queue = &mut self.queues[queue as usize];
        queue.stays += cycles;
        self.injected += u64::from(!queue.of_channel);
    }

    /// A packet is consumed.
    pub(super) fn consume(&mut self, hops: u32) {
        self.consumed += 1;
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

    /// Packets that reached theirs.
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

    /// Of each channel, the packets that it carried and the cycles that they were in the queue at its end.
    pub fn channels(&self) -> impl Iterator<Item = (u64, u64)> + Clone {
        self.queues.iter().filter(|queue| queue.of_channel).map(|queue| (queue.packets, queue.stays))
    }

    /// What went to a queue.
    pub(super) fn packets(&self, queue: u32) -> u64 {
        self.queues[queue as usize].packets
    }

    /// The counts of the same network before anything passes.
    #[must_use]
    pub fn empty(&self) -> Self {
        Self::new(self.queues.iter().map(|queue| queue.of_channel))
    }

    /// Counts what another has counted in the same network.
    pub fn add(&mut self, other: &Self) {
        self.combine(other, |mine, theirs| mine + theirs);
    }

    /// What was counted after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut later = self.clone();
        later.combine(earlier, |mine, theirs| mine - theirs);
        later
    }

    fn combine(&mut self, other: &Self, of: fn(u64, u64) -> u64) {
        for (mine, theirs) in self.queues.iter_mut().zip(&other.queues) {
            mine.packets = of(mine.packets, theirs.packets);
            mine.stays = of(mine.stays, theirs.stays);
        }
        self.hops.resize(self.hops.len().max(other.hops.len()), 0);
        for (mine, &theirs) in self.hops.iter_mut().zip(&other.hops) {
            *mine = of(*mine, theirs);
        }
        self.injected = of(self.injected, other.injected);
        self.consumed = of(self.consumed, other.consumed);
        self.packet_hops = of(self.packet_hops, other.packet_hops);
    }
}
