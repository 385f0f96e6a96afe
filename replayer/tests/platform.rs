//! `titr platform`, and platforms of one line in place of a file.

use serde_json::Value;

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};

const MACHINES: [&str; 8] = [
    "star:16 10Gbit/s 1us host:4",
    "torus:4x4x4 10Gbit/s 1us host:4",
    "mesh:5x3 10Gbit/s 1us",
    "fat-tree:8x8,1x4 100Gbit/s 500ns host:4",
    "dragonfly:g=9,a=4,h=2,p=2 10Gbit/s 1us packet",
    "torus:8x4 10Gbit/s packet",
    "star:1 10Gbit/s 1us",
    "torus:64x64x16 10Gbit/s 1us",
];

#[test]
fn machines_in_numbers() {
    let folder = Folder::new();
    let shown = MACHINES
        .map(|line| format!("$ titr platform show \"{line}\"\n{}\n", folder.run(TITR, &["platform", "show", line])));
    insta::assert_snapshot!("machines", shown.join("\n"));
}

#[test]
fn numbers_for_programs_and_a_page_for_people() {
    let folder = Folder::new();
    for line in MACHINES {
        let shown = folder.run(TITR, &["platform", "show", line, "--json"]);
        let summary: Value =
            serde_json::from_str(shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"))).unwrap();
        assert_eq!(summary["findings"].as_array().map(Vec::len), Some(0));
        let hosts = summary["hosts"].as_u64().unwrap();
        let drawn = folder.run(TITR, &["platform", "show", line, "--report", "machine.html"]);
        if hosts > 4096 {
            assert!(drawn.ends_with("at most 4096\n[1]"), "{drawn}");
            continue;
        }
        assert!(drawn.ends_with("[0]"), "{drawn}");
    }
}

#[test]
fn a_machine_with_two_rails_has_twice_the_network() {
    let folder = Folder::new();
    let summary = |more: &[&str]| -> Value {
        let shown =
            folder.run(TITR, &[&["platform", "show", "fat-tree:4x4,1x2 10Gbit/s 1us", "--json"], more].concat());
        serde_json::from_str(shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"))).unwrap()
    };
    let (one, two) = (summary(&[]), summary(&["--set", "network.rails.count=2"]));
    for place in ["/routers", "/cables", "/bisection/bandwidth", "/links/0/links"] {
        let [one, two] = [&one, &two].map(|summary| summary.pointer(place).and_then(Value::as_f64).unwrap());
        assert_eq!(two, 2.0 * one, "{place}");
    }
    let parts = [&one, &two].map(|summary| summary.pointer("/bisection/part_of_injection").cloned().unwrap());
    assert_eq!(parts[0], parts[1]);
}

#[test]
fn what_packets_do_not_use_is_said() {
    let set = "network.card.process_bandwidth=1GB/s";
    let shown = Folder::new().run(TITR, &["platform", "show", "torus:4x4 10Gbit/s packet", "--set", set]);
    assert!(shown.contains("the packet model does not use network.card.process_bandwidth\n"), "{shown}");
}

/// Failures are listed with the time from which on they are there, and the time at which they end.
#[test]
fn a_machine_lists_its_failures() {
    let folder = Folder::new();
    let failed = "network.failed=[{ link = 'node-0 +x' }, { link = 'node-1 +x', at = '1 s', until = '2500 ms' }, \
                  { router = 'node-3', rail = 1, at = '3 s' }]";
    let show = ["platform", "show", "torus:4x4 10Gbit/s 1us", "--set", "network.rails.count=2", "--set", failed];
    let shown = folder.run(TITR, &show);
    let lines: Vec<&str> = shown.lines().map(str::trim).skip_while(|line| !line.starts_with("Failures")).collect();
    insta::assert_snapshot!("machine_failures", lines.join("\n"));
    let json = folder.run(TITR, &[&show[..], &["--json"]].concat());
    let summary: Value = serde_json::from_str(json.strip_suffix("[0]").unwrap_or_else(|| panic!("{json}"))).unwrap();
    let ends = |name: &str| -> Vec<Option<f64>> {
        summary["failures"].as_array().unwrap().iter().map(|failure| failure[name].as_f64()).collect()
    };
    assert_eq!(ends("until").iter().flatten().collect::<Vec<_>>(), [&2.5; 2]);
    assert_eq!(ends("at").iter().flatten().filter(|at| **at == 3.0).count(), 1);
}

#[test]
fn a_line_is_as_good_as_its_file() {
    let folder = Folder::new();
    let line = "torus:4x4 10Gbit/s 1us host:2 2.5Ginstr/s";
    let text = folder.run(TITR, &["platform", "write", line]);
    folder.file("p.toml", text.strip_suffix("[0]").unwrap());
    let trace = here("../examples/ring.txt");
    let replayed = |platform: &str| {
        let shown = folder.run(TITR_REPLAY, &["--platform", platform, "--json", trace.to_str().unwrap()]);
        let result: Value =
            serde_json::from_str(shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"))).unwrap();
        result["simulated_time"].as_f64().unwrap()
    };
    assert_eq!(replayed(line), replayed("p.toml"));
    let traffic = ["traffic", "uniform", "--platform", "torus:4x4 10Gbit/s packet", "--load", "0.1", "--cycles", "500"];
    assert!(folder.run(TITR, &traffic).ends_with("[0]"));
}

/// A study with a platform of one line.
#[test]
fn a_study_takes_lines() {
    let folder = Folder::new();
    std::fs::copy(here("../examples/ring.txt"), folder.path().join("ring.txt")).unwrap();
    folder.file(
        "study.toml",
        "schema = 1\nplatform = [\"star:16 10Gbit/s 1us 1Ginstr/s\", \"torus:4x4 10Gbit/s 1us 1Ginstr/s\"]\ntrace = \"ring.txt\"\n",
    );
    let shown = folder.run(TITR, &["sweep", "study.toml", "--output", "results"]);
    assert!(shown.ends_with("[0]"), "{shown}");
    let table = std::fs::read_to_string(folder.path().join("results/results.csv")).unwrap();
    assert_eq!(table.lines().count(), 3, "{table}");
}

#[test]
fn mistakes() {
    let folder = Folder::new();
    let failed = "network.failed=[{ link = 'node-1 up' }]";
    let shown = [
        folder.run(TITR, &["platform", "show", "torsu:4x4 10Gbit/s 1us"]),
        folder.run(TITR, &["platform", "show", "no-such.toml"]),
        folder.run(TITR, &["platform", "show", "star:4 10Gbit/s 1us", "--set", failed]),
        folder.run(TITR, &["platform", "write", "star:4 10Gbit/s"]),
    ];
    insta::assert_snapshot!("platform_mistakes", shown.join("\n\n"));
}
