//! Freedom from deadlock, by the graph of dependences between virtual channels.
//!
//! A packet in the queue of a virtual channel waits for the next one. In virtual cut-through it occupies no other queue, so
//! a network is free of deadlock if each packet can always request one of its *escape* channels, and the dependences of
//! escape channels on each other have no cycle (W. J. Dally, B. Towles, "Principles and Practices of Interconnection
//! Networks", 2004, §14.1). In a ring with bubbles, a packet that continues in its ring and channel always finds room in
//! the end, so the channel of a ring is one node of the graph.
//!
//! The test asks the routing itself: a packet may request a channel if it does so where this channel alone has room.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use titr_common::time::Time;
use titr_common::units::Seconds;

use super::*;
use crate::chance::chance;
use crate::topology::{
    Cable, Dragonfly, DragonflyPlus, Duplex, Explicit, Fabric, Failure, FatTree, GlobalLinks, Grid, HyperX, Jellyfish,
    Link, LinkId, Piece, RouteVariant, Routes, Shape, Sharing, SlimFly, Stage, Stages, Star, Topology, Wiring,
    WithFailures,
};

const CABLE: Cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };

/// A virtual channel of a router's port; in a ring with bubbles, of all routers of the ring.
type Node = (u32, u32, u32);

type Dependences = BTreeMap<Node, BTreeSet<Node>>;

/// A packet at a router: the router, the channel that it came by with its node, and its state.
type Place = (RouterId, Option<(OutputVc, Node)>, Vec<i32>);

/// The names of routings, with the fewest channels of each.
type Routings = Vec<(&'static str, u32)>;

/// Follows packets between all hosts.
struct Search<'a> {
    graph: &'a RouterGraph,
    /// The number of periods of routes.
    periods: u32,
    /// The virtual channels of the routing of the whole network. The others are for packets around failures.
    of_whole: u32,
    /// Whether channel 0 alone of these is an escape channel.
    escapes_by_first: bool,
    /// Whether all virtual channels of a port count as one.
    as_one_channel: bool,
}

impl Search<'_> {
    fn node(&self, rings: bool, at: RouterId, vc: OutputVc) -> Node {
        let mut first = at;
        if rings && vc.channel.0 < self.of_whole {
            let next = |router| self.graph.port(router, vc.port).and_then(|port| port.to).unwrap();
            let ring = std::iter::successors(Some(next(at)), |&router| (router != at).then(|| next(router)));
            first = ring.min().unwrap();
        }
        (first.0, vc.port.0, if self.as_one_channel { 0 } else { vc.channel.0 })
    }

    /// The states that a packet can have after it decided at a router.
    fn decisions<R: Routing>(routing: &R, at: RouterId, header: &Header, state: &[i32]) -> BTreeSet<Vec<i32>> {
        let decide = |seed: u64| {
            let mut state = state.to_vec();
            let queued = |router: RouterId, port: PortIndex, channels: Range<u32>| {
                let of_channel = |channel: u32| {
                    let place = u64::from(router.0) << 32 | u64::from(port.0) << 16 | u64::from(channel);
                    if seed > 0 && chance(seed, place, 0).is_multiple_of(2) { 100 } else { 0 }
                };
                channels.map(of_channel).sum()
            };
            if R::DECIDES && at != header.destination && routing.is_undecided(&state) {
                routing.decide(at, header, &mut state, queued, |router, port| queued(router, port, 0..1));
            }
            state
        };
        (0..12).map(decide).collect()
    }

    /// The channels that a packet may request.
    fn options<R: Routing>(&self, routing: &R, header: &Header, (at, arrival, state): &Place) -> Vec<OutputVc> {
        let arrival = arrival.map(|(vc, _)| vc);
        let channels = (0..routing.virtual_channels()).map(ChannelIndex);
        let ports = (0..self.graph.ports(*at).len() as u32).map(PortIndex);
        let all = ports.flat_map(|port| channels.clone().map(move |channel| OutputVc { port, channel }));
        let is_requested = |only: &OutputVc| {
            let room = |port, channel| if (OutputVc { port, channel }) == *only { 9 } else { 0 };
            let requested = match routing.fixed_output(*at, header, state) {
                Some(port) => routing.choose_channel(port, arrival, room),
                None => routing.choose(PacketAt { at: *at, header, state, arrival }, room),
            };
            requested.is_some()
        };
        all.filter(is_requested).collect()
    }

    /// Follows a packet on all its paths.
    fn follow<R: Routing>(&self, routing: &R, header: &Header, start: RouterId, found: &mut Dependences) {
        let mut state = vec![0; routing.state_words()];
        routing.depart(start, header, &mut state);
        let decided = Self::decisions(routing, start, header, &state);
        let mut places: Vec<Place> = decided.into_iter().map(|state| (start, None, state)).collect();
        let mut seen = BTreeSet::new();
        while let Some(place) = places.pop() {
            let (at, arrival, state) = &place;
            let key = (at.0, arrival.map(|(_, node)| node), state.clone());
            if *at == header.destination || !seen.insert(key) {
                continue;
            }
            let options = self.options(routing, header, &place);
            let is_escape =
                |vc: &&OutputVc| !self.escapes_by_first || vc.channel.0 == 0 || vc.channel.0 >= self.of_whole;
            let escapes: Vec<Node> =
                options.iter().filter(is_escape).map(|&vc| self.node(routing.has_rings(), *at, vc)).collect();
            assert!(!escapes.is_empty(), "a packet at {at:?} with {header:?} has no escape");
            if let Some((vc, node)) = arrival.filter(|(vc, _)| is_escape(&vc)) {
                let continues = routing.has_rings() && vc.channel.0 < self.of_whole && options.contains(&vc);
                found.entry(node).or_default().extend(escapes.iter().filter(|_| !continues));
            }
            for vc in options {
                let to = self.graph.port(*at, vc.port).and_then(|port| port.to).unwrap();
                let mut state = state.clone();
                routing.hop(vc, to, &mut state);
                let arrival = Some((vc, self.node(routing.has_rings(), *at, vc)));
                let decided = Self::decisions(routing, to, header, &state);
                places.extend(decided.into_iter().map(|state| (to, arrival, state)));
            }
        }
    }
}

impl RoutingVisitor for Search<'_> {
    type Output = Dependences;

    fn visit<R: Routing>(self, routing: &R) -> Dependences {
        let (mut found, hosts) = (Dependences::new(), self.graph.hosts());
        for (from, start) in (0..).map(HostId).zip(hosts) {
            for (to, end) in (0..).map(HostId).zip(hosts).filter(|(_, end)| end.router != start.router) {
                for draw in 0..8 {
                    let random = chance(draw, from.0.into(), to.0.into());
                    for period in (0..self.periods).map(RoutePeriod) {
                        let header = Header { from, to, destination: end.router, period, random };
                        self.follow(routing, &header, start.router, &mut found);
                    }
                }
            }
        }
        found
    }
}

/// Nodes that remain when all without a dependence on a remaining one are removed.
fn on_cycles(mut dependences: Dependences) -> Vec<Node> {
    loop {
        let nodes: BTreeSet<Node> = dependences.keys().copied().collect();
        dependences.retain(|_, on| on.iter().any(|node| nodes.contains(node)));
        if dependences.len() == nodes.len() {
            return nodes.into_iter().collect();
        }
    }
}

fn one_way_ring(nodes: u32) -> Explicit {
    let link = Link { bandwidth: CABLE.bandwidth, latency: CABLE.latency, sharing: Sharing::Shared };
    let links = (0..nodes).map(|number| (format!("link {number}"), link)).collect();
    let piece = |from| Piece { from, to: (from + 1) % nodes, links: vec![LinkId(from)] };
    Explicit::new(nodes, 0, links, &(0..nodes).map(piece).collect::<Vec<_>>(), Routes::Dijkstra)
}

/// A network, two of whose links fail one after the other, and a third one for ever. The first two are repaired later.
fn failing(topology: impl Topology + 'static, links: [u32; 3]) -> Box<dyn Topology> {
    let [first, second, third] = links;
    failing_at(topology, &[(first, 0, 10), (second, 5, 20), (third, 0, Time::NEVER.0)])
}

/// A network whose links fail at times and are repaired.
fn failing_at(topology: impl Topology + 'static, failures: &[(u32, u64, u64)]) -> Box<dyn Topology> {
    let graph = topology.router_graph().unwrap();
    let failures = failures.iter().map(|&(link, at, until)| Failure {
        name: String::new(),
        links: BTreeSet::from([LinkId(link)]),
        routers: BTreeSet::new(),
        at: Time(at),
        until: Time(until),
    });
    Box::new(WithFailures::new(Arc::new(topology), &graph, failures.collect()))
}

/// Small networks of every kind, with their routings.
fn networks() -> Vec<(Box<dyn Topology>, Routings)> {
    let tree = |m: [u32; 2], w: [u32; 2]| {
        let stages: Vec<_> = m.iter().zip(w).map(|(&down, up)| Stage { down, up, count: up }).collect();
        Box::new(FatTree::new(&stages, CABLE))
    };
    let cascade =
        Shape { groups: 4, chassis: 2, black: 1, blades: 4, green: 2, nodes: 1, global: GlobalLinks::OfGroups(1) };
    let dragonfly = |shape| Box::new(Dragonfly::new(shape, RouteVariant::Minimal, CABLE));
    let grid = || vec![("dor", 1), ("adaptive", 2)];
    let groups = || vec![("minimal", 2), ("valiant", 3), ("ugal", 3), ("ugal-g", 3), ("par", 4)];
    let fabric = |wiring: Wiring| -> (Box<dyn Topology>, Routings) {
        let fabric = Fabric::new(wiring, CABLE).unwrap();
        let shortest = ["minimal", "adaptive"].map(|name| (name, fabric.diameter()));
        let detours = ["valiant", "ugal", "ugal-g"].map(|name| (name, 2 * fabric.diameter()));
        (Box::new(fabric), shortest.into_iter().chain(detours).chain([("up-down", 1)]).collect())
    };
    let plus = DragonflyPlus { groups: 3, leaves: 2, spines: 2, global_links: 1, hosts: 1 };
    let mut slim_fly = SlimFly::new(3, Some(1)).unwrap().wiring();
    slim_fly.hosts.retain(|router| router.0.is_multiple_of(3));
    vec![
        fabric(HyperX { sizes: vec![3, 2], cables: vec![1, 2], hosts: 1 }.wiring()),
        fabric(slim_fly),
        fabric(Jellyfish { routers: 6, degree: 3, hosts: 1, seed: 1 }.wiring().unwrap()),
        fabric(Jellyfish { routers: 7, degree: 2, hosts: 1, seed: 1 }.wiring().unwrap()),
        fabric(plus.wiring()),
        (Box::new(Grid::torus(&[4, 3, 2], CABLE)), grid()),
        (Box::new(Grid::mesh(&[4, 3], CABLE)), grid()),
        (Box::new(Grid::twisted_torus(&[4, 2], CABLE)), grid()),
        (tree([3, 4], [1, 2]), vec![("up-down", 1), ("adaptive", 1)]),
        (Box::new(Star::new(4, CABLE, None)), vec![("up-down", 1)]),
        (Box::new(one_way_ring(4)), vec![("table", 2)]),
        (failing(Grid::torus(&[3, 3], CABLE), [0, 5, 0]), grid()),
        (failing(Grid::mesh(&[4, 3], CABLE), [0, 5, 9]), grid()),
        // A ring in which each cable fails for a time has no order for all periods.
        (failing_at(Grid::torus(&[3], CABLE), &[(0, 0, 10), (2, 10, 20), (4, 20, 30)]), grid()),
        (
            failing(
                FatTree::new(&[(3, 1), (4, 2)].map(|(down, up)| Stage { down, up, count: 1 }), CABLE),
                [24, 33, 36],
            ),
            vec![("up-down", 1), ("adaptive", 1)],
        ),
        (failing(Dragonfly::new(Shape::canonical(5, 2, 2, 1), RouteVariant::Minimal, CABLE), [20, 30, 35]), groups()),
        (
            failing(
                Fabric::new(
                    DragonflyPlus { groups: 3, leaves: 2, spines: 2, global_links: 1, hosts: 1 }.wiring(),
                    CABLE,
                )
                .unwrap(),
                [12, 20, 25],
            ),
            vec![("minimal", 3), ("adaptive", 3), ("ugal", 6)],
        ),
        (dragonfly(cascade), groups()),
        (dragonfly(Shape::canonical(5, 2, 2, 1)), groups()),
        (dragonfly(Shape::canonical(4, 3, 2, 1)), groups()),
    ]
}

#[test]
fn dependences_of_channels_have_no_cycle() {
    for (topology, routings) in networks() {
        let graph = topology.router_graph().unwrap();
        let periods = topology.route_changes().len() as u32 + 1;
        let ascents = [Ascent::DModK, Ascent::SModK, Ascent::Random, Ascent::Adaptive, Ascent::Hashed];
        // Other networks than trees have the same paths with each ascent: four numbers of channels are enough.
        let variants = if graph.geometry::<Stages>().is_some() { ascents.len() } else { 4 };
        for (name, fewest) in routings {
            for (channels, ascent) in (fewest..).zip(ascents).take(variants) {
                let name = Some(name.parse().unwrap());
                let options = RoutingOptions { name, virtual_channels: Some(channels), ascent: Some(ascent) };
                let routing = RoutingFunction::new(&graph, &options).unwrap();
                let whole = routing.of_whole_network();
                let escapes_by_first = matches!(whole, RoutingFunction::Grid(_)) && options.is_named("adaptive");
                let of_whole = whole.virtual_channels();
                let search = Search { graph: &graph, periods, of_whole, escapes_by_first, as_one_channel: false };
                let dependences = routing.visit(search);
                assert!(dependences.len() > 1 || topology.hosts() == 4, "{}: nobody waits", topology.name());
                let cycles = on_cycles(dependences);
                assert!(cycles.is_empty(), "{} {options:?}: {cycles:?}", topology.name());
            }
        }
    }
}

/// Without the classes of channels, each routing of a dragonfly and of a graph of routers has cycles, and the search finds
/// them.
#[test]
fn one_channel_has_cycles() {
    let dragonfly = Dragonfly::new(Shape::canonical(5, 2, 2, 1), RouteVariant::Minimal, CABLE).router_graph().unwrap();
    let ring = Jellyfish { routers: 7, degree: 2, hosts: 1, seed: 1 }.wiring().unwrap();
    let ring = Fabric::new(ring, CABLE).unwrap().router_graph().unwrap();
    let of_dragonfly = ["minimal", "valiant", "ugal", "ugal-g", "par"].map(|name| (&dragonfly, name));
    let of_ring = ["minimal", "adaptive", "valiant", "ugal", "ugal-g"].map(|name| (&ring, name));
    for (graph, name) in of_dragonfly.into_iter().chain(of_ring) {
        let options = RoutingOptions { name: Some(name.parse().unwrap()), ..RoutingOptions::default() };
        let routing = RoutingFunction::new(graph, &options).unwrap();
        let search = Search { graph, periods: 1, of_whole: u32::MAX, escapes_by_first: false, as_one_channel: true };
        assert!(!on_cycles(routing.visit(search)).is_empty(), "{name}");
    }
}
