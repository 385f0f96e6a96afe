//! Saturation of a dragonfly by routing, against the shapes of J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-Driven,
//! Highly-Scalable Dragonfly Topology", ISCA 2008.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use titr_common::units::{Bytes, Seconds};
use titr_network::packet::{PacketParameters, PacketSpec};
use titr_network::topology::{Cable, Dragonfly, Duplex, RouteVariant, RoutingOptions, Shape, Topology};
use titr_network::traffic::{Arrangement, Destinations, Injection, Pattern, Plan, Sizes, measure};

/// Routers of a group, links of a router to other groups, and hosts of a router: balanced.
const ROUTERS: u32 = 4;
const LINKS: u32 = 2;
const HOSTS: u32 = 2;

/// The load that is accepted if hosts offer a load.
fn accepted(routing: &str, pattern: Pattern, load: f64) -> f64 {
    let cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };
    let shape = Shape::canonical(ROUTERS * LINKS + 1, ROUTERS, LINKS, HOSTS);
    let topology = Dragonfly::new(shape, RouteVariant::Minimal, cable);
    let name = Some(routing.parse().unwrap());
    let routing = RoutingOptions { name, virtual_channels: Some(4), ..RoutingOptions::default() };
    let parameters = PacketParameters { routing, queue_packets: 16, ..PacketParameters::default() };
    let spec = PacketSpec::new(topology.router_graph().unwrap(), parameters).unwrap();
    let destinations = Destinations::new(pattern, topology.hosts(), Arrangement::of(spec.graph())).unwrap();
    let sizes = Sizes::Range(Bytes(64), Bytes(64));
    let plan = Plan { destinations, sizes, warmup: 3000, cycles: 3000, runs: 1 };
    measure(&spec, &plan, Injection::Load(load)).figures.accepted
}

/// All hosts of a group share its one link to the next group.
#[test]
fn minimal_routing_saturates_at_the_link_between_groups() {
    let expected = 1.0 / f64::from(ROUTERS * LINKS);
    let found = accepted("minimal", Pattern::GroupAdversarial, 0.5);
    assert!((found / expected - 1.0).abs() < 0.02, "{found}, not {expected}");
}

/// Valiant's routing uses the links between groups twice for each packet: half of the load that they carry.
#[test]
fn valiant_halves_the_load_of_any_pattern() {
    for pattern in [Pattern::GroupAdversarial, Pattern::Uniform] {
        let found = accepted("valiant", pattern, 0.9);
        assert!((0.38..0.52).contains(&found), "{pattern}: {found}");
    }
}

/// Adaptive routing accepts what minimal routing accepts of uniform traffic, and what Valiant's accepts of adversarial traffic.
#[test]
fn adaptive_routing_has_the_better_of_both() {
    let minimal = accepted("minimal", Pattern::Uniform, 0.9);
    let valiant = accepted("valiant", Pattern::GroupAdversarial, 0.9);
    for routing in ["ugal", "ugal-g", "par"] {
        let uniform = accepted(routing, Pattern::Uniform, 0.9);
        assert!(uniform > 0.9 * minimal, "{routing}: {uniform}; minimal {minimal}");
        let adversarial = accepted(routing, Pattern::GroupAdversarial, 0.9);
        assert!(adversarial > 0.95 * valiant, "{routing}: {adversarial}; Valiant {valiant}");
    }
}
