//! `titr tolerance`: the slowness that it names makes a single replay as slow as it says.

use serde_json::Value;

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};

/// The predicted time of a trace on 4×4×4 torus with these settings.
fn replayed(folder: &Folder, trace: &str, set: &[String]) -> f64 {
    let platform = here("../examples/torus.toml");
    let mut options = vec!["--json", "--platform", platform.to_str().unwrap(), trace];
    set.iter().for_each(|setting| options.extend(["--set", setting.as_str()]));
    let shown = folder.run(TITR_REPLAY, &options);
    let result: Value = serde_json::from_str(shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"))).unwrap();
    result["simulated_time"].as_f64().unwrap()
}

fn tolerance(folder: &Folder, trace: &str, options: &[&str]) -> Value {
    let platform = here("../examples/torus.toml");
    let fixed =
        ["tolerance", "--json", "--platform", platform.to_str().unwrap(), "--set", "hosts.speed=2.5 Ginstr/s", trace];
    let shown = folder.run(TITR, &[&fixed[..], options].concat());
    serde_json::from_str(shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"))).unwrap()
}

/// The torus has a latency of 1 us and a bandwidth of 10 Gbit/s. The ranks are on two hosts or on four.
#[test]
fn a_single_replay_with_the_named_slowness_is_as_slow() {
    let folder = Folder::new();
    let speed = |speed: f64| format!("hosts.speed={speed} Ginstr/s");
    for (name, cores) in [("cg.W.8", "hosts.cores=4"), ("mg.S.4", "hosts.cores=1"), ("cg.S.4", "hosts.cores=2")] {
        let trace = here(&format!("tests/data/simgrid/traces/{name}.idx"));
        let trace = trace.to_str().unwrap();
        let found = tolerance(&folder, trace, &["--set", cores]);
        let time = found["simulated_time"].as_f64().unwrap();
        assert_eq!(time, replayed(&folder, trace, &[speed(2.5), cores.to_owned()]));
        let mut checked = 0;
        for parameter in found["parameters"].as_array().unwrap() {
            for point in parameter["curve"].as_array().unwrap() {
                let (slowdown, factor) = (point["slowdown"].as_f64().unwrap(), point["factor"].as_f64().unwrap());
                let set = match parameter["parameter"].as_str().unwrap() {
                    "latency" => vec![speed(2.5), format!("network.latency={} s", 1e-6 * factor)],
                    "bandwidth" => vec![speed(2.5), format!("network.bandwidth={} Gbit/s", 10.0 * factor)],
                    "host-speed" => vec![speed(2.5 * factor)],
                    other => panic!("{other}"),
                };
                let slower = replayed(&folder, trace, &[set, vec![cores.to_owned()]].concat()) / time - 1.0;
                assert!(point["jumps"] == false && (slower - slowdown).abs() <= 5e-4, "{name} {point}: {slower}");
                checked += 1;
            }
        }
        assert_eq!(checked, 12);
    }
}

/// Two ranks that compute 1 s and 0.7 s and then meet: the first delays the end by its own delay, and the second by 0.3 s less.
#[test]
fn a_late_rank_uses_up_its_slack_first() {
    let folder = Folder::new();
    let rank = |rank: u32, work: &str| format!("{rank} init\n{rank} compute {work}\n{rank} barrier\n{rank} finalize\n");
    folder.trace(&[&rank(0, "2.5e9"), &rank(1, "1.75e9")]);
    let found = tolerance(&folder, "traces", &["--of", "ranks", "--slowdown", "1%,10%"]);
    let time = found["simulated_time"].as_f64().unwrap();
    for (rank, slack) in [(0, 0.0), (1, 0.3)] {
        for (point, slowdown) in [(0, 0.01), (1, 0.1)] {
            let point = &found["late_ranks"][rank]["curve"][point];
            let delay = point["delay"].as_f64().unwrap();
            assert!((delay - slack - slowdown * time).abs() <= 5e-4 * time, "rank {rank}: {point}");
        }
    }
}

#[test]
fn nothing_depends_on_the_number_of_jobs() {
    let folder = Folder::new();
    let trace = here("tests/data/simgrid/traces/cg.S.4.idx");
    let found = |jobs| tolerance(&folder, trace.to_str().unwrap(), &["--of", "latency,ranks", "--jobs", jobs]);
    assert_eq!(found("1"), found("5"));
}

#[test]
fn tolerances_for_people() {
    let folder = Folder::new();
    let (torus, packet) = (here("../examples/torus.toml"), here("../examples/packet.toml"));
    let trace = here("tests/data/simgrid/traces/cg.W.8.idx");
    let trace = trace.to_str().unwrap();
    let with = |platform: &std::path::Path, options: &[&str]| {
        let fixed = ["tolerance", "--set", "hosts.speed=2.5 Ginstr/s", "--platform", platform.to_str().unwrap(), trace];
        folder.run(TITR, &[&fixed[..], options].concat())
    };
    let shown = [
        with(&torus, &["--of", "latency,bandwidth,speed,ranks", "--slowdown", "1%,5%"]),
        with(&packet, &[]),
        with(&torus, &["--slowdown", "1"]),
    ];
    insta::assert_snapshot!(shown.join("\n"));
}
