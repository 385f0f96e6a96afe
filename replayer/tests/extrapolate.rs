//! `titr extrapolate`: traces of generated kernels on more ranks, on the command line.

use crate::support::command::{Folder, TITR, TITR_REPLAY};

/// Writes the trace of a kernel with these options, in the directory `ranks`.
fn generate(folder: &Folder, kernel: &str, ranks: &str, options: &[&str]) {
    let arguments = ["generate", kernel, "--ranks", ranks, "--bytes", "10kB", "--compute", "1e6", "-o", ranks];
    let printed = folder.run(TITR, &[&arguments[..], options].concat());
    assert!(printed.ends_with("[0]"), "{printed}");
}

/// Checks that the kernel on `target` ranks is what is extrapolated from two numbers of ranks, event by event and in time.
fn check(kernel: &str, ranks: [&str; 3], options: [&[&str]; 3]) {
    let folder = Folder::new();
    for (ranks, options) in ranks.into_iter().zip(options) {
        generate(&folder, kernel, ranks, options);
    }
    let [one, other, target] = ranks;
    let printed = folder.run(TITR, &["extrapolate", "--ranks", target, one, other, "-o", "more"]);
    assert!(printed.ends_with("[0]"), "{printed}");
    assert_eq!(folder.run(TITR, &["cat", "more"]), folder.run(TITR, &["cat", target]));
    assert!(folder.run(TITR, &["check", "more"]).ends_with("[0]"));
    let time = |trace: &str| {
        let machine = "star:36 10Gbit/s 1us";
        let printed = folder.run(TITR_REPLAY, &["--platform", machine, "--json", trace]);
        let result: serde_json::Value = serde_json::from_str(printed.trim_end_matches("[0]")).unwrap();
        result["simulated_time"].as_f64().unwrap()
    };
    assert_eq!(time("more"), time(target));
}

#[test]
fn generated_kernels_on_more_ranks_are_what_is_extrapolated() {
    let grids: [&[&str]; 3] = [&["--dimensions", "3x3"], &["--dimensions", "4x4"], &["--dimensions", "6x6"]];
    check("stencil", ["9", "16", "36"], grids);
    check(
        "stencil",
        ["9", "16", "36"],
        grids.map(|grid| [grid[0], grid[1], "--torus"]).each_ref().map(|grid| &grid[..]),
    );
    check("wavefront", ["9", "16", "36"], grids);
    let iterations: &[&str] = &["--iterations", "3"];
    check("butterfly", ["4", "16", "32"], [iterations; 3]);
}

#[test]
fn what_cannot_be_extrapolated_is_refused() {
    let folder = Folder::new();
    generate(&folder, "tree", "7", &[]);
    generate(&folder, "tree", "15", &[]);
    let refused = |options: &[&str], why: &str| {
        let said = folder.run(TITR, &[&["extrapolate", "--ranks", "31", "-o", "more"][..], options].concat());
        assert!(said.contains(why) && said.ends_with("[1]"), "{said}");
    };
    refused(&["7", "15"], "no rule explains");
    refused(&["7", "7"], "7 and 7 both have 7 ranks");
    refused(&["7", "missing"], "missing");
    refused(&["7", "15", "--dimensions", "6x6"], "6x6 places are 36, not 31 ranks");
    assert!(!folder.path().join("more").exists());
}
