//! Timelines of recorded time: `titr convert --to paje` and `--to perfetto`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

use crate::support::command::{Folder, TITR, pj_dump};
use serde_json::Value;
use titr_test_support::perfetto::Picture;

/// A receive that waits for its send; a wildcard that gets the second of two messages; a broadcast as a chain of messages; a
/// barrier in the background, of which the trace tells when it is waited for; a persistent send.
const TRACE: [&str; 3] = [
    "0 init
0 compute 100
0 called 100 150
0 send 1 7 1000
0 compute 900
0 called 1000 1300
0 sent 0 1 64 1100 1200
0 bcast 64 0
0 called 1400 1410
0 ibarrier 1
0 called 2000 2100
0 sent 1 2 0 1500 1510
0 received 1 1 0 1420 1600
0 wait_of 1
0 called 2200 2200
0 finalize
",
    "1 init
1 called 0 200
1 recv 0 7 1000
1 called 300 310
1 irecv * * 1000 6 1
1 called 400 500
1 matched 1 2 9
1 wait_of 1
1 called 900 1500
1 received 0 0 64 950 1250
1 sent 0 2 64 1260 1400
1 bcast 64 0
1 called 1500 1510
1 ibarrier 1
1 called 1600 1900
1 sent 1 0 0 1520 1530
1 received 1 2 0 1530 1700
1 wait_of 1
1 called 2100 2100
1 finalize
",
    "2 init
2 called 10 20
2 send_init 1 9 500 1
2 called 420 430
2 start 1
2 called 440 450
2 wait_of 1
2 called 460 470
2 request_free 1
2 called 900 1600
2 received 0 1 64 950 1450
2 bcast 64 0
2 called 1600 1610
2 ibarrier 1
2 called 1700 1900
2 sent 1 1 0 1620 1690
2 received 1 0 0 1620 1750
2 wait_of 1
2 called 2000 2000
2 finalize
",
];

fn draw(trace: &[&str]) -> (Folder, String) {
    let folder = Folder::new();
    folder.trace(trace);
    let [paje, perfetto] = [["--to", "paje", "-o", "t.paje"], ["--to", "perfetto", "-o", "t.pftrace"]]
        .map(|to| folder.run(TITR, &[&["convert"], &to[..], &["traces"]].concat()));
    assert_eq!(paje.replace("t.paje", "t.pftrace"), perfetto);
    (folder, perfetto)
}

#[test]
fn as_it_was() {
    let (folder, said) = draw(&TRACE);
    insta::assert_snapshot!(format!("{said}\n{}", pj_dump(&folder, "t.paje")));
}

/// All arrows have two ends, and slices follow each other.
#[test]
fn both_pictures_show_the_same() {
    let (folder, _) = draw(&TRACE);
    let picture = Picture::read(&std::fs::read(folder.path().join("t.pftrace")).unwrap());
    let keys = |arrives: bool| -> Vec<u64> {
        let mut keys: Vec<_> = picture.ends.iter().filter(|end| end.arrives == arrives).map(|end| end.key).collect();
        keys.sort_unstable();
        keys
    };
    assert_eq!(keys(false), Vec::from_iter(1..=7));
    assert_eq!(keys(true), keys(false));
    let dump = pj_dump(&folder, "t.paje");
    assert_eq!(dump.lines().filter(|line| line.starts_with("State")).count(), picture.slices.len());
    for rank in 0..3 {
        let mut now = 0;
        for state in picture.slices.iter().filter(|state| state.rank == rank) {
            assert_eq!(state.begin, now, "{state:?}");
            now = state.end;
        }
        assert_eq!(now, [2200, 2100, 2000][rank as usize]);
    }
}

#[test]
fn what_was_not_received_arrives_in_the_end() {
    let lonely =
        ["0 init\n0 called 10 20\n0 send 1 7 8\n0 called 50 50\n0 finalize\n", "1 init\n1 called 40 40\n1 finalize\n"];
    let (folder, said) = draw(&lonely);
    insta::assert_snapshot!(format!("{said}\n{}", pj_dump(&folder, "t.paje")));
}

#[test]
fn without_times_there_is_nothing_to_draw() {
    let folder = Folder::new();
    folder.trace(&["0 init\n0 compute 5\n0 finalize\n"]);
    let said = folder.run(TITR, &["convert", "--to", "perfetto", "-o", "t.pftrace", "traces"]);
    assert!(!folder.path().join("t.pftrace").exists());
    insta::assert_snapshot!(said);
}

/// A rank's clock is corrected to that of rank 0.
#[test]
fn by_one_clock() {
    let folder = Folder::new();
    folder.trace(&["0 init\n0 called 10 20\n0 finalize\n", "1 init\n1 called 10 20\n1 finalize\n"]);
    let path = folder.path().join("traces/manifest.json");
    let mut manifest: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    manifest["per_rank"][1]["clock"] = serde_json::json!({"offset": 5.0, "drift": 0.5, "uncertainty": 1.0});
    std::fs::write(&path, manifest.to_string()).unwrap();
    folder.run(TITR, &["convert", "--to", "paje", "-o", "t.paje", "traces"]);
    let dump = pj_dump(&folder, "t.paje");
    let of_finalize: Vec<_> = dump.lines().filter(|line| line.ends_with("MPI_Finalize")).collect();
    insta::assert_snapshot!(of_finalize.join("\n"));
}
