//! How many cycles things take. They are the same for all packets, and for all routers.

use super::design::Design;

/// Cycles from one event to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// From the offer of a message until its first header asks for a port of the router that its host sits at: a cycle to
    /// get there, the host's cable if it has one, and the router's own delay.
    pub offer: u64,
    /// From the grant of a port until the header asks for one of the next router.
    pub hop: u64,
    /// From the grant of a port until the tail has left the queue.
    pub tail: u64,
    /// From the grant of a consumption port until the tail is with the host.
    pub consumption: u64,
}

impl Delays {
    /// Those of a network.
    #[must_use]
    pub fn of(design: &Design) -> Self {
        let parameters = design.parameters();
        let (router, wire) = (u64::from(parameters.router_delay), u64::from(parameters.wire_delay));
        let cable = if design.fabric().sockets.iter().any(|socket| socket.cable.is_some()) { wire } else { 0 };
        let tail = u64::from(parameters.packet_phits);
        Self { offer: 1 + cable + router, hop: 1 + wire + router, tail, consumption: tail + cable }
    }

    /// What a packet that nothing is in the way of takes over `channels` channels, from its offer.
    #[must_use]
    pub fn alone(&self, channels: u64) -> u64 {
        self.offer + channels * self.hop + self.consumption
    }
}
