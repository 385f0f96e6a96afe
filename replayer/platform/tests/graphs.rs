//! `[topology.graph]`: the networks of files in each format, and mistakes in them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;

use titr_network::topology::{HostId, LinkId, Topology};
use titr_platform::{Model, Platform};

const PLATFORM: &str = r#"schema = 1
hosts.speed = "2.5 Ginstr/s"

[topology.graph]
file = "network"

[network]
bandwidth = "10 Gbit/s"
latency = "1 us"
"#;

/// The platform with a file of the network, or the mistake in it.
fn load(network: &str, settings: &[&str]) -> Result<Platform, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cluster.toml");
    fs::write(&path, PLATFORM).unwrap();
    fs::write(folder.path().join("network"), network).unwrap();
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    let shown = |error: String| error.replace(&format!("{}/", folder.path().display()), "");
    Platform::load(&path, &settings).map_err(|error| shown(error.to_string()))
}

fn route(topology: &dyn Topology, from: u32, to: u32) -> Vec<String> {
    let mut route = Vec::new();
    topology.route(HostId(from), HostId(to), &mut route);
    route.into_iter().map(|link| topology.link_name(link)).collect()
}

/// Two leaves, a spine, and three hosts, as a list of cables.
const LIST: &str = "\
# A tree.
spine leaf1 bandwidth=20Gbit/s cables=2
spine leaf2 bandwidth=40Gbit/s latency=5us

leaf1 a
leaf1,b
c leaf2 {}
";

#[test]
fn a_list_of_cables_is_a_network() {
    let platform = load(LIST, &[]).unwrap();
    let topology = &*platform.topology;
    assert_eq!((topology.name(), topology.hosts()), ("graph of 3 routers and 3 hosts".to_owned(), 3));
    assert_eq!([0, 1, 2].map(|host| topology.host_name(HostId(host))), ["a", "b", "c"]);
    assert_eq!(route(topology, 0, 1), ["a to leaf1", "leaf1 to b"]);
    let far = route(topology, 2, 0);
    assert_eq!(
        (&far[..2], &far[3..]),
        (&["c to leaf2".to_owned(), "leaf2 to spine".to_owned()][..], &["leaf1 to a".to_owned()][..])
    );
    assert!(far[2].starts_with("spine to leaf1 cable "), "{}", far[2]);
    let link = |name: &str| {
        let mut all = (0..topology.links().len() as u32).map(LinkId);
        topology.links()[all.find(|&link| topology.link_name(link) == name).unwrap().index()]
    };
    assert_eq!(link("spine to leaf2").bandwidth, 5e9);
    assert!((link("spine to leaf2").latency.0 - 5e-6).abs() < 1e-12);
    assert_eq!((link("leaf1 to spine cable 1").bandwidth, link("leaf1 to a").bandwidth), (2.5e9, 1.25e9));
}

/// A ring of four, whose nodes all have two cables.
const RING: &str = "0 1\n1 2\n2 3\n3 0\n";

#[test]
fn every_node_may_have_hosts() {
    for (settings, hosts) in [(["topology.graph.hosts=1"], 4), (["topology.graph.hosts=3"], 12)] {
        let platform = load(RING, &settings).unwrap();
        assert_eq!(platform.topology.hosts(), hosts);
        assert_eq!(route(&*platform.topology, 0, hosts - 1).len(), 3);
    }
    let packets = load(RING, &["topology.graph.hosts=1", "network.model=packet", "network.packet.routing=ugal"]);
    assert_eq!(packets.unwrap().model.name(), "packet");
}

/// From the second router to the fourth, the first is as near as the third. Router 0 is the root, so the path by the third
/// router would go up after it went down.
#[test]
fn up_down_paths_keep_to_one_side_of_a_ring() {
    let flows = ["topology.graph.hosts=1", "network.flow.routing=up-down"];
    let packets = ["topology.graph.hosts=1", "network.model=packet", "network.packet.routing=up-down"];
    let unlike = RING.replace("1 2", "1 2 bandwidth=5Gbit/s");
    for (ring, settings) in [(RING, &flows[..]), (RING, &packets), (&unlike, &packets)] {
        let platform = load(ring, settings).unwrap();
        for (from, to) in [(1, 3), (3, 1)] {
            let path = route(&*platform.topology, from, to);
            assert_eq!(path[1..3], [format!("{from} to 0"), format!("0 to {to}")]);
        }
        if let Model::Packet(spec) = &platform.model {
            assert_eq!(spec.virtual_channels(), 1);
        }
    }
}

#[test]
fn a_file_may_say_which_nodes_are_hosts() {
    let text = format!("{LIST}hosts: a c\n");
    let platform = load(&text, &[]).unwrap();
    assert_eq!([0, 1].map(|host| platform.topology.host_name(HostId(host))), ["a", "c"]);
    assert_eq!(platform.topology.hosts(), 2);
}

/// Two switches with two cables between them and a host each, and the channel adapter inside the first.
const FABRIC: &str = "\
#
# Topology file: generated on Thu Nov 26 12:00:00 2026
#
vendid=0x2c9
devid=0xd2f0
switchguid=0xb8599f0300fc6de4(b8599f0300fc6de4)
Switch\t41 \"S-b8599f0300fc6de4\"\t\t# \"MF0;leaf1:MQM8700/U1\" enhanced port 0 lid 3 lmc 0
[1]\t\"H-b8599f0300ac84c0\"[1](b8599f0300ac84c0) \t\t# \"node1 HCA-1\" lid 5 4xHDR
[2]\t\"S-b8599f0300fc6df0\"[2]\t\t# \"MF0;leaf2:MQM8700/U1\" lid 4 4xEDR
[3]\t\"S-b8599f0300fc6df0\"[3]\t\t# \"MF0;leaf2:MQM8700/U1\" lid 4 4xEDR
[41]\t\"H-b8599f0300fc6dec\"[1](b8599f0300fc6dec) \t\t# \"Mellanox Technologies Aggregation Node\" lid 9 4xHDR

Switch\t41 \"S-b8599f0300fc6df0\"\t\t# \"MF0;leaf2:MQM8700/U1\" enhanced port 0 lid 4 lmc 0
[1]\t\"H-b8599f0300ac84c8\"[1](b8599f0300ac84c8) \t\t# \"node2 HCA-1\" lid 6 4xHDR
[2]\t\"S-b8599f0300fc6de4\"[2]\t\t# \"MF0;leaf1:MQM8700/U1\" lid 3 4xEDR
[3]\t\"S-b8599f0300fc6de4\"[3]\t\t# \"MF0;leaf1:MQM8700/U1\" lid 3 4xEDR

vendid=0x2c9
caguid=0xb8599f0300fc6dec
Ca\t1 \"H-b8599f0300fc6dec\"\t\t# \"Mellanox Technologies Aggregation Node\"
[1](b8599f0300fc6dec) \t\"S-b8599f0300fc6de4\"[41]\t\t# lid 9 lmc 0 \"MF0;leaf1:MQM8700/U1\" lid 3 4xHDR

Ca\t1 \"H-b8599f0300ac84c0\"\t\t# \"node1 HCA-1\"
[1](b8599f0300ac84c0) \t\"S-b8599f0300fc6de4\"[1]\t\t# lid 5 lmc 0 \"MF0;leaf1:MQM8700/U1\" lid 3 4xHDR

Ca\t1 \"H-b8599f0300ac84c8\"\t\t# \"node2 HCA-1\"
[1](b8599f0300ac84c8) \t\"S-b8599f0300fc6df0\"[1]\t\t# lid 6 lmc 0 \"MF0;leaf2:MQM8700/U1\" lid 4 4xHDR
";

#[test]
fn a_fabric_is_read_as_ibnetdiscover_prints_it() {
    let platform = load(FABRIC, &[]).unwrap();
    let topology = &*platform.topology;
    assert_eq!(topology.name(), "graph of 2 routers and 2 hosts");
    let mut path = route(topology, 0, 1);
    let between = path.remove(1);
    assert!(between.starts_with("MF0;leaf1:MQM8700/U1 to MF0;leaf2:MQM8700/U1 cable "), "{between}");
    assert_eq!(path, ["node1 HCA-1 to MF0;leaf1:MQM8700/U1", "MF0;leaf2:MQM8700/U1 to node2 HCA-1"]);
    let bandwidths: Vec<f64> = topology.links().iter().step_by(2).take(4).map(|link| link.bandwidth).collect();
    assert_eq!(bandwidths, [25e9, 25e9, 12.5e9, 12.5e9]);
}

#[test]
fn mistakes_point_into_the_file() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("nothing", "", &[]),
        ("no hosts", RING, &[]),
        ("no number of hosts", RING, &["topology.graph.hosts=0"]),
        ("too many hosts", RING, &["topology.graph.hosts=4000000000"]),
        ("a lonely word", "a b\nc\n", &[]),
        ("an unknown property", "a b colour=red\n", &[]),
        ("a weight", "a b 3\n", &[]),
        ("no bandwidth", "a b bandwidth=3\n", &[]),
        ("too many cables", "a b cables=65\n", &[]),
        ("a cable to itself", "a b\nb b\n", &[]),
        ("twice", "a b\na c\nb a\n", &[]),
        ("two hosts", "a b\n", &[]),
        ("a host with two cables", "a b\nb c\nhosts: b\n", &[]),
        ("a host without cables", "a b\nb c\nhosts: a d\n", &[]),
        ("hosts twice", "a b\nb c\nhosts: a\n", &["topology.graph.hosts=1"]),
        ("two networks", "a b\nb c\nd e\ne f\n", &[]),
        ("no file", RING, &["topology.graph.file=lost"]),
        ("other XML", "<xml/>", &[]),
        ("no port", "Switch\t2 \"S-1\"\n[1]\t\"S-2\n", &[]),
    ];
    let mut all = String::new();
    for &(case, network, settings) in cases {
        all += &format!("# {case}\n{}\n\n", load(network, settings).expect_err(case));
    }
    insta::assert_snapshot!("graph_mistakes", all);
}
