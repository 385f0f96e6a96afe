//! The data of a page and its script fit each other: the data is as the schema says, and the script reads nothing else.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;
use titr_replayer::schema::OUTPUTS;
use titr_test_support::cannot_run;

use crate::support::browser::Browser;
use crate::support::command::{Folder, TITR, TITR_REPLAY, here};
use crate::support::schema::validate;

/// Notes what the page reads.
const WATCH: &str = include_str!("support/watch.js");
/// Does with the page what a user may do.
const USE: &str = include_str!("support/use.js");

/// The data of the page, read again as the page reads it.
const DATA: &str = "(async () => {
    const letters = document.getElementById('data').textContent;
    const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).text();
})()";

/// Stands for a program that is no kernel: its ranks compute unequally, one of them in a region, and a message is never
/// received.
const UNEVEN: &str = "uneven";

/// Stands for three jobs: two that share links, and one of a rank that does nothing.
const JOBS: &str = "jobs";

/// A page of each kind: the program that is replayed, the platform, and other options.
const PAGES: [(&str, &str, &str); 8] = [
    (UNEVEN, "../examples/cluster16.toml", ""),
    (JOBS, "../examples/torus.toml", "--set hosts.cores=1"),
    (
        "stencil --ranks 27 --dimensions 3x3x3 --torus --bytes 64KiB --iterations 3 --compute 1e5",
        "../examples/torus.toml",
        "--set hosts.cores=1 --set network.failures.links=2 --analyse critical-path --analyse wait-states --analyse matrix --check-sensitivities",
    ),
    (
        "collective allreduce --ranks 16 --bytes 64KiB --iterations 110",
        "../examples/fat-tree.toml",
        "--compare before.json",
    ),
    // Too many states for a page.
    (
        "stencil --ranks 16 --dimensions 4x4 --torus --bytes 1kB --iterations 1000 --compute 1e4",
        "../examples/cluster16.toml",
        "",
    ),
    ("all-to-all --ranks 8 --bytes 10kB", "../examples/packet.toml", "--runs 2 --compare before.json"),
    (
        "all-to-all --ranks 8 --bytes 10kB",
        "../examples/dragonfly.toml",
        "--set hosts.cores=1 --timeline-ranks 0-3 --timeline-window ..100us",
    ),
    (
        "stencil --ranks 1024 --dimensions 32x32 --torus --bytes 1kB --iterations 12 --compute 1e4",
        "../examples/torus.toml",
        "--set topology.torus.dims=[4,4,8,8] --set hosts.cores=1",
    ),
];

/// Makes a page.
fn page(folder: &Folder, (program, platform, options): (&str, &str, &str)) -> PathBuf {
    let run = |command: &str, before: &[&str], more: &str| {
        let arguments: Vec<&str> = before.iter().copied().chain(more.split_whitespace()).collect();
        let said = folder.run(command, &arguments);
        said.strip_suffix("[0]").unwrap_or_else(|| panic!("{said}")).to_owned()
    };
    let trace = if program == UNEVEN {
        folder.trace(&[
            "0 init\n0 compute 1e6\n0 send 0 0 8\n0 finalize\n",
            "1 init\n1 call_site 1 sweep main\n1 call_site 2 norm main\n1 at 1\n1 region_begin solve\n1 compute 2e6\n1 region_end solve\n1 at 2\n1 compute 1e6\n1 finalize\n",
        ]);
        "traces"
    } else if program == JOBS {
        run(
            TITR,
            &["generate"],
            "stencil --ranks 8 --dimensions 8 --torus --bytes 100kB --iterations 3 --compute 1e5 -o t",
        );
        folder.file("nothing.txt", "0 init\n0 finalize\n");
        let job = |name, trace, hosts| format!("[[job]]\nname = \"{name}\"\ntrace = \"{trace}\"\nhosts = {hosts}\n");
        let even = job("even", "t", "[0, 2, 4, 6, 8, 10, 12, 14]");
        let odd = job("odd", "t", "[1, 3, 5, 7, 9, 11, 13, 15]");
        folder.file("jobs.toml", even + &odd + &job("idle", "nothing.txt", "[20]"));
        "jobs.toml"
    } else {
        run(TITR, &["generate"], &format!("{program} -o t"));
        "t"
    };
    let platform = here(platform);
    let replay = [trace, "--platform", platform.to_str().unwrap(), "--json"];
    if options.contains("--compare") {
        let other =
            if options.contains("--runs") { "--runs 2" } else { "--set network.latency=5us --analyse wait-states" };
        folder.file("before.json", run(TITR_REPLAY, &replay, other));
    }
    run(TITR_REPLAY, &[&replay[..], &["--report", "page.html"]].concat(), options);
    folder.path().join("page.html")
}

#[test]
fn the_script_reads_what_the_schema_has() {
    let schema = OUTPUTS.iter().find(|output| output.name == "page").unwrap().schema();
    let watch = WATCH.replace("SCHEMA", &schema.as_value().to_string());
    let (mut known, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    let mut coverage = Coverage::default();
    for kind in PAGES {
        let folder = Folder::new();
        let page = page(&folder, kind);
        let Some(mut browser) = Browser::open_after(&page, Some(&watch)) else {
            return cannot_run("there is no chromium (`ci/install test` installs it)");
        };
        browser.evaluate(USE);
        browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
        let reads = browser.evaluate("window.reads()");
        let all = |name: &str| -> Vec<String> { serde_json::from_value(reads[name].clone()).unwrap() };
        known.extend(all("known"));
        unknown.extend(all("unknown"));
        coverage.add(&mut browser);
        assert_eq!(browser.complaints, [""; 0]);
        let data = browser.evaluate(DATA);
        validate("page", &serde_json::from_str(data.as_str().unwrap()).unwrap());
    }
    assert!(unknown.is_empty(), "the script of the page reads what the page's data does not have: {unknown:#?}");
    assert!(known.contains("data.result.simulated_time"), "{known:?}");
    let never = coverage.never_run();
    assert!(
        never.is_empty(),
        "these parts of the script were not run, and may read anything:\n{}",
        never.join("\n---\n")
    );
}

/// The parts of the script that have run.
#[derive(Default)]
struct Coverage {
    script: Vec<char>,
    has_run: Vec<bool>,
}

impl Coverage {
    /// Adds the parts that have run in this page.
    fn add(&mut self, browser: &mut Browser) {
        let script = browser.evaluate("[...document.scripts].at(-1).textContent");
        self.script = script.as_str().unwrap().chars().collect();
        self.has_run.resize(self.script.len(), false);
        let scripts = browser.call("Profiler.takePreciseCoverage", serde_json::json!({}));
        let is_of_page = |script: &&Value| script["url"].as_str().unwrap().starts_with("file:");
        let found = scripts["result"].as_array().unwrap().iter().find(is_of_page).unwrap();
        let mut here = vec![false; self.script.len()];
        let ranges =
            found["functions"].as_array().unwrap().iter().flat_map(|function| function["ranges"].as_array().unwrap());
        let number = |range: &Value, name: &str| range[name].as_u64().unwrap() as usize;
        let mut ranges: Vec<_> = ranges
            .map(|range| (number(range, "startOffset"), number(range, "endOffset"), range["count"] != 0))
            .collect();
        // A range within another says more of its part.
        ranges.sort_by_key(|&(start, end, _)| (start, std::cmp::Reverse(end)));
        for (start, end, has_run) in ranges {
            here[start..end.min(self.script.len())].fill(has_run);
        }
        self.has_run.iter_mut().zip(here).for_each(|(all, here)| *all |= here);
    }

    /// The parts that have not run in any page, and that name a property.
    fn never_run(&self) -> Vec<String> {
        let mut parts = Vec::new();
        let mut part = String::new();
        for (letter, has_run) in self.script.iter().zip(&self.has_run).chain([(&' ', &true)]) {
            if !has_run {
                part.push(*letter);
            } else if !part.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
        }
        parts.retain(|part| names_a_property(part));
        parts
    }
}

/// Whether a part of the script reads a property by its name, other than those of the language and of elements.
fn names_a_property(part: &str) -> bool {
    const OTHERS: [&str; 4] = ["length", "hidden", "textContent", "message"];
    let is_destructured = part.contains("} =") || part.contains("}) =>");
    let mut after_points = part.split('.').skip(1).map(|after| {
        let end = after.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(after.len());
        after.split_at(end)
    });
    // A name before a parenthesis is a method's.
    let is_property = |(name, rest): (&str, &str)| {
        name.starts_with(|letter: char| letter.is_alphabetic()) && !rest.starts_with('(') && !OTHERS.contains(&name)
    };
    is_destructured || after_points.any(is_property)
}
