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
