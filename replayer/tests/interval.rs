//! `--interval`: the time between two places of a program.

use serde_json::Value;

use crate::support::by_hand::PLATFORM;
use crate::support::command::{Folder, TITR_REPLAY};

fn traced() -> Folder {
    let folder = Folder::new();
    folder.file("cluster.toml", PLATFORM);
    folder.trace(&[
        "0 init\n0 compute 5000\n0 region_begin solve\n0 compute 20000\n0 send 1 0 1000\n0 region_end solve\n0 finalize\n",
        "1 init\n1 compute 7000\n1 region_begin solve\n1 recv 0 0 1000\n1 region_end solve\n1 compute 9000\n1 finalize\n",
    ]);
    folder
}

fn interval(folder: &Folder, written: &str) -> String {
    folder.run(TITR_REPLAY, &["--platform", "cluster.toml", "--json", "--interval", written, "traces"])
}

#[test]
fn the_time_of_a_region_is_from_the_first_rank_in_it_to_the_last() {
    let folder = traced();
    let shown = interval(&folder, "region:solve");
    let result: Value = serde_json::from_str(shown.strip_suffix("[0]").unwrap()).unwrap();
    let found = &result["analyses"]["interval"];
    let micros = |seconds: &Value| (seconds.as_f64().unwrap() * 1e9).round() / 1e3;
    // Rank 0 begins at 5 µs and sends at 25 µs; rank 1 begins at 7 µs, and has the message after 3 more.
    assert_eq!(micros(&found["time"]), 23.0, "{found}");
    assert_eq!([0, 1].map(|rank| micros(&found["per_rank"][rank])), [20.0, 21.0], "{found}");
}

#[test]
fn places_that_are_none_or_never_come_are_named() {
    let folder = traced();
    for (written, said) in [("region:slove", "the program passes solve"), ("somewhere", "'somewhere' is no place")] {
        let shown = interval(&folder, written);
        assert!(shown.contains(said) && shown.ends_with("[1]"), "{shown}");
    }
}
