//! Mistakes in SimGrid platforms, as users see them: each points into the XML and gives advice.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod support;

use proptest::prelude::*;
use support::{all, shown};

/// A cluster that is right.
const CLUSTER: &str = r#"<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <cluster id="c" prefix="node-" suffix="" radical="0-15" speed="1Gf"
             bw="125MBps" lat="50us" topology="TORUS" topo_parameters="4,4"/>
  </zone>
</platform>
"#;

/// A zone that is right.
const ZONE: &str = r#"<?xml version='1.0'?>
<platform version="4.1">
  <zone id="world" routing="Full">
    <host id="alice" speed="1Gf"/>
    <host id="bob" speed="1Gf"/>
    <link id="wire" bandwidth="125MBps" latency="50us"/>
    <link id="cable" bandwidth="125MBps" latency="50us" sharing_policy="SPLITDUPLEX"/>
    <route src="alice" dst="bob">
      <link_ctn id="wire"/>
      <link_ctn id="cable" direction="UP"/>
    </route>
  </zone>
</platform>
"#;

/// Another, of hosts round a hub.
const HUB: &str = r#"<?xml version='1.0'?>
<platform version="4.1">
  <AS id="world" routing="Cluster">
    <host id="alice" speed="1Gf"/>
    <host id="bob" speed="1Gf"/>
    <link id="wire" bandwidth="125MBps" latency="50us"/>
    <host_link id="alice" up="wire" down="wire"/>
    <host_link id="bob" up="wire" down="wire"/>
    <backbone id="backbone" bandwidth="1GBps" latency="0"/>
  </AS>
</platform>
"#;

const NAME: &str = "platform.xml";

#[test]
fn in_clusters() {
    let cases = [
        ("not XML", "</zone>", "</zon>"),
        ("an unfinished file", "</platform>", ""),
        ("another kind of XML", &CLUSTER[CLUSTER.find("<platform").unwrap()..], "<plan/>"),
        ("an old version", "4.1", "3"),
        ("no version", " version=\"4.1\"", ""),
        ("a missing attribute", "lat=\"50us\"", ""),
        ("an unknown attribute", "lat=", "latency="),
        ("an unknown topology", "TORUS", "RING"),
        ("no unit that is known", "125MBps", "125MB/s"),
        ("no bandwidth", "125MBps", "0"),
        ("a unit of something else", "50us", "50MBps"),
        ("no number", "50us", "short"),
        ("too few hosts", "0-15", "0-14"),
        ("a reversed range", "0-15", "0-10,15-11"),
        ("a host twice", "0-15", "0-10,10-14"),
        ("no range", "0-15", "all"),
        ("more hosts than can be", "0-15", "0-4294967295"),
        ("no parameters", "topo_parameters=\"4,4\"", ""),
        ("a parameter that is no number", "\"4,4\"", "\"4,x\""),
        ("a parameter of nothing", "\"4,4\"", "\"4,0\""),
        ("parameters of another topology", "TORUS", "FAT_TREE"),
        ("uneven levels", "TORUS\" topo_parameters=\"4,4\"", "FAT_TREE\" topo_parameters=\"2;4,4;1;1,1\""),
        ("too few kinds of links", "TORUS\" topo_parameters=\"4,4\"", "DRAGONFLY\" topo_parameters=\"4,1;4;1\""),
        ("more groups than blades", "TORUS\" topo_parameters=\"4,4\"", "DRAGONFLY\" topo_parameters=\"4,1;1,1;2,1;2\""),
        ("a latency of no backbone", "topology=\"TORUS\" topo_parameters=\"4,4\"", "bb_lat=\"1us\""),
        ("a latency of no loopback", "topology=", "loopback_lat=\"1us\" topology="),
        ("an element in a cluster", "\"4,4\"/>", "\"4,4\"><host id=\"x\" speed=\"1Gf\"/></cluster>"),
        ("a cluster without hosts", "  </zone>", "    <cluster id=\"d\"/>\n  </zone>"),
        ("zones of one name", "</platform>", "  <zone id=\"c\" routing=\"Full\"/>\n</platform>"),
        ("a route without gateways", "  </zone>", "    <zoneRoute src=\"c\" dst=\"c\"/>\n  </zone>"),
        ("another file", "  </zone>", "    <include file=\"more.xml\"/>\n  </zone>"),
        ("a peer", "  <zone", "  <peer id=\"p\"/>\n  <zone"),
        ("no hosts", &CLUSTER[CLUSTER.find("  <zone").unwrap()..CLUSTER.find("</platform").unwrap()], ""),
        ("an empty zone", &CLUSTER[CLUSTER.find("    <cluster").unwrap()..CLUSTER.find("  </zone").unwrap()], ""),
        ("a backbone that nothing takes", "topology=", "bb_bw=\"1GBps\" topology="),
        ("links that SimGrid shares", "topology=", "sharing_policy=\"FATPIPE\" topology="),
        ("processes", "</platform>", "  <actor host=\"node-0\" function=\"f\"/>\n</platform>"),
    ];
    insta::assert_snapshot!("clusters", all(NAME, CLUSTER, &cases));
}

#[test]
fn in_zones() {
    let cases = [
        ("an unknown routing", "routing=\"Full\"", "routing=\"Hypercube\""),
        ("a host twice", "id=\"bob\"", "id=\"alice\""),
        ("a link twice", "id=\"cable\"", "id=\"wire\""),
        ("a route of an unknown host", "dst=\"bob\"", "dst=\"eve\""),
        ("a route of an unknown link", "<link_ctn id=\"wire\"", "<link_ctn id=\"fire\""),
        ("a route without links", "<link_ctn id=\"wire\"/>\n      <link_ctn id=\"cable\" direction=\"UP\"/>", ""),
        ("no way back", "dst=\"bob\"", "dst=\"bob\" symmetrical=\"NO\""),
        (
            "the same route again",
            "  </zone>",
            "    <route src=\"bob\" dst=\"alice\"><link_ctn id=\"wire\"/></route>\n  </zone>",
        ),
        ("no direction", " direction=\"UP\"", ""),
        ("a direction of a link without", "id=\"wire\"/>\n      ", "id=\"wire\" direction=\"UP\"/>\n      "),
        ("a profile that there is not", "speed=\"1Gf\"", "speed=\"1Gf\" speed_file=\"day.txt\""),
        ("a state without speed", "speed=\"1Gf\"", "speed=\"1Gf\" pstate=\"1\""),
        ("radio", "SPLITDUPLEX", "WIFI"),
        ("a cabinet", "<host id=\"alice\" speed=\"1Gf\"/>", "<cabinet id=\"alice\"/>"),
        ("a route with something else", "<link_ctn id=\"wire\"/>", "<link id=\"wire\"/>"),
        ("no hub", "routing=\"Full\"", "routing=\"Cluster\""),
    ];
    insta::assert_snapshot!("zones", all(NAME, ZONE, &cases));
}

#[test]
fn in_zones_round_a_hub() {
    let cabinet = "<cabinet id=\"c\" radical=\"0-9999\" speed=\"1f\" bw=\"1GBps\" lat=\"0\"/></AS>";
    let cases = [
        ("a host that nothing joins", "<host_link id=\"bob\" up=\"wire\" down=\"wire\"/>", ""),
        ("a joint of no host", "<host_link", "<host_link id=\"eve\" up=\"wire\" down=\"wire\"/><host_link"),
        ("a host joined twice", "<host_link id=\"bob\"", "<host_link id=\"alice\""),
        ("a joint of no link", "up=\"wire\"", "up=\"fire\""),
        ("two backbones", "<backbone", "<backbone id=\"b\" bandwidth=\"1GBps\" latency=\"0\"/><backbone"),
        ("a cabinet of too many", "</AS>", cabinet),
    ];
    insta::assert_snapshot!("hubs", all(NAME, HUB, &cases));
}

/// Zones that are right.
const ZONES: &str = r#"<?xml version='1.0'?>
<platform version="4.1">
  <trace id="day" periodicity="0">0 1
10 0.5</trace>
  <zone id="world" routing="Full">
    <cluster id="a" prefix="a" suffix="" radical="0-1" speed="1Gf" bw="125MBps" lat="50us" router_id="ra"/>
    <zone id="b" routing="Full"><host id="b0" speed="1Gf"/></zone>
    <link id="wan" bandwidth="1GBps" latency="1ms"/>
    <zoneRoute src="a" dst="b" gw_src="ra" gw_dst="b0"><link_ctn id="wan"/></zoneRoute>
  </zone>
</platform>
"#;

#[test]
fn in_zones_within_zones() {
    let connect = |kind: &str, element: &str| {
        format!("<trace_connect kind=\"{kind}\" trace=\"day\" element=\"{element}\"/></platform>")
    };
    let nobody = connect("SPEED", "eve");
    let no_trace = nobody.replace("day", "night");
    let cases = [
        ("an unknown gateway", "gw_src=\"ra\"", "gw_src=\"rx\""),
        ("a gateway in another zone", "gw_src=\"ra\"", "gw_src=\"b0\""),
        ("a zone that is a host", "src=\"a\"", "src=\"a0\""),
        ("a zone that there is not", "src=\"a\"", "src=\"c\""),
        ("a route of a zone", "<zoneRoute src", "<route src=\"a\" dst=\"b\"/><zoneRoute src"),
        ("a route elsewhere", "<zoneRoute src", "<route src=\"b0\" dst=\"a0\"/><zoneRoute src"),
        (
            "the same again",
            "</zone>\n</platform>",
            "<zoneRoute src=\"b\" dst=\"a\" gw_src=\"b0\" gw_dst=\"ra\"><link_ctn id=\"wan\"/></zoneRoute></zone>\n</platform>",
        ),
        ("a router's name twice", "router_id=\"ra\"", "router_id=\"a0\""),
        ("a peer", "<host id=\"b0\" speed=\"1Gf\"/>", "<peer id=\"b0\"/>"),
        (
            "two coordinates",
            "routing=\"Full\"><host id=\"b0\"",
            "routing=\"Vivaldi\"><host coordinates=\"1 2\" id=\"b0\"",
        ),
        ("a change of nothing", "</platform>", &nobody),
        ("no such change", "</platform>", &no_trace),
    ];
    insta::assert_snapshot!("zones_within_zones", all(NAME, ZONES, &cases));
}

#[test]
fn in_options() {
    let option = |option: &str, value: &str| {
        let config =
            format!("  <config id=\"General\">\n    <prop id=\"{option}\" value=\"{value}\"/>\n  </config>\n  <zone");
        format!("# {option} = {value}\n{}\n", shown(NAME, &CLUSTER.replacen("  <zone", &config, 1), &[]))
    };
    let mut all = String::new();
    for (name, value) in [
        ("network/model", "CM02"),
        ("network/TCP-gamma", "much"),
        ("network/TCP-gamma", "-1"),
        ("network/crosstraffic", "perhaps"),
        ("network/loopback-bw", "1GBps"),
        ("smpi/bw-factor", "65472:0.9;x:1"),
        ("smpi/bw-factor", "0:-1"),
        ("smpi/os", "0:1e-6"),
        ("smpi/coll-selector", "impi"),
        ("smpi/bcast", "binomial"),
        ("precision/timing", "1e-9"),
    ] {
        all += &option(name, value);
    }
    insta::assert_snapshot!("options", all);
}

#[test]
fn in_overrides() {
    let mut all = String::new();
    for setting in ["network.bandwidth=5", "hosts.count=15", "network.flow.prset=smpi"] {
        all += &format!("# --set {setting}\n{}\n", shown(NAME, CLUSTER, &["mpi.eager_threshold=1 KiB", setting]));
    }
    all += &format!("# --set network.latency=1 us, on a zone\n{}\n", shown(NAME, ZONE, &["network.latency=1 us"]));
    insta::assert_snapshot!("overrides", all);
}

proptest! {
    /// For any change of a file, titr reports the mistake, if there is one.
    #[test]
    fn no_file_makes_titr_fall_over(
        right in prop::sample::select(vec![CLUSTER, ZONE, HUB, ZONES]),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), 0_usize..4, "[a-zA-Z0-9<>/=\" ,;&#é-]{0,3}"),
            1..4,
        ),
    ) {
        let mut text: Vec<char> = right.chars().collect();
        for (place, removed, added) in changes {
            let start = place.index(text.len());
            let end = (start + removed).min(text.len());
            text.splice(start..end, added.chars());
        }
        shown(NAME, &text.into_iter().collect::<String>(), &[]);
    }
}
