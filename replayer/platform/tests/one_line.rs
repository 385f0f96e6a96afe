//! Platforms of one line: their meaning, the files that they stand for, and mistakes in them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use proptest::prelude::*;
use titr_common::units::Seconds;
use titr_network::topology::{HostId, RoutePeriod};
use titr_platform::{HostSpeed, Platform};

fn load(line: &str, overrides: &[&str]) -> Platform {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Platform::load(Path::new(line), &overrides).unwrap()
}

#[test]
fn each_topology_has_a_short_form() {
    let lines = [
        ("star:16", "star of 16"),
        ("torus:4x4x4", "torus 4×4×4"),
        ("torus:16", "torus 16"),
        ("mesh:8x8", "mesh 8×8"),
        ("twisted-torus:8x4", "twisted torus 8×4"),
        ("fat-tree:8x8,1x8", "fat-tree, 2 levels, 8×8, 1:1"),
        ("fat-tree:down=8x8,up=1x4,count=1x2", "fat-tree, 2 levels, 8×8, 1:1"),
        ("fat-tree:8x8,1x8,ascent=hashed,seed=7", "fat-tree, 2 levels, 8×8, 1:1, hashed"),
        ("xgft:4x4,1x2,ascent=s-mod-k", "fat-tree, 2 levels, 4×4, 2:1, s-mod-k"),
        ("xgft:4x4x4,1x4x4", "fat-tree, 3 levels, 4×4×4, 1:1"),
        ("dragonfly:g=9,a=4,h=2,p=2", "dragonfly of 9 groups × 4 routers × 2 hosts, 2 global links a router"),
        ("dragonfly:9,4,2,2", "dragonfly of 9 groups × 4 routers × 2 hosts, 2 global links a router"),
        ("dragonfly:groups=4,chassis=3,blades=4,nodes=3", "dragonfly of 4 groups × 3 chassis × 4 blades × 3 nodes"),
    ];
    for (line, name) in lines {
        for model in ["flow", "packet", "ideal"] {
            let platform = load(&format!("{line} 10Gbit/s 1us {model}"), &[]);
            assert_eq!((platform.topology.name().as_str(), platform.model.name()), (name, model));
        }
    }
}

#[test]
fn words_are_recognised_by_their_form_in_any_order() {
    let platform = load("  star:4   1 us host:3 10 Gbit/s 2.5Ginstr/s ", &[]);
    let link = platform.topology.links()[0];
    assert_eq!((link.bandwidth, link.latency, platform.cores), (1.25e9, Seconds(1e-6), 3));
    assert!(matches!(platform.speeds[0], HostSpeed::Absolute(speed) if speed.per_second == 2.5e9));
    let recorded = load("star:4 1us 10Gbit/s 1.5 x recorded", &[]);
    assert_eq!(recorded.speeds, [HostSpeed::OfRecorded(1.5); 4]);
    assert_eq!(load("star:4 1us 10Gbit/s", &[]).speeds, [HostSpeed::OfRecorded(1.0); 4]);
}

#[test]
fn overrides_complete_and_replace_a_line() {
    let platform = load("torus:4x4 10Gbit/s", &["network.latency=2 us", "network.bandwidth=1 GB/s", "hosts.cores=7"]);
    let link = platform.topology.links()[0];
    assert_eq!((link.bandwidth, link.latency, platform.cores), (1e9, Seconds(2e-6), 7));
}

/// Flows and packets have a routing each.
#[test]
fn flows_have_a_routing_of_their_own() {
    let has_several_paths = |line: &str, routing: &str| {
        let platform = load(line, &[&format!("network.flow.routing={routing}")]);
        let mut parts = Vec::new();
        platform.topology.spread(RoutePeriod::default(), HostId(0), HostId(platform.topology.hosts() - 1), &mut parts);
        !parts.is_empty()
    };
    assert!(has_several_paths("hyperx:4x4,p=2 10Gbit/s 1us", "valiant"));
    assert!(has_several_paths("dragonfly:g=9,a=4,h=2,p=2 10Gbit/s 1us", "valiant"));
    assert!(has_several_paths("fat-tree:4x4,1x2 10Gbit/s 1us", "adaptive"));
    assert!(!has_several_paths("hyperx:4x4,p=2 10Gbit/s 1us", "minimal"));
    assert!(!has_several_paths("hyperx:4x4,p=2 10Gbit/s packet", "valiant"));
}

#[test]
fn a_file_of_the_name_comes_first_and_may_have_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("star:4");
    std::fs::write(&file, "torus:3x3 10Gbit/s 1us\n").unwrap();
    assert_eq!(load(file.to_str().unwrap(), &[]).topology.name(), "torus 3×3");
    let error = Platform::load(Path::new("no/such.toml"), &[]).unwrap_err().to_string();
    assert!(error.starts_with("cannot read the platform no/such.toml: "), "{error}");
}

#[test]
fn a_line_is_written_as_a_file() {
    let written = |line: &str, set: &[String]| Platform::as_toml(Path::new(line), set).unwrap();
    let text = written("dragonfly:g=9,a=4,h=2,p=2 10Gbit/s 1us host:4 packet", &["hosts.speed=2 Ginstr/s".to_owned()]);
    insta::assert_snapshot!("written", text);
}

#[test]
fn mistakes_point_into_the_line() {
    let lines = [
        "torsu:4x4 10Gbit/s 1us",
        "ring:16 10Gbit/s 1us",
        "torus 10Gbit/s 1us",
        "torus: 10Gbit/s 1us",
        "torus:4x4x 10Gbit/s 1us",
        "torus:4x0 10Gbit/s 1us",
        "torus:4000x4000x4000 10Gbit/s 1us",
        "torus:4x4,2 10Gbit/s 1us",
        "dragonfly:g=9,a=4,q=2 10Gbit/s 1us",
        "dragonfly:g=9,router=4,h=2,p=2 10Gbit/s 1us",
        "dragonfly:g=9,g=8 10Gbit/s 1us",
        "dragonfly:=9 10Gbit/s 1us",
        "dragonfly:g=9,a=4,h=2 10Gbit/s 1us",
        "dragonfly:g=10,a=4,h=2,p=2 10Gbit/s 1us",
        "fat-tree:8x8,1x8,routing=magic 10Gbit/s 1us",
        "fat-tree:8x8,1x8,ascent=magic 10Gbit/s 1us",
        "fat-tree:8x8,1x8,routing=simgrid,ascent=hashed 10Gbit/s 1us",
        "xgft:8x8,1x8,seed=magic 10Gbit/s 1us",
        "xgft:8x8 10Gbit/s 1us",
        "star:many 10Gbit/s 1us",
        "star:16",
        "star:16 10Gbit/s",
        "star:16 10Gbit 1us",
        "star:16 10gbit/s 1us",
        "star:16 10mb/s 1us",
        "star:16 0Gbit/s 1us",
        "star:16 10Gbit/s 1 parsec",
        "star:16 10Gbit/s 1us 2us",
        "star:16 10Gbit/s 1us hosts:4",
        "star:16 10Gbit/s 1us host:0",
        "star:16 10Gbit/s 1us pakcet",
        "star:16 10Gbit/s 1us please",
    ];
    let mut all = String::new();
    for line in lines {
        let error = Platform::load(Path::new(line), &[]).unwrap_err();
        all += &format!("# {line}\n  {error}\n\n");
    }
    let error = Platform::load(Path::new("star:16 10Gbit/s 1us"), &["network.latncy=1 us".to_owned()]).unwrap_err();
    insta::assert_snapshot!("mistakes", format!("{all}# --set network.latncy\n  {error}\n"));
}

/// A topology in its short form.
fn topology() -> impl Strategy<Value = String> {
    let list = |sizes: Vec<u32>| sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
    let sizes = prop::collection::vec(1_u32..5, 1..4);
    let stages = prop::collection::vec((1_u32..5, 1_u32..4, 1_u32..3), 1..4);
    prop_oneof![
        (1_u32..100).prop_map(|hosts| format!("star:{hosts}")),
        ("torus|mesh", sizes).prop_map(move |(name, sizes)| format!("{name}:{}", list(sizes))),
        stages.prop_map(move |stages| {
            let [down, up, count] = [
                stages.iter().map(|stage| stage.0).collect(),
                stages.iter().map(|stage| stage.1).collect(),
                stages.iter().map(|stage| stage.2).collect(),
            ];
            format!("fat-tree:{},{},count={}", list(down), list(up), list(count))
        }),
        (1_u32..5, 1_u32..4, 1_u32..4).prop_map(|(a, h, p)| format!("dragonfly:g={},a={a},h={h},p={p}", a * h + 1)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// The file that a line stands for is a platform with the same properties.
    #[test]
    fn a_line_and_its_file_are_one_platform(
        topology in topology(),
        gbits in 1_u32..500,
        latency in 0_u32..10_000,
        cores in 1_u32..65,
        model in "flow|ideal",
    ) {
        let line = format!("{topology} {gbits}Gbit/s {latency}ns host:{cores} {model}");
        let text = Platform::as_toml(Path::new(&line), &[]).unwrap();
        let read = Platform::parse(Path::new("written.toml"), text, &[]).unwrap();
        prop_assert_eq!(format!("{:?}", load(&line, &[])), format!("{read:?}"));
    }

    /// Whatever the line is, there is a platform or a message.
    #[test]
    fn no_line_is_too_odd(
        name in "(torus|star|dragonfly|fat-tree|xgft|mesh|[a-z]{1,5}):",
        rest in "[0-9a-z=,;x: /µ\"'\\[\\]é-]{0,40}",
    ) {
        if let Err(error) = Platform::load(Path::new(&(name + &rest)), &["network.bandwidth=1 GB/s".to_owned()]) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
