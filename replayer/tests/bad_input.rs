//! Every mistake in the input ends in one clear message and exit status 1.

use std::fmt::Write as _;
use std::fs;

use crate::support::command::{Folder, TITR, TITR_REPLAY};

const PLATFORM: &str = r#"schema = 1

[hosts]
count = 4
speed = "1 Ginstr/s"

[topology.star]

[network]
bandwidth = "1 GB/s"
latency = "1 us"
"#;

/// A trace of two ranks, whole.
const RANKS: [&str; 2] =
    ["0 init\n0 send 1 7 100\n0 recv 1 8 100\n0 finalize\n", "1 init\n1 recv 0 7 100\n1 send 0 8 100\n1 finalize\n"];

/// What `titr-replay` says of a trace directory after `spoil`.
fn spoilt(spoil: impl FnOnce(&Folder)) -> String {
    let folder = Folder::new();
    folder.file("cluster.toml", PLATFORM);
    folder.trace(&RANKS);
    spoil(&folder);
    folder.run(TITR_REPLAY, &["--platform", "cluster.toml", "traces"])
}

/// What it says of a trace in one file.
fn of_text(trace: &str) -> String {
    of_text_on(PLATFORM, trace, &[])
}

fn of_text_on(platform: &str, trace: &str, more: &[&str]) -> String {
    let folder = Folder::new();
    folder.file("cluster.toml", platform);
    folder.file("trace.txt", trace);
    let mut arguments = vec!["--platform", "cluster.toml", "trace.txt"];
    arguments.extend(more);
    folder.run(TITR_REPLAY, &arguments)
}

/// A snapshot of several cases, each under its name.
fn all(cases: impl IntoIterator<Item = (&'static str, String)>) -> String {
    cases.into_iter().fold(String::new(), |mut all, (name, shown)| {
        writeln!(all, "── {name}\n{shown}").unwrap();
        all
    })
}

#[test]
fn traces_on_disk() {
    let stream = "traces/rank-000001.tit.gz";
    let cut = |folder: &Folder, keep: usize| {
        let whole = fs::read(folder.path().join(stream)).unwrap();
        folder.file(stream, &whole[..whole.len() - keep]);
    };
    let shown = all([
        ("no such trace", spoilt(|folder| fs::remove_dir_all(folder.path().join("traces")).unwrap())),
        (
            "an empty directory",
            spoilt(|folder| {
                fs::remove_dir_all(folder.path().join("traces")).unwrap();
                fs::create_dir(folder.path().join("traces")).unwrap();
            }),
        ),
        ("a stream is missing", spoilt(|folder| fs::remove_file(folder.path().join(stream)).unwrap())),
        ("a stream is empty", spoilt(|folder| drop(folder.file(stream, "")))),
        ("a stream is torn in its last member", spoilt(|folder| cut(folder, 5))),
        ("a stream is cut between members", spoilt(|folder| cut(folder, 33))),
        (
            "a stream is of another rank",
            spoilt(|folder| {
                fs::copy(folder.path().join("traces/rank-000000.tit.gz"), folder.path().join(stream)).unwrap();
            }),
        ),
        (
            "a stream of a rank that the manifest does not know",
            spoilt(|folder| {
                fs::copy(folder.path().join(stream), folder.path().join("traces/rank-000002.tit.gz")).unwrap();
            }),
        ),
        (
            "ranks are missing from the manifest",
            spoilt(|folder| {
                let path = folder.path().join("traces/manifest.json");
                let mut manifest: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
                manifest["per_rank"].as_array_mut().unwrap().pop();
                fs::write(path, manifest.to_string()).unwrap();
            }),
        ),
        ("the manifest is no JSON", spoilt(|folder| drop(folder.file("traces/manifest.json", "{\n  \"titr\": 1,,\n")))),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn lines() {
    let shown = all([
        ("an empty file", of_text("")),
        ("an unknown word", of_text("0 init\n0 teleport 1\n")),
        ("a missing argument", of_text("0 init\n0 send 1 0\n")),
        ("no number", of_text("0 compute many\n")),
        ("a negative volume", of_text("0 compute -5\n")),
        ("a peer that is not there", of_text("0 send 1 0 5\n")),
        ("a communicator that is not introduced", of_text("0 on 5 barrier\n")),
        ("no trace at all", of_text("\u{1}\u{2}\u{3}\n")),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn platforms() {
    let trace = "0 init\n0 finalize\n";
    let changed = |old: &str, new: &str| {
        assert!(PLATFORM.contains(old));
        of_text_on(&PLATFORM.replace(old, new), trace, &[])
    };
    let missing = {
        let folder = Folder::new();
        folder.file("trace.txt", trace);
        folder.run(TITR_REPLAY, &["--platform", "nowhere.toml", "trace.txt"])
    };
    let shown = all([
        ("no such file", missing),
        ("an unknown key", changed("latency =", "lateness =")),
        ("a missing unit", changed("\"1 GB/s\"", "\"1\"")),
        ("a negative bandwidth", changed("\"1 GB/s\"", "\"-1 GB/s\"")),
        ("a wrong value for --set", of_text_on(PLATFORM, trace, &["--set", "network.bandwidth=fast"])),
        (
            "more ranks than there is room for",
            of_text(&(0..5).map(|rank| format!("{rank} init\n")).collect::<String>()),
        ),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn traces_that_make_no_sense() {
    let shown = all([
        ("a request that was never made", of_text("0 init\n0 wait_of 3\n")),
        ("a request that is in use", of_text("0 irecv 0 0 8 6 0\n0 irecv 0 0 8 6 0\n")),
        ("a request that is not persistent", of_text("0 irecv 0 0 8 6 0\n0 start 0\n")),
        ("a communicator without this rank", of_text("0 comm_split 2 0 1\n1 init\n")),
        ("unlike collectives", of_text("0 barrier\n1 bcast 8 0\n")),
        ("unlike roots", of_text("0 bcast 8 0\n1 bcast 8 1\n")),
        ("a root that is no member", of_text("0 comm_split 2 0 0-1\n1 comm_split 2 0 0-1\n2 init\n0 on 2 bcast 8 2\n")),
        ("time without end", of_text("0 compute 1e30\n0 barrier\n")),
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn deadlocks() {
    let ring = (0..3).map(|rank| {
        let (to, from) = ((rank + 1) % 3, (rank + 2) % 3);
        format!("{rank} init\n{rank} ssend {to} 4 1000000\n{rank} recv {from} 4 1000000\n")
    });
    let shown = all([
        ("a receive nobody sends to", of_text("0 init\n0 recv 1 7 100\n1 init\n1 finalize\n")),
        ("the wrong tag", of_text("0 send 1 7 100\n1 recv 0 8 100\n")),
        ("a ring of large sends", of_text(&ring.collect::<String>())),
        ("a barrier that one does not call", of_text("0 barrier\n1 barrier\n2 barrier\n3 init\n")),
        ("a wait for several", of_text("0 irecv 1 1 8 6 0\n0 irecv 1 2 8 6 1\n0 waitall_of 0-1\n1 send 0 1 8\n")),
        ("a probe", of_text("0 probe * 3 8\n1 init\n")),
        ("one waits for another that waits", of_text("0 recv 1 0 8\n1 recv 2 0 8\n1 send 0 0 8\n2 init\n")),
    ]);
    insta::assert_snapshot!(shown);
}

/// Two ranks send to each other before either receives, which ended when it was traced.
#[test]
fn a_deadlock_of_a_run_that_finished_tells_what_may_be_the_cause() {
    let folder = Folder::new();
    folder.file("cluster.toml", PLATFORM);
    folder.trace(&[
        "0 init\n0 send 1 5 100000\n0 recv 1 5 100000\n0 finalize\n",
        "1 init\n1 send 0 5 100000\n1 recv 0 5 100000\n1 finalize\n",
    ]);
    let replay = |set: &str| folder.run(TITR_REPLAY, &["--platform", "cluster.toml", "--json", "--set", set, "traces"]);
    insta::assert_snapshot!(replay("mpi.eager_threshold=64 KiB"));
    assert!(replay("mpi.eager_threshold=100001 B").ends_with("[0]"));
    assert!(folder.run(TITR, &["check", "traces"]).contains("sound"));
}

/// Each of two ranks has its own lock and asks for that of the other.
#[test]
fn a_deadlock_of_locks_tells_that_they_may_be_the_cause() {
    let folder = Folder::new();
    folder.file("cluster.toml", PLATFORM);
    folder.trace(&[
        "0 init\n0 win_create 0 8\n0 win_lock 0 0\n0 win_lock 0 1\n0 put 0 1 8 0\n0 win_unlock 0 1\n0 finalize\n",
        "1 init\n1 win_create 0 8\n1 win_lock 0 1\n1 win_lock 0 0\n1 put 0 0 8 0\n1 win_unlock 0 0\n1 finalize\n",
    ]);
    insta::assert_snapshot!(folder.run(TITR_REPLAY, &["--platform", "cluster.toml", "traces"]));
}

#[test]
fn a_torn_trace_replays_when_asked_to() {
    let folder = Folder::new();
    folder.file("cluster.toml", PLATFORM);
    folder.trace(&RANKS);
    let stream = folder.path().join("traces/rank-000001.tit.gz");
    let whole = fs::read(&stream).unwrap();
    fs::write(&stream, &whole[..whole.len() - 5]).unwrap();
    let shown = folder.run(TITR_REPLAY, &["--platform", "cluster.toml", "--partial", "--json", "traces"]);
    assert!(shown.ends_with("[0]"), "{shown}");
    assert!(shown.contains("\"events\":8"), "{shown}");
    assert!(shown.contains("torn after line 5"), "{shown}");
    let shown = folder.run(TITR_REPLAY, &["--platform", "cluster.toml", "--partial", "traces"]);
    let (first, _) = shown.split_once("Predicted time").unwrap();
    assert!(
        first.contains("Not finished    the trace of rank 1 is torn; the replay ends where the trace does"),
        "{shown}"
    );
}

#[test]
fn checks() {
    let check = |ranks: &[&str]| {
        let folder = Folder::new();
        folder.trace(ranks);
        folder.run(TITR, &["check", "traces"])
    };
    let shown = all([
        ("sound", check(&RANKS)),
        (
            "a message too many",
            check(&["0 send 1 7 100\n0 send 1 7 100\n0 finalize\n", "1 recv 0 7 100\n1 finalize\n"]),
        ),
        ("a message too few", check(&["0 finalize\n", "1 recv 0 7 100\n1 finalize\n"])),
        ("a request left open", check(&["0 irecv 0 7 100 6 0\n0 send 0 7 100\n0 finalize\n"])),
        ("a collective that one does not call", check(&["0 barrier\n0 finalize\n", "1 finalize\n"])),
        ("two bad lines", check(&["0 jump\n", "1 recv\n"])),
    ]);
    insta::assert_snapshot!(shown);
    // Libraries differ in which block of a neighbour is for which of two places that it has.
    let twice = |rank| format!("{rank} neighbor_alltoallv {peer},{peer} {peer},{peer} 40 80 80 40\n", peer = 1 - rank);
    let verdict = check(
        &[0, 1].map(|rank| format!("{rank} init\n{}{rank} finalize\n", twice(rank))).each_ref().map(String::as_str),
    );
    assert!(verdict.ends_with("traces: sound\n[0]"), "{verdict}");
}

#[test]
fn usage() {
    let folder = Folder::new();
    let status = |arguments: &[&str]| folder.run(TITR_REPLAY, arguments).rsplit_once('[').unwrap().1.to_owned();
    assert_eq!(status(&[]), "2]");
    assert_eq!(status(&["--platform", "a.toml"]), "2]");
    assert_eq!(status(&["--no-such-flag"]), "2]");
    assert_eq!(status(&["--help"]), "0]");
    assert_eq!(status(&["--version"]), "0]");
}
