//! Links in the reference: the cycles that they take, and the next channel on a shared link.

use super::Reference;
use crate::packet::PacketParameters;
use crate::topology::{ChannelIndex, LinkId, Routing};

impl<R: Routing> Reference<'_, R> {
    /// The link and its virtual channel by which the packets of a queue arrive, unless they come from a host.
    pub(super) fn channel(&self, queue: usize) -> Option<(LinkId, ChannelIndex)> {
        self.layout.link(self.layout.queues[queue].source(), &self.spec.graph)
    }

    /// The link that a port leads to, if it leads to one.
    pub(super) fn link(&self, output: usize) -> Option<LinkId> {
        let next = self.layout.outputs[output].queue(ChannelIndex(0))?;
        self.channel(next.index()).map(|(link, _)| link)
    }

    /// Whether two ports cannot be used at once, because they are equal or share a link.
    pub(super) fn exclude_each_other(&self, one: usize, other: usize) -> bool {
        one == other || (self.spec.timings.is_some() && self.link(one).is_some() && self.link(one) == self.link(other))
    }

    /// Cycles from the first phit of a packet to its last over a link, or at a host.
    pub(super) fn span(&self, link: Option<LinkId>) -> u64 {
        let timing = self.spec.timings.as_ref().zip(link).map(|(timings, link)| timings.get(link).span);
        timing.unwrap_or(u64::from(self.parameters().packet_phits) - 1)
    }

    /// Lets a packet take the link of a port: the cycles until its tail has left, and until its header is in the next queue.
    pub(super) fn take_link(&mut self, output: usize) -> (u64, u64) {
        let PacketParameters { packet_phits, wire_delay, router_delay, .. } = *self.parameters();
        let (Some(timings), Some(link)) = (&self.spec.timings, self.link(output)) else {
            return (packet_phits.into(), 1 + u64::from(wire_delay) + u64::from(router_delay));
        };
        let (timing, state) = (timings.get(link), self.links.entry(link).or_default());
        state.0 = Some(output);
        (timing.packet_cycles(&mut state.1), timing.phit + timing.wire + u64::from(router_delay))
    }

    /// The ports that win among `ports`: of several that share a link, the first after the one that took it last.
    pub(super) fn without_losers(&self, ports: &[usize]) -> Vec<usize> {
        if self.spec.timings.is_none() {
            return ports.to_vec();
        }
        let after = |port: usize| {
            let sharing = (0..self.layout.outputs.len()).filter(|&other| self.exclude_each_other(port, other));
            let last = self.link(port).and_then(|link| self.links.get(&link)?.0);
            let sharing: Vec<usize> = sharing.collect();
            let place = |port| sharing.iter().position(|&other| other == port).unwrap();
            let last = last.map_or(sharing.len() - 1, place);
            (place(port) + sharing.len() - last - 1) % sharing.len()
        };
        let wins = |&port: &usize| {
            let rivals = ports.iter().filter(|&&other| self.exclude_each_other(port, other));
            rivals.min_by_key(|&&other| after(other)) == Some(&port)
        };
        ports.iter().copied().filter(wins).collect()
    }
}
