//! Packets in HyperX, Slim Fly, Jellyfish and Dragonfly+ under uniform traffic, by routing.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use titr_common::units::{Bytes, Seconds};
use titr_network::packet::{PacketParameters, PacketSpec};
use titr_network::topology::{
    Cable, DragonflyPlus, Duplex, Fabric, HyperX, Jellyfish, RoutingOptions, SlimFly, Topology, Wiring,
};
use titr_network::traffic::{Arrangement, Destinations, Injection, Pattern, Plan, Sizes, measure};

const CABLE: Cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };

const ROUTINGS: [&str; 5] = ["minimal", "adaptive", "valiant", "ugal", "ugal-g"];

/// The load that is accepted if hosts offer a load.
fn accepted(wiring: Wiring, routing: &str, pattern: Pattern, load: f64) -> f64 {
    let fabric = Fabric::new(wiring, CABLE).unwrap();
    let routing = RoutingOptions { name: Some(routing.parse().unwrap()), ..RoutingOptions::default() };
    let parameters = PacketParameters { routing, queue_packets: 8, ..PacketParameters::default() };
    let spec = PacketSpec::new(fabric.router_graph().unwrap(), parameters).unwrap();
    let destinations = Destinations::new(pattern, fabric.hosts(), Arrangement::of(spec.graph())).unwrap();
    let sizes = Sizes::Range(Bytes(64), Bytes(64));
    let plan = Plan { destinations, sizes, warmup: 1000, cycles: 4000, runs: 1 };
    measure(&spec, &plan, Injection::Load(load)).figures.accepted
}

fn hyperx(sizes: &[u32], hosts: u32) -> Wiring {
    HyperX { sizes: sizes.to_vec(), cables: vec![1; sizes.len()], hosts }.wiring()
}

#[test]
fn every_fabric_accepts_a_load_of_three_tenths() {
    let fabrics = [
        hyperx(&[4, 4], 3),
        SlimFly::new(5, None).unwrap().wiring(),
        Jellyfish { routers: 20, degree: 6, hosts: 2, seed: 3 }.wiring().unwrap(),
        DragonflyPlus { groups: 5, leaves: 2, spines: 2, global_links: 2, hosts: 2 }.wiring(),
    ];
    for wiring in fabrics {
        for routing in ROUTINGS {
            let accepted = accepted(wiring.clone(), routing, Pattern::Uniform, 0.3);
            assert!((accepted / 0.3 - 1.0).abs() < 0.1, "{} {routing}: {accepted}", wiring.name);
        }
    }
}

/// In a row of two routers, all packets between the routers share a cable, and those to the own router need none: of four
/// hosts, each sends 2/3 of its load to the other router, so that a load of L needs 2·2/3·L of the cable.
#[test]
fn a_single_cable_saturates_at_its_bandwidth() {
    for routing in ["minimal", "adaptive"] {
        let accepted = accepted(hyperx(&[2], 2), routing, Pattern::Uniform, 1.0);
        assert!((0.6..0.76).contains(&accepted), "{routing}: {accepted}");
    }
}

/// The nine hosts of a group of a Dragonfly+ all send to one other group: minimal routing has one link for them, and detours
/// share two more.
#[test]
fn detours_avoid_a_link_that_all_need() {
    let plus = DragonflyPlus { groups: 4, leaves: 3, spines: 3, global_links: 1, hosts: 3 };
    let accepted = |routing| accepted(plus.wiring(), routing, Pattern::BitComplement, 0.5);
    let minimal = accepted("minimal");
    assert!((minimal * 9.0 - 1.0).abs() < 0.1, "{minimal}");
    for routing in ["valiant", "ugal", "ugal-g"] {
        let accepted = accepted(routing);
        assert!(accepted > 1.3 * minimal, "{routing}: {accepted}");
    }
}

/// In a row of eight routers with eight hosts each, all hosts of a router send to one other router. Their shortest path is one
/// link, and packets wait for it in the queues of their hosts.
#[test]
fn ugal_avoids_an_overloaded_first_link() {
    let accepted = |routing| accepted(hyperx(&[8], 8), routing, Pattern::BitComplement, 0.5);
    let minimal = accepted("minimal");
    assert!((minimal * 8.0 - 1.0).abs() < 0.05, "{minimal}");
    for routing in ["ugal", "ugal-g"] {
        let accepted = accepted(routing);
        assert!(accepted > 2.5 * minimal, "{routing}: {accepted}");
    }
}
