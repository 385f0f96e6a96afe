//! What is said to users who have typed another word, named another file, or are in another directory.

use std::fmt::Write as _;

use crate::support::command::{Folder, TITR};

const RING: &str = "0 init\n0 sendrecv 1 0 8 1 0 8\n0 finalize\n1 init\n1 sendrecv 0 0 8 0 0 8\n1 finalize\n";

/// What `titr` says to lines of words, each under the line, without what is the same for all.
fn said(folder: &Folder, lines: &[&str]) -> String {
    lines.iter().fold(String::new(), |mut all, line| {
        let parts = line.split('\'').enumerate();
        let words = parts.flat_map(|(number, part)| match number % 2 {
            0 => part.split_whitespace().collect(),
            _ => vec![part],
        });
        let shown = folder.run(TITR, &words.collect::<Vec<_>>());
        let is_own = |line: &&str| !line.is_empty() && !line.starts_with("Usage:") && !line.contains("try '--help'");
        let own: Vec<&str> = shown.lines().filter(is_own).collect();
        writeln!(all, "── {line}\n{}", own.join("\n")).unwrap();
        all
    })
}

#[test]
fn other_words_lead_to_the_right_one() {
    let folder = Folder::new();
    folder.file("ring.txt", RING);
    insta::assert_snapshot!(said(
        &folder,
        &[
            "report ring.txt",
            "analyze ring.txt",
            "show ring.txt",
            "compare a.json b.json",
            "trace ./a.out",
            "chekc ring.txt",
            "replay --html page.html -p torus:2x2 ring.txt",
            "replay --output=page.html -p torus:2x2 ring.txt",
            "replay -o page.html -p torus:2x2 ring.txt",
            "replay --analysis matrix -p torus:2x2 ring.txt",
            "replay --bandwidth 3 -p torus:2x2 ring.txt",
            "info --output page.html ring.txt",
            "sweep study.toml --report page.html",
            "check --report page.html ring.txt",
        ]
    ));
    let analyzed =
        folder.run(TITR, &["replay", "--analyze", "matrix", "-qp", "torus:2 1GB/s 1us 1Ginstr/s", "ring.txt"]);
    assert_eq!(analyzed, "[0]");
}

#[test]
fn what_is_no_trace_is_named_and_so_is_what_is_near() {
    let folder = Folder::new();
    folder.file("some/readme", "hello");
    folder.file("binary", b"\x00\x01\xfe\xff\x00\x07");
    folder.file("H2O.inp", "&GLOBAL\n  PRINT_LEVEL LOW\n");
    folder.trace(&["0 init\n0 finalize\n"]);
    std::fs::create_dir(folder.path().join("out")).unwrap();
    std::fs::rename(folder.path().join("traces"), folder.path().join("out/traces")).unwrap();
    folder.run(TITR, &["gather", "out/traces", "-o", "gathered.tar"]);
    insta::assert_snapshot!(said(
        &folder,
        &["info binary", "info H2O.inp", "info some", "info out", "info traces", "info H20.inp"]
    ));
    assert!(folder.run(TITR, &["info", "gathered.tar"]).ends_with("[0]"), "an archive is a trace");
}

#[test]
fn a_platform_that_is_elsewhere_or_almost_one_is_named() {
    let folder = Folder::new();
    folder.file("examples/torus.toml", "schema = 1\n");
    folder.file("no-schema.toml", "[hosts]\nspeed = '1 Ginstr/s'\n[topology.torus]\ndims = [2]\n[network]\n");
    insta::assert_snapshot!(said(
        &folder,
        &[
            "platform show torus.toml",
            "platform show examples/toruss.toml",
            "platform show nothing.toml",
            "platform show no-schema.toml",
            "platform show '64 nodes fat-tree 100Gbit/s'",
            "platform show 'fat-tree:8x8 100Gbit/s 1us'",
            "platform show 'dragonfly:g=9,a=4,h=2,p=2,routing=ugal 100Gbit/s 1us'",
            "platform show 'torus:2x2 100Gbit/s 1us' --set hosts.speed=2",
            "platform show 'torus:2x2 100Gbit/s 1us' --set hosts.cores=many",
            "platform show --links 'torus:2 100Gbit/s 1us'",
        ]
    ));
}

#[test]
fn a_machine_is_no_trace_and_a_rank_no_program() {
    let folder = Folder::new();
    folder.trace(&["0 init\n0 finalize\n", "1 init\n1 finalize\n"]);
    insta::assert_snapshot!(said(
        &folder,
        &[
            "replay -p traces 'torus:2 1GB/s 1us'",
            "replay -p 'torus:2 1GB/s 1us' 'torus:2 1GB/s 1us'",
            "info traces/rank-000001.tit.gz",
            "platform show 'torus:4x4 100Gbit/s 1us' --set network.failures.class=switch --set network.failures.links=1",
        ]
    ));
}

#[test]
fn requests_that_are_left_open_are_told_by_call_and_rank() {
    let folder = Folder::new();
    let rank = |number: u32| {
        let other = 1 - number;
        let exchange = [&*format!("isend {other} 0 8 6 0"), &*format!("irecv {other} 0 8 6 1")];
        let lines = [&["init", "call_site 0 solve", "at 0"], &exchange[..], &["waitall"], &exchange].concat();
        let lines = lines.into_iter().chain(["wait_of 1", "finalize"]);
        lines.map(|line| format!("{number} {line}\n")).collect::<String>()
    };
    folder.trace(&[&rank(0), &rank(1)]);
    insta::assert_snapshot!(folder.run(TITR, &["check", "traces"]));
    assert_eq!(folder.run(TITR, &["check", "--quiet", "traces"]), "[0]");
}

#[test]
fn a_run_that_crashed_is_no_deadlock() {
    let folder = Folder::new();
    folder.trace(&["0 init\n0 recv 1 0 8\n", "1 init\n1 compute 1000\n"]);
    let manifest = folder.path().join("traces/manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let (first, second) = text.split_once("\"finalize\"").unwrap();
    let second = second.replace("\"finalize\"", "{\"signal\": \"SIGSEGV\"}");
    std::fs::write(&manifest, format!("{first}{{\"signal\": \"SIGTERM\"}}{second}")).unwrap();
    let line = "replay -p 'torus:2 1GB/s 1us' traces";
    insta::assert_snapshot!(said(&folder, &[line]));
    let partial = folder.run(TITR, &["replay", "--partial", "-p", "torus:2 1GB/s 1us", "traces"]);
    let third: Vec<&str> = partial.lines().skip(2).take(2).collect();
    insta::assert_snapshot!(third.join("\n"));
}
