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
    let (mut network, mut delivered) = (platform.network(0, 1), Vec::new());
    let at = Time::from_seconds(Seconds(at));
    network.advance(at, &mut delivered);
    for (id, &(sender, receiver)) in (0..).map(TransferId).zip(messages) {
        let connection = Some(Connection { sender, receiver });
        let (from, to) = (HostId(sender), HostId(receiver));
        network.inject(at, Transfer { id, from, to, bytes: Bytes(1_250_000), connection, stretch: 1.0 });
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
        mistake("torus:256x256x16 10Gbit/s 1us", "network.rails={ count = 64 }"),
    ];
    insta::assert_snapshot!("rails_mistakes", shown.join("\n\n"));
}
