//! Small networks of every kind for tests.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use titr_common::time::Time;
use titr_common::units::Seconds;

use crate::chance::chance;
use crate::properties::DeviceGraph;
use crate::topology::{
    Ascent, Cable, ChangedLinks, Dragonfly, Duplex, Explicit, Fabric, Failure, FatTree, GlobalLinks, Grid, HyperX,
    Jellyfish, Link, LinkId, Piece, RouteVariant, Routes, RoutingOptions, Shape, Sharing, SlimFly, Stage, Star,
    Topology, WithFailures,
};

pub(in crate::packet) const CABLE: Cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };

/// All ways up a tree.
pub(in crate::packet) const ASCENTS: [Ascent; 5] =
    [Ascent::DModK, Ascent::SModK, Ascent::Hashed, Ascent::Random, Ascent::Adaptive];

pub(in crate::packet) fn tree(m: &[u32], w: &[u32]) -> FatTree {
    let stages: Vec<_> = m.iter().zip(w).map(|(&down, &up)| Stage { down, up, count: 1 }).collect();
    FatTree::new(&stages, CABLE)
}

pub(in crate::packet) fn dragonfly(nodes: u32, green: u32) -> Dragonfly {
    let shape = Shape { groups: 3, chassis: 2, blades: 3, nodes, green, black: 1, global: GlobalLinks::OfGroups(2) };
    Dragonfly::new(shape, RouteVariant::Minimal, CABLE)
}

/// A dragonfly with as many hosts at a router as links to other groups.
pub(in crate::packet) fn canonical(groups: u32, routers: u32, links: u32) -> Dragonfly {
    Dragonfly::new(Shape::canonical(groups, routers, links, links), RouteVariant::Minimal, CABLE)
}

/// A HyperX, with two cables side by side in its second dimension.
pub(in crate::packet) fn hyperx(sizes: [u32; 2], hosts: u32) -> Fabric {
    Fabric::new(HyperX { sizes: sizes.to_vec(), cables: vec![1, 2], hosts }.wiring(), CABLE).unwrap()
}

/// A random graph of routers with three cables each.
pub(in crate::packet) fn jellyfish(routers: u32, hosts: u32, seed: u64) -> Fabric {
    Fabric::new(Jellyfish { routers, degree: 3, hosts, seed }.wiring().unwrap(), CABLE).unwrap()
}

fn slim_fly(hosts: u32) -> Fabric {
    Fabric::new(SlimFly::new(3, Some(hosts)).unwrap().wiring(), CABLE).unwrap()
}

pub(in crate::packet) fn star(hosts: u32, backbone: bool) -> Star {
    let link = Link { bandwidth: CABLE.bandwidth, latency: CABLE.latency, sharing: Sharing::Shared };
    Star::new(hosts, CABLE, backbone.then_some(link))
}

/// Nodes in a ring whose links lead one way round: host i reaches host i + 1 by link i.
pub(in crate::packet) fn one_way_ring(nodes: u32) -> Explicit {
    let link = Link { bandwidth: CABLE.bandwidth, latency: CABLE.latency, sharing: Sharing::Shared };
    let links = (0..nodes).map(|number| (format!("link {number}"), link)).collect();
    let piece = |from| Piece { from, to: (from + 1) % nodes, links: vec![LinkId(from)] };
    Explicit::new(nodes, 0, links, &(0..nodes).map(piece).collect::<Vec<_>>(), Routes::Dijkstra)
}

pub(in crate::packet) fn routing(name: &str) -> RoutingOptions {
    RoutingOptions { name: Some(name.parse().unwrap()), ..RoutingOptions::default() }
}

pub(in crate::packet) fn up_and_down(ascent: Ascent) -> RoutingOptions {
    RoutingOptions { ascent: Some(ascent), ..RoutingOptions::default() }
}

/// A network with random cables that fail, some of them for a time, but leave all hosts joined.
fn with_failures(topology: Arc<dyn Topology>, seed: u64) -> Arc<dyn Topology> {
    let graph = topology.router_graph().unwrap();
    let cables: Vec<_> =
        DeviceGraph::of(&graph).cables().into_iter().filter(|cable| cable.is_between_routers()).collect();
    let mut failures: Vec<Failure> = Vec::new();
    let (mut all, mut times) = (topology, [Time(0), Time(1)].into_iter().cycle());
    for draw in 0..chance(seed, 0, 0) % 5 {
        let Some(cable) = cables.get(chance(seed, 1, draw) as usize % cables.len().max(1)) else { continue };
        let (links, at) = ([cable.there, cable.back].into_iter().flatten().collect(), times.next().unwrap());
        let until = if draw == 0 { Time(1) } else { Time::NEVER };
        failures.push(Failure { name: String::new(), links, routers: BTreeSet::new(), at, until });
    }
    while !failures.is_empty() {
        let from_start = failures.iter().map(|failure| Failure { at: Time(0), until: Time::NEVER, ..failure.clone() });
        if WithFailures::new(Arc::clone(&all), &graph, from_start.collect()).separated().is_none() {
            all = Arc::new(WithFailures::new(all, &graph, failures));
            break;
        }
        failures.pop();
    }
    all
}

/// A network some of whose cables between routers are slower than others.
fn with_slow_links(topology: Arc<dyn Topology>, seed: u64) -> Arc<dyn Topology> {
    let mut links = topology.links().to_vec();
    let graph = topology.router_graph().unwrap();
    for cable in DeviceGraph::of(&graph).cables().into_iter().filter(|cable| cable.is_between_routers()) {
        for link in [cable.there, cable.back].into_iter().flatten() {
            let part = [1.0, 1.0, 0.5, 0.3][chance(seed, link.0.into(), 2) as usize % 4];
            links[link.index()].bandwidth = 1e9 * part;
            links[link.index()].latency =
                Seconds(if chance(seed, link.0.into(), 3).is_multiple_of(3) { 50e-9 } else { 0.0 });
        }
    }
    Arc::new(ChangedLinks::one_by_one(topology, links))
}

/// A network, with a routing that it can have; perhaps with failures or slow links.
pub(in crate::packet) fn any_network() -> impl Strategy<Value = (Arc<dyn Topology>, RoutingOptions)> {
    (any_whole_network(), prop::sample::select(vec![0, 0, 0, 1, 1, 2, 3]), any::<u64>()).prop_map(
        |((topology, routing), change, seed)| {
            let is_of_routers = !topology.router_graph().unwrap().is_of_written_routes();
            let change = if is_of_routers { change } else { 0 };
            let topology = if change & 2 == 2 { with_slow_links(topology, seed) } else { topology };
            (if change & 1 == 1 { with_failures(topology, seed) } else { topology }, routing)
        },
    )
}

fn any_whole_network() -> impl Strategy<Value = (Arc<dyn Topology>, RoutingOptions)> {
    let sizes = || prop::collection::vec(1_u32..5, 1..4);
    let grids = prop_oneof![
        sizes().prop_map(|sizes| Arc::new(Grid::torus(&sizes, CABLE)) as Arc<dyn Topology>),
        sizes().prop_map(|sizes| Arc::new(Grid::mesh(&sizes, CABLE)) as Arc<dyn Topology>),
        prop::sample::select(vec![vec![4, 2], vec![6, 3], vec![8, 4], vec![4, 2, 2]])
            .prop_map(|sizes| Arc::new(Grid::twisted_torus(&sizes, CABLE)) as Arc<dyn Topology>),
    ];
    let trees = prop::sample::select(vec![
        (vec![4], vec![1]),
        (vec![2, 2, 2], vec![1, 2, 2]),
        (vec![3, 3], vec![1, 3]),
        (vec![4, 2, 2], vec![1, 1, 2]),
        (vec![2, 3], vec![1, 2]),
    ])
    .prop_map(|(m, w)| Arc::new(tree(&m, &w)) as Arc<dyn Topology>);
    let dragonflies = prop_oneof![
        (1_u32..3, 1_u32..3).prop_map(|(nodes, green)| Arc::new(dragonfly(nodes, green)) as Arc<dyn Topology>),
        (2_u32..6, 2_u32..4).prop_map(|(groups, routers)| Arc::new(canonical(groups, routers, 2)) as Arc<dyn Topology>),
    ];
    let through_groups = prop::sample::select(vec!["minimal", "valiant", "ugal", "ugal-g", "par"]).prop_map(routing);
    let fabrics = prop_oneof![
        (2_u32..4, 1_u32..4, 1_u32..3).prop_map(|(x, y, hosts)| hyperx([x, y], hosts)),
        (2_u32..5, 1_u32..3, any::<u64>()).prop_map(|(half, hosts, seed)| jellyfish(2 * half, hosts, seed)),
        (1_u32..3).prop_map(slim_fly),
    ];
    let shortest = prop::sample::select(vec!["minimal", "adaptive"]).prop_map(|name| (name, 1));
    let detours = prop::sample::select(vec!["valiant", "ugal", "ugal-g"]).prop_map(|name| (name, 2));
    let hops = (fabrics, prop_oneof![shortest, detours], 0_u32..3).prop_map(|(fabric, (name, times), more)| {
        let virtual_channels = Some((times * fabric.diameter()).max(1) + more);
        (Arc::new(fabric) as Arc<dyn Topology>, RoutingOptions { virtual_channels, ..routing(name) })
    });
    let up_down = (2_u32..5, any::<u64>())
        .prop_map(|(half, seed)| (Arc::new(jellyfish(2 * half, 2, seed)) as Arc<dyn Topology>, routing("up-down")));
    let stars =
        (1_u32..6, any::<bool>()).prop_map(|(hosts, backbone)| Arc::new(star(hosts, backbone)) as Arc<dyn Topology>);
    let rings = (2_u32..4).prop_map(|nodes| Arc::new(one_way_ring(nodes)) as Arc<dyn Topology>);
    let ascents = prop::sample::select(ASCENTS.to_vec());
    prop_oneof![
        3 => (grids, prop::sample::select(vec![routing("dor"), routing("adaptive")])),
        2 => (trees, ascents.prop_map(up_and_down)),
        1 => (dragonflies, through_groups),
        2 => hops,
        1 => up_down,
        1 => (stars, Just(RoutingOptions::default())),
        1 => (rings, Just(routing("table"))),
    ]
}
