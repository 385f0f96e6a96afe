//! Networks of unequal links: equality with the reference in every cycle, and delivery of every message exactly once.

use proptest::prelude::*;
use titr_common::units::Seconds;

use super::{any_parameters, between, run, run_reference};
use crate::packet::*;
use crate::topology::{Cable, Duplex, Explicit, Link, LinkId, Piece, Routes, RoutingOptions, Sharing, Star, Topology};

/// Bandwidths and latencies of links, in parts of the fastest and in cycles of 4 ns.
fn any_link() -> impl Strategy<Value = Link> {
    let part = prop::sample::select(vec![1.0, 1.0, 0.5, 0.25, 0.3, 0.7, 1.0 / 3.0, 0.01]);
    let latency = prop::sample::select(vec![0.0, 0.0, 4e-9, 70e-9]);
    (part, latency).prop_map(|(part, latency)| Link {
        bandwidth: 1e9 * part,
        latency: Seconds(latency),
        sharing: Sharing::Shared,
    })
}

/// Any connected network of hosts and routers: a tree of cables, and more of them between any two of its nodes. A cable is a
/// link for each direction, or one for both.
fn any_explicit() -> impl Strategy<Value = Box<dyn Topology>> {
    let cables = prop::collection::vec((any::<(u32, u32)>(), any::<bool>(), any_link(), any_link()), 18);
    let routes = prop::sample::select(vec![Routes::Floyd, Routes::Dijkstra]);
    (2_u32..6, 0_u32..4, 0_usize..8, cables, routes).prop_map(|(hosts, routers, more, cables, routes)| {
        let nodes = hosts + routers;
        let (mut links, mut pieces): (Vec<(String, Link)>, Vec<Piece>) = (Vec::new(), Vec::new());
        let tree = (1..nodes).map(Some).chain((0..more).map(|_| None));
        for (node, ((from, to), is_half_duplex, up, down)) in tree.zip(cables) {
            let (from, to) = match node {
                Some(node) => (node, to % node),
                None => (from % nodes, to % nodes),
            };
            if from == to || pieces.iter().any(|piece| (piece.from, piece.to) == (from, to)) {
                continue;
            }
            let mut lay = |from, to, link| pieces.push(Piece { from, to, links: vec![link] });
            let first = LinkId(links.len() as u32);
            lay(from, to, first);
            links.push((format!("link {}", links.len()), up));
            if is_half_duplex {
                lay(to, from, first);
            } else {
                lay(to, from, LinkId(first.0 + 1));
                links.push((format!("link {}", links.len()), down));
            }
        }
        Box::new(Explicit::new(hosts, routers, links, &pieces, routes)) as Box<dyn Topology>
    })
}

fn any_star() -> impl Strategy<Value = Box<dyn Topology>> {
    let duplex = prop::sample::select(vec![Duplex::Full, Duplex::Half]);
    let limiter = prop::option::of(any_link());
    (2_u32..6, duplex, any_link(), prop::option::of(any_link()), limiter).prop_map(
        |(hosts, duplex, cable, backbone, limiter)| {
            let cable = Cable { bandwidth: cable.bandwidth, latency: cable.latency, duplex };
            let star = Star::new(hosts, cable, backbone);
            Box::new(match limiter {
                Some(limiter) => star.limited(limiter.bandwidth),
                None => star,
            }) as Box<dyn Topology>
        },
    )
}

/// Hosts on one link, which is the route between any two of them.
fn any_bus() -> impl Strategy<Value = Box<dyn Topology>> {
    (2_u32..6, any_link()).prop_map(|(hosts, link)| {
        let pairs = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to))).filter(|(from, to)| from != to);
        let pieces: Vec<Piece> = pairs.map(|(from, to)| Piece { from, to, links: vec![LinkId(0)] }).collect();
        Box::new(Explicit::new(hosts, 0, vec![("bus".to_owned(), link)], &pieces, Routes::Full)) as Box<dyn Topology>
    })
}

/// A network, and messages between its hosts in the order of their cycles, each with its number as tag.
fn any_run(messages: std::ops::Range<usize>, span: u64) -> impl Strategy<Value = (PacketSpec, Vec<(u64, Message)>)> {
    let network = prop_oneof![3 => any_explicit(), 2 => any_star(), 1 => any_bus()];
    let messages = prop::collection::vec((0..span, any::<(u32, u32)>(), 1_u64..6), messages);
    (network, any_parameters(), messages).prop_map(|(topology, mut parameters, messages)| {
        let graph = topology.router_graph().unwrap();
        let least = PacketSpec::new(graph.clone(), PacketParameters::default()).unwrap().virtual_channels();
        let virtual_channels = parameters.routing.virtual_channels.map(|channels| channels - 1 + least);
        parameters.routing = RoutingOptions { virtual_channels, ..RoutingOptions::default() };
        (PacketSpec::new(graph, parameters).unwrap(), between(topology.hosts(), messages))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Every message, in every network: created, injected and delivered in the same cycles over as many channels.
    #[test]
    fn the_engine_is_the_reference_on_uneven_links((spec, messages) in any_run(1..30, 60)) {
        prop_assert_eq!(run(&spec, &messages), run_reference(&spec, &messages, 200_000));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// After any saturation, the network drains, and each message arrives once.
    #[test]
    fn saturating_traffic_drains_over_uneven_links((spec, messages) in any_run(300..500, 20)) {
        let mut tags: Vec<_> = run(&spec, &messages).iter().map(|delivery| delivery.message.tag).collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, Vec::from_iter(0..messages.len() as u64));
    }
}
