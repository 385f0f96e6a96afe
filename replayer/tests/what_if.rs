//! `titr-replay --what-if`: predictions for a changed program or machine.

use crate::support::by_hand::PLATFORM;
use crate::support::command::{Folder, TITR, TITR_REPLAY};

/// A folder with the platform, and a trace of which each text has the lines of one rank.
fn folder(ranks: &[String]) -> Folder {
    let folder = Folder::new();
    folder.file("platform.toml", PLATFORM);
    folder.trace(&ranks.iter().map(String::as_str).collect::<Vec<_>>());
    folder
}

/// The JSON object of a replay with further arguments, without titr's own speed.
fn replayed(folder: &Folder, arguments: &[&str]) -> serde_json::Value {
    let all = [&["--platform", "platform.toml", "--json", "traces"], arguments].concat();
    let said = folder.run(TITR_REPLAY, &all);
    let json = said.strip_suffix("[0]").unwrap_or_else(|| panic!("{said}"));
    let mut result: serde_json::Value = serde_json::from_str(json).unwrap();
    result.as_object_mut().unwrap().remove("replay");
    result
}

/// The predicted time with the changes of a file, in microseconds.
fn micros(folder: &Folder, changes: &str) -> f64 {
    folder.file("changes.toml", changes);
    micros_of(&replayed(folder, &["--what-if", "changes.toml"]))
}

fn micros_of(result: &serde_json::Value) -> f64 {
    (result["simulated_time"].as_f64().unwrap() * 1e9).round() / 1e3
}

/// Two ranks that compute for 10 and for 30 µs, and then exchange 1000 bytes.
fn unbalanced() -> Folder {
    let rank = |me: usize, work: u32| {
        let other = 1 - me;
        format!(
            "{me} region_begin foo\n{me} compute {work}\n{me} region_end foo\n{me} sendrecv {other} 0 1000 {other} 0 1000\n"
        )
    };
    folder(&[rank(0, 10_000), rank(1, 30_000)])
}

#[test]
fn changes_of_nothing_leave_every_byte() {
    let folder = unbalanced();
    // The last line of the summary has titr's own speed.
    let summary = |further: &[&str]| {
        let said = folder.run(TITR_REPLAY, &[&["--platform", "platform.toml", "traces"], further].concat());
        said.split_once("\nReplayed in").unwrap().0.to_owned()
    };
    let before = (summary(&[]), replayed(&folder, &[]));
    for changes in
        ["", "[[change]]\nkind = 'scale-compute'\nfactor = 1", "[[change]]\nkind = 'scale-messages'\nfactor = 1.0"]
    {
        folder.file("changes.toml", changes);
        let what_if = ["--what-if", "changes.toml"];
        assert_eq!(summary(&what_if), before.0);
        assert_eq!(replayed(&folder, &what_if), before.1);
    }
}

#[test]
fn each_change_has_the_effect_that_can_be_worked_out() {
    let folder = unbalanced();
    for (changes, expected) in [
        ("", 33.0),
        ("[[change]]\nkind = 'balance-compute'\nregion = 'foo'", 23.0),
        ("[[change]]\nkind = 'infinite-cpu'\nranks = '1'", 13.0),
        ("[[change]]\nkind = 'scale-compute'\nfactor = 2", 63.0),
        ("[[change]]\nkind = 'scale-messages'\nfactor = 3", 35.0),
        ("[[change]]\nkind = 'ideal-network'", 30.0),
        ("[[change]]\nkind = 'ideal-network'\n[[change]]\nkind = 'infinite-cpu'", 0.0),
    ] {
        assert_eq!(micros(&folder, changes), expected, "{changes}");
    }
}

/// Rank 0 sends two messages of 100,000 bytes, too many to be buffered, and computes after each; rank 1 computes before it
/// receives each.
#[test]
fn messages_overlap_with_computation_where_calls_do_not_block() {
    let sends = "0 send 1 0 100000\n0 compute 150000\n".repeat(2);
    let receives = "1 compute 150000\n1 recv 0 0 100000\n".repeat(2);
    let folder = folder(&[sends, receives]);
    let change = |calls: &str| format!("[[change]]\nkind = 'nonblocking'\ncalls = '{calls}'");
    folder.file("platform.toml", format!("{PLATFORM}progress = 'thread'\n"));
    // Rank 0 waits for rank 1 to compute and for the message, computes, and all that again.
    assert_eq!(micros(&folder, ""), 150.0 + 102.0 + 150.0 + 102.0 + 150.0);
    assert_eq!(micros(&folder, &change("both")), 300.0);
}

#[test]
fn a_network_without_contention_is_the_ideal_model() {
    let folder = unbalanced();
    folder.file("changes.toml", "[[change]]\nkind = 'ideal-network'\nmessages = 'uncontended'");
    let flow = ["--set", "network.model=flow", "--what-if", "changes.toml"];
    assert_eq!(micros_of(&replayed(&folder, &flow)), 33.0);
}

#[test]
fn another_algorithm_is_the_platform_s_with_that_algorithm() {
    let ranks: Vec<String> = (0..4).map(|rank| format!("{rank} bcast 100000 0\n")).collect();
    let folder = folder(&ranks);
    folder.file("changes.toml", "[[change]]\nkind = 'collective'\ncollective = 'bcast'\nalgorithm = 'pipeline'");
    let assumed = replayed(&folder, &["--what-if", "changes.toml"]);
    assert_eq!(assumed, replayed(&folder, &["--set", "mpi.collectives.bcast=pipeline"]));
    assert_ne!(assumed, replayed(&folder, &[]));
}

/// A million messages without content between computations, removed, and the program without them.
#[test]
fn a_program_without_its_empty_messages_takes_as_long_as_one_that_never_had_them() {
    let rounds = 250;
    let rank = |me: usize, empty: usize| {
        let (work, other) = (1000 * (me + 1), me ^ 1);
        let message =
            if me.is_multiple_of(2) { format!("{me} send {other} 0 0\n") } else { format!("{me} recv {other} 0 64\n") };
        let round = format!("{}{me} compute {work}\n{me} sendrecv {other} 0 64 {other} 0 64\n", message.repeat(empty));
        round.repeat(rounds)
    };
    let with = folder(&[0, 1, 2, 3].map(|me| rank(me, 2000)));
    let without = folder(&[0, 1, 2, 3].map(|me| rank(me, 0)));
    let (removed, never) = (micros(&with, "[[change]]\nkind = 'remove-messages'\nmax_bytes = 0"), micros(&without, ""));
    assert_eq!(removed, never);
    assert!(micros(&with, "") > 1.01 * never);
}

#[test]
fn mistakes_are_shown_in_the_file() {
    let folder = unbalanced();
    for (changes, expected, place) in [
        (
            "[[change]]\nkind = 'collective'\ncollective = 'bcast'\nalgorithm = 'magic'",
            "bcast has no algorithm `magic`",
            "[changes.toml:4:13]",
        ),
        (
            "[[change]]\nkind = 'scale-compute'\nregion = 'bar'\nfactor = 2",
            "the program marks no region 'bar': it marks foo",
            "[changes.toml:3:10]",
        ),
        ("[change]\nkind = 'infinite-cpu'", "write [[change]], as there may be several", "[changes.toml:1:1]"),
        ("[[change]]\nkind = infinite", "", "[changes.toml:2:8]"),
    ] {
        folder.file("changes.toml", changes);
        let said = folder.run(TITR_REPLAY, &["--platform", "platform.toml", "--what-if", "changes.toml", "traces"]);
        let starts = said.starts_with(&format!("titr-replay: × {expected}"));
        assert!(starts && said.contains(place) && said.ends_with("[1]"), "{said}");
    }
    let said = folder.run(TITR_REPLAY, &["--platform", "platform.toml", "--what-if", "nowhere.toml", "traces"]);
    assert!(said.starts_with("titr-replay: cannot read the hypotheses nowhere.toml: "), "{said}");
}

/// In `foo`, ranks compute for 10 and 30 µs at full speed, and then exchange messages in 3 µs.
#[test]
fn a_platform_has_speeds_for_regions() {
    let folder = unbalanced();
    let time = |regions: &str| {
        let result = replayed(&folder, &["--set", regions]);
        (result["simulated_time"].as_f64().unwrap() * 1e9).round() / 1e3
    };
    assert_eq!(time("hosts.regions.foo=0.5"), 63.0);
    assert_eq!(time("hosts.regions.foo=2"), 18.0);
    assert_eq!(time("hosts.regions.bar=0.5"), 33.0);
    let said = folder.run(TITR_REPLAY, &["--platform", "platform.toml", "--set", "hosts.regions.foo=0", "traces"]);
    assert!(said.contains("cores cannot compute at 0 times their speed"), "{said}");
}

/// On one host with two cores, ranks share memory: with 0.5 of the speed, they compute for 20 and 60 µs.
#[test]
fn ranks_of_one_host_share_its_speed() {
    let folder = unbalanced();
    let time = |sharing: &str| {
        let result = replayed(&folder, &["--set", "hosts.cores=2", "--set", sharing]);
        (result["simulated_time"].as_f64().unwrap() * 1e9).round() / 1e3
    };
    let alone = time("hosts.sharing=[[3, 0.5]]");
    let later = |sharing| ((time(sharing) - alone) * 1e3).round() / 1e3;
    assert_eq!(later("hosts.sharing=[[2, 0.5]]"), 30.0);
    assert_eq!(later("hosts.sharing=[[1, 0.8], [2, 0.25]]"), 90.0);
    for (steps, expected) in [
        ("[[2, 0]]", "cores cannot compute at 0 times their speed"),
        ("[[4, 0.5], [2, 0.9]]", "the step from 2 ranks on is after the step from 4 ranks on"),
    ] {
        let set = format!("hosts.sharing={steps}");
        let said = folder.run(TITR_REPLAY, &["--platform", "platform.toml", "--set", &set, "traces"]);
        assert!(said.contains(expected) && said.contains("[[2, 0.97], [8, 0.8]]") && said.ends_with("[1]"), "{said}");
    }
}

#[test]
fn a_difference_shows_where_waiting_went() {
    let folder = unbalanced();
    folder.file("changes.toml", "[[change]]\nkind = 'balance-compute'\nregion = 'foo'");
    let waits = ["--analyse", "wait-states"];
    for (name, arguments) in
        [("before.json", &waits[..]), ("after.json", &[&waits[..], &["--what-if", "changes.toml"]].concat())]
    {
        folder.file(name, replayed(&folder, arguments).to_string());
    }
    insta::assert_snapshot!(folder.run(TITR, &["diff", "before.json", "after.json"]));
    let json = folder.run(TITR, &["diff", "--json", "before.json", "after.json"]);
    let json: serde_json::Value = serde_json::from_str(json.strip_suffix("[0]").unwrap()).unwrap();
    let micros =
        |change: &serde_json::Value| ["before", "after"].map(|key| (change[key].as_f64().unwrap() * 1e9).round() / 1e3);
    let causes = json["waits"]["causes"].as_array().unwrap();
    assert_eq!(
        (causes[0]["region"].as_str(), causes[0]["kind"].as_str(), micros(&causes[0])),
        (Some("foo"), Some("compute"), [20.0, 0.0])
    );
}

#[test]
fn the_difference_of_two_results_is_shown() {
    let folder = unbalanced();
    folder.file("changes.toml", "[[change]]\nkind = 'balance-compute'\nregion = 'foo'");
    for (name, arguments) in [("before.json", &[][..]), ("after.json", &["--what-if", "changes.toml"])] {
        folder.file(name, replayed(&folder, arguments).to_string());
    }
    insta::assert_snapshot!(folder.run(TITR, &["diff", "before.json", "after.json"]));
    let json = folder.run(TITR, &["diff", "--json", "before.json", "after.json"]);
    let json: serde_json::Value = serde_json::from_str(json.strip_suffix("[0]").unwrap()).unwrap();
    assert_eq!(json["per_rank"][1]["compute"], serde_json::json!({"before": 30e-6, "after": 20e-6}));
    assert!(json.get("waits").is_none());
    folder.file("no.json", "{\"ranks\": 4}");
    let said = folder.run(TITR, &["diff", "before.json", "no.json"]);
    assert!(said.starts_with("titr: no.json:1:12: this is no result of titr replay --json: missing field"), "{said}");
}
