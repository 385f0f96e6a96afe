//! Ranks that are graphs: GOAL against LogGOPSim, and on the way through titr's own format.

use crate::support::command::{Folder, TITR, here};

/// The machine of LogGOPSim with its defaults, L = 2500, o = 1500, G = 6 and S = 65535 (ns and bytes).
const MACHINE: &str = r#"
schema = 1
[hosts]
count = 16
speed = "1 Ginstr/s"
[topology.star]
[network]
bandwidth = "166666667 B/s"
latency = "1250 ns"
[mpi]
eager_threshold = "65536 B"
send_overhead = [[0, 1.5e-6, 0.0]]
recv_overhead = [[0, 1.5e-6, 0.0]]
"#;

/// The time of a trace on that machine, in nanoseconds.
fn nanoseconds(folder: &Folder, trace: &str) -> f64 {
    let printed = folder.run(TITR, &["replay", "--platform", "machine.toml", "--json", trace]);
    let json = printed.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{printed}"));
    let value: serde_json::Value = serde_json::from_str(json.trim_end_matches("[0]")).unwrap();
    value["simulated_time"].as_f64().unwrap() * 1e9
}

#[test]
fn times_are_those_of_loggopsim() {
    let folder = Folder::new();
    folder.file("machine.toml", MACHINE);
    for (file, time) in [
        ("diss16.goal", 22_168.0),
        ("ring8.goal", 765_044.0),
        ("grammar.bin", 430_494.0),
        ("stencil.bin", 65_418_584.0),
        ("wildcards.goal.gz", 154_583_678.0),
    ] {
        let path = here("../tests/data/foreign/goal").join(file);
        let found = nanoseconds(&folder, path.to_str().unwrap());
        assert!((found / time - 1.0).abs() < 0.01, "{file}: {found}, and LogGOPSim's {time}");
    }
}

#[test]
fn a_graph_takes_as_long_in_every_format() {
    let folder = Folder::new();
    folder.file("machine.toml", MACHINE);
    let path = here("../tests/data/foreign/goal/stencil.goal.gz");
    let path = path.to_str().unwrap();
    for (format, place) in [("ti", "own"), ("goal", "text.goal"), ("goal-binary", "binary.bin")] {
        folder.run(TITR, &["convert", "--to", format, "-o", place, path]);
        assert_eq!(nanoseconds(&folder, place).to_bits(), nanoseconds(&folder, path).to_bits(), "{format}");
    }
}

#[test]
fn a_sound_graph_is_sound_and_one_that_is_not_says_why() {
    let folder = Folder::new();
    let sound = folder.run(TITR, &["check", here("../tests/data/foreign/goal/ring8.goal").to_str().unwrap()]);
    assert!(sound.contains(": sound"), "{sound}");
    folder.file("unmatched.goal", "num_ranks 2\nrank 0 {\nsend 8b to 1 tag 1\n}\nrank 1 {\nrecv 8b from 0 tag 2\n}\n");
    let unmatched = folder.run(TITR, &["check", "unmatched.goal"]);
    assert!(unmatched.contains("unmatched.goal:6: rank 1 waits for a receive from rank 0 with tag 2"), "{unmatched}");
    assert!(unmatched.contains("never received: 1 message (8 bytes) from rank 0 to rank 1 with tag 1"), "{unmatched}");
}
