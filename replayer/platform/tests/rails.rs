//! Platforms whose hosts have several network interfaces.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};
use titr_network::topology::{HostId, LinkId};
use titr_network::{Connection, Transfer, TransferId};
use titr_platform::{Platform, PlatformError};

const RING: &str = "torus:4 10Gbit/s 1us";

fn load(line: &str, overrides: &[&str]) -> Result<Platform, PlatformError> {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Platform::load(Path::new(line), &overrides)
}

/// The times at which messages of 1.25 MB (sender, receiver), one rank on each host, arrive that are sent at `at`.
fn arrivals(platform: &Platform, at: f64, messages: &[(u32, u32)]) -> Vec<f64> {
    let (mut network, mut delivered) = (platform.network(0), Vec::new());
    let at = Time::from_seconds(Seconds(at));
    network.advance(at, &mut delivered);
    for (id, &(sender, receiver)) in (0..).map(TransferId).zip(messages) {
        let connection = Some(Connection { sender, receiver });
        let (from, to) = (HostId(sender), HostId(receiver));
        network.inject(at, Transfer { connection, ..Transfer::new(id, from, to, Bytes(1_250_000)) });
    }
    let mut arrivals = vec![f64::NAN; messages.len()];
    while let Some(now) = network.next_event() {
        network.advance(now, &mut delivered);
        delivered.drain(..).for_each(|id| arrivals[id.0 as usize] = (now - at).0);
    }
    arrivals
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9), "{found:?}");
}

/// On one cable, 1.25 MB take 1 ms.
#[test]
fn each_choice_uses_the_rails_in_its_way() {
    let stream = [(0, 1), (0, 1)];
    for (choice, expected) in [("size", [0.000_501, 0.001_001]), ("rank", [0.001_001, 0.002_001])] {
        let set = format!("network.rails={{ count = 2, choice = \"{choice}\" }}");
        assert_near(&arrivals(&load(RING, &[&set]).unwrap(), 0.0, &stream), &expected);
    }
    let in_turn = "network.rails={ count = 2, choice = \"round-robin\" }";
    let small = "network.rails={ count = 2, small = \"2 MB\" }";
    assert_near(&arrivals(&load(RING, &[in_turn]).unwrap(), 0.0, &stream), &[0.001_001; 2]);
    assert_near(&arrivals(&load(RING, &[small]).unwrap(), 0.0, &stream), &[0.001_001, 0.002_001]);
    let ideal = load(RING, &["network.rails={ count = 4 }", "network.model=ideal"]).unwrap();
    assert_near(&arrivals(&ideal, 0.0, &stream), &[0.000_251; 2]);
}

#[test]
fn links_are_named_by_their_rail() {
    let platform = load(RING, &["network.rails.count=3"]).unwrap();
    let topology = &*platform.topology;
    assert_eq!(topology.name(), "torus 4 with 3 rails");
    let names: Vec<_> = (0..topology.links().len() as u32).map(|link| topology.link_name(LinkId(link))).collect();
    for rail in 0..3 {
        let count = |part: &str| names.iter().filter(|name| name.starts_with(&format!("rail-{rail} {part}"))).count();
        assert_eq!((count("node-"), count("node-2 +x")), (8, 1));
    }
    assert_eq!(names.len(), 3 * 12);
    assert_eq!(load(RING, &["network.rails.count=1"]).unwrap().topology.name(), "torus 4");
}

/// A failure is on each rail: the way round has three links.
#[test]
fn rails_have_the_same_failures() {
    let failed = "network.failed=[{ link = \"node-0 +x\", at = \"1 s\" }]";
    let platform = load(RING, &["network.rails={ count = 2, choice = \"round-robin\" }", failed]).unwrap();
    assert_near(&arrivals(&platform, 0.0, &[(0, 1), (0, 1)]), &[0.001_001; 2]);
    assert_near(&arrivals(&platform, 1.0, &[(0, 1), (0, 1)]), &[0.001_003; 2]);
}

/// On the second rail, the way round has three links. The other rail stays as it is.
#[test]
fn a_failure_may_be_of_one_rail() {
    let turns = "network.rails={ count = 2, choice = \"round-robin\" }";
    let failed = "network.failed=[{ link = \"node-0 +x\", rail = 1, at = \"1 s\" }]";
    let platform = load(RING, &[turns, failed]).unwrap();
    assert_near(&arrivals(&platform, 0.0, &[(0, 1), (0, 1)]), &[0.001_001; 2]);
    assert_near(&arrivals(&platform, 1.0, &[(0, 1), (0, 1)]), &[0.001_001, 0.001_003]);
    let slow = "network.link=[{ name = \"node-0 +x\", rail = 1, bandwidth = \"5 Gbit/s\" }]";
    assert_near(&arrivals(&load(RING, &[turns, slow]).unwrap(), 0.0, &[(0, 1), (0, 1)]), &[0.001_001, 0.002_001]);
}

const STAR: &str = "star:4 10Gbit/s 1us";

/// A host whose only cable of a rail has failed is on the other rails.
#[test]
fn messages_take_a_rail_with_a_route() {
    let rails = |more: &str| format!("network.rails={{ count = 3, {more} }}");
    let failed = |of: &str| format!("network.failed=[{of}]");
    let cable = |rail: u32, host: u32| format!("{{ link = \"node-{host} up\", rail = {rail} }}");
    let second = failed(&cable(1, 1));
    // Rank 1 takes the third rail, as rank 2 does. The cables of host 3 are shared.
    let by_rank = load(STAR, &[&rails("choice = \"rank\""), &second]).unwrap();
    assert_near(&arrivals(&by_rank, 0.0, &[(1, 3), (2, 3)]), &[0.002_002; 2]);
    assert_near(&arrivals(&by_rank, 0.0, &[(0, 3), (2, 3)]), &[0.001_002; 2]);
    // Two stripes instead of three.
    let striped = load(STAR, &[&rails("choice = \"size\""), &second]).unwrap();
    assert_near(&arrivals(&striped, 0.0, &[(1, 3), (0, 2)]), &[0.000_502, 0.000_335_333_6]);
    // Every host is on some rail with every other one.
    let each = failed(&[cable(0, 0), cable(1, 1)].join(", "));
    assert!(load(STAR, &[&rails("choice = \"rank\""), &each]).is_ok());
    let all = failed(&[cable(0, 0), cable(1, 1), cable(2, 1)].join(", "));
    assert!(load(STAR, &[&rails("choice = \"rank\""), &all]).is_err());
}

/// The failures of all rails are named.
#[test]
fn a_message_without_a_rail_is_an_error() {
    ["flow", "ideal", "packet"].iter().for_each(|model| fails_without_a_rail(model));
}

fn fails_without_a_rail(model: &str) {
    let model = format!("network.model={model}");
    let turns = "network.rails={ count = 2, choice = \"round-robin\" }";
    let failed = "network.failed=[{ link = \"node-1 up\", rail = 0, at = \"1 s\" }, { link = \"node-1 down\", rail = 1, at = \"1 s\" }]";
    let mut network = load(STAR, &[turns, failed, &model]).unwrap().network(0);
    let (from, to) = (HostId(1), HostId(2));
    let message = Transfer::new(TransferId(0), from, to, Bytes(1));
    assert!(network.unreachable(Time::ZERO, &message).is_none());
    let at = Time::from_seconds(Seconds(1.0));
    network.advance(at, &mut Vec::new());
    let why = network.unreachable(at, &message).unwrap().to_string();
    assert!(why.contains("from host 1 to host 2"), "{why}");
    assert!(why.contains("link `node-1 up` of rail 0, link `node-1 down` of rail 1"), "{why}");
    network.inject(at, message);
    assert_eq!(network.first_unreachable().to_string(), why);
}

/// A message of 1.25 MB is 19532 packets of 64 bytes, which a host sends one after the other in 1 ms. Two messages on two rails
/// take as long as one, and on one rail twice as long.
#[test]
fn packets_take_rails() {
    const PACKETS: &str = "torus:4 10Gbit/s packet";
    let stream = [(0, 1), (0, 1)];
    let alone = arrivals(&load(PACKETS, &[]).unwrap(), 0.0, &stream[..1])[0];
    assert!((alone / 0.001 - 1.0).abs() < 0.001, "{alone}");
    let on = |rails: &str| arrivals(&load(PACKETS, &[&format!("network.rails={{ {rails} }}")]).unwrap(), 0.0, &stream);
    assert_near(&on("count = 2, choice = \"round-robin\""), &[alone; 2]);
    let in_turn = arrivals(&load(PACKETS, &[]).unwrap(), 0.0, &stream);
    assert_near(&on("count = 2, choice = \"rank\""), &in_turn);
    assert!(in_turn[1] > 1.99 * alone);
    let striped = on("count = 2");
    assert!((striped[1] / alone - 1.0).abs() < 0.001, "{striped:?}");
    let (half, whole) = (striped[0], alone);
    assert!((half / whole - 0.5).abs() < 0.001, "{striped:?}");
}

/// Each rail is like a network of its own, with the failures and links of this rail.
#[test]
fn packets_take_a_rail_with_a_route() {
    const PACKETS: &str = "torus:4 10Gbit/s packet";
    let turns = "network.rails={ count = 2, choice = \"round-robin\" }";
    let failed = |rail: &str| format!("network.failed=[{{ link = \"node-0 +x\", at = \"1 s\"{rail} }}]");
    let only = load(PACKETS, &[&failed("")]).unwrap();
    let [before, after] = [0.0, 1.0].map(|at| arrivals(&only, at, &[(0, 1)])[0]);
    // Two more channels, at 3.2 ns a cycle.
    assert_near(&[after - before], &[2.0 * 3.2e-9]);
    let two = load(PACKETS, &[turns, &failed(", rail = 1")]).unwrap();
    assert_near(&arrivals(&two, 0.0, &[(0, 1), (0, 1)]), &[before; 2]);
    assert_near(&arrivals(&two, 1.0, &[(0, 1), (0, 1)]), &[before, after]);
    let near = |found: &[f64], expected: &[f64]| {
        assert!(
            found.iter().zip(expected).all(|(found, expected)| (found / expected - 1.0).abs() < 0.001),
            "{found:?}"
        );
    };
    let slow = "network.link=[{ name = \"node-0 +x\", rail = 1, bandwidth = \"5 Gbit/s\" }]";
    near(&arrivals(&load(PACKETS, &[turns, slow]).unwrap(), 0.0, &[(0, 1), (0, 1)]), &[0.001, 0.002]);
    let by_rank = "network.rails={ count = 3, choice = \"rank\" }";
    let cut_off = "network.failed=[{ link = \"node-1 up\", rail = 1 }]";
    let star = load("star:4 10Gbit/s packet", &[by_rank, cut_off]).unwrap();
    near(&arrivals(&star, 0.0, &[(1, 3), (2, 3)]), &[0.002; 2]);
    near(&arrivals(&star, 0.0, &[(0, 3), (2, 3)]), &[0.001; 2]);
}

/// The second messages, which take the second rail, meet at other switches than the first.
#[test]
fn packets_choose_their_ways_by_chance_on_each_rail() {
    let tree = "xgft:4x4,1x4 10Gbit/s packet";
    let settings = ["network.packet.ascent=random", "network.packet.packet=12500 B"];
    let turns = "network.rails={ count = 2, choice = \"round-robin\" }";
    let once: Vec<(u32, u32)> = (0..8).map(|sender| (sender, sender + 4)).collect();
    let twice: Vec<(u32, u32)> = once.iter().flat_map(|message| [*message; 2]).collect();
    let both = arrivals(&load(tree, &[settings[0], settings[1], turns]).unwrap(), 0.0, &twice);
    let [first, second] = [0, 1].map(|rail| both.iter().skip(rail).step_by(2).copied().collect::<Vec<_>>());
    assert_near(&first, &arrivals(&load(tree, &settings).unwrap(), 0.0, &once));
    assert_ne!(first, second);
}

#[test]
fn mistakes() {
    let mistake = |line: &str, set: &str| load(line, &[set]).unwrap_err().to_string();
    let shown = [
        mistake(RING, "network.rails={ count = 0 }"),
        mistake(RING, "network.rails={ count = 65 }"),
        mistake(RING, "network.rails={ choice = \"rank\" }"),
        mistake(RING, "network.rails={ count = 2, choice = \"colour\" }"),
        mistake(RING, "network.rails={ count = 2, choice = \"rank\", small = \"1 kB\" }"),
        mistake(RING, "network.rails={ count = 2, small = \"1 us\" }"),
        mistake(RING, "network.failed=[{ link = \"node-0 +x\", rail = 1 }]"),
        mistake("torus:256x256x16 10Gbit/s 1us", "network.rails={ count = 64 }"),
    ];
    insta::assert_snapshot!("rails_mistakes", shown.join("\n\n"));
}
