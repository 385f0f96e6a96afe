//! Platforms with failed links and switches, and with links that are unlike the others.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use titr_common::time::Time;
use titr_common::units::Bytes;
use titr_network::properties::{Device, DeviceGraph};
use titr_network::topology::{HostId, LinkId, Topology};
use titr_network::{Transfer, TransferId};
use titr_platform::{Platform, PlatformError};

fn try_load(line: &str, overrides: &[&str]) -> Result<Platform, PlatformError> {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Platform::load(Path::new(line), &overrides)
}

fn load(line: &str, overrides: &[&str]) -> Platform {
    try_load(line, overrides).unwrap()
}

fn mistake(line: &str, overrides: &[&str]) -> String {
    try_load(line, overrides).unwrap_err().to_string()
}

fn route(topology: &dyn Topology, from: u32, to: u32) -> Vec<LinkId> {
    let mut route = Vec::new();
    topology.route(HostId(from), HostId(to), &mut route);
    route
}

fn names(platform: &Platform, from: u32, to: u32) -> Vec<String> {
    let topology = &*platform.topology;
    route(topology, from, to).into_iter().map(|link| topology.link_name(link)).collect()
}

/// The time at which a message between two hosts arrives.
fn arrival(platform: &Platform, from: u32, to: u32, bytes: u64) -> f64 {
    let mut network = platform.network(0, 1);
    let message = Transfer {
        id: TransferId(0),
        from: HostId(from),
        to: HostId(to),
        bytes: Bytes(bytes),
        connection: None,
        stretch: 1.0,
    };
    network.inject(Time::ZERO, message);
    let mut delivered = Vec::new();
    loop {
        let now = network.next_event().unwrap();
        network.advance(now, &mut delivered);
        if !delivered.is_empty() {
            return now.seconds().0;
        }
    }
}

const RING: &str = "torus:4 10Gbit/s 1us";

#[test]
fn a_ring_with_a_broken_link_is_used_the_other_way() {
    let broken = load(RING, &["network.failed=[{ link = \"node-0 +x\" }]"]);
    assert_eq!(broken.topology.name(), "torus 4 with failures");
    assert_eq!(names(&broken, 0, 1), ["node-0 -x", "node-3 -x", "node-2 -x"]);
    assert_eq!(names(&broken, 1, 0), ["node-1 +x", "node-2 +x", "node-3 +x"]);
    assert_eq!(names(&broken, 1, 2), ["node-1 +x"]);
    assert_eq!(names(&broken, 2, 2), ["node-2 loopback"]);
}

#[test]
fn hosts_that_do_not_reach_each_other_are_named() {
    let cut = ["network.failed=[{ link = \"node-0 +x\" }, { link = \"node-3 -x\" }]"];
    let shown = [
        mistake(RING, &cut),
        mistake("star:4 10Gbit/s 1us", &["network.failed=[{ link = \"node-2 up\" }]"]),
        mistake("fat-tree:2x2,1x1 10Gbit/s 1us", &["network.failed=[{ switch = \"switch-1.1\" }]"]),
        mistake(RING, &["network.failed=[{ link = \"node-0 +y\" }]"]),
        mistake(RING, &["network.failed=[{ router = \"node0\" }]"]),
        mistake(RING, &["network.failed=[{ }]"]),
        mistake(RING, &["network.failed=[{ link = \"node-0 +x\", from = \"2 s\" }]"]),
        mistake(RING, &["network.link=[{ name = \"node-9 +x\", bandwidth = \"1 Gbit/s\" }]"]),
        mistake("star:5000 10Gbit/s 1us", &["network.failed=[{ switch = \"switch-1.0\" }]"]),
        mistake(
            "torus:4x4 10Gbit/s 1us packet",
            &["network.failed=[{ link = \"node-0 +x\" }]", "network.packet.routing=dor"],
        ),
        mistake("torus:80x80 10Gbit/s 1us packet", &["network.failed=[{ link = \"node-0 +x\" }]"]),
    ];
    insta::assert_snapshot!("mistakes", shown.join("\n\n"));
}

#[test]
fn trees_and_dragonflies_have_other_ways() {
    let tree = load("fat-tree:4x4,1x2 10Gbit/s 1us", &["network.failed=[{ switch = \"switch-2.0\" }]"]);
    for (from, to) in (0..16).flat_map(|from| (0..16).map(move |to| (from, to))).filter(|(from, to)| from != to) {
        let names = names(&tree, from, to);
        assert_eq!(names.len(), if from / 4 == to / 4 { 2 } else { 4 });
        assert!(!names.iter().any(|name| name.contains("switch-2.0")), "{names:?}");
    }
    let line = "dragonfly:g=3,a=2,h=1,p=1 10Gbit/s 1us";
    let whole = load(line, &[]);
    let global = names(&whole, 0, 2).into_iter().find(|name| name.matches("router").count() == 2).unwrap();
    let broken = load(line, &[&format!("network.failed=[{{ link = \"{global}\" }}]")]);
    assert!(names(&whole, 0, 2).len() < names(&broken, 0, 2).len());
    assert!(!names(&broken, 0, 2).contains(&global));
}

#[test]
fn packets_go_around_failures_and_take_their_time_on_slow_links() {
    let line = "torus:4x4 10Gbit/s 1us packet";
    let whole = load(line, &[]);
    let broken = load(line, &["network.failed=[{ link = \"node-0 +x\" }]"]);
    // Three links instead of one, each with the latency that packets have on the written routes of the rest.
    assert!(arrival(&broken, 0, 1, 64) >= arrival(&whole, 0, 1, 64) + 2e-6);
    let slow = load(line, &["network.link=[{ name = \"node-0 +x\", bandwidth = \"1 Gbit/s\" }]"]);
    let (fast_time, slow_time) = (arrival(&whole, 0, 1, 1_250_000), arrival(&slow, 0, 1, 1_250_000));
    assert!((fast_time - 1e-3).abs() < 1e-5 && (slow_time - 1e-2).abs() < 1e-4, "{fast_time} {slow_time}");
}

#[test]
fn a_link_may_be_unlike_the_others_in_both_directions() {
    let slow = load(RING, &["network.link=[{ name = \"node-0 +x\", bandwidth = \"1 Gbit/s\", latency = \"3 us\" }]"]);
    for (from, to) in [(0, 1), (1, 0)] {
        assert!((arrival(&slow, from, to, 1_250_000) - 1e-2 - 3e-6).abs() < 1e-9);
    }
    assert!((arrival(&slow, 1, 2, 1_250_000) - 1e-3 - 1e-6).abs() < 1e-9);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// A route is a path from its first host to its last without failed links, and no longer than another path.
    #[test]
    fn routes_are_paths_without_failures(
        line in prop_oneof![
            Just("torus:4x3"), Just("mesh:3x3"), Just("fat-tree:3x3,1x3"), Just("dragonfly:g=4,a=3,h=1,p=1")
        ],
        failed in prop::collection::btree_set(0_u32..1000, 1..4),
    ) {
        let whole = load(&format!("{line} 10Gbit/s 1us"), &[]);
        let devices = DeviceGraph::of(&whole.topology.router_graph().unwrap());
        let cables = devices.cables();
        let failed: Vec<_> = failed.iter().map(|number| cables[*number as usize % cables.len()]).collect();
        let links: Vec<LinkId> = failed.iter().flat_map(|cable| [cable.there, cable.back]).flatten().collect();
        let written: Vec<String> =
            links.iter().map(|link| format!("{{ link = \"{}\" }}", whole.topology.link_name(*link))).collect();
        let set = format!("network.failed=[{}]", written.join(", "));
        let channels: Vec<_> = devices.channels.iter().filter(|channel| !links.contains(&channel.link)).collect();
        let device = |host: u32| match devices.channels.iter().find(|channel| channel.from == Device::Host(HostId(host))) {
            Some(channel) => channel.from,
            None => Device::Router(devices.hosts[host as usize]),
        };
        let lengths = |from: Device| {
            let (mut lengths, mut waiting) = (BTreeMap::from([(from, 0)]), std::collections::VecDeque::from([from]));
            while let Some(at) = waiting.pop_front() {
                for channel in channels.iter().filter(|channel| channel.from == at) {
                    if !lengths.contains_key(&channel.to) {
                        lengths.insert(channel.to, lengths[&at] + 1);
                        waiting.push_back(channel.to);
                    }
                }
            }
            lengths
        };
        let hosts = whole.topology.hosts();
        let is_whole = (0..hosts).all(|to| lengths(device(0)).contains_key(&device(to)));
        let broken = try_load(&format!("{line} 10Gbit/s 1us"), &[&set]);
        prop_assert_eq!(is_whole, broken.is_ok());
        let Ok(broken) = broken else { return Ok(()) };
        for from in 0..hosts {
            let lengths = lengths(device(from));
            for to in (0..hosts).filter(|&to| to != from) {
                let taken = route(&*broken.topology, from, to);
                prop_assert!(!taken.iter().any(|link| links.contains(link)));
                let mut at = device(from);
                for link in &taken {
                    at = channels.iter().find(|channel| channel.from == at && channel.link == *link).unwrap().to;
                }
                prop_assert_eq!(at, device(to));
                let is_kept = taken == route(&*whole.topology, from, to);
                prop_assert!(is_kept || taken.len() == lengths[&device(to)]);
            }
        }
    }
}
