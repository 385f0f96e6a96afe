//! Delays in cycles, which are the same for all packets and all routers.

use super::spec::PacketSpec;
use crate::topology::LinkId;

/// Cycles from one event to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// Cycles from the offer of a message until its first header requests a port of the router of its host: a cycle to
    /// get there, the host's cable if it has one, and the router's own delay.
    pub offer: u64,
    /// Cycles from the grant of a port until the header requests a port of the next router.
    pub hop: u64,
    /// Cycles from the grant of a port until the tail has left the queue.
    pub tail: u64,
    /// Cycles from the grant of a consumption port until the tail has reached the host.
    pub consumption: u64,
}

impl Delays {
    /// The delays of a network.
    pub(crate) fn of(spec: &PacketSpec) -> Self {
        let parameters = spec.parameters();
        let (router, wire) = (u64::from(parameters.router_delay), u64::from(parameters.wire_delay));
        let cable = if spec.graph().has_host_cables() { wire } else { 0 };
        let tail = u64::from(parameters.packet_phits);
        Self { offer: 1 + cable + router, hop: 1 + wire + router, tail, consumption: tail + cable }
    }

    /// Cycles from the offer of a packet until it is consumed, over `channels` channels with nothing in its way.
    pub(crate) fn alone(&self, channels: u64) -> u64 {
        self.offer + channels * self.hop + self.consumption
    }

    /// Cycles that `packets` of one message take over `route` without contention: until the first phit has reached the
    /// host, and from then on until the last has. On unequal links, the slowest determines the pace. Token buckets are full.
    pub(super) fn unloaded(
        &self,
        spec: &PacketSpec,
        route: &[LinkId],
        packets: u64,
        last_phits: Option<u32>,
    ) -> (f64, f64) {
        let cables = if spec.graph().has_host_cables() { 2 } else { 0 };
        let channels = route.len().saturating_sub(cables) as u64;
        let (mut latency, mut packet) = (self.alone(channels) - self.tail, self.tail as f64);
        if let Some(timings) = &spec.timings {
            for &link in route {
                let timing = timings.get(link);
                latency += timing.wire + timing.phit - 1;
                packet = packet.max(timings.mean_packet(link));
            }
        }
        // A link passes a packet in a cycle at least.
        let burst = spec.burst_phits() as f64;
        let missing = last_phits.map_or(0.0, |last| self.tail as f64 - f64::from(last));
        (
            latency as f64,
            (packets as f64 * packet - missing - burst).max(if burst > 0.0 { packets as f64 } else { 0.0 }),
        )
    }
}
