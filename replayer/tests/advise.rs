//! `titr advise`: hypotheses suggested by the causes of waiting, and their savings.

use crate::support::by_hand::PLATFORM;
use crate::support::command::{Folder, TITR, TITR_REPLAY};

/// Two ranks that compute for 10 and for 30 µs in a region, and then exchange 1000 bytes.
fn unbalanced() -> Folder {
    let rank = |me: usize, work: u32| {
        let other = 1 - me;
        format!(
            "{me} region_begin foo\n{me} compute {work}\n{me} region_end foo\n{me} sendrecv {other} 0 1000 {other} 0 1000\n"
        )
    };
    let folder = Folder::new();
    folder.file("cluster.toml", PLATFORM);
    folder.trace(&[rank(0, 10_000), rank(1, 30_000)].each_ref().map(String::as_str));
    folder
}

const ADVISE: [&str; 4] = ["advise", "--platform", "cluster.toml", "traces"];

#[test]
fn the_cause_of_waiting_is_found_and_what_it_costs() {
    let folder = unbalanced();
    let said = folder.run(TITR, &[&ADVISE[..], &["--json"]].concat());
    let advice: serde_json::Value = serde_json::from_str(said.strip_suffix("[0]").unwrap()).unwrap();
    let micros = |seconds: &serde_json::Value| (seconds.as_f64().unwrap() * 1e9).round() / 1e3;
    let best = &advice["hypotheses"][0];
    assert_eq!(
        (micros(&advice["simulated_time"]), micros(&best["simulated_time"]), micros(&best["saves"])),
        (33.0, 23.0, 10.0)
    );
    let bounds: Vec<f64> =
        advice["bounds"].as_array().unwrap().iter().map(|bound| micros(&bound["simulated_time"])).collect();
    assert_eq!(bounds, [30.0, 3.0], "without a network, and without computation");

    folder.file("changes.toml", best["changes"].as_str().unwrap());
    let replay = ["--platform", "cluster.toml", "--json", "--what-if", "changes.toml", "traces"];
    let replayed: serde_json::Value =
        serde_json::from_str(folder.run(TITR_REPLAY, &replay).strip_suffix("[0]").unwrap()).unwrap();
    assert_eq!(replayed["simulated_time"], best["simulated_time"]);
}

#[test]
fn advice_for_people() {
    insta::assert_snapshot!(unbalanced().run(TITR, &[&ADVISE[..], &["--jobs", "1"]].concat()));
}

/// Two ranks that compute for 50 µs in turn, four times: balance changes nothing, half the computation saves half.
#[test]
fn code_that_serialises_ranks_is_named() {
    let folder = Folder::new();
    folder.file("cluster.toml", PLATFORM);
    let compute = |me| format!("{me} region_begin turn\n{me} compute 50000\n{me} region_end turn\n");
    let (first, second) =
        (compute(0) + "0 send 1 0 8\n0 recv 1 0 8\n", "1 recv 0 0 8\n".to_owned() + &compute(1) + "1 send 0 0 8\n");
    folder.trace(&[first.repeat(4), second.repeat(4)].each_ref().map(String::as_str));
    let said = folder.run(TITR, &[&ADVISE[..], &["--json"]].concat());
    let advice: serde_json::Value = serde_json::from_str(said.strip_suffix("[0]").unwrap()).unwrap();
    let best = &advice["hypotheses"][0];
    assert_eq!(best["hypothesis"], "computation in region turn takes half as long");
    let saves = best["saves"].as_f64().unwrap() / advice["simulated_time"].as_f64().unwrap();
    assert!((0.45..0.5).contains(&saves), "{saves}");
}

/// A chain of ranks, three times, each time up to a barrier: without it, the chains overlap.
#[test]
fn a_barrier_that_serialises_is_left_out() {
    let folder = Folder::new();
    folder.file("cluster.toml", PLATFORM);
    let first = "0 compute 50000\n0 send 1 0 8\n0 barrier\n".repeat(3);
    let last = "1 recv 0 0 8\n1 compute 50000\n1 barrier\n".repeat(3);
    folder.trace(&[first.as_str(), last.as_str()]);
    let said = folder.run(TITR, &[&ADVISE[..], &["--json"]].concat());
    let advice: serde_json::Value = serde_json::from_str(said.strip_suffix("[0]").unwrap()).unwrap();
    let best = &advice["hypotheses"][0];
    assert_eq!(best["hypothesis"], "no barrier, where nothing needs it", "{advice}");
    // Four computations in place of six.
    assert!((best["saves"].as_f64().unwrap() - 100e-6).abs() < 20e-6, "{advice}");
}
