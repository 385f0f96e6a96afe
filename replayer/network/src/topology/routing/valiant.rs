//! Routing through an intermediate router in a [`Fabric`](crate::topology::Fabric) (L. G. Valiant, "A Scheme for Fast
//! Parallel Communication", SIAM J. Comput. 11(2), 1982), and the choice between such a path and a shortest one.
//!
//! The **intermediate router** is drawn at random from the routers with hosts that are neither the first nor the last router
//! of the packet. The packet takes a shortest path to it, and from there a shortest path to its destination. Of several ports
//! on shortest paths, it takes the one with most room.
//!
//! - **Valiant** (`valiant`): every packet passes an intermediate router.
//! - **UGAL-L** (`ugal`): a packet that waits in the injection port of its host compares the shortest path with the path
//!   through one intermediate router, anew in each cycle until it leaves. The cost of a path is the number of packets at its
//!   first port times its hops; of several first ports on shortest paths, the one with the fewest packets counts.
//! - **UGAL-G** (`ugal-g`): the cost is the number of packets at the ports of all routers on the path.
//!
//! The packets at a port are those behind it, and those of hosts of its router that still wait and chose a path through this
//! port when they decided first. A router without output queues could not see an overloaded first link otherwise: all packets
//! but a few wait in front of its port. The first decision counts and not the present one, because packets that count each
//! other's present decisions would all change to the other path at once, and back. Packets that come from other routers and
//! wait for the port are not counted.
//!
//! A packet uses another [class of virtual channels](super::fabric) for each hop, of which there are up to twice the
//! diameter.

use std::ops::Range;

use super::{BuildRouting, Header, OutputVc, PacketAt, Routing, RoutingOptions, Unroutable, roomiest};
use crate::topology::routing::fabric::HopClasses;
use crate::topology::routing::nonminimal::{draw, takes_detour};
use crate::topology::{ChannelIndex, HopTable, PortIndex, RouterId};

/// Routing through intermediate routers. The state of a packet is the router that it has still to pass, [`NONE`], or
/// [`UNDECIDED`]; and the port that it chose when it first decided at its first router, if it may decide anew, or [`NONE`].
#[derive(Clone, Debug)]
pub(crate) struct ValiantRouting {
    table: HopTable,
    classes: HopClasses,
    detours: Detours,
}

/// The packets that pass an intermediate router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detours {
    /// All of them.
    Always,
    /// By the queues of their first router.
    ByFirstRouter,
    /// By the queues of all routers on both paths.
    ByPath,
}

/// The place in a packet's state of the router that it has still to pass.
const INTERMEDIATE: usize = 0;

/// The place in a packet's state of the port that it awaits.
const AWAITED: usize = 1;

/// No intermediate router, or no port.
const NONE: i32 = -1;

/// The packet has not decided.
const UNDECIDED: i32 = -2;

impl BuildRouting for ValiantRouting {
    type Structure = HopTable;

    const NAMES: &'static [&'static str] = &["valiant", "ugal", "ugal-g"];

    fn new(table: &HopTable, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let named = Self::NAMES.iter().zip([Detours::Always, Detours::ByFirstRouter, Detours::ByPath]);
        let detours =
            named.into_iter().find(|(name, _)| options.is_named(name)).map_or(Detours::Always, |(_, rule)| rule);
        let classes = HopClasses::new(2 * table.diameter, options, Self::NAMES[0])?;
        Ok(Self { table: table.clone(), classes, detours })
    }
}

impl Routing for ValiantRouting {
    const DECIDES: bool = true;

    fn virtual_channels(&self) -> u32 {
        self.classes.channels
    }

    fn state_words(&self) -> usize {
        2
    }

    fn has_alternatives(&self) -> bool {
        true
    }

    fn reconsiders(&self) -> bool {
        self.detours != Detours::Always
    }

    fn watches_other_routers(&self) -> bool {
        self.detours == Detours::ByPath
    }

    fn depart(&self, _from: RouterId, _header: &Header, state: &mut [i32]) {
        (state[INTERMEDIATE], state[AWAITED]) = (UNDECIDED, NONE);
    }

    fn is_undecided(&self, state: &[i32]) -> bool {
        state[INTERMEDIATE] == UNDECIDED || state[AWAITED] != NONE
    }

    fn is_on_detour(&self, state: &[i32]) -> bool {
        state[INTERMEDIATE] >= 0
    }

    fn decide(
        &self,
        at: RouterId,
        header: &Header,
        state: &mut [i32],
        queued: impl Fn(RouterId, PortIndex, Range<u32>) -> u32,
        awaiting: impl Fn(RouterId, PortIndex) -> u32,
    ) {
        state[INTERMEDIATE] = NONE;
        let Some(router) = self.draw(at, header) else { return };
        let own = self.awaited(state);
        let at_port = |router, port| {
            let others = awaiting(router, port) - u32::from(router == at && own == Some(port));
            queued(router, port, 0..self.classes.channels) + others
        };
        let fewest = |from, to| self.fewest_packets(from, to, header, at_port);
        let destination = header.destination;
        let (passes, first) = match self.detours {
            Detours::Always => (true, None),
            Detours::ByFirstRouter => {
                let (direct, mut first) = fewest(at, destination);
                let mut first_of_detour = first;
                let passes = takes_detour(direct * self.table.hops(at, destination), || {
                    let (detour, port) = fewest(at, router);
                    first_of_detour = port;
                    detour * (self.table.hops(at, router) + self.table.hops(router, destination))
                });
                if passes {
                    first = first_of_detour;
                }
                (passes, Some(first))
            }
            Detours::ByPath => {
                let cost = |from, to| self.packets_on_path(from, to, fewest);
                let passes = takes_detour(cost(at, destination), || cost(at, router) + cost(router, destination));
                let (_, first) = fewest(at, if passes { router } else { destination });
                (passes, Some(first))
            }
        };
        if let (None, Some(first)) = (own, first) {
            state[AWAITED] = first.0 as i32;
        }
        if passes {
            state[INTERMEDIATE] = router.0 as i32;
        }
    }

    fn awaited(&self, state: &[i32]) -> Option<PortIndex> {
        u32::try_from(state[AWAITED]).ok().map(PortIndex)
    }

    fn choose(&self, packet: PacketAt, room: impl Fn(PortIndex, ChannelIndex) -> u32) -> Option<OutputVc> {
        let PacketAt { at, header, state, arrival } = packet;
        let towards = u32::try_from(state[INTERMEDIATE]).map_or(header.destination, RouterId);
        let ports = self.table.ports_towards(at, towards, header.random as u32);
        roomiest(ports, self.classes.next(arrival), room)
    }

    fn hop(&self, _taken: OutputVc, to: RouterId, state: &mut [i32]) {
        state[AWAITED] = NONE;
        if state[INTERMEDIATE] == to.0 as i32 {
            state[INTERMEDIATE] = NONE;
        }
    }
}

impl ValiantRouting {
    /// A random router with hosts that is neither `at`, which has hosts, nor the last router of a packet, if there is one.
    fn draw(&self, at: RouterId, header: &Header) -> Option<RouterId> {
        let ends = [at, header.destination].map(|end| self.table.place(end));
        let place = draw(self.table.ends.len() as u32, ends, at, header)?;
        self.table.ends.get(place as usize).copied()
    }

    /// Of the ports on shortest paths from `at` to `to`, the one with the fewest packets, and their number.
    fn fewest_packets(
        &self,
        at: RouterId,
        to: RouterId,
        header: &Header,
        at_port: impl Fn(RouterId, PortIndex) -> u32,
    ) -> (u32, PortIndex) {
        let ports = self.table.ports_towards(at, to, header.random as u32);
        ports.map(|port| (at_port(at, port), port)).min_by_key(|&(packets, _)| packets).unwrap_or_default()
    }

    /// The packets at the ports of a path, at each router of which the port with the fewest packets is next.
    fn packets_on_path(
        &self,
        from: RouterId,
        to: RouterId,
        fewest: impl Fn(RouterId, RouterId) -> (u32, PortIndex),
    ) -> u32 {
        let (mut at, mut all) = (from, 0);
        while at != to {
            let (packets, port) = fewest(at, to);
            all += packets;
            at = self.table.neighbours(at)[port.index()];
        }
        all
    }
}
