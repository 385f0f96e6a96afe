//! Platforms with failed links and switches, and with links that are unlike the others.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};
use titr_network::properties::{CableEnds, Device, DeviceGraph};
use titr_network::topology::{HostId, LinkId, Topology};
use titr_network::{Network, Transfer, TransferId};
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

/// The instant after this many seconds.
fn after(seconds: f64) -> Time {
    Time::from_seconds(Seconds(seconds))
}

/// The times at which messages (time, from, to, bytes) arrive, in the order of the times at which they are sent.
fn arrivals(network: &mut dyn Network, messages: &[(f64, u32, u32, u64)]) -> Vec<f64> {
    let mut arrivals = vec![f64::NAN; messages.len()];
    let (mut delivered, mut waiting) = (Vec::new(), (0..).zip(messages).peekable());
    loop {
        let sent = waiting.peek().map(|(_, (at, ..))| after(*at));
        let Some(now) = [sent, network.next_event()].into_iter().flatten().min() else { return arrivals };
        assert!(now < Time::NEVER, "{}", network.first_unreachable());
        network.advance(now, &mut delivered);
        delivered.drain(..).for_each(|TransferId(id)| arrivals[id as usize] = now.seconds().0);
        while let Some((id, &(_, from, to, bytes))) = waiting.next_if(|(_, (at, ..))| after(*at) == now) {
            network.inject(now, message(id, from, to, bytes));
        }
    }
}

fn message(id: u32, from: u32, to: u32, bytes: u64) -> Transfer {
    let (from, to) = (HostId(from), HostId(to));
    Transfer::new(TransferId(id), from, to, Bytes(bytes))
}

/// The time at which a message between two hosts arrives.
fn arrival(platform: &Platform, from: u32, to: u32, bytes: u64) -> f64 {
    arrivals(&mut *platform.network(0), &[(0.0, from, to, bytes)])[0]
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
        mistake(RING, &["network.failed=[{ link = \"node-0 +x\", at = \"2 GB\" }]"]),
        mistake(RING, &["network.failed=[{ link = \"node-0 +x\", at = \"2 s\", until = \"2 s\" }]"]),
        mistake(RING, &["network.failed=[{ link = \"node-0 +x\", until = \"0 s\" }]"]),
        mistake(RING, &["network.link=[{ name = \"node-9 +x\", bandwidth = \"1 Gbit/s\" }]"]),
        mistake("star:5000 10Gbit/s 1us", &["network.failed=[{ switch = \"switch-1.0\" }]"]),
        mistake(
            "torus:4x4 10Gbit/s 1us packet",
            &["network.failed=[{ link = \"node-0 +x\" }]", "network.packet.routing=table"],
        ),
        mistake("dragonfly:g=3,a=2,h=1,p=1 10Gbit/s 1us", &["network.failures={ links = 4, class = \"global\" }"]),
        mistake("dragonfly:g=3,a=2,h=1,p=1 10Gbit/s 1us", &["network.failures.links=5"]),
    ];
    insta::assert_snapshot!("mistakes", shown.join("\n\n"));
}

/// `node-0 +x` fails for 20 ms.
const FOR_A_TIME: &str = "network.failed=[{ link = \"node-0 +x\", at = \"10 ms\", until = \"30 ms\" }]";

/// 1.25 MB take 1 ms, and a link 1 us. The way round has three links.
#[test]
fn messages_take_the_routes_of_the_instants_at_which_they_are_sent() {
    let sent = [(0.0, 0, 1, 1_250_000), (0.009_5, 0, 1, 1_250_000), (0.01, 0, 1, 1_250_000), (0.02, 1, 0, 1_250_000)];
    let sent = [&sent[..], &[(0.025, 0, 3, 1_250_000), (0.03, 0, 1, 1_250_000)]].concat();
    let expected = [0.001_001, 0.010_501, 0.011_003, 0.021_003, 0.026_001, 0.031_001];
    for model in ["flow", "ideal"] {
        let platform = load(RING, &[FOR_A_TIME, &format!("network.model={model}")]);
        let mut network = platform.network(0);
        let found = arrivals(&mut *network, &sent);
        let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9);
        assert!(is_near, "{model}: {found:?} instead of {expected:?}");
        let loads = network.link_loads();
        let links = (0..).map(LinkId).zip(loads).filter(|(_, load)| load.messages > 0);
        let carried: BTreeMap<String, u64> =
            links.map(|(link, load)| (platform.topology.link_name(link), load.messages)).collect();
        let expected = [("node-0 +x", 3), ("node-0 -x", 2), ("node-1 +x", 1), ("node-2 +x", 1), ("node-2 -x", 1)];
        let expected = expected.into_iter().chain([("node-3 +x", 1), ("node-3 -x", 1)]);
        assert_eq!(carried, expected.map(|(link, messages)| (link.to_owned(), messages)).collect());
    }
}

/// Two messages share a link, of which one was sent before the link failed; a third one goes the other way.
#[test]
fn messages_in_transit_share_a_failed_link_until_they_arrive() {
    let platform = load(RING, &["network.failed=[{ link = \"node-0 +x\", at = \"1 ms\" }]", "network.latency=0 s"]);
    let sent = [(0.0, 0, 1, 2_500_000), (0.000_9, 0, 1, 125_000), (0.001, 0, 1, 1_250_000)];
    let found = arrivals(&mut *platform.network(0), &sent);
    let is_near = found.iter().zip([0.002_1, 0.001_1, 0.002]).all(|(found, expected)| (found - expected).abs() < 1e-9);
    assert!(is_near, "{found:?}");
}

#[test]
fn a_message_that_failures_leave_no_route_for_is_an_error() {
    let cut = "network.failed=[{ link = \"node-0 +x\", at = \"10 ms\", until = \"30 ms\" }, \
               { link = \"node-2 +x\", at = \"20 ms\" }]";
    let error = "at 0.02 s, a message is sent from host 0 to host 1, and the failures of link `node-0 +x`, link `node-2 +x` \
                 leave no route: place ranks on other hosts, or leave out a failure";
    for line in [RING, "torus:4 10Gbit/s 1us ideal", "torus:4 10Gbit/s 1us packet"] {
        let mut network = load(line, &[cut]).network(0);
        let unreachable = |network: &mut dyn Network, at: f64, to| {
            network.advance(after(at), &mut Vec::new());
            network.unreachable(after(at), &message(0, 0, to, 64)).map(|why| why.to_string())
        };
        for (at, to, expected) in [(0.0, 1, None), (0.01, 1, None), (0.02, 3, None), (0.02, 1, Some(error))] {
            assert_eq!(unreachable(&mut *network, at, to).as_deref(), expected, "{line}: {at} s to {to}");
        }
        network.inject(after(0.02), message(0, 0, 1, 64));
        assert_eq!(network.next_event(), Some(Time::NEVER));
        assert_eq!(network.first_unreachable().to_string(), error);
        let mut network = load(line, &[cut]).network(0);
        assert_eq!(unreachable(&mut *network, 0.03, 1), None, "{line}: repaired");
    }
}

/// A packet that is sent while links have failed takes as long as on a machine where they have failed from the start.
#[test]
fn packets_take_the_routes_of_their_messages() {
    let (line, link) = ("torus:4x3 10Gbit/s 1us packet", "network.failed=[{ link = \"node-0 +x\"");
    let [whole, failed] = ["at = \"1000 s\"", "at = \"0 s\""].map(|at| load(line, &[&format!("{link}, {at} }}]")]));
    let times = load(line, &[&format!("{link}, at = \"64 us\", until = \"128 us\" }}]")]);
    // Cycles of 6.4 ns, so that all messages are offered at the beginning of a cycle.
    let sent = [(0.0, 0, 1, 64), (63.36e-6, 0, 1, 64), (64e-6, 0, 1, 64), (127.36e-6, 0, 1, 64), (128e-6, 0, 1, 64)];
    let found = arrivals(&mut *times.network(0), &sent);
    let expected = [(0.0, &whole), (63.36e-6, &whole), (64e-6, &failed), (127.36e-6, &failed), (128e-6, &whole)];
    for (found, (at, platform)) in found.into_iter().zip(expected) {
        let expected = at + arrival(platform, 0, 1, 64);
        assert!((found - expected).abs() < 1e-12, "sent at {at}: {found} instead of {expected}");
    }
    assert!(arrival(&failed, 0, 1, 64) > arrival(&whole, 0, 1, 64) + 6e-9);
    let all: Vec<_> =
        (0..240).map(|number| (f64::from(number) * 0.64e-6, number % 12, number * 7 % 12, 4096)).collect();
    let one = arrivals(&mut *times.network(0), &all);
    assert!(one.iter().all(|at| at.is_finite()));
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
    // Three links instead of one, each of which takes a cycle of 3.2 ns.
    assert!(arrival(&broken, 0, 1, 64) >= arrival(&whole, 0, 1, 64) + 6.3e-9);
    let slow = load(line, &["network.link=[{ name = \"node-0 +x\", bandwidth = \"1 Gbit/s\" }]"]);
    let (fast_time, slow_time) = (arrival(&whole, 0, 1, 1_250_000), arrival(&slow, 0, 1, 1_250_000));
    assert!((fast_time - 1e-3).abs() < 1e-5 && (slow_time - 1e-2).abs() < 1e-4, "{fast_time} {slow_time}");
}

/// The same draw of a smaller number of links fails, too, and only links of the class.
#[test]
fn links_are_drawn_to_fail() {
    let failed = |links: u32| -> Vec<String> {
        let set = format!("network.failures={{ links = {links}, class = \"global\", seed = 7 }}");
        let platform = load("dragonfly:g=9,a=4,h=2,p=2 10Gbit/s packet", &[&set, "network.packet.routing=ugal"]);
        platform.topology.failures().iter().map(|failure| failure.name.clone()).collect()
    };
    let (three, ten) = (failed(3), failed(10));
    assert_eq!((failed(0).len(), three.len(), ten.len()), (0, 3, 10));
    assert_eq!(three, ten[..3]);
    assert!(ten.iter().all(|name| name.ends_with("global`")), "{ten:?}");
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

    /// At any time, a route is a path from its first host to its last without links that have failed by then, and no longer
    /// than another path. If there is no path, there is no route.
    #[test]
    fn routes_are_paths_without_failures(
        line in prop_oneof![
            Just("torus:4x3"), Just("mesh:3x3"), Just("fat-tree:3x3,1x3"), Just("dragonfly:g=4,a=3,h=1,p=1")
        ],
        failed in prop::collection::btree_map(0_u32..1000, (0_u32..3, 1_u32..3), 1..5),
    ) {
        let whole = load(&format!("{line} 10Gbit/s 1us"), &[]);
        let devices = DeviceGraph::of(&whole.topology.router_graph().unwrap());
        let cables = devices.cables();
        let failed: Vec<_> =
            failed.iter().map(|(number, span)| (cables[*number as usize % cables.len()], *span)).collect();
        let links = |(cable, span): &(CableEnds, (u32, u32))| [cable.there, cable.back].map(|link| link.zip(Some(*span)));
        let links: Vec<(LinkId, (u32, u32))> = failed.iter().flat_map(links).flatten().collect();
        let written = links.iter().map(|(link, (at, seconds))| {
            let (name, until) = (whole.topology.link_name(*link), at + seconds);
            format!("{{ link = \"{name}\", at = \"{at} s\", until = \"{until} s\" }}")
        });
        let set = format!("network.failed=[{}]", written.collect::<Vec<_>>().join(", "));
        let device = |host: u32| match devices.channels.iter().find(|channel| channel.from == Device::Host(HostId(host))) {
            Some(channel) => channel.from,
            None => Device::Router(devices.hosts[host as usize]),
        };
        let channels_at = |second: u32| -> Vec<_> {
            let is_failed = |link: LinkId| {
                links.iter().any(|&(failed, (at, seconds))| failed == link && (at..at + seconds).contains(&second))
            };
            devices.channels.iter().filter(|channel| !is_failed(channel.link)).collect()
        };
        let lengths = |second: u32, from: Device| {
            let channels = channels_at(second);
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
        let is_whole = (0..hosts).all(|to| lengths(0, device(0)).contains_key(&device(to)));
        let broken = try_load(&format!("{line} 10Gbit/s 1us"), &[&set]);
        prop_assert_eq!(is_whole, broken.is_ok());
        let Ok(broken) = broken else { return Ok(()) };
        for (second, from) in (0..6).flat_map(|second| (0..hosts).map(move |from| (second, from))) {
            let (channels, lengths) = (channels_at(second), lengths(second, device(from)));
            for to in (0..hosts).filter(|&to| to != from) {
                let mut taken = Vec::new();
                let period = broken.topology.route_period(after(second.into()));
                broken.topology.route_in(period, HostId(from), HostId(to), &mut taken);
                let Some(length) = lengths.get(&device(to)) else {
                    prop_assert!(taken.is_empty());
                    continue;
                };
                let mut at = device(from);
                for link in &taken {
                    let channel = channels.iter().find(|channel| channel.from == at && channel.link == *link);
                    prop_assert!(channel.is_some(), "the route takes a link that has failed");
                    at = channel.unwrap().to;
                }
                prop_assert_eq!(at, device(to));
                let is_kept = taken == route(&*whole.topology, from, to);
                prop_assert!(is_kept || taken.len() == *length);
            }
        }
    }
}
