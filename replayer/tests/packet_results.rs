//! The results of a packet network, as text, for programs and in tables.

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};
use serde_json::Value;

/// What a replay on `examples/packet.toml` prints.
fn shown(folder: &Folder, more: &[&str]) -> String {
    let platform = here("../examples/packet.toml");
    folder.run(TITR_REPLAY, &[&["--platform", platform.to_str().unwrap()], more].concat())
}

fn json(folder: &Folder, more: &[&str]) -> Value {
    let shown = shown(folder, &[&["--json"], more].concat());
    serde_json::from_str(shown.strip_suffix("[0]").unwrap()).unwrap()
}

/// Rank 0 sends two packets to 1 and one to 2.
fn traces(folder: &Folder) {
    folder.trace(&[
        "0 init\n0 send 1 0 128\n0 send 2 0 64\n0 finalize\n",
        "1 init\n1 recv 0 0 128\n1 finalize\n",
        "2 init\n2 recv 0 0 64\n2 finalize\n",
    ]);
}

/// By hand: both messages are offered in cycle 0, and their packets leave one after the other in cycles 1, 17 and 33. The first
/// message arrives in 1 + 1 + 32 = 34, the other, over two channels, in 33 + 2 + 16 = 51.
#[test]
fn a_message_that_never_arrives_saturates_nothing() {
    let folder = Folder::new();
    let never = ["--load", "0.5", "--message", "1TB", "--warmup", "0", "--cycles", "100"];
    let said = folder.run(TITR, &[&["traffic", "uniform", "-p", "torus:4x4 10Gbit/s packet"], &never[..]].concat());
    assert!(said.contains("  no message arrived\n") && !said.contains("saturated"), "{said}");
}

#[test]
fn a_replay_tells_what_routers_saw() {
    let folder = Folder::new();
    traces(&folder);
    let found = json(&folder, &["--channels", "traces"]);
    let packets = &found["packets"];
    assert_eq!(packets["cycles"], 51);
    assert_eq!(packets["messages"], 2);
    assert_eq!(packets["message_latency"], (34.0 + 51.0) / 2.0);
    assert_eq!(packets["network_latency"], (33.0 + 18.0) / 2.0);
    assert_eq!(packets["packet_latency"], (17.0 + 17.0 + 18.0) / 3.0);
    assert_eq!(packets["packet_latency_percentiles"]["max"], 18);
    assert_eq!(packets["hop_histogram"], serde_json::json!([0, 2, 1]));
    assert_eq!(packets["accepted"], packets["offered"]);
    assert_eq!(packets["accepted"].as_f64().unwrap(), 3.0 * 16.0 / 51.0 / 64.0);
    let used = packets["channels"].as_array().unwrap().iter().filter(|channel| channel["packets"] != 0);
    let used: Vec<_> = used.map(|channel| (channel["link"].as_str().unwrap(), &channel["packets"])).collect();
    assert_eq!(used, [("node-0 +x", &Value::from(3)), ("node-1 +x", &Value::from(1))]);
    let text = shown(&folder, &["--channels", "traces"]);
    assert!(text.contains("packets with 0, 1, …: 0, 2, 1") && text.contains("node-63 -y"), "{text}");
}

/// Two shortest ways of four steps each: which is taken is chance, and so is who is in whose way.
#[test]
fn several_runs_tell_how_sure_they_are() {
    let folder = Folder::new();
    let ranks: Vec<String> = (0..64)
        .map(|rank| {
            let (to, from) = ((rank + 36) % 64, (rank + 28) % 64);
            format!("{rank} init\n{rank} isend {to} 0 6400 0 0\n{rank} recv {from} 0 6400\n{rank} wait_of 0\n{rank} finalize\n")
        })
        .collect();
    folder.trace(&ranks.iter().map(String::as_str).collect::<Vec<_>>());
    let found = json(&folder, &["--runs", "4", "traces"]);
    let times = found["runs"]["times"].as_array().unwrap();
    assert_eq!(times.len(), 4);
    assert_eq!(times[0], found["simulated_time"]);
    assert!(times.iter().any(|time| *time != times[0]), "{times:?}");
    let mean = found["runs"]["mean"].as_f64().unwrap();
    let [from, to] = [0, 1].map(|end| found["runs"]["interval"][end].as_f64().unwrap());
    assert!(from < mean && mean < to, "{}", found["runs"]);
    assert!(found["uncertainty"].as_f64().unwrap() > 0.0);
    assert!(found["packets"]["message_latency_ci99"].as_f64().unwrap() > 0.0);
    assert_eq!(found["packets"]["messages"], 4 * 64);
    assert_eq!(json(&folder, &["traces"]).get("runs"), None);
}

#[test]
fn tables_hold_what_is_told() {
    let folder = Folder::new();
    traces(&folder);
    shown(&folder, &["--csv", "tables", "traces"]);
    let table = |name: &str| std::fs::read_to_string(folder.path().join("tables").join(name)).unwrap();
    let [summary, ranks, links, channels, hops] =
        ["summary.csv", "ranks.csv", "links.csv", "channels.csv", "hops.csv"].map(table);
    assert!(summary.starts_with("bytes,computed,events,hosts_used,messages,network_hosts,"), "{summary}");
    assert_eq!(summary.lines().count(), 2);
    assert_eq!(ranks.lines().count(), 4);
    assert_eq!(links.lines().count(), 3);
    assert_eq!(channels.lines().count(), 1 + 64 * 4);
    assert_eq!(hops, "hops,packets\n0,0\n1,2\n2,1\n");
    shown(&folder, &["--csv", "curve", "--traffic", "uniform", "--load", "0.1,0.2", "--cycles", "1000", "--runs", "1"]);
    let points = std::fs::read_to_string(folder.path().join("curve/points.csv")).unwrap();
    assert_eq!(points.lines().count(), 3);
}

/// A link is in use as many phits a cycle as it carries, however many channels it has: a host of a torus has four links.
#[test]
fn the_use_of_a_link_is_that_of_all_its_channels() {
    let folder = Folder::new();
    for channels in ["1", "4"] {
        let set = format!("network.packet.virtual_channels={channels}");
        let traffic = ["--traffic", "uniform", "--load", "0.2,1.0", "--cycles", "2000", "--runs", "1", "--set", &set];
        for point in json(&folder, &traffic)["points"].as_array().unwrap() {
            let [injected, hops, mean, most] =
                ["injected", "hops", "link_use", "link_use_max"].map(|name| point[name].as_f64().unwrap());
            assert!((mean - injected * hops / 4.0).abs() < 0.02, "{channels}: {mean}");
            assert!(mean < most && most <= 1.0, "{channels}: {most}");
        }
    }
    let large = shown(&folder, &["--traffic", "uniform", "--message", "2TB"]);
    assert!(large.contains("31,250,000,000 packets") && large.ends_with("[1]"), "{large}");
}

/// Each message takes two channels that no other does.
#[test]
fn a_burst_is_over_when_all_have_arrived() {
    let folder = Folder::new();
    for (messages, cycles) in [("1", 1 + 2 + 16), ("5", 1 + 2 + 5 * 16)] {
        let found = json(&folder, &["--traffic", "neighbour", "--burst", messages]);
        assert_eq!(found["points"][0]["burst"]["cycles"], f64::from(cycles));
    }
}
