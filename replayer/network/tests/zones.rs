//! Zones: the links of a message between hosts of two zones, and messages without a route.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};
use titr_network::flow::{Flow, FlowParameters, Preset};
use titr_network::ideal::Ideal;
use titr_network::topology::{
    HostId, Link, LinkId, PointId, Sharing, Topology, WrittenRoute, ZoneId, ZoneRouting, Zones,
};
use titr_network::{Network, Transfer, TransferId, Unreachable};

fn link(latency: f64) -> Link {
    Link { bandwidth: 1e9, latency: Seconds(latency), sharing: Sharing::Shared }
}

fn written(from: PointId, to: PointId, links: &[LinkId], gateways: Option<(PointId, PointId)>) -> WrittenRoute {
    WrittenRoute { from, to, links: links.to_vec(), gateways }
}

/// Two zones of two hosts and a router each; the second host of a zone has no route to its router.
fn two_zones() -> Zones {
    let mut zones = Zones::new("world", link(0.0));
    let sides = ["left", "right"].map(|side| {
        let zone = zones.add_zone(ZoneId(0), side);
        let [near, far] = ["near", "far"].map(|host| zones.add_host(zone, &format!("{side}-{host}")));
        let router = zones.add_router(zone, &format!("{side}-router"));
        let cable = zones.add_link(&format!("{side}-cable"), link(1e-6));
        let routes = [(near, router), (router, near)].map(|(from, to)| written(from, to, &[cable], None));
        zones.set_routing(zone, ZoneRouting::floyd(vec![near, far, router], routes.to_vec()));
        (zones.point_of(zone), router)
    });
    let [(left, left_router), (right, right_router)] = sides;
    let wan = zones.add_link("wan", link(1e-3));
    let there = written(left, right, &[wan], Some((left_router, right_router)));
    zones.set_routing(ZoneId(0), ZoneRouting::full(vec![there]));
    zones
}

fn names(topology: &dyn Topology, from: u32, to: u32) -> Vec<String> {
    let mut route = Vec::new();
    topology.route(HostId(from), HostId(to), &mut route);
    route.into_iter().map(|link| topology.link_name(link)).collect()
}

#[test]
fn a_route_leads_over_gateways_and_one_way_only_if_so_written() {
    let zones = two_zones();
    assert_eq!(names(&zones, 0, 2), ["left-cable", "wan", "right-cable"]);
    assert_eq!(names(&zones, 2, 0), [""; 0]);
    assert_eq!(names(&zones, 1, 2), [""; 0]);
    assert_eq!(names(&zones, 1, 1), ["__loopback__"]);
}

#[test]
fn a_message_without_a_route_never_arrives_and_says_why() {
    let topology: Arc<dyn Topology> = Arc::new(two_zones());
    let flow: Box<dyn Network> = Box::new(Flow::new(Arc::clone(&topology), FlowParameters::from(Preset::Smpi)));
    for mut network in [flow, Box::new(Ideal::new(topology))] {
        let transfer =
            |id: u32, from: u32, to: u32| Transfer::new(TransferId(id), HostId(from), HostId(to), Bytes(1000));
        let no_route = Unreachable::NoRoute { from: "right-near".to_owned(), to: "left-far".to_owned() };
        assert_eq!(network.unreachable(Time::ZERO, &transfer(0, 0, 2)), None);
        assert_eq!(network.unreachable(Time::ZERO, &transfer(1, 2, 1)), Some(no_route.clone()));
        network.inject(Time::ZERO, transfer(0, 0, 2));
        network.inject(Time::ZERO, transfer(1, 2, 1));
        let mut delivered = Vec::new();
        while let Some(now) = network.next_event().filter(|&now| now != Time::NEVER) {
            network.advance(now, &mut delivered);
        }
        assert_eq!(delivered, [TransferId(0)]);
        assert_eq!(network.next_event(), Some(Time::NEVER));
        assert_eq!(network.first_unreachable(), no_route);
    }
}
