//! `titr-replay --time` prints on standard error where titr's own time and memory went, and changes nothing else.

use std::process::Command;

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};

/// What a replay with these options prints on standard output without titr's speed, and on standard error.
fn replay(folder: &Folder, options: &[&str]) -> (String, String) {
    let output = Command::new(TITR_REPLAY).args(options).current_dir(folder.path()).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{err}");
    let speeds = [",\"replay\":", ",\"wall_seconds\":", "\nReplayed in "];
    let before_speed = speeds.iter().find_map(|speed| out.find(speed)).unwrap_or(out.len());
    (out[..before_speed].to_owned(), err)
}

/// The seconds of a line of the table.
fn seconds(table: &str, line: &str) -> f64 {
    let found = table.lines().find_map(|text| text.strip_prefix("  ")?.strip_prefix(line)?.split_whitespace().next());
    found.unwrap_or_else(|| panic!("no {line} in {table}")).parse().unwrap()
}

#[test]
fn the_parts_add_up_and_standard_output_stays_as_it_is() {
    let folder = Folder::new();
    let (platform, packet) = (here("../examples/torus.toml"), here("../examples/packet.toml"));
    let (platform, packet) = (platform.to_str().unwrap(), packet.to_str().unwrap());
    let trace = here("tests/data/simgrid/traces/lu.W.8.idx");
    let trace = trace.to_str().unwrap();
    folder.run(TITR_REPLAY, &["--platform", packet, "--network-trace", "messages.gz", trace]);
    let cases: [&[&str]; 5] = [
        &["--json", "--platform", platform, trace],
        &["--platform", platform, "--analyse", "matrix", trace],
        &["--json", "--steady", "--platform", platform, trace],
        &["--json", "--platform", packet, "--triggered", "messages.gz"],
        &["--json", "--platform", packet, "--traffic", "uniform", "--load", "0.1", "--cycles", "2000"],
    ];
    for options in cases {
        let (without, silent) = replay(&folder, options);
        let (with, table) = replay(&folder, &[&["--time"], options].concat());
        assert_eq!(without, with, "{options:?}");
        assert_eq!(silent, "", "{options:?}");
        let parts = ["other", "reading", "ranks", "network", "results", "profiling"];
        let sum: f64 = parts.iter().map(|part| seconds(&table, part)).sum();
        let all = seconds(&table, "all");
        assert!(all > 0.0 && (sum - all).abs() < 0.004, "{sum} is not {all}: {table}");
        assert!(table.contains("Own memory      "), "{table}");
    }
}

#[test]
fn time_is_where_the_work_is() {
    let folder = Folder::new();
    let packet = here("../examples/packet.toml");
    let traffic = ["--time", "--platform", packet.to_str().unwrap(), "--traffic", "uniform", "--load", "0.3"];
    let (_, table) = replay(&folder, &traffic);
    assert!(seconds(&table, "network") > 0.5 * seconds(&table, "all"), "{table}");
    assert!(!table.contains("ns/event"), "there are no events: {table}");

    let kernel = ["stencil", "--ranks", "64", "--dimensions", "8x8", "--bytes", "4kB", "--iterations", "2000"];
    folder.run(TITR, &[&["generate"], &kernel[..], &["-o", "trace"]].concat());
    let platform = here("../examples/torus.toml");
    let (_, table) = replay(&folder, &["--time", "--platform", platform.to_str().unwrap(), "trace"]);
    for part in ["reading", "ranks", "network"] {
        assert!(seconds(&table, part) > 0.0, "{table}");
    }
    assert!(table.contains(" before the ranks, ") && table.contains(" for each of 64\n"), "{table}");
}
