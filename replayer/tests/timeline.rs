//! Timelines of a replay: `titr-replay --paje` and `--perfetto`.

#![allow(clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, HashMap};

use crate::support::command::{Folder, TITR, TITR_REPLAY, pj_dump};
use serde_json::Value;
use titr_test_support::perfetto::{End, Picture};

/// A message of n bytes takes 2 µs + n ns, an instruction a nanosecond.
pub const PLATFORM: &str = r#"
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
    let arguments = ["--platform", "p.toml", "--json", "--paje", "t.paje", "--perfetto", "t.pftrace", "t"];
    let report = folder.run(TITR_REPLAY, &arguments);
    let report = report.strip_suffix("[0]").unwrap_or_else(|| panic!("{report}"));
    serde_json::from_str(report).unwrap()
}

fn picture(folder: &Folder) -> Picture {
    Picture::read(&std::fs::read(folder.path().join("t.pftrace")).unwrap())
}

/// An eager message, a large one whose receiver comes late, and a barrier.
pub const TRACE: &str = "\
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
    insta::assert_debug_snapshot!(picture(&folder));
}

pub const PROGRAMS: [&str; 6] = [
    "random --ranks 13 --bytes 1kB --messages 500 --wave 60 --compute 10us",
    "random --ranks 13 --bytes 20kB --messages 300 --wave 300",
    "wavefront --ranks 16 --dimensions 4x4 --bytes 11kB --iterations 30 --compute 5000",
    "collective allreduce --ranks 9 --bytes 64KiB --iterations 5",
    "stencil --ranks 12 --dimensions 3x2x2 --torus --bytes 64KiB --iterations 10 --compute 1e5",
    "tree --ranks 15 --bytes 9kB --iterations 4",
];

pub fn generated(program: &str) -> Folder {
    let folder = Folder::new();
    let arguments: Vec<&str> = ["generate"].into_iter().chain(program.split_whitespace()).chain(["-o", "t"]).collect();
    let made = folder.run(TITR, &arguments);
    assert!(made.ends_with("[0]"), "{made}");
    folder
}

/// The states of each rank follow each other from 0 to its end, and take as long as the report says that it was at what
/// they are.
#[test]
fn states_cover_each_ranks_time() {
    for program in PROGRAMS {
        let folder = generated(program);
        let report = replay(&folder);
        let picture = picture(&folder);
        for (rank, shares) in (0..).zip(report["per_rank"].as_array().unwrap()) {
            let (mut now, mut by_category, mut number) = (0, HashMap::<_, u64>::new(), 0);
            for state in picture.slices.iter().filter(|state| state.rank == rank) {
                assert_eq!(state.begin, now, "{program}: {state:?}");
                now = state.end;
                *by_category.entry(state.category.as_str()).or_default() += state.end - state.begin;
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
        let picture = picture(&folder);
        let ends = |arrives: bool| -> BTreeMap<u64, &End> {
            let all: Vec<_> = picture.ends.iter().filter(|end| end.arrives == arrives).collect();
            let by_key: BTreeMap<_, _> = all.iter().map(|&end| (end.key, end)).collect();
            assert_eq!(by_key.len(), all.len(), "{program}: no two arrows are called alike");
            by_key
        };
        let (starts, finishes) = (ends(false), ends(true));
        assert_eq!(starts.len() as u64, report["messages"].as_u64().unwrap(), "{program}");
        assert_eq!(starts.values().map(|end| end.bytes).sum::<u64>(), report["bytes"].as_u64().unwrap(), "{program}");
        assert!(starts.keys().eq(finishes.keys()), "{program}");
        for (key, start) in starts {
            let finish = finishes[&key];
            assert_eq!(start.name, format!("to {}", finish.rank), "{program}");
            assert_eq!(finish.name, format!("from {}", start.rank), "{program}");
            assert_eq!((start.bytes, &start.category), (finish.bytes, &finish.category), "{program}");
            // Nothing takes less than the latency.
            assert!(finish.at >= start.at + 2000, "{program}: {start:?}");
        }
    }
}

/// What is in one picture is in the other; Paje's events are in the order of time, or `pj_dump` would refuse them.
#[test]
fn both_pictures_show_the_same() {
    for program in PROGRAMS {
        let folder = generated(program);
        replay(&folder);
        let picture = picture(&folder);
        let dump = pj_dump(&folder, "t.paje");
        let of = |kind| dump.lines().filter(move |line| line.starts_with(kind));
        assert_eq!(of("State").count(), picture.slices.len(), "{program}");
        assert_eq!(of("Link").count() * 2, picture.ends.len(), "{program}");
        let bytes = |line: &str| line.rsplit(", ").next().unwrap().parse::<u64>().unwrap();
        let said: u64 = picture.ends.iter().map(|end| end.bytes).sum();
        assert_eq!(of("Link").map(bytes).sum::<u64>() * 2, said, "{program}");
        // It shows a variable from each change to the next, and the last one to the end.
        assert_eq!(of("Variable").count(), picture.counters["bytes in flight"].len(), "{program}");
    }
}

#[test]
fn a_deadlock_can_be_looked_at() {
    let folder = Folder::new();
    folder.file("t", "0 compute 1000\n0 recv 1 0 1\n1 recv 0 0 1\n");
    folder.file("p.toml", PLATFORM);
    let said = folder.run(TITR_REPLAY, &["--platform", "p.toml", "--paje", "t.paje", "--perfetto", "t.pftrace", "t"]);
    assert!(said.ends_with("[1]"), "{said}");
    insta::assert_snapshot!(format!("{:#?}\n{}", picture(&folder), pj_dump(&folder, "t.paje")));
}

#[test]
fn what_cannot_be_written_is_named() {
    let folder = Folder::new();
    folder.file("t", TRACE);
    folder.file("p.toml", PLATFORM);
    let said = folder.run(TITR_REPLAY, &["--platform", "p.toml", "--paje", "none/t.paje", "t"]);
    insta::assert_snapshot!(said);
}
