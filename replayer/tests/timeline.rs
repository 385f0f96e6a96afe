//! A replay to look at: `titr-replay --paje` and `--perfetto`.

#![allow(clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, HashMap};

use crate::support::command::{Folder, TITR, TITR_REPLAY, pj_dump};
use serde_json::Value;

/// A message of n bytes takes 2 µs + n ns, an instruction a nanosecond.
const PLATFORM: &str = r#"
schema = 1
hosts = { count = 16, speed = "1 Ginstr/s" }
topology.star = {}
[network]
model = "ideal"
bandwidth = "1 GB/s"
latency = "1 us"
[mpi]
eager_threshold = "10 kB"
collectives = "mpich"
"#;

/// Replays what is in `t`, and returns the report.
fn replay(folder: &Folder) -> Value {
    folder.file("p.toml", PLATFORM);
    let arguments = ["--platform", "p.toml", "--json", "--paje", "t.paje", "--perfetto", "t.json", "t"];
    let report = folder.run(TITR_REPLAY, &arguments);
    let report = report.strip_suffix("[0]").unwrap_or_else(|| panic!("{report}"));
    serde_json::from_str(report).unwrap()
}

fn text(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).unwrap()
}

/// An eager message, a large one whose receiver comes late, and a barrier.
const TRACE: &str = "\
0 init
1 init
0 compute 1000
0 send 1 7 1000
1 recv 0 7 1000
0 isend 1 8 20000
0 wait 0 1 8
1 compute 5000
1 recv 0 8 20000
0 barrier
1 barrier
0 finalize
1 finalize
";

#[test]
fn as_pj_dump_reads_it() {
    let folder = Folder::new();
    folder.file("t", TRACE);
    replay(&folder);
    insta::assert_snapshot!(pj_dump(&folder, "t.paje"));
}

#[test]
fn as_perfetto_reads_it() {
    let folder = Folder::new();
    folder.file("t", TRACE);
    replay(&folder);
    insta::assert_snapshot!(text(&folder, "t.json"));
}

const PROGRAMS: [&str; 6] = [
    "random --ranks 13 --bytes 1kB --messages 500 --wave 60 --compute 10us",
    "random --ranks 13 --bytes 20kB --messages 300 --wave 300",
    "wavefront --ranks 16 --dimensions 4x4 --bytes 11kB --iterations 30 --compute 5000",
    "collective allreduce --ranks 9 --bytes 64KiB --iterations 5",
    "stencil --ranks 12 --dimensions 3x2x2 --torus --bytes 64KiB --iterations 10 --compute 1e5",
    "tree --ranks 15 --bytes 9kB --iterations 4",
];

fn generated(program: &str) -> Folder {
    let folder = Folder::new();
    let arguments: Vec<&str> = ["generate"].into_iter().chain(program.split_whitespace()).chain(["-o", "t"]).collect();
    let made = folder.run(TITR, &arguments);
    assert!(made.ends_with("[0]"), "{made}");
    folder
}

/// Nanoseconds.
fn at(event: &Value, key: &str) -> u64 {
    (event[key].as_f64().unwrap() * 1000.0).round() as u64
}

/// The states of each rank follow each other from 0 to its end, and take as long as the report says that it was at what they are.
#[test]
fn states_cover_each_ranks_time() {
    for program in PROGRAMS {
        let folder = generated(program);
        let report = replay(&folder);
        let picture: Value = serde_json::from_str(&text(&folder, "t.json")).unwrap();
        let events = picture["traceEvents"].as_array().unwrap();
        for (rank, shares) in report["per_rank"].as_array().unwrap().iter().enumerate() {
            let states = events.iter().filter(|event| event["ph"] == "X" && event["tid"] == rank + 1);
            let (mut now, mut by_category, mut number) = (0, HashMap::<_, u64>::new(), 0);
            for state in states.filter(|state| !state["cat"].as_str().unwrap().starts_with("message")) {
                assert_eq!(at(state, "ts"), now, "{program}: {state}");
                now += at(state, "dur");
                *by_category.entry(state["cat"].as_str().unwrap()).or_default() += at(state, "dur");
                number += 1;
            }
            // A state is off by less than a nanosecond at each end.
            let close =
                |said: &Value, found: u64| (said.as_f64().unwrap() * 1e9 - found as f64).abs() <= f64::from(number);
            assert!(close(&shares["finish"], now), "{program}: rank {rank}: {shares} {now}");
            for category in ["compute", "send", "recv", "wait", "collective"] {
                let found = by_category.get(category).copied().unwrap_or(0);
                assert!(close(&shares[category], found), "{program}: rank {rank}: {shares} {by_category:?}");
            }
        }
    }
}

/// Each message is one arrow, from when it left its sender to when it reached its receiver.
#[test]
fn every_arrow_has_two_ends() {
    for program in PROGRAMS {
        let folder = generated(program);
        let report = replay(&folder);
        let picture: Value = serde_json::from_str(&text(&folder, "t.json")).unwrap();
        let events = picture["traceEvents"].as_array().unwrap();
        let ends = |phase: &str| -> BTreeMap<u64, &Value> {
            let all: Vec<_> = events.iter().filter(|event| event["ph"] == phase).collect();
            let by_id: BTreeMap<_, _> = all.iter().map(|&event| (event["id"].as_u64().unwrap(), event)).collect();
            assert_eq!(by_id.len(), all.len(), "{program}: no two arrows are called alike");
            by_id
        };
        let (starts, finishes) = (ends("s"), ends("f"));
        assert_eq!(starts.len() as u64, report["messages"].as_u64().unwrap(), "{program}");
        assert!(starts.keys().eq(finishes.keys()), "{program}");
        // The slice that says what it is stands before each end, at the same place.
        let mut bytes = 0;
        for pair in events.windows(2).filter(|pair| pair[1]["ph"] == "s" || pair[1]["ph"] == "f") {
            let (slice, end) = (&pair[0], &pair[1]);
            assert_eq!([&slice["tid"], &slice["ts"]], [&end["tid"], &end["ts"]], "{program}");
            let args = &slice["args"];
            let (said, other) = if end["ph"] == "s" { ("from", "to") } else { ("to", "from") };
            assert_eq!(args[said].as_u64().unwrap() + 1, end["tid"].as_u64().unwrap());
            assert_eq!(slice["name"], format!("{other} {}", args[other]));
            bytes += if said == "from" { args["bytes"].as_u64().unwrap() } else { 0 };
        }
        assert_eq!(bytes, report["bytes"].as_u64().unwrap(), "{program}");
        for (id, start) in starts {
            // Nothing takes less than the latency.
            assert!(at(finishes[&id], "ts") >= at(start, "ts") + 2000, "{program}: {start}");
        }
    }
}

/// What is in one picture is in the other; Paje's events are in the order of time, or `pj_dump` would refuse them.
#[test]
fn both_pictures_show_the_same() {
    for program in PROGRAMS {
        let folder = generated(program);
        replay(&folder);
        let picture: Value = serde_json::from_str(&text(&folder, "t.json")).unwrap();
        let slices = picture["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
        let (messages, states): (Vec<_>, Vec<_>) =
            slices.partition(|slice| slice["cat"].as_str().unwrap().starts_with("message"));
        let dump = pj_dump(&folder, "t.paje");
        let of = |kind| dump.lines().filter(move |line| line.starts_with(kind));
        assert_eq!(of("State").count(), states.len(), "{program}");
        assert_eq!(of("Link").count() * 2, messages.len(), "{program}");
        let bytes = |line: &str| line.rsplit(", ").next().unwrap().parse::<u64>().unwrap();
        let said: u64 = messages.iter().map(|message| message["args"]["bytes"].as_u64().unwrap()).sum();
        assert_eq!(of("Link").map(bytes).sum::<u64>() * 2, said, "{program}");
    }
}

#[test]
fn a_deadlock_can_be_looked_at() {
    let folder = Folder::new();
    folder.file("t", "0 compute 1000\n0 recv 1 0 1\n1 recv 0 0 1\n");
    folder.file("p.toml", PLATFORM);
    let said = folder.run(TITR_REPLAY, &["--platform", "p.toml", "--paje", "t.paje", "--perfetto", "t.json", "t"]);
    assert!(said.ends_with("[1]"), "{said}");
    let picture: Value = serde_json::from_str(&text(&folder, "t.json")).unwrap();
    insta::assert_snapshot!(format!("{picture:#}\n{}", pj_dump(&folder, "t.paje")));
}

#[test]
fn what_cannot_be_written_is_named() {
    let folder = Folder::new();
    folder.file("t", TRACE);
    folder.file("p.toml", PLATFORM);
    let said = folder.run(TITR_REPLAY, &["--platform", "p.toml", "--paje", "none/t.paje", "t"]);
    insta::assert_snapshot!(said);
}
