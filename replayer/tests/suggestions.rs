//! What a replay suggests saves time when it is tried, and where nothing is suggested, nothing in the machine helps.

use serde_json::Value;

use crate::support::command::{Folder, TITR, TITR_REPLAY};

/// Kernels of `titr generate`, with few and many bytes, little and much computation.
const KERNELS: [&str; 8] = [
    "stencil --ranks 16 --dimensions 4x4 --torus --bytes 64 --iterations 4 --compute 1e3",
    "stencil --ranks 16 --dimensions 4x4 --bytes 1MiB --iterations 2 --compute 1e5",
    "wavefront --ranks 16 --dimensions 4x4 --bytes 2kB --iterations 8 --compute 1e5",
    "all-to-all --ranks 16 --bytes 100kB",
    "all-to-all --ranks 16 --bytes 8 --compute 1e7",
    "butterfly --ranks 16 --bytes 16kB --iterations 4",
    "collective allreduce --algorithm ring --ranks 16 --bytes 1MiB",
    "tree --ranks 16 --bytes 1kB --iterations 3 --compute 1e4",
];

const STAR: &str = "\
schema = 1
[hosts]
count = 16
speed = \"1 Ginstr/s\"
[topology.star]
[network]
bandwidth = \"1 Gbit/s\"
latency = \"10 us\"
";

/// Machines, each as a text and what is set in addition.
fn machines() -> [(&'static str, String); 5] {
    let backbone =
        STAR.replace("[topology.star]", "[topology.star.backbone]\nbandwidth = \"100 MB/s\"\nlatency = \"1 us\"");
    let torus = STAR.replace("count = 16\n", "").replace("[topology.star]", "[topology.torus]\ndims = [4, 4]");
    let ideal = format!("{STAR}model = \"ideal\"\n");
    let packet = torus.replace("latency = \"10 us\"", "model = \"packet\"\n[network.packet]\npacket = \"512 B\"");
    [("star", STAR.to_owned()), ("backbone", backbone), ("torus", torus), ("ideal", ideal), ("packet", packet)]
}

fn replay(folder: &Folder, platform: &str, more: &[&str]) -> Value {
    let shown =
        folder.run(TITR_REPLAY, &[&["--platform", platform, "--json", "--jobs", "1"], more, &["kernel"]].concat());
    serde_json::from_str(shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"))).unwrap()
}

fn time(result: &Value) -> f64 {
    result["simulated_time"].as_f64().unwrap()
}

#[test]
fn every_suggestion_saves_what_it_says_when_it_is_tried() {
    let mut suggested = Vec::new();
    for kernel in KERNELS {
        let folder = Folder::new();
        let arguments: Vec<&str> = kernel.split(' ').collect();
        folder.run(TITR, &[&["generate"], &arguments[..], &["-o", "kernel"]].concat());
        for (name, text) in machines() {
            folder.file(name, &text);
            let result = replay(&folder, name, &["--suggest"]);
            let tried = &result["tried"];
            assert_eq!(tried["changes"], tried["of"], "{kernel} on {name}");
            let changed = |set: &str| time(&replay(&folder, name, &["--set", set]));
            let Some(best) = tried.get("best") else {
                for set in ["hosts.speed=2 Ginstr/s", "network.bandwidth=2 Gbit/s"] {
                    assert!(changed(set) > 0.99 * time(&result), "{kernel} on {name}: {set} would help");
                }
                continue;
            };
            let after = match (best["set"].as_str(), best["what_if"].as_str()) {
                (Some(set), _) => changed(set),
                (None, Some(text)) => {
                    folder.file("changes.toml", text);
                    time(&replay(&folder, name, &["--what-if", "changes.toml"]))
                }
                (None, None) => panic!("{kernel} on {name}: {best} cannot be tried"),
            };
            assert_eq!(Some(after), best["simulated_time"].as_f64(), "{kernel} on {name}: {best}");
            assert!(after <= 0.99 * time(&result), "{kernel} on {name}: {best}");
            suggested.push(best["set"].as_str().unwrap_or("program").split('=').next().unwrap().to_owned());
        }
    }
    // Each property of the machine is the answer somewhere: the choice is not always the same.
    for key in ["hosts.speed", "network.bandwidth", "network.latency", "topology.star.backbone.bandwidth"] {
        assert!(suggested.iter().any(|found| found == key), "{key} is never suggested: {suggested:?}");
    }
}
