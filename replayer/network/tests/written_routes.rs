//! Packets on stars and on networks of explicit routes: times computed by hand, rejected networks with their errors,
//! and delivery of every packet in any network.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use proptest::prelude::*;
use support::{message, run, spec};
use titr_common::units::Seconds;
use titr_network::packet::{Delivery, PacketParameters, PacketSpec};
use titr_network::topology::{
    Cable, Duplex, Explicit, Link, LinkId, Piece, Routes, RoutingOptions, Sharing, Star, Topology,
};

const LINK: Link = Link { bandwidth: 1e9, latency: Seconds(0.0), sharing: Sharing::Shared };
const CABLE: Cable = Cable { bandwidth: 1e9, latency: Seconds(0.0), duplex: Duplex::Full };

/// Phits of a packet.
const L: u64 = 16;

fn star(hosts: u32) -> Star {
    Star::new(hosts, CABLE, None)
}

/// A network of these links, which have the name of their number, and a piece for each.
fn network(hosts: u32, routers: u32, ends: &[(u32, u32)], routes: Routes) -> Explicit {
    let links = (0..ends.len()).map(|number| (format!("link {number}"), LINK)).collect();
    let piece = |(number, &(from, to)): (u32, &(u32, u32))| Piece { from, to, links: vec![LinkId(number)] };
    let pieces: Vec<_> = (0..).zip(ends).map(piece).collect();
    Explicit::new(hosts, routers, links, &pieces, routes)
}

/// Hosts, and a router with two links to each of them.
fn written_star(hosts: u32) -> Explicit {
    let ends: Vec<_> = (0..hosts).flat_map(|host| [(host, hosts), (hosts, host)]).collect();
    network(hosts, 1, &ends, Routes::Floyd)
}

fn ring(nodes: u32) -> Explicit {
    let ends: Vec<_> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
    network(nodes, 0, &ends, Routes::Dijkstra)
}

fn with_channels(virtual_channels: u32) -> PacketParameters {
    let routing = RoutingOptions { virtual_channels: Some(virtual_channels), ..RoutingOptions::default() };
    PacketParameters { routing, ..PacketParameters::default() }
}

/// Why packets cannot pass a topology.
fn refusal(topology: &dyn Topology) -> String {
    topology.router_graph().unwrap_err().to_string()
}

/// A packet goes over its host's cable (1 + w), through the switch (r), and over the other cable (w) phit by phit (L).
#[test]
fn a_packet_over_a_star() {
    for (r, w) in [(0, 0), (3, 5)] {
        let parameters = PacketParameters { router_delay: r, wire_delay: w, ..PacketParameters::default() };
        let expected = 1 + u64::from(w) + u64::from(r) + L + u64::from(w);
        for topology in [&star(4) as &dyn Topology, &written_star(4)] {
            let [delivery] = run(&spec(topology, parameters.clone()), &[message(0, 1, 3, 1)])[..] else {
                panic!("not delivered once")
            };
            assert_eq!((delivery.at, delivery.hops), (expected, 0));
        }
    }
}

/// Eight hosts send ten packets each to a ninth, whose cable carries a phit in every cycle until all have arrived: the
/// last of 80 packets arrives after 1 + 80·L cycles. The switch serves the hosts in turn, so their last packets follow
/// each other, and no host is ahead of another by more than the packets of one turn.
#[test]
fn an_incast_is_limited_by_the_receiving_cable_and_fair() {
    let messages: Vec<_> = (1..9).map(|from| message(from.into(), from, 0, 10)).collect();
    for topology in [&star(9) as &dyn Topology, &written_star(9)] {
        let deliveries = run(&spec(topology, PacketParameters::default()), &messages);
        let times: Vec<_> = deliveries.iter().map(|delivery| delivery.at).collect();
        let expected: Vec<_> = (73..=80).map(|packets| 1 + packets * L).collect();
        assert_eq!(times, expected);
    }
}

/// Pairs of hosts under a switch do not disturb each other; around a backbone as fast as a cable they share it.
#[test]
fn pairs_share_a_backbone_and_not_a_switch() {
    let messages: Vec<_> = (0..3).map(|pair| message(pair.into(), 2 * pair, 2 * pair + 1, 10)).collect();
    let last = |topology: &Star| run(&spec(topology, PacketParameters::default()), &messages).last().unwrap().at;
    assert_eq!(last(&star(6)), 1 + 10 * L);
    // Three channels: to the backbone, the backbone, and from it. The backbone is busy with 30 packets in all.
    assert_eq!(last(&Star::new(6, CABLE, Some(LINK))), 1 + 3 + 30 * L);
}

/// A star with a written cable for each host is the star.
#[test]
fn a_written_star_is_a_star() {
    let messages: Vec<_> =
        (0..60).map(|tag| message(tag.into(), tag % 7, (tag * tag + 3) % 7, 1 + u64::from(tag) % 5)).collect();
    let [one, other] = [&star(7) as &dyn Topology, &written_star(7)]
        .map(|topology| run(&spec(topology, PacketParameters::default()), &messages));
    assert_eq!(one, other);
}

/// Around a ring of one-way links, the routes close a cycle: two virtual channels break it, one is refused with the links
/// of the cycle.
#[test]
fn a_ring_needs_two_virtual_channels() {
    let messages: Vec<_> = (0..3).map(|from| message(from.into(), from, (from + 2) % 3, 100)).collect();
    let default = spec(&ring(3), PacketParameters::default());
    assert_eq!(default.virtual_channels(), 2);
    assert_eq!(run(&default, &messages).len(), 3);
    let error = PacketSpec::new(ring(3).router_graph().unwrap(), with_channels(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "packets could wait for each other for ever around the circle of links `link 0`, `link 1`, `link 2`: these routes \
         need 2 virtual channels"
    );
}

#[test]
fn what_packets_cannot_pass_is_refused() {
    let fat_pipe = Link { sharing: Sharing::FatPipe, ..LINK };
    assert_eq!(refusal(&Star::new(3, CABLE, Some(fat_pipe))), "packets share a link, and `backbone` is a fat pipe");
    let links = (0..4).map(|number| (format!("link {number}"), LINK)).collect();
    let routes: [((u32, u32), &[u32]); 6] = [
        ((0, 2), &[0]),
        ((2, 0), &[1]),
        // From host 0 to host 2 and back before it goes on.
        ((0, 1), &[0, 1, 2]),
        ((2, 1), &[1, 2]),
        ((1, 0), &[3]),
        ((1, 2), &[3, 0]),
    ];
    let piece = |((from, to), links): ((u32, u32), &[u32])| Piece {
        from,
        to,
        links: links.iter().copied().map(LinkId).collect(),
    };
    let there_and_back = Explicit::new(3, 0, links, &routes.map(piece), Routes::Full);
    assert_eq!(refusal(&there_and_back), "the route from host 0 to host 1 passes a router twice");
}

/// Any connected network of hosts and routers: a tree of cables, and more links between any two of its nodes.
fn any_network() -> impl Strategy<Value = Explicit> {
    let routes = prop::sample::select(vec![Routes::Floyd, Routes::Dijkstra]);
    let more = prop::collection::vec(any::<(u32, u32)>(), 0..12);
    (2_u32..7, 0_u32..4, prop::collection::vec(any::<u32>(), 10), more, routes).prop_map(
        |(hosts, routers, parents, more, routes)| {
            let nodes = hosts + routers;
            let tree = (1..nodes).zip(parents).map(|(node, parent)| (node, parent % node));
            let mut ends: Vec<(u32, u32)> = tree.flat_map(|(node, parent)| [(node, parent), (parent, node)]).collect();
            for (from, to) in more.into_iter().map(|(from, to)| (from % nodes, to % nodes)) {
                if from != to && !ends.contains(&(from, to)) {
                    ends.push((from, to));
                }
            }
            network(hosts, routers, &ends, routes)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// All hosts send to all at once, with queues of one packet: everything arrives, over as many links as its route has.
    #[test]
    fn everything_arrives_by_its_route(topology in any_network(), queue_packets in 1_u32..3, more in 0_u32..3) {
        let graph = topology.router_graph().unwrap();
        let cables = if graph.has_host_cables() { 2 } else { 0 };
        let channels = PacketSpec::new(graph, PacketParameters::default()).unwrap().virtual_channels();
        let spec = spec(&topology, PacketParameters { queue_packets, ..with_channels(channels + more) });
        let hosts = topology.hosts();
        let pairs = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to)));
        let messages: Vec<_> = (0..).zip(pairs).map(|(tag, (from, to))| message(tag, from, to, 5)).collect();
        let deliveries = run(&spec, &messages);
        prop_assert_eq!(deliveries.len(), messages.len());
        let mut route = Vec::new();
        for Delivery { message, hops, .. } in deliveries.into_iter().filter(|delivery| delivery.message.from != delivery.message.to) {
            route.clear();
            topology.route(message.from, message.to, &mut route);
            prop_assert_eq!(u64::from(hops), route.len() as u64 - cables);
        }
    }
}
