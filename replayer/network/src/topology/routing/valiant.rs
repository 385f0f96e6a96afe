//! Routing through an intermediate router in a [`Fabric`](crate::topology::Fabric) (L. G. Valiant, "A Scheme for Fast
//! Parallel Communication", SIAM J. Comput. 11(2), 1982), and the choice between such a path and a shortest one.
//!
//! The **intermediate router** is drawn at random from the routers with hosts that are neither the first nor the last router
//! of the packet. The packet takes a shortest path to it, and from there a shortest path to its destination. Of several ports
//! on shortest paths, it takes the one with most room.
//!
//! - **Valiant** (`valiant`): every packet passes an intermediate router.
//! - **UGAL-L** (`ugal`): when a packet enters the injection port of its host, it compares the shortest path with the path
//!   through an intermediate router. The cost of a path is the number of packets behind its first port times its hops; of
//!   several first ports on shortest paths, the one with the fewest packets counts.
//! - **UGAL-G** (`ugal-g`): the cost is the number of packets behind the ports of all routers on the path.
//!
//! Packets that wait in input queues for a port are not behind it. UGAL therefore notices an overloaded link from the second
//! link of a path on, and hardly if it is the first link.
//!
//! A packet uses another [class of virtual channels](super::hop_classes) for each hop, of which there are up to twice the
//! diameter.

use super::hop_classes::HopClasses;
use super::ugal::takes_detour;
use super::{BuildRouting, Header, OutputVc, Routing, RoutingOptions, Unroutable, intermediate, roomiest};
use crate::topology::{ChannelIndex, HopTable, PortIndex, RouterGraph, RouterId};

/// Routing through intermediate routers. The state of a packet is the router that it has still to pass, [`NONE`], or
/// [`UNDECIDED`].
#[derive(Clone, Debug)]
pub struct ValiantRouting {
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

/// No intermediate router.
const NONE: i32 = -1;

/// The packet has not decided.
const UNDECIDED: i32 = -2;

impl BuildRouting for ValiantRouting {
    const NAMES: &'static [&'static str] = &["valiant", "ugal", "ugal-g"];

    fn suits(graph: &RouterGraph) -> bool {
        graph.geometry::<HopTable>().is_some()
    }

    fn new(graph: &RouterGraph, options: &RoutingOptions) -> Result<Self, Unroutable> {
        let Some(table) = graph.geometry::<HopTable>() else {
            return Err(Unroutable::Impossible("the hops between routers are not known".to_owned()));
        };
        let named = Self::NAMES.iter().zip([Detours::Always, Detours::ByFirstRouter, Detours::ByPath]);
        let detours =
            named.into_iter().find(|(name, _)| options.is_named(name)).map_or(Detours::Always, |(_, rule)| rule);
        let classes = HopClasses::new(2 * table.diameter(), options, Self::NAMES[0])?;
        Ok(Self { table: table.clone(), classes, detours })
    }
}

impl Routing for ValiantRouting {
    const DECIDES: bool = true;

    fn virtual_channels(&self) -> u32 {
        self.classes.channels()
    }

    fn state_words(&self) -> usize {
        1
    }

    fn has_alternatives(&self) -> bool {
        true
    }

    fn watches_other_routers(&self) -> bool {
        self.detours == Detours::ByPath
    }

    fn depart(&self, _from: RouterId, _header: &Header, state: &mut [i32]) {
        state[0] = UNDECIDED;
    }

    fn decide(
        &self,
        at: RouterId,
        header: &Header,
        state: &mut [i32],
        queued: impl Fn(RouterId, PortIndex, ChannelIndex) -> u32,
    ) {
        if state[0] != UNDECIDED {
            return;
        }
        state[0] = NONE;
        let Some(router) = self.draw(at, header) else { return };
        let passes = match self.detours {
            Detours::Always => true,
            Detours::ByFirstRouter => {
                let cost = |to, hops| self.fewest_queued(at, to, header, &queued).0 * hops;
                let hops = self.table.hops(at, router) + self.table.hops(router, header.destination);
                takes_detour(cost(header.destination, self.table.hops(at, header.destination)), cost(router, hops))
            }
            Detours::ByPath => {
                let cost = |from, to| self.queued_on_path(from, to, header, &queued);
                takes_detour(cost(at, header.destination), cost(at, router) + cost(router, header.destination))
            }
        };
        if passes {
            state[0] = router.0 as i32;
        }
    }

    fn choose(
        &self,
        at: RouterId,
        header: &Header,
        state: &[i32],
        arrival: Option<OutputVc>,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        let towards = u32::try_from(state[0]).map_or(header.destination, RouterId);
        let ports = self.table.ports_towards(at, towards, header.random as u32);
        roomiest(ports, self.classes.next(arrival), room)
    }

    fn hop(&self, _port: PortIndex, to: RouterId, state: &mut [i32]) {
        if state[0] == to.0 as i32 {
            state[0] = NONE;
        }
    }
}

impl ValiantRouting {
    /// A random router with hosts that is neither `at`, which has hosts, nor the last router of a packet, if there is one.
    fn draw(&self, at: RouterId, header: &Header) -> Option<RouterId> {
        let ends = [at, header.destination].map(|end| self.table.place(end));
        let place = intermediate::draw(self.table.ends().len() as u32, ends, at, header)?;
        self.table.ends().get(place as usize).copied()
    }

    /// Of the ports on shortest paths from `at` to `to`, the one with the fewest packets behind it, and their number.
    fn fewest_queued(
        &self,
        at: RouterId,
        to: RouterId,
        header: &Header,
        queued: impl Fn(RouterId, PortIndex, ChannelIndex) -> u32,
    ) -> (u32, PortIndex) {
        let behind = |port| (0..self.classes.channels()).map(|channel| queued(at, port, ChannelIndex(channel))).sum();
        let ports = self.table.ports_towards(at, to, header.random as u32);
        ports.map(|port| (behind(port), port)).min_by_key(|&(packets, _): &(u32, _)| packets).unwrap_or_default()
    }

    /// The packets behind the ports of a path, at each router of which the port with the fewest packets is next.
    fn queued_on_path(
        &self,
        from: RouterId,
        to: RouterId,
        header: &Header,
        queued: impl Fn(RouterId, PortIndex, ChannelIndex) -> u32,
    ) -> u32 {
        let (mut at, mut all) = (from, 0);
        while at != to {
            let (packets, port) = self.fewest_queued(at, to, header, &queued);
            all += packets;
            at = self.table.neighbours(at)[port.index()];
        }
        all
    }
}
