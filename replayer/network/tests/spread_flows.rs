//! Flows over several paths at once: the parts of links, rates by closed forms, and loads.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};
use titr_network::flow::{Flow, FlowParameters, Preset};
use titr_network::topology::{
    Ascent, Cable, ChangedLinks, Dragonfly, Duplex, Fabric, Failure, FatTree, FlowRouting, GlobalLinks, Grid, HostId,
    HyperX, Jellyfish, Link, LinkId, Paths, PortChoice, RoutePeriod, RouteVariant, Shape, Stage, Topology,
    WithFailures,
};
use titr_network::{LinkLoad, Network as _, Transfer, TransferId};

const BANDWIDTH: f64 = 1e9;
const CABLE: Cable = Cable { bandwidth: BANDWIDTH, latency: Seconds(1e-6), duplex: Duplex::Full };

fn tree(stages: &[(u32, u32, u32)], ascent: Ascent) -> FatTree {
    let stages: Vec<_> = stages.iter().map(|&(down, up, count)| Stage { down, up, count }).collect();
    FatTree::new(&stages, CABLE).choosing(PortChoice { ascent, seed: 0 })
}

/// The part of a message on each link.
fn parts(topology: &dyn Topology, from: u32, to: u32) -> BTreeMap<LinkId, f64> {
    let (mut paths, mut parts) = (Paths::default(), BTreeMap::new());
    paths.find(topology, RoutePeriod::default(), (HostId(from), HostId(to)));
    for (link, part) in paths.parts() {
        *parts.entry(link).or_default() += part;
    }
    parts
}

/// Asserts that what reaches a device of a network leaves it, except at the ends of the message; and if devices have limiters,
/// that it passes them.
fn assert_conserved(topology: &dyn Topology, from: u32, to: u32) {
    let (mut leaving, mut arriving, mut passing) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (link, part) in parts(topology, from, to) {
        let name = topology.link_name(link);
        let Some((start, end)) = name.split_once(" to ") else {
            passing.insert(name.replace(" limiter", ""), part);
            continue;
        };
        *leaving.entry(start.to_owned()).or_default() += part;
        *arriving.entry(end.split(' ').next().unwrap().to_owned()).or_default() += part;
    }
    leaving.entry(format!("node-{to}")).and_modify(|part| *part += 1.0).or_insert(1.0);
    arriving.entry(format!("node-{from}")).and_modify(|part| *part += 1.0).or_insert(1.0);
    let assert_equal = |one: &BTreeMap<String, f64>, other: &BTreeMap<String, f64>| {
        assert!(one.keys().eq(other.keys()), "{one:?}; {other:?}");
        assert!(one.iter().all(|(device, part)| (part - other[device]).abs() < 1e-12), "{one:?}; {other:?}");
    };
    assert_equal(&leaving, &arriving);
    if !passing.is_empty() && from != to {
        assert_equal(&leaving, &passing);
    }
}

/// The seconds that messages of `bytes` take that are sent at once, and the loads of links.
fn times(
    topology: impl Topology + 'static,
    preset: Preset,
    ends: &[(u32, u32)],
    bytes: u64,
) -> (Vec<f64>, Vec<LinkLoad>) {
    let mut network = Flow::new(Arc::new(topology), FlowParameters::from(preset));
    for (&(from, to), id) in ends.iter().zip(0..) {
        let (from, to, bytes) = (HostId(from), HostId(to), Bytes(bytes));
        network.inject(Time::ZERO, Transfer::new(TransferId(id), from, to, bytes));
    }
    let (mut times, mut delivered) = (vec![f64::NAN; ends.len()], Vec::new());
    while let Some(now) = network.next_event() {
        network.advance(now, &mut delivered);
        delivered.drain(..).for_each(|id| times[id.0 as usize] = now.seconds().0);
    }
    (times, network.link_loads())
}

/// Asserts that all messages take the latency of `links` links, and then their bytes at a part of the bandwidth of a cable.
#[track_caller]
fn assert_rate(found: &[f64], links: u32, bytes: u64, part: f64) {
    let expected = f64::from(links) * 1e-6 + bytes as f64 / (part * BANDWIDTH);
    for found in found {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
    }
}

proptest! {
    /// All of a message leaves its host and reaches the other one. What reaches a switch leaves it, in equal parts through
    /// all ports upwards, or down.
    #[test]
    fn parts_of_a_message_are_conserved(
        stages in prop::collection::vec((1_u32..5, 1_u32..4, 1_u32..3), 1..4),
        ends in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        limited: bool,
    ) {
        let tree = tree(&stages, Ascent::Random);
        let tree = if limited { tree.limited(1e9) } else { tree };
        let (from, to) = (ends.0.index(tree.hosts() as usize) as u32, ends.1.index(tree.hosts() as usize) as u32);
        assert_conserved(&tree, from, to);
        let mut upwards = BTreeMap::<String, BTreeSet<u64>>::new();
        for (link, part) in parts(&tree, from, to) {
            let name = tree.link_name(link);
            if let Some((start, _)) = name.split_once(" to ").filter(|(start, end)| end > start && end.starts_with("switch")) {
                upwards.entry(start.to_owned()).or_default().insert(part.to_bits());
            }
        }
        prop_assert!(upwards.values().all(|parts| parts.len() == 1));
    }

    /// With as many cables up as down, the messages of any permutation have the whole bandwidth of their hosts.
    #[test]
    fn permutations_do_not_block(order in Just((0..24).collect::<Vec<u32>>()).prop_shuffle()) {
        let ends: Vec<_> = (0..24).zip(order).filter(|(from, to)| from / 4 != to / 4).collect();
        let (found, _) = times(tree(&[(4, 1, 1), (3, 4, 1), (2, 3, 1)], Ascent::Adaptive), Preset::Plain, &ends, 1_000_000);
        for (found, (from, to)) in found.into_iter().zip(ends) {
            assert_rate(&[found], if from / 12 == to / 12 { 4 } else { 6 }, 1_000_000, 1.0);
        }
    }
}

/// The parts are the mean of the single paths over all hashes.
#[test]
fn parts_are_the_mean_of_hashed_paths() {
    const SEEDS: u64 = 4000;
    let stages = [(2, 1, 1), (3, 2, 2), (2, 3, 1)];
    let mut mean = BTreeMap::<LinkId, f64>::new();
    for seed in 0..SEEDS {
        let hashed = tree(&stages, Ascent::Hashed).choosing(PortChoice { ascent: Ascent::Hashed, seed });
        for (link, part) in parts(&hashed, 1, 10) {
            *mean.entry(link).or_default() += part / SEEDS as f64;
        }
    }
    let spread = parts(&tree(&stages, Ascent::Random), 1, 10);
    assert_eq!(spread.keys().collect::<Vec<_>>(), mean.keys().collect::<Vec<_>>());
    for (link, part) in &spread {
        // Four standard deviations of the mean of as many draws.
        let tolerance = 4.0 * (part * (1.0 - part) / SEEDS as f64).sqrt() + 1e-9;
        assert!((part - mean[link]).abs() < tolerance, "{part}, but {}", mean[link]);
    }
}

/// Seven hosts of a switch send to seven others: by d-mod-k all through one port, and otherwise through all eight. With half as
/// many ports, they share four.
#[test]
fn the_flows_of_a_switch_share_its_ports() {
    let ends: Vec<_> = (1..8).map(|number| (number, 8 * number)).collect();
    let found = |up, ascent| times(tree(&[(8, 1, 1), (8, up, 1)], ascent), Preset::Plain, &ends, 10_000_000).0;
    assert_rate(&found(8, Ascent::DModK), 4, 10_000_000, 1.0 / 7.0);
    for ascent in [Ascent::Random, Ascent::Adaptive] {
        assert_rate(&found(8, ascent), 4, 10_000_000, 1.0);
        assert_rate(&found(4, ascent), 4, 10_000_000, 4.0 / 7.0);
    }
}

/// A message needs an equal part of each path, so that the slowest path limits all: of two cables upwards, one with a quarter
/// of the bandwidth, each carries what the slower one can.
#[test]
fn the_slowest_path_limits_a_message() {
    let tree = Arc::new(tree(&[(2, 1, 1), (2, 2, 1)], Ascent::Random));
    let slow = |number: u32| tree.link_name(LinkId(number)) == "switch-1.0 to switch-2.0";
    let links = (0..).zip(tree.links()).map(|(number, link)| match slow(number) {
        true => Link { bandwidth: link.bandwidth / 4.0, ..*link },
        false => *link,
    });
    let changed = ChangedLinks::one_by_one(tree.clone(), links.collect());
    let (found, _) = times(changed, Preset::Plain, &[(0, 2)], 1_000_000);
    assert_rate(&found, 4, 1_000_000, 0.5);
}

/// Acknowledgements take a twentieth of the bandwidth of all paths back: two messages in opposite directions have 1/1.05 each.
#[test]
fn acknowledgements_are_spread_too() {
    let both = [(0, 4), (4, 0)];
    let (found, _) = times(tree(&[(4, 1, 1), (2, 3, 2)], Ascent::Adaptive), Preset::Cm02, &both, 100_000_000 - 16);
    assert_rate(&found, 4, 100_000_000, 1.0 / 1.05);
}

/// Each of three cables up and down carries a third of the bytes, of which a third of a byte is rounded.
#[test]
fn links_carry_parts_of_messages() {
    let spread = tree(&[(2, 1, 1), (2, 3, 1)], Ascent::Random);
    let (_, loads) = times(spread.clone(), Preset::Plain, &[(0, 2), (0, 2), (1, 0)], 500);
    let load = |name: &str| {
        let link = (0..loads.len()).find(|&link| spread.link_name(LinkId(link as u32)) == name).unwrap();
        (loads[link].bytes.0, loads[link].messages)
    };
    assert_eq!(load("node-0 to switch-1.0"), (1000, 2));
    for parent in 0..3 {
        assert_eq!(load(&format!("switch-1.0 to switch-2.{parent}")), (333, 2));
        assert_eq!(load(&format!("switch-2.{parent} to switch-1.1")), (333, 2));
    }
    assert_eq!(load("switch-1.0 to node-0"), (500, 1));
    assert_eq!(load("switch-1.1 to node-3"), (0, 0));
}

/// A message takes its route alone if another of its paths meets a failure, and a path around if the route does.
#[test]
fn a_message_whose_path_failed_takes_one_path() {
    let spread = tree(&[(2, 1, 1), (2, 2, 1)], Ascent::Random);
    for failed in ["switch-1.0 to switch-2.0", "switch-1.0 to switch-2.1"] {
        let link = (0..).map(LinkId).find(|&link| spread.link_name(link) == failed).unwrap();
        let graph = spread.router_graph().unwrap();
        let failing = |at| {
            let (links, routers) = (BTreeSet::from([link]), BTreeSet::new());
            let failure = Failure { name: failed.into(), links, routers, at, until: Time::NEVER };
            WithFailures::new(Arc::new(spread.clone()), &graph, vec![failure])
        };
        assert_eq!(parts(&failing(Time(1)), 0, 2), parts(&spread, 0, 2), "nothing has failed at the start");
        let broken = failing(Time::ZERO);
        let there = parts(&broken, 0, 2);
        assert!(there.len() == 4 && there.values().all(|&part| part == 1.0) && !there.contains_key(&link));
        assert_eq!(parts(&broken, 2, 0), parts(&spread, 2, 0), "the way back is whole");
    }
}

/// A network in which flows have this routing.
fn routed<T: Topology>(mut topology: T, routing: FlowRouting) -> T {
    assert!(topology.route_flows(routing));
    topology
}

fn hyperx(sizes: &[u32], hosts: u32) -> Fabric {
    let cables = (1..).take(sizes.len()).collect();
    Fabric::new(HyperX { sizes: sizes.to_vec(), cables, hosts }.wiring(), CABLE).unwrap()
}

proptest! {
    /// All of a message leaves its host and reaches the other one in graphs of routers and dragonflies, too.
    #[test]
    fn parts_of_detours_are_conserved(
        ends in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        limited: bool,
        seed: u64,
    ) {
        let jellyfish = Jellyfish { routers: 10, degree: 3, hosts: 2, seed }.wiring().unwrap();
        let fabrics = [hyperx(&[3, 2, 2], 2), Fabric::new(jellyfish, CABLE).unwrap()];
        let limit = |fabric: Fabric| if limited { fabric.limited(1e9) } else { fabric };
        let fabrics = fabrics.map(limit).into_iter().flat_map(|fabric| {
            [FlowRouting::Adaptive, FlowRouting::Valiant].map(|routing| Box::new(routed(fabric.clone(), routing)) as Box<dyn Topology>)
        });
        let cascade =
            Shape { groups: 4, chassis: 2, black: 1, blades: 4, green: 2, nodes: 2, global: GlobalLinks::OfGroups(1) };
        let dragonflies = [Shape::canonical(5, 2, 4, 2), Shape::canonical(9, 4, 2, 2), cascade].map(|shape| {
            let dragonfly = Dragonfly::new(shape, RouteVariant::Minimal, CABLE);
            Box::new(routed(if limited { dragonfly.limited(1e9) } else { dragonfly }, FlowRouting::Valiant)) as Box<dyn Topology>
        });
        for topology in fabrics.chain(dragonflies) {
            let hosts = topology.hosts() as usize;
            assert_conserved(&*topology, ends.0.index(hosts) as u32, ends.1.index(hosts) as u32);
        }
    }
}

/// Each of n routers, of which every two are joined, sends with p hosts to the next router. The p flows share a link. By way of
/// the n − 2 other routers, each flow uses 1/(n − 2) of two links, so that each link has 2p such flows. A dragonfly whose groups
/// have one router is the same network.
#[test]
fn valiant_flows_take_half_of_what_the_other_routers_carry() {
    const ROUTERS: u32 = 6;
    const HOSTS: u32 = 4;
    let ends: Vec<_> = (0..ROUTERS * HOSTS).map(|from| (from, (from + HOSTS) % (ROUTERS * HOSTS))).collect();
    let part = |routing| match routing {
        FlowRouting::Minimal | FlowRouting::Adaptive | FlowRouting::UpDown => 1.0 / f64::from(HOSTS),
        FlowRouting::Valiant => f64::from(ROUTERS - 2) / f64::from(2 * HOSTS),
    };
    let latency = |routing| if routing == FlowRouting::Valiant { 4 } else { 3 };
    for routing in [FlowRouting::Minimal, FlowRouting::Adaptive, FlowRouting::Valiant, FlowRouting::UpDown] {
        let (found, _) = times(routed(hyperx(&[ROUTERS], HOSTS), routing), Preset::Plain, &ends, 1_000_000);
        assert_rate(&found, latency(routing), 1_000_000, part(routing));
    }
    let dragonfly = Dragonfly::new(Shape::canonical(ROUTERS, 1, ROUTERS - 1, HOSTS), RouteVariant::Minimal, CABLE);
    for routing in [FlowRouting::Minimal, FlowRouting::Valiant] {
        let (found, _) = times(routed(dragonfly.clone(), routing), Preset::Plain, &ends, 1_000_000);
        assert_rate(&found, latency(routing), 1_000_000, part(routing));
    }
}

/// From one corner of a square of routers to the other, there are two paths; the second dimension has two cables side by side.
#[test]
fn adaptive_flows_take_all_shortest_paths() {
    let square = routed(hyperx(&[2, 2], 2), FlowRouting::Adaptive);
    let of_routers: Vec<f64> = parts(&square, 0, 6).into_values().filter(|&part| part < 1.0).collect();
    let number = |expected: f64| of_routers.iter().filter(|&&part| (part - expected).abs() < 1e-12).count();
    // A third takes each port of the first router: one along the first dimension, and then each of two cables along the second;
    // and two along the second dimension.
    assert_eq!([number(1.0 / 3.0), number(1.0 / 6.0), number(2.0 / 3.0)], [3, 2, 1], "{of_routers:?}");
}

/// Where a network has no such paths, nothing changes.
#[test]
fn only_some_networks_spread_flows() {
    let mut torus = Grid::torus(&[3, 3], CABLE);
    assert!(torus.route_flows(FlowRouting::Minimal) && !torus.route_flows(FlowRouting::Adaptive));
    assert!(!torus.route_flows(FlowRouting::UpDown));
    let mut fly = Dragonfly::new(Shape::canonical(5, 2, 2, 1), RouteVariant::Minimal, CABLE);
    assert!(!fly.route_flows(FlowRouting::Adaptive) && !fly.route_flows(FlowRouting::UpDown));
    let mut tree = tree(&[(2, 1, 1), (2, 2, 1)], Ascent::DModK);
    // The paths of a tree go up and then down.
    assert!(!tree.route_flows(FlowRouting::Valiant) && tree.route_flows(FlowRouting::UpDown));
    for topology in [&torus as &dyn Topology, &fly, &tree] {
        assert!(parts(topology, 0, 3).into_values().all(|part| part == 1.0));
    }
    assert!(tree.route_flows(FlowRouting::Adaptive) && parts(&tree, 0, 3).into_values().any(|part| part == 0.5));
}
