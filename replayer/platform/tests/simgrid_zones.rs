//! SimGrid platforms with several zones, and elements that are ignored in them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;

use titr_common::units::Bytes;
use titr_network::topology::{HostId, Topology};
use titr_platform::{EagerTransfer, Model, Platform, PlatformError};

/// A platform file's text, loaded.
fn written(text: &str) -> Result<Platform, PlatformError> {
    Platform::parse("platform.xml".as_ref(), text.to_owned(), &[])
}

/// The names of the links between two hosts.
fn route(topology: &dyn Topology, from: u32, to: u32) -> Vec<String> {
    let mut route = Vec::new();
    topology.route(HostId(from), HostId(to), &mut route);
    route.into_iter().map(|link| topology.link_name(link)).collect()
}

const CLUSTER: &str =
    r#"<cluster id="c" prefix="c" suffix="" radical="0-1" speed="1Gf" bw="125MBps" lat="50us" router_id="rc"/>"#;

#[test]
fn a_declaration_may_follow_blanks_and_comments() {
    let declaration = "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">";
    for before in ["", "\n", "\u{feff}", "\u{feff} \n", "<!-- (c) us -->\n", "\n<!-- a -->\n<!-- ü -- -->\n"] {
        let text = format!("{before}{declaration}\n<platform version=\"4.1\">{CLUSTER}</platform>");
        let platform = written(&text.replace("ü -- ", "ü"));
        assert_eq!(platform.unwrap().topology.hosts(), 2, "{before:?}");
    }
    // The place of a mistake is its place in the file.
    let error = written(&format!("\n<!-- ü -->{declaration}\n<platform version=\"3\"/>")).unwrap_err();
    assert!(error.to_string().contains(":3:"), "{error}");
}

#[test]
fn hosts_may_have_no_routes() {
    let platform = written(
        r#"<platform version="4.1"><zone id="z" routing="Full">
             <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="storage" speed="1Gf"/>
             <link id="l" bandwidth="1GBps" latency="1us"/>
             <route src="a" dst="b"><link_ctn id="l"/></route>
           </zone></platform>"#,
    )
    .unwrap();
    let topology = platform.topology.as_ref();
    assert_eq!(route(topology, 0, 1), ["l"]);
    assert_eq!(route(topology, 0, 2), [""; 0]);
    assert_eq!(route(topology, 2, 2), ["__loopback__"]);
    assert_eq!(topology.host_name(HostId(2)), "storage");
}

/// SimGrid 4 puts such zones into one that has no routes.
#[test]
fn nothing_leads_from_one_outermost_zone_to_another() {
    let other = CLUSTER.replace("\"c\"", "\"d\"").replace("rc", "rd");
    let platform = written(&format!("<platform version=\"4.1\">{CLUSTER}{other}</platform>")).unwrap();
    let topology = platform.topology.as_ref();
    assert_eq!(route(topology, 0, 1), ["c_link_0_UP", "c_link_1_DOWN"]);
    assert_eq!(route(topology, 0, 2), [""; 0]);
}

#[test]
fn what_cannot_matter_is_ignored_with_a_line_of_each_kind() {
    let platform = written(
        r#"<platform version="4.1">
             <config>
               <prop id="network/coordinates" value="yes"/><prop id="network/sender_gap" value="0"/>
               <prop id="network/TCP_gamma" value="1000"/><prop id="host/model" value="compound"/>
               <prop id="network/bandwidth-factor" value="65536:0.94;0:0.5"/>
               <prop id="network/latency-factor" value="1.5"/><prop id="network/model" value="CM02"/>
               <prop id="smpi/async-small-thresh" value="65536"/>
             </config>
             <zone id="z" routing="Full">
               <prop id="a" value="b"/>
               <storage_type id="t" size="1"/><storage id="s" typeId="t" attach="a"/><storage id="u" typeId="t" attach="a"/>
               <host id="a" speed="1Gf"><mount storageId="s" name="/"/><mount storageId="u" name="/u"/></host>
               <zone id="radio" routing="Wifi">
                 <host id="b" speed="1Gf"/><router id="r"/>
                 <link id="air" bandwidth="54Mbps,36Mbps" latency="0ms" sharing_policy="WIFI"/>
               </zone>
             </zone>
             <actor host="a" function="f"/><process host="a" function="g"/><actor host="b" function="f"/>
           </platform>"#,
    )
    .unwrap();
    let Model::Flow(parameters) = &platform.model else { panic!("another model") };
    assert_eq!(parameters.tcp_gamma, 1000.0);
    assert_eq!([1000, 65537].map(|size| parameters.bandwidth_factor.at(Bytes(size))), [0.5, 0.94]);
    assert_eq!(platform.mpi.eager_transfer, EagerTransfer::AtOnce);
    assert_eq!(route(platform.topology.as_ref(), 0, 1), [""; 0]);
    insta::assert_snapshot!("ignored", platform.warnings.join("\n"));
}

/// Routes are computed on demand.
#[test]
fn thousands_of_hosts_are_read() {
    for routing in ["Floyd", "Dijkstra", "Full"] {
        let mut zone = String::new();
        for host in 0..2000 {
            write!(
                zone,
                "<host id=\"h{host}\" speed=\"1Gf\"/><link id=\"l{host}\" bandwidth=\"1GBps\" latency=\"0\"/>"
            )
            .unwrap();
        }
        zone += "<router id=\"r\"/>";
        for host in 0..2000 {
            write!(zone, "<route src=\"h{host}\" dst=\"r\"><link_ctn id=\"l{host}\"/></route>").unwrap();
        }
        let text = format!("<platform version=\"4.1\"><zone id=\"z\" routing=\"{routing}\">{zone}</zone></platform>");
        let platform = written(&text).unwrap();
        let expected = if routing == "Full" { vec![] } else { vec!["l1", "l1999"] };
        assert_eq!(route(platform.topology.as_ref(), 1, 1999), expected, "{routing}");
    }
}

#[test]
fn zones_may_be_deep_but_not_too_deep() {
    let nested = |depth: usize| {
        let open: String = (0..depth).map(|zone| format!("<zone id=\"z{zone}\" routing=\"Full\">")).collect();
        let close = "</zone>".repeat(depth);
        let host = "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>";
        written(&format!("<platform version=\"4.1\">{open}{host}{close}</platform>"))
    };
    assert_eq!(nested(50).unwrap().topology.hosts(), 2);
    assert!(nested(100).unwrap_err().to_string().contains("at most 64 others"));
}

/// A bypass that leads back to where it is taken has no end, and is not a route.
#[test]
fn a_bypass_to_itself_is_no_route() {
    let other = CLUSTER.replace("\"c\"", "\"d\"").replace("rc", "rd");
    let platform = written(&format!(
        r#"<platform version="4.1"><zone id="z" routing="Full">{CLUSTER}{other}<link id="l" bandwidth="1GBps" latency="0"/>
             <bypassZoneRoute src="c" dst="d" gw_src="d0" gw_dst="c0"><link_ctn id="l"/></bypassZoneRoute>
           </zone></platform>"#
    ))
    .unwrap();
    assert_eq!(route(platform.topology.as_ref(), 0, 2), [""; 0]);
}
