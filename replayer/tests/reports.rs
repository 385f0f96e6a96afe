//! Printed results, for users and for programs.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::support::command::{Folder, TITR, TITR_REPLAY, here};

/// The four-rank ring of Casanova, Desprez, Markomanolis and Suter, Figure 1, and their cluster, Figure 2.
fn ring(more: &[&str]) -> String {
    let (platform, trace) = (here("../examples/cluster16.toml"), here("tests/data/simgrid/traces/ring4_1e6.txt"));
    let mut arguments = vec!["--platform", platform.to_str().unwrap(), trace.to_str().unwrap()];
    arguments.extend(more);
    Folder::new().run(TITR_REPLAY, &arguments)
}

/// `text` without titr's own speed.
fn timeless(text: &str) -> String {
    let lines = text.lines().map(|line| if line.starts_with("Replayed in") { "Replayed in …" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_ring_of_the_paper() {
    insta::assert_snapshot!(timeless(&ring(&[])));
}

#[test]
fn the_ring_of_the_paper_as_json() {
    let shown = ring(&["--json"]);
    let mut json: serde_json::Value = serde_json::from_str(shown.strip_suffix("[0]").unwrap()).unwrap();
    // The paper prints 0.0401133 s.
    let simulated = json["simulated_time"].as_f64().unwrap();
    assert!((simulated / 0.040_113_3 - 1.0).abs() < 1e-4, "{simulated}");
    let speed = json.as_object_mut().unwrap().remove("replay").unwrap();
    assert!(speed["wall_seconds"].as_f64().unwrap() > 0.0 && speed["events_per_second"].as_f64().unwrap() > 0.0);
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap());
}

#[test]
fn an_analysis_adds_its_findings() {
    let shown = ring(&["--json", "--analyse", "matrix"]);
    let json: serde_json::Value = serde_json::from_str(shown.strip_suffix("[0]").unwrap()).unwrap();
    let pair = |from, to| serde_json::json!({"from": from, "to": to, "messages": 1, "bytes": 1_000_000});
    let pairs: Vec<_> = [(0, 1), (1, 2), (2, 3), (3, 0)].map(|(from, to)| pair(from, to)).into();
    assert_eq!(json["analyses"]["matrix"], serde_json::Value::from(pairs));
}

#[test]
fn each_run_reads_all_events_of_a_shared_file() {
    let (platform, trace) = (here("../examples/packet.toml"), here("../examples/ring.txt"));
    let arguments = ["--platform", platform.to_str().unwrap(), "--runs", "2", "--json", trace.to_str().unwrap()];
    let shown = Folder::new().run(TITR_REPLAY, &arguments);
    let json: serde_json::Value = serde_json::from_str(shown.strip_suffix("[0]").unwrap()).unwrap();
    let times: Vec<f64> = serde_json::from_value(json["runs"]["times"].clone()).unwrap();
    assert!(times[0] > 0.0 && (times[1] / times[0] - 1.0).abs() < 0.1, "{times:?}");
}

#[test]
fn the_same_bytes_every_time() {
    let program = here("tests/data/simgrid/traces/is.S.4.idx");
    let platform = here("../examples/torus.toml");
    let arguments = ["--platform", platform.to_str().unwrap(), "--json", program.to_str().unwrap()];
    let json = || Folder::new().run(TITR_REPLAY, &arguments).split_once(",\"replay\":").unwrap().0.to_owned();
    assert_eq!(json(), json());
}

#[test]
fn what_is_not_simulated_is_told() {
    let folder = Folder::new();
    folder.trace(&["0 init\n0 send 0 0 8\n0 irecv 0 1 8 6 0\n0 finalize\n"]);
    let platform = here("../examples/torus.toml");
    let shown = folder.run(TITR_REPLAY, &["--platform", platform.to_str().unwrap(), "traces"]);
    insta::assert_snapshot!(timeless(&shown));
    // The error of communication that the summary and the page name is the one that was measured.
    let truth = include_str!("../../docs/TRUTH.md");
    let all = truth.lines().find_map(|line| line.strip_prefix("|all|")).unwrap();
    let median = all.split(['|', ',']).nth(1).unwrap();
    for said in [shown.as_str(), include_str!("../src/page/assets/summary.js")] {
        assert!(said.contains(&format!("typically {median} % wrong")), "{median}");
    }
}

/// A broadcast of 1 MB takes another time by each library.
#[test]
fn the_library_that_recorded_the_trace_is_the_default_of_its_replay() {
    let folder = Folder::new();
    folder.trace(
        &[0, 1, 2, 3]
            .map(|rank| format!("{rank} init\n{rank} bcast 1000000\n{rank} finalize\n"))
            .each_ref()
            .map(String::as_str),
    );
    let manifest = std::fs::read_to_string(folder.path().join("traces/manifest.json")).unwrap();
    let replay = |mpi: &str, more: &[&str]| {
        folder.file("traces/manifest.json", manifest.replace("Some MPI 1.0", mpi));
        let shown =
            folder.run(TITR_REPLAY, &[&["--platform", "star:4 1Gbit/s 1us", "traces", "--json"], more].concat());
        let json: serde_json::Value = serde_json::from_str(shown.strip_suffix("[0]").unwrap()).unwrap();
        let remarks = json["warnings"].as_array().unwrap().iter().map(|remark| remark.as_str().unwrap().to_owned());
        let remark = remarks.filter(|remark| remark.contains("mpi.collectives")).collect::<Vec<_>>().join("\n");
        (json["simulated_time"].as_f64().unwrap(), remark)
    };
    let named = |library| replay("Some MPI 1.0", &["--set", library]).0;
    let [openmpi, mpich] = ["mpi.collectives=openmpi", "mpi.collectives=mpich"].map(named);
    assert_ne!(openmpi, mpich);
    let why = "for the library that recorded the trace (mpi.collectives)";
    let of = |name| format!("collectives are by default those of {name}, {why}");
    assert_eq!(replay("Some MPI 1.0", &[]), (mpich, String::new()));
    assert_eq!(replay("Open MPI v4.1.4, package: Debian", &[]), (openmpi, of("Open MPI")));
    assert_eq!(replay("Intel(R) MPI Library 2021.11", &[]), (mpich, of("MPICH")));
    assert_eq!(replay("Open MPI v4.1.4", &["--set", "mpi.collectives=mpich"]), (mpich, String::new()));
    assert_eq!(replay("Open MPI v4.1.4", &["--set", "mpi.collectives.bcast=linear"]).1, of("Open MPI"));
    // Only MPICH has an algorithm of this name.
    assert_eq!(replay("Open MPI v4.1.4", &["--set", "mpi.collectives.ialltoallw=blocked"]), (mpich, String::new()));
}

#[test]
fn info_tells_what_a_trace_holds() {
    let folder = Folder::new();
    folder.trace(&[
        "0 init\n0 compute 1000\n0 send 1 7 100\n0 barrier\n0 finalize\n",
        "1 init\n1 recv 0 7 100\n1 send_init 0 1 50 0\n1 start 0\n1 wait_of 0\n1 start 0\n1 wait_of 0\n1 barrier\n1 finalize\n",
    ]);
    insta::assert_snapshot!(folder.run(TITR, &["info", "traces"]));
    let json = folder.run(TITR, &["info", "--json", "traces"]);
    let json: serde_json::Value = serde_json::from_str(json.strip_suffix("[0]").unwrap()).unwrap();
    assert_eq!(
        (json["events"].as_u64(), json["messages"].as_u64(), json["bytes"].as_u64()),
        (Some(14), Some(3), Some(200))
    );
    assert_eq!(json["manifest"]["per_rank"][1]["host"], "node-1");
}

#[test]
fn info_tells_where_a_torn_trace_ends() {
    let folder = Folder::new();
    folder.trace(&["0 init\n0 finalize\n", "1 init\n1 finalize\n"]);
    let stream = folder.path().join("traces/rank-000001.tit.gz");
    let whole = std::fs::read(&stream).unwrap();
    std::fs::write(&stream, &whole[..whole.len() - 5]).unwrap();
    insta::assert_snapshot!(folder.run(TITR, &["info", "traces"]));
}

#[test]
fn cat_prints_text_that_replays() {
    let folder = Folder::new();
    folder.trace(&["0 init\n0 send 1 7 100\n0 finalize\n", "1 init\n1 recv 0 7 100\n1 finalize\n"]);
    insta::assert_snapshot!(folder.run(TITR, &["cat", "traces"]));
    insta::assert_snapshot!(folder.run(TITR, &["cat", "traces", "--rank", "1"]));
    insta::assert_snapshot!(folder.run(TITR, &["cat", "traces", "--rank", "2"]));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let trace = here("tests/data/simgrid/traces/cg.S.4.idx");
    let mut cat =
        Command::new(TITR).arg("cat").arg(trace).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 100];
    cat.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = cat.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty());
}

/// Messages that are under way when the program ends have not been carried in its time.
#[test]
fn a_shared_link_is_used_up_to_its_bandwidth() {
    let folder = Folder::new();
    let send = "0 send 1 0 60000\n".repeat(3);
    folder.file("t.txt", format!("0 init\n{send}0 finalize\n1 init\n1 recv 0 0 60000\n1 finalize\n"));
    let run = folder.run(TITR_REPLAY, &["--platform", "star:2 1Gbit/s 1us", "--json", "t.txt"]);
    let json: serde_json::Value = serde_json::from_str(run.strip_suffix("[0]").unwrap()).unwrap();
    assert_eq!(json["links"][0]["use"], 1.0);
}
