//! `[network.packet]`: what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use support::mistake::all;

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
        ("a tree's routing", packet, "routing = \"updown\""),
        ("an unknown routing", packet, "routing = \"valiant\""),
        ("no twist", "torus]\ndims = [8, 4]", "twisted-torus]\ndims = [4, 8]"),
        ("two cables a host", "torus]\ndims = [8, 4]", "xgft]\nm = [4, 4]\nw = [2, 2]"),
        ("uneven lists", "torus]\ndims = [8, 4]", "xgft]\nm = [4, 4]\nw = [1]"),
        ("a half-duplex network", "bandwidth", "duplex = \"half\"\nbandwidth"),
        (
            "no routers",
            "torus]\ndims = [8, 4]",
            "star]\n[topology.star.backbone]\nbandwidth = \"1 GB/s\"\nlatency = \"0 s\"",
        ),
    ];
    insta::assert_snapshot!("packet_mistakes", all("cluster.toml", RIGHT, &cases));
}
