//! Traces of a few lines, reenacted under each MPI library of this machine.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

const FAMILIES: [&str; 2] = ["openmpi", "mpich"];

/// A rank computes 0.1 s, all others wait for its message.
const TRACE: &str = "\
0 init
0 compute 1e8
0 isend 1 5 100000 6 0
0 wait 0 1 5 0
0 bcast 8 0
0 finalize
1 init
1 irecv 0 5 100000 6 0
1 wait 0 1 5 0
1 bcast 8 0
1 finalize
";

fn trace(name: &str, text: &str) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.txt"));
    fs::write(&file, text).unwrap();
    file
}

fn reenact(family: &str, ranks: u32, arguments: &[&str], trace: &PathBuf) -> Output {
    let mpirun = format!("mpirun.{family}");
    Command::new("timeout")
        .args(["--kill-after=5", "60", &mpirun, "-np", &ranks.to_string(), env!("CARGO_BIN_EXE_titr-reenact")])
        .args(arguments)
        .arg(trace)
        .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
        .envs([("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("OMPI_MCA_mpi_yield_when_idle", "1")])
        .output()
        .unwrap_or_else(|error| panic!("{mpirun}: {error}; this test needs Debian's packages openmpi-bin and mpich"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The refusal is one line, and the exit status is 1.
fn assert_refused(output: &Output, reason: &str) {
    let said = text(&output.stderr);
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("titr-reenact:")).collect();
    assert!(matches!(lines[..], [line] if line.contains(reason)), "{said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
}

#[test]
fn computation_takes_its_time() {
    let trace = trace("computes", TRACE);
    for family in FAMILIES {
        let output = reenact(family, 2, &["--rate", "1e9", "--json"], &trace);
        let (printed, said) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{family}: {printed}{said}");
        let (_, time) = printed.split_once("\"reenacted_time\":").unwrap();
        let seconds: f64 = time.trim_end_matches(['}', '\n']).parse().unwrap();
        // Never less than the program computed; how much more is up to the machine.
        assert!(seconds >= 0.0999, "{family}: {printed}");
    }
}

#[test]
fn a_world_of_another_size_is_refused() {
    let trace = trace("size", TRACE);
    for family in FAMILIES {
        assert_refused(
            &reenact(family, 3, &["--rate", "1e9"], &trace),
            "the trace has 2 ranks, and 3 processes were started",
        );
    }
}

#[test]
fn volumes_without_a_rate_are_refused() {
    let trace = trace("rate", TRACE);
    for family in FAMILIES {
        assert_refused(&reenact(family, 2, &[], &trace), "--rate 1e9");
    }
}

#[test]
fn a_call_of_one_rank_that_cannot_be_reenacted_is_refused_by_all() {
    let text = "0 init\n0 barrier\n0 finalize\n1 init\n1 barrier\n1 isend 0 1 8\n1 waitall\n1 finalize\n";
    let trace = trace("infeasible", text);
    for family in FAMILIES {
        assert_refused(
            &reenact(family, 2, &["--rate", "1e9"], &trace),
            "a request without a number cannot be reenacted",
        );
    }
}

#[test]
fn a_trace_that_is_not_there_is_refused() {
    for family in FAMILIES {
        assert_refused(&reenact(family, 2, &[], &PathBuf::from("/nowhere/traces")), "/nowhere/traces");
    }
}

/// Tags of one MPI library that another does not have are replaced, and the messages still meet their receives: here in
/// the opposite order, beside one whose tag is free in both.
#[test]
fn tags_that_the_library_does_not_have_are_replaced() {
    let tags = [i32::MAX, i32::MAX - 1, 1 << 30, (1 << 28) - 1, 1 << 28, 0];
    let send = |(request, tag): (usize, &i32)| format!("0 isend 1 {tag} {} 6 {request}\n", 1000 + request);
    let sends: String = tags.iter().enumerate().map(send).collect();
    let receive = |(request, tag): (usize, &i32)| format!("1 irecv 0 {tag} {} 6 {request}\n", 1000 + request);
    let receives: String = tags.iter().enumerate().rev().map(receive).collect();
    let text = format!("0 init\n{sends}0 waitall\n0 finalize\n1 init\n{receives}1 waitall\n1 finalize\n");
    let trace = trace("tags", &text);
    for family in FAMILIES {
        let output = reenact(family, 2, &["--rate", "1e9"], &trace);
        let said = text_of(&output);
        assert_eq!(output.status.code(), Some(0), "{family}: {said}");
        assert_eq!(said.contains("replaced by free ones"), family == "mpich", "{family}: {said}");
    }
}

#[test]
fn what_no_count_can_say_is_refused_before_the_first_call() {
    let refused = [
        ("0 send 1 0 3000000000\n", "1 recv 0 0 3000000000\n", "a message of 3000000000 bytes"),
        ("0 send 1 -5 8\n", "1 recv 0 -5 8\n", "the tag -5"),
        ("0 bcast 3000000000 0\n", "1 bcast 3000000000 0\n", "a bcast with a count or displacement of 3000000000"),
    ];
    for (number, (first, second, reason)) in refused.into_iter().enumerate() {
        let trace =
            trace(&format!("counts-{number}"), &format!("0 init\n{first}0 finalize\n1 init\n{second}1 finalize\n"));
        for family in FAMILIES {
            assert_refused(&reenact(family, 2, &["--rate", "1e9"], &trace), reason);
        }
    }
}

fn text_of(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}
