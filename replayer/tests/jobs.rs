//! Parallel replays give the same bytes as sequential ones.

use std::fs;

use serde_json::Value;
use titr_analyses::AnalysedSimulation;
use titr_simulation::{Platform, Simulation, Trace};

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};

/// What a command prints and how it ends, except for titr's own speed, and the tables that it writes into `csv`.
fn outcome(folder: &Folder, command: &str, options: &[&str]) -> (String, Vec<String>) {
    let shown = folder.run(command, options);
    let shown = match shown.strip_suffix("[0]").and_then(|json| serde_json::from_str::<Value>(json).ok()) {
        Some(mut result) => {
            remove_speed(&mut result);
            result.to_string()
        }
        None => shown,
    };
    let tables = ["ranks.csv", "links.csv", "channels.csv", "hops.csv", "points.csv"];
    let tables = tables.iter().filter_map(|name| fs::read_to_string(folder.path().join("csv").join(name)).ok());
    let tables = tables.collect();
    let _ = fs::remove_dir_all(folder.path().join("csv"));
    (shown, tables)
}

/// Removes titr's own speed from a result, and from those within it.
fn remove_speed(result: &mut Value) {
    if let Some(parts) = result.as_object_mut() {
        parts.retain(|key, _| {
            !["replay", "wall_seconds", "cpu_seconds", "phit_hops_per_second"].contains(&key.as_str())
        });
        parts.values_mut().for_each(remove_speed);
    }
    result.as_array_mut().into_iter().flatten().for_each(remove_speed);
}

/// A command gives the same whatever the number of jobs; returns what it prints.
fn assert_same(folder: &Folder, command: &str, options: &[&str]) -> String {
    let [one, two, five] = ["1", "2", "5"].map(|jobs| outcome(folder, command, &[options, &["--jobs", jobs]].concat()));
    assert!(one == two && one == five && one == outcome(folder, command, options), "{options:?}");
    one.0
}

#[test]
fn nothing_depends_on_the_number_of_jobs() {
    let folder = Folder::new();
    let [packet, torus, tree] = ["packet", "torus", "fat-tree"].map(|name| here(&format!("../examples/{name}.toml")));
    let [packet, torus, tree] = [&packet, &torus, &tree].map(|path| path.to_str().unwrap());
    let [cg, lu, mg] =
        ["cg.W.8", "lu.W.8", "mg.S.4"].map(|name| here(&format!("tests/data/simgrid/traces/{name}.idx")));
    let [cg, lu, mg] = [&cg, &lu, &mg].map(|path| path.to_str().unwrap());
    folder.run(TITR_REPLAY, &["--platform", packet, "--network-trace", "messages.gz", "--causality", "causal", mg]);
    let random = ["--set", "network.packet.arbitration=random", "--runs", "7"];
    let traffic =
        ["--traffic", "uniform", "--load", "0.05..0.9:0.05", "--warmup", "100", "--cycles", "400", "--channels"];
    let large = ["--load", "0.2", "--cycles", "60", "--set", "topology.torus.dims=[32,32,8]"];
    let cases: [&[&str]; 7] = [
        &[&["--json", "--csv", "csv", "--platform", packet], &traffic[..], &["--runs", "3"]].concat(),
        &[&["--json", "--csv", "csv", "--platform", packet, "--causality", "causal", mg], &random[..]].concat(),
        &[&["--json", "--platform", packet, "--triggered", "messages.gz"], &random[..]].concat(),
        &["--json", "--platform", tree, "--analyse", "critical-path", "--check-sensitivities", cg],
        &["--json", "--platform", torus, "--steady", lu],
        &[&["--json", "--csv", "csv", "--platform", packet, "--traffic", "uniform", "--channels"], &large[..]].concat(),
        &[
            "--json",
            "--csv",
            "csv",
            "--platform",
            torus,
            "--vary",
            "hosts.cores=1,2,4",
            "--vary",
            "network.latency=1us,9us",
            cg,
        ],
    ];
    for options in cases {
        let shown = assert_same(&folder, TITR_REPLAY, options);
        assert!(shown.starts_with('{'), "{shown}");
    }
    let shown = assert_same(&folder, TITR, &["advise", "--json", "--platform", torus, cg]);
    assert!(shown.contains("hypotheses"), "{shown}");
}

#[test]
fn an_error_is_the_one_of_replays_one_after_another() {
    let folder = Folder::new();
    let packet = here("../examples/packet.toml");
    let packet = packet.to_str().unwrap();
    folder.trace(&["0 init\n0 recv 1 0 8\n0 finalize\n", "1 init\n1 finalize\n"]);
    let shown = assert_same(&folder, TITR_REPLAY, &["--platform", packet, "--runs", "4", "traces"]);
    assert!(shown.contains("deadlock") && shown.ends_with("[1]"), "{shown}");
    let shown = assert_same(&folder, TITR, &["advise", "--platform", packet, "traces"]);
    assert!(shown.contains("deadlock") && shown.ends_with("[1]"), "{shown}");
    for number in ["0", "-1", "1025", "two"] {
        let shown = folder.run(TITR_REPLAY, &["--jobs", number, "--platform", packet, "traces"]);
        assert!(shown.ends_with("[2]"), "{shown}");
    }
}

#[test]
fn a_variation_is_the_replay_with_its_keys_set() {
    let folder = Folder::new();
    let platform = here("../examples/torus.toml");
    let trace = here("tests/data/simgrid/traces/cg.W.8.idx");
    let speed = ["--set", "hosts.speed=2.5 Ginstr/s"];
    let common = [&["--platform", platform.to_str().unwrap(), trace.to_str().unwrap()], &speed[..]].concat();
    let result = |options: &[&str]| -> Value {
        let shown = folder.run(TITR_REPLAY, &[&common[..], options].concat());
        let mut result = serde_json::from_str(shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"))).unwrap();
        remove_speed(&mut result);
        result
    };
    let varied = result(&["--json", "--vary", "topology.torus.dims=[2,2,2],[8]", "--vary", "hosts.cores=1,2"]);
    let variations = varied["variations"].as_array().unwrap();
    assert_eq!(variations.len(), 4);
    for (variation, (dims, cores)) in variations.iter().zip([("[2,2,2]", 1), ("[2,2,2]", 2), ("[8]", 1), ("[8]", 2)]) {
        let set = [format!("topology.torus.dims={dims}"), format!("hosts.cores={cores}")];
        assert_eq!(
            variation["set"],
            serde_json::json!({"topology.torus.dims": dims, "hosts.cores": cores.to_string()})
        );
        assert_eq!(variation["result"], result(&["--json", "--set", &set[0], "--set", &set[1]]));
    }
    let shown = folder.run(TITR_REPLAY, &[&common[..], &["--vary", "network.bandwidth=10 Gbit/s, 1 Gbit/s"]].concat());
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 4, "two replays, and the exit status: {shown}");
    assert_eq!(lines[0], "network.bandwidth    Predicted time  of the first");
    assert!(lines[1].starts_with("10 Gbit/s          ") && lines[1].ends_with(" 100.0 %"), "{shown}");
    assert!(lines[2].starts_with("1 Gbit/s           "), "{shown}");

    for (key, status) in [("network.bandwidth=1 Gbit/s,fast", 1), ("hosts.colour=red", 1), ("hosts.cores", 2)] {
        let shown = folder.run(TITR_REPLAY, &[&common[..], &["--vary", key]].concat());
        assert!(shown.ends_with(&format!("[{status}]")), "{shown}");
    }
}

#[test]
fn nothing_depends_on_reading_ahead() {
    for (platform, trace) in [("torus", "lu.W.16"), ("fat-tree", "cg.W.8"), ("packet", "mg.S.4")] {
        let platform = Platform::load(&here(&format!("../examples/{platform}.toml")), &[]).unwrap();
        let trace = titr_formats::input::open(&[here(&format!("tests/data/simgrid/traces/{trace}.idx"))]);
        let trace: Trace = trace.unwrap();
        let [ahead, not] = [true, false].map(|ahead| {
            let result = AnalysedSimulation::new(Simulation::new(&platform, &trace).read_ahead(ahead))
                .analyse("matrix")
                .run()
                .unwrap();
            let mut result = serde_json::to_value(result).unwrap();
            result["replay"] = Value::Null;
            result
        });
        assert_eq!(ahead, not);
    }
}
