//! `--spread`: a prediction with its spread.

use serde_json::Value;

use crate::support::by_hand::PLATFORM;
use crate::support::command::{Folder, TITR, TITR_REPLAY};

/// What varies on the machine of these tests.
const SPREAD: &str = r#"
[spread]
detours = { length = "20 us", rate = 1000 }
message = 0.05
uncertainty = { "hosts.speed" = 0.02, "network.latency" = 0.1 }
"#;

/// A folder with a trace of two ranks, and `cluster.toml` with further lines.
fn traced(more: &str) -> Folder {
    let folder = Folder::new();
    folder.file("cluster.toml", format!("{PLATFORM}{more}"));
    let iteration = "0 compute 1e6\n0 send 1 0 1000\n0 recv 1 0 1000\n";
    let answer = "1 recv 0 0 1000\n1 compute 5e5\n1 send 0 0 1000\n";
    let ranks =
        [(0, iteration), (1, answer)].map(|(rank, text)| format!("{rank} init\n{}{rank} finalize\n", text.repeat(10)));
    folder.trace(&[&ranks[0], &ranks[1]]);
    folder
}

fn shown(folder: &Folder, more: &[&str]) -> String {
    folder.run(TITR_REPLAY, &[&["--platform", "cluster.toml"], more, &["traces"]].concat())
}

/// The result as JSON, without titr's own speed.
fn result(folder: &Folder, more: &[&str]) -> Value {
    let shown = shown(folder, &[&["--json"], more].concat());
    let mut result: Value =
        serde_json::from_str(shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"))).unwrap();
    result.as_object_mut().unwrap().remove("replay");
    result
}

#[test]
fn a_prediction_has_intervals_around_its_median() {
    let folder = traced(SPREAD);
    let result = result(&folder, &["--spread", "200"]);
    let spread = &result["spread"];
    let seconds = |value: &Value| value.as_f64().unwrap();
    let [half, most] = ["interval_50", "interval_90"].map(|name| [0, 1].map(|end| seconds(&spread[name][end])));
    let ends = [most[0], half[0], seconds(&spread["median"]), half[1], most[1]];
    assert!(ends.windows(2).all(|pair| pair[0] < pair[1]), "{spread}");
    assert_eq!((&spread["runs"], &spread["groups"]), (&Value::from(200), &Value::Array(Vec::new())));
    // 15 ms of computation with 2 % of detours; the rest are 20 messages of 3 µs.
    let expected = 15e-3 * 1.02 + 20.0 * 3e-6;
    assert!((ends[2] / expected - 1.0).abs() < 0.01, "{spread}: {expected}");
    let compute = &spread["activities"][0];
    assert_eq!(compute["activity"], "compute");
    assert!((seconds(&compute["median"]) / (7.5e-3 * 1.02) - 1.0).abs() < 0.01, "{compute}");
}

/// A lognormal factor of 10 %: 90 % of the replays are within e^±0.1645 of the median, in each row.
#[test]
fn the_error_of_the_model_multiplies_all_times() {
    let folder = traced("[spread]\nmodel = 0.1\n");
    let spread = &result(&folder, &["--spread", "4000"])["spread"];
    let exact = [("/median", 1.0), ("/interval_90/0", (-0.1645_f64).exp()), ("/interval_90/1", 0.1645_f64.exp())];
    let time = result(&folder, &[])["simulated_time"].as_f64().unwrap();
    for (place, factor) in exact {
        let of_time = spread.pointer(place).and_then(Value::as_f64).unwrap() / time;
        assert!((of_time / factor - 1.0).abs() < 0.015, "{place}: {of_time}");
        let compute = &spread["activities"][0];
        let of_compute = compute.pointer(place).and_then(Value::as_f64).unwrap() / 7.5e-3;
        assert!((of_compute / factor - 1.0).abs() < 0.015, "{place}: {compute}");
    }
}

#[test]
fn a_seed_gives_the_same_bytes_for_any_number_of_threads() {
    let folder = traced(SPREAD);
    let with = |more: &[&str]| result(&folder, &[&["--spread", "30"], more].concat()).to_string();
    let one = with(&["--seed", "5", "--jobs", "1"]);
    assert!(one == with(&["--seed", "5", "--jobs", "2"]) && one == with(&["--seed", "5", "--jobs", "7"]));
    assert_ne!(one, with(&["--seed", "6"]));
    assert_eq!(with(&[]), with(&["--seed", "0"]));
}

#[test]
fn the_table_alone_changes_nothing() {
    let [plain, table] = ["", SPREAD].map(|more| result(&traced(more), &[]).to_string());
    assert_eq!(plain, table);
    let mut spread = result(&traced(SPREAD), &["--spread", "5"]);
    assert!(spread.as_object_mut().unwrap().remove("spread").is_some());
    assert_eq!(plain, spread.to_string());
}

#[test]
fn the_summary_has_the_spread_of_each_row() {
    let folder = traced(SPREAD);
    let all = folder.run(TITR, &["replay", "--platform", "cluster.toml", "--spread", "50", "traces"]);
    for part in ["50 replays: median 15.", "half of them 1", "90 % 1", "\nSpread", "  compute  ", "  receive  "] {
        assert!(all.contains(part), "{part}: {all}");
    }
}

#[test]
fn what_is_known_without_the_table_varies_too() {
    let random = "[placement]\npolicy = \"random\"\n[topology.mesh]\ndims = [4]\n";
    let folder = traced("");
    folder.file(
        "cluster.toml",
        format!("{}{random}", PLATFORM.replace("count = 4\n", "").replace("[topology.star]\n", "")),
    );
    let groups = result(&folder, &["--spread", "100"])["spread"]["groups"].clone();
    // Two ranks on a line of four hosts are one, two or three cables apart, in 6, 4 and 2 of 12 placements.
    let shares: Vec<f64> = groups.as_array().unwrap().iter().map(|group| group["share"].as_f64().unwrap()).collect();
    let [near, middle, far] = shares[..] else { panic!("{groups}") };
    assert!((near - 0.5).abs() < 0.2 && (middle - 1.0 / 3.0).abs() < 0.2 && far > 0.05, "{groups}");
    assert!(shown(&folder, &["--spread", "100"]).contains("a group of "));
}

#[test]
fn a_sentence_says_that_nothing_varies() {
    let result = result(&traced(""), &["--spread", "10"]);
    assert!(result.get("spread").is_none());
    assert!(result["warnings"].to_string().contains("nothing is known to vary"), "{result}");
}

#[test]
fn mistakes_in_the_table_name_the_line_and_what_to_write() {
    for (line, message, help) in [
        ("message = -0.1", "-0.1 is not a number from 0 up", ""),
        ("message = 5", "a standard deviation of 5 times the value", "0.05 is 5 %"),
        ("detours = { length = \"1 us\" }", "missing key `rate`", ""),
        ("detours = { length = \"-1 us\", rate = 1 }", "-1", ""),
        ("detours = { length = \"1 us\", rate = -2 }", "-2 is not a number from 0 up", ""),
        ("noise = 1", "unknown key `noise`", "expected one of"),
        (
            "uncertainty = { \"network.bandwith\" = 0.1 }",
            "does not set network.bandwith",
            "set the key in the platform",
        ),
        ("uncertainty = { \"hosts.count\" = 0.1 }", "hosts.count is neither a quantity nor a number", "has a unit"),
        ("uncertainty.network.bandwidth = -1", "-1 is not a number from 0 up", ""),
        ("uncertainty.network.bandwidth = 3", "a standard deviation of 3 times", "0.05 is 5 %"),
    ] {
        let folder = traced(&format!("[spread]\n{line}\n"));
        let said = shown(&folder, &["--spread", "10"]);
        assert!(said.contains(message) && said.contains(help) && said.ends_with("[1]"), "{line}: {said}");
        assert!(said.contains("cluster.toml:14:"), "{line}: {said}");
    }
    for wrong in [&["--spread", "0"][..], &["--spread", "1"], &["--spread", "9", "--runs", "2"], &["--seed", "1"]] {
        assert!(shown(&traced(""), wrong).ends_with("[2]"), "{wrong:?}");
    }
}

#[test]
fn keys_on_the_command_line_describe_the_spread() {
    let folder = traced("");
    let table = ["--set", "spread.uncertainty.hosts.speed=0.02", "--set", "spread.message=0.1", "--spread", "20"];
    assert!(result(&folder, &table)["spread"]["interval_90"].is_array());
}
