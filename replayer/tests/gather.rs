//! Traces in parts and in archives, and ranks that do not count alike, on the command line.

use std::fs;

use crate::support::command::{Folder, TITR, TITR_REPLAY};
use titr_common::trace::Manifest;
use titr_common::trace::manifest::{RankEntry, ReferenceCount};

const PLATFORM: &str = r#"schema = 1

[hosts]
count = 4
speed = "1 Ginstr/s"

[topology.star]

[network]
bandwidth = "1 GB/s"
latency = "1 us"
"#;

/// Each of two ranks computes for a second.
const RANKS: [&str; 2] = [
    "0 init\n0 compute 1000000000\n0 send 1 7 100\n0 finalize\n",
    "1 init\n1 compute 1000000000\n1 recv 0 7 100\n1 finalize\n",
];

fn traced(ranks: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.file("cluster.toml", PLATFORM);
    folder.trace(ranks);
    folder
}

/// The same trace as it is left by ranks that have a directory each.
fn in_parts() -> Folder {
    let folder = traced(&RANKS);
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("b")).unwrap();
    let mut manifest = Manifest::read(&path("traces")).unwrap();
    manifest.per_rank.pop().unwrap().write(&path("b")).unwrap();
    manifest.write(&path("traces")).unwrap();
    fs::rename(path("traces/rank-000001.tit.gz"), path("b/rank-000001.tit.gz")).unwrap();
    fs::rename(path("traces"), path("a")).unwrap();
    folder
}

#[test]
fn every_command_reads_parts_and_archives() {
    let folder = in_parts();
    let whole = traced(&RANKS);
    let gathered = folder.run(TITR, &["gather", "b", "a", "-o", "all.tar"]);
    assert!(gathered.starts_with("all.tar: 2 ranks, ") && gathered.ends_with("[0]"), "{gathered}");
    for (trace, shown) in [(&["a", "b"][..], "a b"), (&["all.tar"], "all.tar")] {
        let run = |command: &str, first: &[&str]| folder.run(command, &[first, trace].concat());
        let as_one = |command: &str, first: &[&str]| whole.run(command, &[first, &["traces"]].concat());
        assert_eq!(run(TITR, &["check"]), format!("{shown}: sound\n[0]"));
        assert_eq!(run(TITR, &["cat"]), as_one(TITR, &["cat"]));
        assert_eq!(run(TITR, &["cat", "--rank", "1"]), as_one(TITR, &["cat", "--rank", "1"]));
        assert_eq!(run(TITR, &["info"]), as_one(TITR, &["info"]).replacen("traces", shown, 1));
        let simulated = |json: String| json.split_once(",\"network\"").unwrap().0.to_owned();
        let replay = ["--platform", "cluster.toml", "--json"];
        assert_eq!(simulated(run(TITR_REPLAY, &replay)), simulated(as_one(TITR_REPLAY, &replay)));
        let output = format!("simgrid-{}", trace.len());
        assert!(run(TITR, &["convert", "--to", "simgrid", "-o", &output]).ends_with("[0]"));
        assert!(folder.path().join(output).join("index.txt").exists());
    }
}

#[test]
fn what_is_wrong_with_parts_is_told() {
    let folder = in_parts();
    let mut all = Vec::new();
    let mut tell = |arguments: &[&str]| {
        all.push(format!("$ titr {}\n{}", arguments.join(" "), folder.run(TITR, arguments)));
    };
    tell(&["check", "a"]);
    tell(&["check", "b"]);
    tell(&["gather", "a", "b", "a", "--output", "all"]);
    tell(&["gather", "a", "b", "--output", "cluster.toml"]);
    tell(&["gather", "a", "b", "--output", "nowhere/all.tar"]);
    tell(&["gather", "a", "cluster.toml", "--output", "all.tar"]);
    assert!(folder.run(TITR, &["gather", "a", "b", "--output", "all.tar"]).ends_with("[0]"));
    let whole = fs::read(folder.path().join("all.tar")).unwrap();
    // An end mark of 1,024 bytes, and most of the last block.
    folder.file("torn.tar", &whole[..whole.len() - 1024 - 492]);
    tell(&["check", "torn.tar"]);
    insta::assert_snapshot!(all.join("\n"));
    assert!(!folder.path().join("all").exists());
}

#[test]
fn an_archive_that_was_changed_is_refused() {
    let folder = in_parts();
    assert!(folder.run(TITR, &["gather", "a", "b", "--output", "all.tar"]).ends_with("[0]"));
    let mut archive = fs::read(folder.path().join("all.tar")).unwrap();
    // The time in a gzip header, of no consequence to who unpacks it.
    let gzip = archive.windows(3).rposition(|bytes| bytes == [0x1f, 0x8b, 8]).unwrap();
    archive[gzip + 4] = 1;
    folder.file("changed.tar", archive);
    for arguments in [&["check", "changed.tar"][..], &["gather", "changed.tar", "--output", "again.tar"]] {
        let shown = folder.run(TITR, arguments);
        assert!(
            shown.contains("changed.tar/rank-000001.tit.gz: its checksum is ") && shown.ends_with("[1]"),
            "{shown}"
        );
    }
    assert!(!folder.path().join("again.tar").exists());
}

/// A trace whose rank 1 counts otherwise.
fn unlike(change: impl Fn(&mut RankEntry)) -> Folder {
    unlike_ranks(&RANKS, change)
}

/// The same of other ranks.
fn unlike_ranks(ranks: &[&str], change: impl Fn(&mut RankEntry)) -> Folder {
    let folder = traced(ranks);
    let path = folder.path().join("traces");
    let mut manifest = Manifest::read(&path).unwrap();
    for entry in &mut manifest.per_rank {
        entry.counter.reference = Some(ReferenceCount { volume: 250_000.0, seconds: 250e-6 });
    }
    change(&mut manifest.per_rank[1]);
    manifest.write(&path).unwrap();
    folder
}

/// What a replay says of when the ranks are done, in seconds, and its warnings.
fn replayed(folder: &Folder, more: &[&str]) -> (Vec<f64>, Vec<String>) {
    let shown = folder.run(TITR_REPLAY, &[&["--platform", "cluster.toml", "--json", "traces"], more].concat());
    let json = shown.strip_suffix("[0]").unwrap_or_else(|| panic!("{shown}"));
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    let compute = json["per_rank"].as_array().unwrap().iter().map(|rank| rank["compute"].as_f64().unwrap());
    let warnings = json["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap().to_owned());
    (compute.collect(), warnings.filter(|warning| !warning.contains("MPI_Put")).collect())
}

#[test]
fn ranks_that_count_alike_are_left_alone() {
    let alike: [&dyn Fn(&mut RankEntry); 2] = [&|_| {}, &|entry| {
        // Noise, on the same processor.
        entry.counter.reference = Some(ReferenceCount { volume: 300_000.0, seconds: 300e-6 });
    }];
    for change in alike {
        let folder = unlike(change);
        assert_eq!(folder.run(TITR, &["check", "traces"]), "traces: sound\n[0]");
        for more in [&[][..], &["--normalise"]] {
            assert_eq!(replayed(&folder, more), (vec![1.0, 1.0], Vec::new()));
        }
    }
}

#[test]
fn a_slower_processor_is_told_and_rescaled() {
    let folder = unlike(|entry| {
        entry.cpu = "a slow processor".into();
        entry.counter.reference = Some(ReferenceCount { volume: 500_000.0, seconds: 500e-6 });
    });
    insta::assert_snapshot!(folder.run(TITR, &["check", "traces"]));
    let (as_recorded, warnings) = replayed(&folder, &[]);
    assert_eq!((as_recorded, warnings.len()), (vec![1.0, 1.0], 3));
    assert_eq!(replayed(&folder, &["--normalise"]), (vec![1.0, 0.5], Vec::new()));
}

/// The arithmetic of a reduction is nothing that a rank has counted.
#[test]
fn reductions_are_not_rescaled() {
    let ranks = [0, 1].map(|rank| format!("{rank} init\n{rank} allreduce 8000000 1000000 0\n{rank} finalize\n"));
    let folder = unlike_ranks(&ranks.each_ref().map(String::as_str), |entry| {
        entry.cpu = "a slow processor".into();
        entry.counter.reference = Some(ReferenceCount { volume: 500_000.0, seconds: 500e-6 });
    });
    let time = |more: &[&str]| {
        let shown = folder.run(TITR_REPLAY, &[&["--platform", "cluster.toml", "--json", "traces"], more].concat());
        shown.split("\"simulated_time\":").nth(1).unwrap().split(',').next().unwrap().to_owned()
    };
    assert_eq!(time(&["--normalise"]), time(&[]));
}

#[test]
fn cpu_time_is_worth_the_instructions_of_the_reference_kernel() {
    // Rank 1 counts instructions, 750,000 where rank 0 has 250,000 of CPU time at its rate.
    let folder = unlike(|entry| {
        (entry.counter.kind, entry.counter.rate) = ("perf".into(), None);
        entry.counter.reference = Some(ReferenceCount { volume: 750_000.0, seconds: 250e-6 });
    });
    insta::assert_snapshot!(folder.run(TITR, &["check", "traces"]));
    assert_eq!(replayed(&folder, &["--normalise"]).0, [3.0, 1.0]);
}

#[test]
fn without_a_reference_count_nothing_can_be_rescaled() {
    let folder = unlike(|entry| {
        entry.cpu = "an older trace's".into();
        entry.counter.reference = None;
    });
    let shown = folder.run(TITR_REPLAY, &["--platform", "cluster.toml", "--normalise", "traces"]);
    insta::assert_snapshot!(shown);
}
