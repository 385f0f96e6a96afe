//! The ascents of fat-trees: the balance of flows, and the load of packets that a tree accepts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::collections::BTreeMap;

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;
use support::{message, run, spec};
use titr_common::units::{Bytes, Seconds};
use titr_network::packet::PacketParameters;
use titr_network::topology::{Ascent, Cable, Duplex, FatTree, HostId, PortChoice, RoutingOptions, Stage, Topology};
use titr_network::traffic::{Arrangement, Destinations, Injection, Pattern, Plan, Sizes, measure};

const CABLE: Cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };

/// A tree with as many cables up as down: `arity` children and parents everywhere.
fn full(arity: u32, levels: usize) -> FatTree {
    let stage = |level| Stage { down: arity, up: if level == 0 { 1 } else { arity }, count: 1 };
    FatTree::new(&(0..levels).map(stage).collect::<Vec<_>>(), CABLE)
}

/// The flows on each link up from a switch, by the switch, if each host sends one flow: `to` says where.
fn flows_up(tree: &FatTree, to: &[u32]) -> BTreeMap<String, BTreeMap<String, u32>> {
    let mut flows: BTreeMap<_, BTreeMap<_, u32>> = BTreeMap::new();
    for (from, &to) in (0..).zip(to) {
        let mut route = Vec::new();
        tree.route(HostId(from), HostId(to), &mut route);
        for &link in &route[1..route.len() / 2] {
            let name = tree.link_name(link);
            let (switch, parent) = name.split_once(" to ").unwrap();
            *flows.entry(switch.to_owned()).or_default().entry(parent.to_owned()).or_default() += 1;
        }
    }
    flows
}

fn permutation(hosts: u32, random: &mut impl RngCore) -> Vec<u32> {
    let mut to: Vec<u32> = (0..hosts).collect();
    for last in (1..to.len()).rev() {
        to.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
    to
}

/// The variance of the flows on the ports upwards of each level's switches, as a part of the variance if each flow drew a
/// port: n/w·(1 − 1/w) for n flows and w ports.
fn variance_of_levels(ascent: Ascent, permutations: u64, to: impl Fn(u64) -> Vec<u32>) -> [f64; 2] {
    const ARITY: u32 = 8;
    let (mut found, mut drawn) = ([0.0; 2], [0.0; 2]);
    for seed in 0..permutations {
        let tree = full(ARITY, 3).choosing(PortChoice { ascent, seed });
        for (switch, ports) in flows_up(&tree, &to(seed)) {
            let level = usize::from(switch.starts_with("switch-2"));
            let (flows, ports_of_switch) = (f64::from(ports.values().sum::<u32>()), f64::from(ARITY));
            let squares: f64 = ports.values().map(|&flows| f64::from(flows).powi(2)).sum();
            found[level] += squares - flows * flows / ports_of_switch;
            drawn[level] += flows * (1.0 - 1.0 / ports_of_switch);
        }
    }
    [found[0] / drawn[0], found[1] / drawn[1]]
}

/// Hashes put flows on ports as balls fall into bins, on each level independently of the others.
#[test]
fn hashed_flows_of_permutations_are_balls_in_bins() {
    let mut random = Pcg64Mcg::new(7);
    let to: Vec<_> = (0..30).map(|_| permutation(512, &mut random)).collect();
    for part in variance_of_levels(Ascent::Hashed, 30, |seed| to[seed as usize].clone()) {
        assert!((part - 1.0).abs() < 0.06, "{part}");
    }
}

/// In a shift, each port upwards has one flow by d-mod-k and by s-mod-k (Zahavi 2010), so nothing varies where all flows
/// of a switch go up; by a hash, the ports have as many flows as in any other permutation.
#[test]
fn shifts_are_balanced_unless_hashed() {
    let shift = |seed: u64| (0..512).map(|from| (from + 64 * (1 + seed as u32 % 7)) % 512).collect();
    for ascent in [Ascent::DModK, Ascent::SModK] {
        assert_eq!(variance_of_levels(ascent, 7, shift), [0.0, 0.0]);
    }
    for part in variance_of_levels(Ascent::Hashed, 30, shift) {
        assert!((part - 1.0).abs() < 0.06, "{part}");
    }
}

/// Equal seeds give equal paths, and other seeds other paths.
#[test]
fn the_seed_selects_the_hash() {
    let paths = |seed| flows_up(&full(4, 3).choosing(PortChoice { ascent: Ascent::Hashed, seed }), &transposed(64));
    assert_eq!(paths(1), paths(1));
    assert_ne!(paths(1), paths(2));
}

fn transposed(hosts: u32) -> Vec<u32> {
    let side = hosts.isqrt();
    (0..hosts).map(|from| from % side * side + from / side).collect()
}

fn ascent(ascent: Ascent) -> RoutingOptions {
    RoutingOptions { ascent: Some(ascent), ..RoutingOptions::default() }
}

/// The load that hosts can send when each offers all that its cable carries.
fn accepted(tree: &FatTree, options: RoutingOptions, pattern: Pattern) -> f64 {
    let routing = RoutingOptions { virtual_channels: Some(2), ..options };
    let spec = spec(tree, PacketParameters { routing, queue_packets: 8, ..PacketParameters::default() });
    let destinations = Destinations::new(pattern, tree.hosts(), Arrangement::of(spec.graph())).unwrap();
    let sizes = Sizes::Range(Bytes(64), Bytes(64));
    let plan = Plan { destinations, sizes, warmup: 3000, cycles: 3000, runs: 1 };
    measure(&spec, &plan, Injection::Load(1.0)).figures.accepted
}

/// In the transpose of k × k hosts, all hosts of a switch send to hosts of one number at other switches, so that d-mod-k
/// gives all of them one port, and s-mod-k the k hosts that send to one switch. The adaptive ascent accepts about what it
/// accepts of uniform traffic, of which the k hosts that would send to themselves have no part.
#[test]
fn the_adaptive_ascent_avoids_the_port_that_all_flows_share() {
    let tree = full(8, 2);
    for one_port in [Ascent::DModK, Ascent::SModK] {
        let found = accepted(&tree, ascent(one_port), Pattern::Transpose);
        assert!((8.0 * found - 1.0).abs() < 0.02, "{one_port:?}: {found}");
    }
    let adaptive = accepted(&tree, ascent(Ascent::Adaptive), Pattern::Transpose);
    let uniform = accepted(&tree, ascent(Ascent::Adaptive), Pattern::Uniform);
    assert!((adaptive / (uniform * 7.0 / 8.0) - 1.0).abs() < 0.15, "{adaptive}; uniform {uniform}");
    for some_ports in [Ascent::Hashed, Ascent::Random] {
        let found = accepted(&tree, ascent(some_ports), Pattern::Transpose);
        assert!((0.2..adaptive).contains(&found), "{some_ports:?}: {found}; adaptive {adaptive}");
    }
}

/// The digits of an address reversed, in a tree of three levels: d-mod-k gives all hosts of a switch one port.
#[test]
fn the_adaptive_ascent_chooses_on_each_level() {
    let tree = full(4, 3);
    let found = accepted(&tree, ascent(Ascent::DModK), Pattern::BitReversal);
    assert!((4.0 * found - 1.0).abs() < 0.02, "{found}");
    let adaptive = accepted(&tree, ascent(Ascent::Adaptive), Pattern::BitReversal);
    assert!(adaptive > 0.6, "{adaptive}");
    // No two flows of this permutation share a link by d-mod-k, and the adaptive ascent finds such ports, too.
    for without_sharing in [Ascent::DModK, Ascent::Adaptive] {
        let found = accepted(&tree, ascent(without_sharing), Pattern::BitComplement);
        assert!(found > 0.95, "{without_sharing:?}: {found}");
    }
}

/// Seven hosts of a switch send to hosts with the number 0 at seven other switches. By d-mod-k, they share a port; the
/// adaptive ascent finds a port for each, after which no two share a link.
#[test]
fn flows_of_one_switch_have_a_port_each_if_adaptive() {
    const PACKETS: u64 = 200;
    let messages: Vec<_> = (1..8).map(|number| message(number.into(), number, 8 * number, PACKETS)).collect();
    let cycles = |options| {
        let routing = RoutingOptions { virtual_channels: Some(1), ..options };
        let spec = spec(&full(8, 2), PacketParameters { routing, ..PacketParameters::default() });
        let phits = PACKETS * u64::from(spec.parameters().packet_phits);
        run(&spec, &messages).iter().map(|delivery| delivery.at).max().unwrap() as f64 / phits as f64
    };
    assert!((7.0..7.1).contains(&cycles(ascent(Ascent::DModK))));
    assert!((1.0..1.1).contains(&cycles(ascent(Ascent::Adaptive))));
}

/// Packets choose as the topology says, if their own options say nothing else.
#[test]
fn packets_have_the_ascent_of_their_topology() {
    let hashed = full(8, 2).choosing(PortChoice { ascent: Ascent::Hashed, seed: 3 });
    let found = |tree: &FatTree, options| accepted(tree, options, Pattern::Transpose);
    let expected = found(&full(8, 2).choosing(PortChoice { seed: 3, ..PortChoice::default() }), ascent(Ascent::Hashed));
    assert_eq!(found(&hashed, RoutingOptions::default()), expected);
    let adaptive = RoutingOptions { name: Some("adaptive".parse().unwrap()), ..RoutingOptions::default() };
    assert_eq!(found(&hashed, adaptive), found(&full(8, 2), ascent(Ascent::Adaptive)));
    assert_eq!(found(&hashed, ascent(Ascent::DModK)), found(&full(8, 2), RoutingOptions::default()));
}
