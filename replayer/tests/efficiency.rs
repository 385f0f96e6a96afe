//! `titr efficiency`: the efficiencies of several results, and how they scale.

use serde_json::Value;

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};

/// Writes the results of a stencil on 4 and on 16 ranks into a folder: `4.json` and `16.json`. Each rank of both computes as
/// much.
fn results(folder: &Folder) {
    let platform = here("../examples/torus.toml");
    for (ranks, dims) in [("4", "2x2"), ("16", "4x4")] {
        let kernel = ["generate", "stencil", "--ranks", ranks, "--dimensions", dims, "--torus", "--bytes", "20kB"];
        folder.run(TITR, &[&kernel[..], &["--iterations", "3", "--compute", "1e6", "-o", ranks]].concat());
        let replay = ["--json", "--platform", platform.to_str().unwrap(), "--set", "hosts.speed=2.5 Ginstr/s"];
        let result = folder.run(TITR_REPLAY, &[&replay[..], &["--analyse", "critical-path", ranks]].concat());
        folder.file(&format!("{ranks}.json"), result.strip_suffix("[0]").unwrap());
    }
}

fn table(folder: &Folder, options: &[&str]) -> Value {
    let shown = folder.run(TITR, &[&["efficiency", "--json"], options].concat());
    serde_json::from_str(shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"))).unwrap()
}

#[test]
fn efficiencies_are_the_products_of_their_factors() {
    let folder = Folder::new();
    results(&folder);
    let table = table(&folder, &["4.json", "16.json"]);
    for (result, name) in table["results"].as_array().unwrap().iter().zip(["4.json", "16.json"]) {
        assert_eq!(result["name"], name);
        let replayed: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.path().join(name)).unwrap()).unwrap();
        assert_eq!(result["efficiencies"], replayed["efficiencies"]);
        let part = |name: &str| result["efficiencies"][name].as_f64().unwrap();
        let same = |one: f64, other: f64| assert!((one - other).abs() < 1e-12, "{one} {other}");
        same(part("parallel"), part("load_balance") * part("communication"));
        same(part("communication"), part("serialisation") * part("transfer"));
        same(result["global"].as_f64().unwrap(), part("parallel") * result["computation_scaling"].as_f64().unwrap());
    }
}

/// The trace of four ranks, of which each does this in each of 20 rounds.
fn rounds(of_rank: impl Fn(usize, usize) -> String) -> String {
    let in_round = |rank: usize, round: usize| -> String {
        of_rank(rank, round).lines().map(|line| format!("{rank} {line}\n")).collect()
    };
    let of_rank = |rank: usize| -> String { (0..20).map(|round| in_round(rank, round)).collect() };
    (0..4).map(|rank| format!("{rank} init\n{}{rank} finalize\n", of_rank(rank))).collect()
}

/// The efficiencies of six programs, worked out from the rows of their timelines, on the machine and on one whose network
/// takes no time. What a program lacks is in the factor of this name: LB-COLL and LB-P2P of Hermanns et al. (PDP 2009) lack
/// balance, and if the ranks of LB-P2P are late in turn, all compute as much, but one after another.
#[test]
fn efficiencies_are_those_of_the_timelines() {
    let work = |is_late: bool| if is_late { 2_000_000 } else { 1_000_000 };
    let shift = |rank: usize| format!("sendrecv {} 1 8 {} 1 8\n", (rank + 1) % 4, (rank + 3) % 4);
    let chain = |rank: usize, _: usize| {
        let receive = if rank > 0 { format!("recv {} 1 8\n", rank - 1) } else { String::new() };
        let send = if rank < 3 { format!("send {} 1 8\n", rank + 1) } else { String::new() };
        format!("{receive}compute 1000000\n{send}barrier\n")
    };
    let late_at_collective = |rank: usize, _: usize| format!("compute {}\nallreduce 8 0\n", work(rank == 3));
    let late_at_messages = |rank: usize, _: usize| format!("compute {}\n{}", work(rank == 3), shift(rank));
    let late_in_turn = |rank: usize, round: usize| format!("compute {}\n{}", work(rank == round % 4), shift(rank));
    let programs = [
        ("LB-COLL", rounds(late_at_collective), "load_balance"),
        ("LB-P2P", rounds(late_at_messages), "load_balance"),
        ("LB-P2P in turn", rounds(late_in_turn), "serialisation"),
        ("a chain", rounds(chain), "serialisation"),
        ("much to all", rounds(|_, _| "compute 100000\nalltoall 1000000 1000000\n".to_owned()), "transfer"),
        ("nothing", rounds(|_, _| "compute 1000000\nbarrier\n".to_owned()), ""),
    ];
    let folder = Folder::new();
    folder.file(
        "p.toml",
        "schema = 1\nhosts.speed = '1 Ginstr/s'\ntopology.torus.dims = [8]\n[network]\nbandwidth = '1 GB/s'\nlatency = '1 us'\n",
    );
    for (lacks, trace, factor) in programs {
        folder.file("trace.txt", &trace);
        let replay = |more: &[&str]| {
            let options = ["--json", "--platform", "p.toml", "--timeline-csv", "timeline.csv", "trace.txt"];
            let shown = folder.run(TITR_REPLAY, &[&options[..], more].concat());
            let result: Value = serde_json::from_str(shown.strip_suffix("[0]").unwrap()).unwrap();
            (result, std::fs::read_to_string(folder.path().join("timeline.csv")).unwrap())
        };
        let (result, timeline) = replay(&["--analyse", "critical-path"]);
        let instant =
            ["--set", "network.model=ideal", "--set", "network.latency=0 s", "--set", "network.bandwidth=1e12 GB/s"];
        let (_, on_instant) = replay(&instant);
        // Rows of states: kind, rank, to, begin, end, name, activity.
        let states = |timeline: &str| -> Vec<(usize, f64, f64, bool)> {
            let rows = timeline.lines().map(|row| row.split(',').collect::<Vec<_>>());
            rows.filter(|row| row[0] == "state")
                .map(|row| {
                    (row[1].parse().unwrap(), row[3].parse().unwrap(), row[4].parse().unwrap(), row[6] == "compute")
                })
                .collect()
        };
        let end = |timeline: &str| states(timeline).iter().map(|(_, _, end, _)| *end).fold(0.0, f64::max);
        let mut computed = [0.0; 4];
        for (rank, begin, end, computes) in states(&timeline) {
            computed[rank] += if computes { end - begin } else { 0.0 };
        }
        let (mean, most) = (computed.iter().sum::<f64>() / 4.0, computed.into_iter().fold(0.0, f64::max));
        let (time, instant) = (end(&timeline), end(&on_instant));
        let by_hand = [
            ("parallel", mean / time),
            ("load_balance", mean / most),
            ("communication", most / time),
            ("serialisation", most / instant),
            ("transfer", instant / time),
        ];
        for (name, expected) in by_hand {
            let found = result["efficiencies"][name].as_f64().unwrap();
            assert!((found - expected).abs() < 1e-9, "{lacks}: {name} {found}, by hand {expected}");
            if ["load_balance", "serialisation", "transfer"].contains(&name) {
                assert_eq!(found < 0.7, name == factor, "{lacks}: {name} {found}");
                assert!(name == factor || found > 0.99, "{lacks}: {name} {found}");
            }
        }
    }
}

/// The 16 ranks compute four times as much as the 4 ranks, and each of them as much as each of the 4.
#[test]
fn scalings_follow_the_work() {
    let folder = Folder::new();
    results(&folder);
    let scalings = |options: &[&str]| {
        let table = table(&folder, options);
        ["computation_scaling", "instruction_scaling"].map(|name| table["results"][1][name].as_f64().unwrap())
    };
    for (scaling, expected) in scalings(&["4.json", "16.json"])
        .into_iter()
        .chain(scalings(&["--weak", "4.json", "16.json"]))
        .zip([0.25, 0.25, 1.0, 1.0])
    {
        assert!((scaling - expected).abs() < 1e-6, "{scaling}, not {expected}");
    }
}

#[test]
fn a_table_for_people() {
    let folder = Folder::new();
    results(&folder);
    insta::assert_snapshot!(folder.run(TITR, &["efficiency", "4.json", "16.json"]));
}

#[test]
fn what_is_no_prediction_has_no_efficiency() {
    let folder = Folder::new();
    folder.file("empty.json", "{}");
    folder.file("waits.json", r#"{"simulated_time": 1, "per_rank": [], "links": [], "waiting_ranks": 2}"#);
    let shown = ["empty.json", "waits.json", "none.json"].map(|name| folder.run(TITR, &["efficiency", name]));
    insta::assert_snapshot!(shown.join("\n"));
}
