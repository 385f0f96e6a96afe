//! Profiles of SimGrid's platforms: what hosts and links are by time, and mistakes in that.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::path::Path;

use support::{all, shown};
use titr_common::step_function::StepFunction;
use titr_common::time::Time;
use titr_common::units::{Seconds, Speed};
use titr_network::topology::HostId;
use titr_platform::Platform;

/// The recorded speed, which no host here depends on.
const UNUSED: Speed = Speed { per_second: 0.0 };

const NAME: &str = "platform.xml";

/// A platform that is right, on which a link and a host change by traces.
const TRACES: &str = r#"<?xml version='1.0'?>
<platform version="4.1">
  <trace id="day" periodicity="24">
    # fast at night
    6 0.5
    22 1
  </trace>
  <trace id="jam" periodicity="0">
    0 25e6
    10 75e6
    LOOPAFTER 10
  </trace>
  <zone id="world" routing="Full">
    <host id="alice" speed="1Gf"/>
    <host id="bob" speed="1Gf"/>
    <link id="wire" bandwidth="125MBps" latency="50us"/>
    <link id="cable" bandwidth="125MBps" latency="50us" sharing_policy="SPLITDUPLEX"/>
    <route src="alice" dst="bob"><link_ctn id="wire"/><link_ctn id="cable" direction="UP"/></route>
  </zone>
  <trace_connect kind="SPEED" trace="day" element="bob"/>
  <trace_connect kind="BANDWIDTH" trace="jam" element="wire"/>
</platform>
"#;

/// A platform in a folder with other files, loaded.
fn loaded(text: &str, files: &[(&str, &str)]) -> Result<Platform, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [(NAME, text)].iter().chain(files) {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let platform = Platform::load(&folder.path().join(NAME), &[]);
    platform.map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

/// The values of a quantity at these seconds.
fn values<const N: usize>(function: &StepFunction, at: [f64; N]) -> [f64; N] {
    at.map(|at| function.value_at(Time::from_seconds(Seconds(at))))
}

#[test]
fn traces_are_connected_to_hosts_and_links() {
    let platform = loaded(TRACES, &[]).unwrap();
    assert_eq!(
        platform.speeds.iter().map(|speed| speed.for_recorded(UNUSED).per_second).collect::<Vec<_>>(),
        [1e9, 1e9]
    );
    assert_eq!(platform.parts_of_speed.keys().collect::<Vec<_>>(), [&HostId(1)]);
    let times = [0.0, 6.0, 21.9, 22.0, 29.9, 30.0];
    assert_eq!(values(&platform.parts_of_speed[&HostId(1)], times), [1.0, 0.5, 0.5, 1.0, 1.0, 0.5]);
    let [wire] = platform.topology.changes() else { panic!("one link changes") };
    assert_eq!(platform.topology.link_name(wire.link), "wire");
    assert_eq!(platform.topology.links()[wire.link.index()].bandwidth, 25e6);
    assert_eq!(values(wire.bandwidth.as_ref().unwrap(), [0.0, 10.0, 19.9, 20.0, 30.0]), [25e6, 75e6, 75e6, 25e6, 75e6]);
    assert_eq!(wire.latency, None);
}

#[test]
fn files_are_connected_to_hosts_and_links() {
    let text = TRACES
        .replace(
            "id=\"alice\" speed=\"1Gf\"",
            "id=\"alice\" speed=\"1Gf\" speed_file=\"day.txt\" state_file=\"on.txt\"",
        )
        .replace(
            "link id=\"cable\"",
            "link id=\"cable\" bandwidth_file=\"jam.txt\" latency_file=\"late.txt\" state_file=\"on.txt\"",
        )
        .replace("<trace_connect kind=\"SPEED\" trace=\"day\" element=\"bob\"/>", "");
    let files = [
        ("day.txt", "% of the speed\r\n2 DET 0.25 # and more\r\n"),
        ("jam.txt", "PERIODICITY 5\n1 50e6\n2 100e6"),
        ("late.txt", "0.0 1e-3"),
        ("on.txt", "0 1\n100 1\n"),
    ];
    let platform = loaded(&text, &files).unwrap();
    assert_eq!(platform.warnings, [""; 0]);
    assert_eq!(values(&platform.parts_of_speed[&HostId(0)], [0.0, 2.0]), [1.0, 0.25]);
    let topology = &platform.topology;
    let names: Vec<_> = topology.changes().iter().map(|change| topology.link_name(change.link)).collect();
    assert_eq!(names, ["wire", "cable_UP", "cable_DOWN"]);
    for change in &topology.changes()[1..] {
        assert_eq!(topology.links()[change.link.index()].latency, Seconds(1e-3), "from the start");
        assert_eq!(change.latency, None);
        let bandwidth = change.bandwidth.as_ref().unwrap();
        assert_eq!(values(bandwidth, [0.0, 1.0, 2.0, 6.0]), [125e6, 50e6, 100e6, 50e6]);
    }
}

/// SimGrid connects a trace to one element of a kind.
#[test]
fn what_simgrid_ignores_is_told() {
    let twice = "<trace_connect kind=\"SPEED\" trace=\"day\" element=\"alice\"/></platform>";
    let said = shown(NAME, &TRACES.replace("</platform>", twice), &[]);
    assert_eq!(
        said,
        "warning: platform.xml:22:50: SimGrid connects a trace to one element of a kind and ignores this; titr does not\n"
    );
}

#[test]
fn mistakes_in_traces() {
    let connected = |kind: &str, element: &str| {
        format!("<trace_connect kind=\"{kind}\" trace=\"jam\" element=\"{element}\"/></platform>")
    };
    let (no_link, no_host) = (connected("LATENCY", "bob"), connected("HOST_AVAIL", "wire"));
    let second = connected("BANDWIDTH", "wire");
    let cases = [
        ("dates that go back", "22 1", "5 1"),
        ("a negative value", "6 0.5", "6 -0.5"),
        ("a negative date", "6 0.5", "-6 0.5"),
        ("a unit", "10 75e6", "10 75MBps"),
        ("no value", "6 0.5", "6"),
        ("a period before the last date", "periodicity=\"24\"", "periodicity=\"20\""),
        ("no number", "periodicity=\"24\"", "periodicity=\"daily\""),
        ("a period and a pause", "LOOPAFTER 10", "LOOPAFTER 10\n    PERIODICITY 30"),
        ("a negative pause", "LOOPAFTER 10", "LOOPAFTER -1"),
        ("no time", "10 75e6\n    LOOPAFTER 10", "LOOPAFTER 0"),
        ("chance", "6 0.5", "STOCHASTIC LOOP"),
        ("chance in a line", "6 0.5", "6 UNIF 0.5 1"),
        ("an old word", "LOOPAFTER 10", "WAITFOR 10"),
        ("no bandwidth", "0 25e6", "0 0"),
        ("a link that there is not", "</platform>", &no_link),
        ("a host that there is not", "</platform>", &no_host),
        ("the same again", "</platform>", &second),
        ("no file", "periodicity=\"24\"", "periodicity=\"24\" file=\"day.txt\""),
    ];
    let fails = TRACES.replace("10 75e6", "10 0");
    let state = fails.replace("kind=\"BANDWIDTH\"", "kind=\"LINK_AVAIL\"");
    let mut told = all(NAME, TRACES, &cases);
    told += &format!("# a link that fails\n{}\n", shown(NAME, &state, &[]));
    for setting in ["network.model=packet", "network.flow.preset=ib"] {
        told += &format!("# {setting}\n{}\n", shown(NAME, TRACES, &[setting]));
    }
    insta::assert_snapshot!("traces", told);
}

#[test]
fn mistakes_in_files() {
    let text = TRACES.replace(
        "id=\"alice\" speed=\"1Gf\"",
        "id=\"alice\" speed=\"1Gf\" speed_file=\"day.txt\" state_file=\"on.txt\"",
    );
    let mut told = String::new();
    for (case, day, on) in [
        ("dates that go back", "# half a day\n2 1\n1 1\n", "0 1\n"),
        ("a period that is too short", "PERIODICITY 1\n2 1\n", "0 1\n"),
        ("no profile", "1 1\n1.0 much\n", "0 1\n"),
        ("a failure", "1 1\n", "0 1\n7 0\n9 1"),
        ("all is well", "1 1\n", "0 1\n7 0\n7 1"),
    ] {
        let found = loaded(&text, &[("day.txt", day), ("on.txt", on)]);
        told += &format!("# {case}\n{}\n\n", found.err().unwrap_or_default());
    }
    insta::assert_snapshot!("files", told);
    assert!(!Path::new("day.txt").exists(), "files are looked for here first");
}
