//! Up*/down* paths of a fabric (M. D. Schroeder et al., "Autonet: A High-Speed, Self-Configuring Local Area Network Using
//! Point-to-Point Links", IEEE J. Sel. Areas Commun. 9(8), 1991, §6.6.4).
//!
//! A breadth-first search from a **root** orders the routers: by their hops from the root, and then by their numbers. A
//! channel to a router that comes earlier in this order leads **up**, and every other channel leads **down**. A path never
//! goes up after it has gone down. Channels then depend on each other in one order only: those up by the routers that they
//! lead to, last router first, and after them those down. Packets therefore cannot deadlock with one virtual channel.
//!
//! A message takes a shortest of these paths, and of several that are as short the one that a hash of its hosts selects.
//! Autonet's root is the switch with the smallest number; here, it is a router in the middle, since paths become longer the
//! farther the root is from the hosts.

use std::collections::VecDeque;
use std::sync::Arc;

use super::HopTable;
use crate::chance::chance;
use crate::topology::{HostId, PortIndex, RouterId};

/// The hops of no path.
const NONE: u16 = u16::MAX;

/// The shortest up*/down* paths between the routers with hosts. A clone shares the table.
#[derive(Clone, Debug)]
pub(crate) struct UpDownPaths {
    graph: HopTable,
    table: Arc<Table>,
}

#[derive(Debug)]
struct Table {
    order: UpDownOrder,
    /// For each router with hosts, the hops to it from each router.
    hops: Vec<HopsLeft>,
}

/// The order of routers that says which channels lead up.
#[derive(Clone, Debug)]
pub(crate) struct UpDownOrder {
    routers: Vec<RouterId>,
    /// The place of each router.
    places: Vec<u32>,
    /// The number of sets of routers that reach each other.
    pub parts: u32,
}

/// The hops from a router to another one on a shortest permitted path, or [`NONE`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct HopsLeft {
    /// By channels of both kinds.
    by_all: u16,
    /// By channels down alone.
    by_down: u16,
}

impl HopsLeft {
    /// The hops that are left at a place.
    pub(crate) fn at(self, is_descending: bool) -> u16 {
        if is_descending { self.by_down } else { self.by_all }
    }
}

/// The place of a message on its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UpDownPlace {
    /// The router that it has reached.
    pub at: RouterId,
    /// Whether it has gone down.
    pub is_descending: bool,
}

impl UpDownPaths {
    /// The paths of the fabric that these hops are of.
    pub(crate) fn new(graph: &HopTable) -> Self {
        let neighbours = |at| graph.neighbours(at).iter().copied();
        let order = UpDownOrder::new(graph.routers(), root(graph), neighbours);
        let hops = graph.ends.iter().flat_map(|&end| order.hops_to(end, neighbours)).collect();
        Self { graph: graph.clone(), table: Arc::new(Table { order, hops }) }
    }

    /// The port of the next hop of a message between two hosts towards the router of the second, which it has not reached.
    pub(crate) fn port(&self, place: UpDownPlace, to: RouterId, ends: (HostId, HostId)) -> Option<PortIndex> {
        let row = self.graph.place(to) as usize * self.graph.routers() as usize;
        let hops_left = |UpDownPlace { at, is_descending }| self.table.hops[row + at.index()].at(is_descending);
        let nearer = hops_left(place).wrapping_sub(1);
        let ports = (0..).map(PortIndex).zip(self.graph.neighbours(place.at));
        let mut ports =
            ports.filter(|&(_, &next)| self.next(place, next).is_some_and(|next| hops_left(next) == nearer));
        let flow = u64::from(ends.0.0) << 32 | u64::from(ends.1.0);
        let number = chance(flow, place.at.0.into(), 0) % ports.clone().count().max(1) as u64;
        ports.nth(number as usize).map(|(port, _)| port)
    }

    /// The place of a message after its hop to a neighbouring router; `None` if this hop is not permitted.
    pub(crate) fn next(&self, place: UpDownPlace, to: RouterId) -> Option<UpDownPlace> {
        self.table.order.next(place, to)
    }
}

impl UpDownOrder {
    /// The order of a breadth-first search from a root over channels to the `neighbours` of each router, and from the first of the
    /// routers that are left, as long as there are any: by the hops from the root, and then by the numbers of the routers.
    pub(crate) fn new<I: Iterator<Item = RouterId>>(
        routers: u32,
        root: RouterId,
        neighbours: impl Fn(RouterId) -> I,
    ) -> Self {
        let mut levels = vec![u32::MAX; routers as usize];
        let (mut parts, mut deepest) = (0, 0);
        for root in std::iter::once(root).chain((0..routers).map(RouterId)) {
            if levels[root.index()] != u32::MAX {
                continue;
            }
            parts += 1;
            levels[root.index()] = deepest;
            let mut waiting = VecDeque::from([root]);
            while let Some(at) = waiting.pop_front() {
                deepest = levels[at.index()] + 1;
                for next in neighbours(at) {
                    if levels[next.index()] == u32::MAX {
                        levels[next.index()] = deepest;
                        waiting.push_back(next);
                    }
                }
            }
        }
        let mut routers: Vec<RouterId> = (0..routers).map(RouterId).collect();
        routers.sort_by_key(|router| levels[router.index()]);
        let mut places = vec![0; routers.len()];
        (0..).zip(&routers).for_each(|(place, router): (u32, _)| places[router.index()] = place);
        Self { routers, places, parts }
    }

    /// Whether a channel from one router to another leads down.
    pub(crate) fn leads_down(&self, from: RouterId, to: RouterId) -> bool {
        self.places[to.index()] > self.places[from.index()]
    }

    /// The place of a message after its hop to a neighbouring router; `None` if this hop is not permitted.
    pub(crate) fn next(&self, place: UpDownPlace, to: RouterId) -> Option<UpDownPlace> {
        let is_descending = self.leads_down(place.at, to);
        (is_descending || !place.is_descending).then_some(UpDownPlace { at: to, is_descending })
    }

    /// The hops to a router, from each router.
    pub(crate) fn hops_to<I: Iterator<Item = RouterId>>(
        &self,
        end: RouterId,
        neighbours: impl Fn(RouterId) -> I,
    ) -> Vec<HopsLeft> {
        let mut row = vec![HopsLeft { by_all: NONE, by_down: NONE }; self.routers.len()];
        row[end.index()] = HopsLeft { by_all: 0, by_down: 0 };
        for &at in self.routers.iter().rev() {
            let below = neighbours(at).filter(|&next| self.leads_down(at, next));
            let hops = below.map(|next| row[next.index()].by_down.saturating_add(1)).min().unwrap_or(NONE);
            row[at.index()].by_down = hops.min(row[at.index()].by_down);
        }
        for &at in &self.routers {
            let above = neighbours(at).filter(|&next| self.leads_down(next, at));
            let hops = above.map(|next| row[next.index()].by_all.saturating_add(1)).min().unwrap_or(NONE);
            row[at.index()].by_all = hops.min(row[at.index()].by_down);
        }
        row
    }
}

/// The router from which the farthest router with hosts is nearest; of several, the one with the fewest hops to all routers
/// with hosts; and of several, the first.
fn root(graph: &HopTable) -> RouterId {
    let hops = |at: RouterId| graph.ends.iter().map(move |&end| graph.hops(at, end));
    let all = (0..graph.routers()).map(RouterId);
    all.min_by_key(|&at| (hops(at).max(), hops(at).map(u64::from).sum::<u64>())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use titr_common::units::Seconds;

    use super::*;
    use crate::topology::{Cable, Duplex, Fabric, FlowRouting, Jellyfish, LinkId, RouterCable, Topology, Wiring};

    const CABLE: Cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };

    /// Routers with a host each.
    fn fabric(routers: u32, cables: &[[u32; 2]]) -> Fabric {
        let wiring = Wiring {
            routers: (0..routers).map(|router| format!("r{router}")).collect(),
            hosts: (0..routers).map(RouterId).collect(),
            cables: cables.iter().map(|ends| RouterCable { ends: ends.map(RouterId), class: 0 }).collect(),
            classes: vec!["cables".to_owned()],
            ..Wiring::default()
        };
        let mut fabric = Fabric::new(wiring, CABLE).unwrap();
        assert!(fabric.route_flows(FlowRouting::UpDown));
        fabric
    }

    /// The routers on the route between two hosts, with one host a router.
    fn routers_between(fabric: &Fabric, from: u32, to: u32) -> Vec<u32> {
        let mut route = Vec::new();
        fabric.route(HostId(from), HostId(to), &mut route);
        let end_of = |link: &LinkId| {
            let name = fabric.link_name(*link);
            let router = name.split(" to r").nth(1).unwrap();
            router.split(' ').next().unwrap().parse::<u32>().unwrap()
        };
        route[..route.len() - 1].iter().map(end_of).collect()
    }

    /// In a ring of 5 routers, router 0 is the root, and the order is 0, 1, 4, 2, 3. From 2 to 4, the path 2 3 4 would go up
    /// after it went down, so the message goes round the other way. From 1 to 3, the path 1 2 3 goes down twice.
    #[test]
    fn a_ring_by_hand() {
        let ring = fabric(5, &[[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]);
        assert_eq!(routers_between(&ring, 1, 3), [1, 2, 3]);
        assert_eq!(routers_between(&ring, 2, 4), [2, 1, 0, 4]);
        assert_eq!(routers_between(&ring, 4, 2), [4, 0, 1, 2]);
        assert_eq!(routers_between(&ring, 3, 1), [3, 2, 1]);
    }

    /// The end of a line is not in its middle.
    #[test]
    fn the_root_is_in_the_middle() {
        let line = fabric(5, &[[0, 1], [1, 2], [2, 3], [3, 4]]);
        assert_eq!(root(line.hop_table()), RouterId(2));
    }

    /// The fewest hops of a path that does not go up after it went down, found by trying all paths.
    fn fewest_hops(paths: &UpDownPaths, from: RouterId, to: RouterId) -> u32 {
        let mut places = vec![UpDownPlace { at: from, is_descending: false }];
        (0..)
            .find(|_| {
                let is_there = places.iter().any(|place| place.at == to);
                let next = |place: &UpDownPlace| {
                    let place = *place;
                    paths.graph.neighbours(place.at).iter().filter_map(move |&to| paths.next(place, to))
                };
                places = places.iter().flat_map(next).collect();
                places.sort_by_key(|place| (place.at.0, place.is_descending));
                places.dedup();
                is_there
            })
            .unwrap()
    }

    proptest! {
        /// A route never goes up after it went down, and no permitted path is shorter.
        #[test]
        fn routes_are_shortest_permitted_paths(seed: u64, degree in 2_u32..5) {
            let wiring = Jellyfish { routers: 12, degree, hosts: 1, seed }.wiring();
            prop_assume!(wiring.is_ok());
            let cables: Vec<_> = wiring.unwrap().cables.iter().map(|cable| cable.ends.map(|end| end.0)).collect();
            let fabric = fabric(12, &cables);
            let paths = UpDownPaths::new(fabric.hop_table());
            for (from, to) in (0..12).flat_map(|from| (0..12).map(move |to| (from, to))) {
                let route = routers_between(&fabric, from, to);
                let mut place = UpDownPlace { at: RouterId(from), is_descending: false };
                for &router in &route[1..] {
                    place = paths.next(place, RouterId(router)).expect("a permitted hop");
                }
                prop_assert_eq!(place.at, RouterId(to));
                prop_assert_eq!(route.len() as u32 - 1, fewest_hops(&paths, RouterId(from), RouterId(to)));
            }
        }
    }
}
