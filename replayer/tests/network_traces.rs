//! Network traces: recorded by a replay, given triggers, and replayed with the network's feedback.

use std::process::Command;

use serde_json::Value;

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};

/// Three nodes, five messages.
const CHAIN: [&str; 5] = [
    "0 0 1 8 request 0 1000 triggers=2",
    "1 1 2 64 data 1500 3000 after=0+1000 triggers=1",
    "2 1 0 8 ack 1600 3000 after=0+6400",
    "3 2 0 40 data 4000 5000 after=1+64000 triggers=1",
    "4 0 2 128 data 6000 7000 after=3+1",
];

fn text(nodes: u32, lines: &[&str]) -> String {
    format!("# titr network trace 1\nnodes {nodes}\n{}\nend {}\n", lines.join("\n"), lines.len())
}

/// What `titr-replay` says of a platform of the examples, with more arguments.
fn shown(folder: &Folder, platform: &str, more: &[&str]) -> String {
    let platform = here(&format!("../examples/{platform}"));
    let speed = ["--set", "hosts.speed=2.5 Ginstr/s"];
    folder.run(TITR_REPLAY, &[&["--platform", platform.to_str().unwrap()], &speed[..], more].concat())
}

fn json(folder: &Folder, platform: &str, more: &[&str]) -> Value {
    let shown = shown(folder, platform, &[&["--json"], more].concat());
    serde_json::from_str(shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"))).unwrap()
}

/// All orders of a few lines.
fn orders(all: &[&'static str]) -> Vec<Vec<&'static str>> {
    if all.is_empty() {
        return vec![Vec::new()];
    }
    let with = |first: usize| {
        let others = [&all[..first], &all[first + 1..]].concat();
        orders(&others).into_iter().map(move |rest| [&[all[first]], &rest[..]].concat())
    };
    (0..all.len()).flat_map(with).collect()
}

/// By hand, in cycles of 3200 ps, of which a packet over h channels takes 1 + h + 16 (docs/PACKET.md):
///
/// | message | generated | offered | arrives |
/// | --- | --- | --- | --- |
/// | 0: 0 to 1, a packet | 0 | 0 | 18 |
/// | 1: 1 to 2, a packet | 18 cycles + 1000 ps | 19 | 37 |
/// | 2: 1 to 0, a packet | 18 + 2 cycles | 20, leaves behind message 1 in 36 | 36 + 1 + 16 = 53 |
/// | 3: 2 to 0, a packet | 37 + 20 cycles | 57 | 57 + 19 = 76 |
/// | 4: 0 to 2, two packets | 76 cycles + 1 ps | 77 | 77 + 1 + 2 + 32 = 112 |
#[test]
fn three_nodes_and_five_messages_take_as_long_as_by_hand() {
    let folder = Folder::new();
    let ordered = [&["ordered"], &CHAIN[..]].concat();
    let ordered = text(3, &ordered).replace("end 6", "end 5");
    let orders = orders(&CHAIN).into_iter().map(|lines| text(3, &lines)).step_by(7);
    for trace in [ordered].into_iter().chain(orders) {
        folder.file("t", &trace);
        let found = json(&folder, "packet.toml", &["--triggered", "t"]);
        assert_eq!(found["packets"]["cycles"], 112, "{trace}");
        assert_eq!(found["simulated_time"], 3.584e-7);
        let latencies = 18.0 + 18.0 + 33.0 + 19.0 + 35.0;
        assert_eq!(found["packets"]["message_latency"], latencies / 5.0);
        assert_eq!((&found["messages"], &found["triggered"]), (&5.into(), &4.into()));
        assert_eq!(found["recorded_time"], 7e-9);
    }
}

/// The last message is offered in cycle 2, and its two packets leave behind that of the first, in cycles 17 and 33.
#[test]
fn an_open_loop_injects_at_the_times_of_the_trace() {
    let folder = Folder::new();
    folder.file("t", text(3, &CHAIN));
    let found = json(&folder, "packet.toml", &["--triggered", "t", "--open-loop"]);
    assert_eq!((&found["open_loop"], &found["triggered"]), (&true.into(), &0.into()));
    assert_eq!(found["packets"]["cycles"], 33 + 2 + 16);
}

/// A message takes as long after its trigger as it would alone, whatever the network model.
#[test]
fn feedback_is_for_every_network_model() {
    let folder = Folder::new();
    let time = |platform: &str, lines: &[&str]| {
        folder.file("t", text(2, lines));
        json(&folder, platform, &["--triggered", "t"])["simulated_time"].as_f64().unwrap()
    };
    for platform in ["cluster16.toml", "fat-tree.toml", "packet.toml"] {
        let there = time(platform, &["0 0 1 100000 data 0 1"]);
        let back = time(platform, &["0 1 0 5000 data 0 1"]);
        let both = time(platform, &["0 0 1 100000 data 0 1 triggers=1", "1 1 0 5000 data 2 3 after=0+32000000"]);
        assert!((both - (there + 32e-6 + back)).abs() < 1e-11, "{platform}: {there} + {back}, not {both}");
    }
}

const PING_PONG: [&str; 2] = [
    "0 init\n0 send 1 0 100\n0 recv 1 0 100000\n0 compute 5000\n0 send 1 0 70000\n0 allreduce 64 0\n0 finalize\n",
    "1 init\n1 recv 0 0 100\n1 compute 2500\n1 send 0 0 100000\n1 recv 0 0 70000\n1 allreduce 64 0\n1 finalize\n",
];

/// A recorded trace is text for `zcat`, and in an open loop on the same network every message takes as long as it did.
#[test]
fn a_replay_records_what_enters_its_network() {
    let folder = Folder::new();
    folder.trace(&PING_PONG);
    let found = json(&folder, "packet.toml", &["--network-trace", "t.gz", "traces"]);
    let text = Command::new("zcat").arg("t.gz").current_dir(folder.path()).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..3], ["# titr network trace 1", "nodes 64", "ordered"]);
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let kinds: Vec<_> = lines[3..lines.len() - 1].iter().map(|line| words(line)[1..5].join(" ")).collect();
    assert_eq!(kinds[..3], ["0 1 100 eager", "1 0 100000 rendezvous", "0 1 70000 rendezvous"]);
    assert!(kinds.len() > 3 && kinds[3..].iter().all(|kind| kind.ends_with(" collective-eager")), "{text}");
    assert_eq!(lines[lines.len() - 1], format!("end {}", kinds.len()));
    assert_eq!(found["messages"], kinds.len());

    let again = json(&folder, "packet.toml", &["--triggered", "t.gz", "--open-loop"]);
    assert_eq!(again["recorded_time"], again["simulated_time"]);
    assert_eq!(again["packets"]["message_latency"], found["packets"]["message_latency"]);
    assert_eq!(again["bytes"], found["bytes"]);
}

/// By the rules every message but the first waits for the last one received; the same network then gives the same times.
#[test]
fn triggers_are_found_by_rules() {
    let folder = Folder::new();
    folder.trace(&PING_PONG);
    let found = json(&folder, "packet.toml", &["--network-trace", "t.gz", "traces"]);
    let report = folder.run(TITR, &["triggers", "t.gz", "-o", "triggered.gz"]);
    assert!(report.contains("last data received") && report.ends_with("[0]"), "{report}");
    let same = json(&folder, "packet.toml", &["--triggered", "triggered.gz"]);
    assert_eq!(same["simulated_time"], same["recorded_time"]);
    assert_eq!(same["messages"], found["messages"]);
    let slow = &["--set", "network.bandwidth=1 Gbit/s"][..];
    let slower = json(&folder, "packet.toml", &[slow, &["--triggered", "triggered.gz"]].concat());
    let run = json(&folder, "packet.toml", &[slow, &["--network-trace", "slow.gz", "traces"]].concat());
    let of_run = json(&folder, "packet.toml", &[slow, &["--triggered", "slow.gz", "--open-loop"]].concat());
    let open = json(&folder, "packet.toml", &[slow, &["--triggered", "triggered.gz", "--open-loop"]].concat());
    let [slower, of_run, open] = [slower, of_run, open].map(|found| found["simulated_time"].as_f64().unwrap());
    assert!((slower / of_run - 1.0).abs() < 0.01 && open < 0.9 * of_run, "{slower}, {open}, {of_run}: {run}");
}

/// Rank 1 waits for messages of 0 and 2, and then sends to both. On a slow network the large one comes last, on which it
/// waits for longer than for the other: the recorded causes say both.
#[test]
fn exact_triggers_are_all_receptions_that_a_sender_waited_for() {
    let folder = Folder::new();
    folder.trace(&[
        "0 init\n0 compute 50000\n0 send 1 0 100\n0 recv 1 0 100\n0 finalize\n",
        "1 init\n1 irecv 0 0 100 0 0\n1 irecv 2 0 20000 0 1\n1 wait_of 0\n1 wait_of 1\n1 compute 2500\n1 send 0 0 100\n\
         1 send 2 0 100\n1 finalize\n",
        "2 init\n2 send 1 0 20000\n2 recv 1 0 100\n2 finalize\n",
    ]);
    json(&folder, "packet.toml", &["--network-trace", "t.gz", "traces"]);
    let report = folder.run(TITR, &["triggers", "--exact", "t.gz", "-o", "triggered.gz"]);
    assert!(report.contains("known from the trace                   2"), "{report}");
    let text = Command::new("zcat").arg("triggered.gz").current_dir(folder.path()).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert_eq!(text.matches("after=1+1000000 after=0+1000000").count(), 2, "{text}");
    for bandwidth in ["10 Gbit/s", "100 Mbit/s"] {
        let slow = format!("network.bandwidth={bandwidth}");
        let slow = &["--set", &slow][..];
        json(&folder, "packet.toml", &[slow, &["--network-trace", "run.gz", "traces"]].concat());
        let of_run = json(&folder, "packet.toml", &[slow, &["--triggered", "run.gz", "--open-loop"]].concat());
        let replayed = json(&folder, "packet.toml", &[slow, &["--triggered", "triggered.gz"]].concat());
        assert_eq!(replayed["simulated_time"], of_run["simulated_time"], "{bandwidth}");
    }
}

#[test]
fn tables_and_summaries_are_those_of_the_network() {
    let folder = Folder::new();
    folder.file("t", text(3, &CHAIN));
    let summary = shown(&folder, "packet.toml", &["--triggered", "t", "--csv", "tables", "--runs", "2"]);
    for part in ["Last arrival    358.4 ns", "5 messages, 4 by triggers", "Routers         112 cycles", "Busiest links"]
    {
        assert!(summary.contains(part), "{summary}");
    }
    for table in ["summary", "links", "hops", "channels"] {
        assert!(folder.path().join(format!("tables/{table}.csv")).exists(), "{table}");
    }
}

#[test]
fn a_trace_that_makes_no_sense_ends_in_one_message() {
    let folder = Folder::new();
    let first = "0 0 1 8 a 0 5";
    for (lines, message) in [
        (&[first, "1 1 0 8 a 0 5 after=0+1"][..], "t: message 1 waits for 0, which is no message, or says"),
        (&["0 0 100 8 a 0 5"], "t:3: node 100 of the 3 that there are"),
        (&[first, first], "t: there are two messages 0"),
        (
            &["0 0 1 8 a 0 5 after=1+1 triggers=1", "1 0 1 8 a 0 5 after=0+1 triggers=1"],
            "t: messages wait for each other",
        ),
    ] {
        folder.file("t", text(3, lines));
        let found = shown(&folder, "packet.toml", &["--triggered", "t"]);
        assert!(found.starts_with(&format!("titr-replay: {message}")) && found.ends_with("\n[1]"), "{found}");
    }
    folder.file("t", text(65, &[first]));
    let found = shown(&folder, "packet.toml", &["--triggered", "t"]);
    assert_eq!(found, "titr-replay: t: the trace has 65 nodes, and the platform 64 hosts\n[1]");
    folder.file("rules.toml", "[replies]\na = [\"a\"]\n");
    let found = folder.run(TITR, &["triggers", "t", "-o", "u", "--rules", "rules.toml"]);
    assert!(found.starts_with("titr: × 'a' answers itself\n   ╭─[rules.toml:2:1]\n"), "{found}");
}
