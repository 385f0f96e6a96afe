//! `[network.packet]`: rejected values.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::path::Path;

use support::all;
use titr_platform::Platform;

const RIGHT: &str = r#"schema = 1

[hosts]
speed = "2.5 Ginstr/s"

[topology.torus]
dims = [8, 4]

[network]
model = "packet"
bandwidth = "10 Gbit/s"

[network.packet]
packet = "64 B"
"#;

#[test]
fn mistakes_point_into_the_text() {
    let packet = "packet = \"64 B\"";
    let cases = [
        ("no whole number of phits", packet, "packet = \"65 B\""),
        ("nothing but a header", packet, "packet = \"64 B\"\nheader = \"64 B\""),
        ("a phit of nothing", packet, "phit = \"0 B\""),
        ("no channel", packet, "virtual_channels = 0"),
        ("no escape", packet, "routing = \"adaptive\"\nvirtual_channels = 1"),
        ("no bubble", packet, "flow_control = \"vct\""),
        ("no room for a bubble", packet, "queue_packets = 1"),
        ("another spelling of it", packet, "routing = \"updown\""),
        ("the routing of trees and graphs", packet, "routing = \"up-down\""),
        ("an unknown routing", packet, "routing = \"magic\""),
        ("no twist", "torus]\ndims = [8, 4]", "twisted-torus]\ndims = [4, 8]"),
        ("uneven lists", "torus]\ndims = [8, 4]", "xgft]\nm = [4, 4]\nw = [1]"),
        ("a fat-pipe network", "bandwidth", "duplex = \"fat-pipe\"\nbandwidth"),
        ("a limiter on the way", "bandwidth", "limiter = \"1 GB/s\"\nbandwidth"),
        ("a memory of input queues", packet, "buffer = \"1 MB\""),
        ("a token bucket of input queues", packet, "burst = \"8 kB\""),
        (
            "a window of input queues",
            packet,
            "packet = \"64 B\"\ninjection_order = \"round-robin\"\nconnection_window = \"14480 B\"",
        ),
        (
            "a window of messages that follow each other",
            packet,
            "packet = \"64 B\"\nswitch = \"output-queued\"\nconnection_window = \"14480 B\"",
        ),
        (
            "a window of nothing",
            packet,
            "packet = \"64 B\"\nswitch = \"output-queued\"\ninjection_order = \"round-robin\"\nconnection_window = \"63 B\"",
        ),
        ("input queues of a switch", packet, "switch = \"output-queued\"\nqueue_packets = 4"),
        ("arbitration in a switch", packet, "switch = \"output-queued\"\narbitration = \"random\""),
        ("a memory without limit that is full", packet, "switch = \"output-queued\"\nwhen_full = \"drop\""),
        ("switches that wait for ever", packet, "switch = \"output-queued\"\nbuffer = \"1 MB\""),
        ("no memory", packet, "switch = \"output-queued\"\nbuffer = \"63 B\"\nwhen_full = \"drop\""),
        ("no threshold", packet, "switch = \"output-queued\"\nbuffer = \"1 MB\"\nalpha = 0.0"),
        (
            "a threshold of a part",
            packet,
            "switch = \"output-queued\"\nbuffer = \"1 MB\"\nbuffer_sharing = \"partitioned\"\nalpha = 2.0",
        ),
        (
            "a timeout without losses",
            packet,
            "switch = \"output-queued\"\nbuffer = \"1 MB\"\nretransmit_after = \"1 ms\"",
        ),
    ];
    insta::assert_snapshot!("packet_mistakes", all("cluster.toml", RIGHT, &cases));
}

/// Packets and flows go up a tree and then down. For packets, the name of this routing may be written without a hyphen.
#[test]
fn trees_have_up_down_routing() {
    let load = |line: &str, settings: [&str; 2]| {
        let model = Platform::load(Path::new(line), &settings.map(str::to_owned)).map(|platform| platform.model);
        format!("{:?}", model.unwrap())
    };
    for tree in ["star:4 10Gbit/s 1us", "fat-tree:4x4,1x2 10Gbit/s 1us", "xgft:4x4,1x2 10Gbit/s 1us"] {
        load(tree, ["network.model=flow", "network.flow.routing=up-down"]);
        let packets = |name| load(tree, ["network.model=packet", name]);
        assert_eq!(packets("network.packet.routing=up-down"), packets("network.packet.routing=updown"), "{tree}");
    }
}

const ONE_WAY_RING: &str = r#"schema = 1
hosts.speed = "2.5 Ginstr/s"
network.model = "packet"

[network.packet]
packet = "64 B"

[topology.explicit]
hosts = ["a", "b", "c"]
routing = "dijkstra"
links = [
    { name = "ab", bandwidth = "1 GB/s", latency = "0 s" },
    { name = "bc", bandwidth = "1 GB/s", latency = "0 s" },
    { name = "ca", bandwidth = "1 GB/s", latency = "0 s" },
]
routes = [
    { from = "a", to = "b", links = ["ab"] },
    { from = "b", to = "c", links = ["bc"] },
    { from = "c", to = "a", links = ["ca"] },
]
"#;

#[test]
fn routes_that_packets_cannot_take_are_named() {
    let cases = [
        ("a circle", "packet = \"64 B\"", "virtual_channels = 1"),
        ("a fat pipe", "{ name = \"bc\",", "{ name = \"bc\", sharing = \"fat-pipe\","),
        ("a router twice", "links = [\"ca\"] }", "links = [\"ca\", \"ab\", \"bc\", \"ca\"] }"),
    ];
    insta::assert_snapshot!("written_routes", all("cluster.toml", ONE_WAY_RING, &cases));
}
