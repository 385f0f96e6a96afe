//! Programs that spawn processes and connect to others: each world leaves a trace, and they are read as one. Only Open
//! MPI is used, because Debian's MPICH cannot spawn ("not supported with ucx netmod").

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use titr_common::trace::Manifest;
use titr_tests::{Family, Traced, assert_sound, binary, built, lines, replay, run, traced, traced_as, traced_only};

const FAMILY: Family = Family::OpenMpi;

/// What a program leaves whose output does not change when it is traced, and which is replayed without a warning.
fn check(name: &str, variables: &[(&str, &str)], ranks: u32, all: u32) -> Traced {
    let program = FAMILY.build(&format!("{name}.c"), &[]);
    let trace = traced_as(variables, FAMILY, ranks, &program, &[], str::to_owned);
    assert_eq!(trace.run.status, Some(0), "{name}: {}", trace.run.stderr);
    assert_sound(&trace.path());
    let report = replay("torus.toml", &trace.path());
    assert_eq!((&report["ranks"], not_simulated(&report)), (&all.into(), Vec::<&str>::new()), "{report}");
    trace
}

fn not_simulated(report: &serde_json::Value) -> Vec<&str> {
    let warnings = report["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap());
    warnings.filter(|warning| warning.starts_with("not simulated")).collect()
}

/// The lines of both worlds, by themselves.
fn both_worlds(trace: &Traced) -> String {
    let second = trace.path().with_file_name("traces-2");
    for entry in
        Manifest::read(&trace.path()).unwrap().per_rank.iter().chain(&Manifest::read(&second).unwrap().per_rank)
    {
        assert_eq!(entry.untraced, [].into());
    }
    format!("{}--\n{}", lines(&trace.path()), lines(&second))
}

#[test]
fn a_spawned_world() {
    insta::assert_snapshot!(both_worlds(&check("dynamic", &[], 2, 4)));
}

#[test]
fn worlds_that_connect_and_processes_that_join() {
    insta::assert_snapshot!(both_worlds(&check("ports", &[], 2, 4)));
}

/// Several worlds are spawned at once, by ranks that do not know of each other, and spawn others: the right ones are found.
#[test]
fn worlds_that_spawn_worlds() {
    check("spawns", &[], 2, 8);
}

/// The library carries out what a world has in common with another one.
#[test]
fn extended() {
    let variables = [("TITRACE_MODE", "extended")];
    check("dynamic", &variables, 2, 4);
    check("ports", &variables, 2, 4);
}

/// Messages and collectives between worlds take as long as those between the halves of one.
#[test]
fn a_world_of_two_and_its_children_take_as_long_as_a_world_of_four() {
    let program = FAMILY.build("halves.c", &[]);
    let torus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/torus.toml");
    let time = |ranks| {
        let trace = traced_only(&[], FAMILY, ranks, &program);
        let mut command = binary("titr-replay");
        command.args(["--compute", "none", "--set", "hosts.cores=1", "--json", "--platform"]).arg(&torus);
        let replayed = run(command.arg(trace.path()));
        let report: serde_json::Value = serde_json::from_str(&replayed.stdout).unwrap();
        assert_eq!(report["ranks"], 4);
        report["simulated_time"].as_f64().unwrap()
    };
    let (two_worlds, one_world) = (time(2), time(4));
    assert!((two_worlds / one_world - 1.0).abs() < 0.01, "{two_worlds} s in two worlds, {one_world} s in one");
}

/// Without the trace of the other world, what concerns it is passed over and named; with its trace, wherever that is,
/// nothing is.
#[test]
fn a_trace_that_is_missing() {
    let trace = traced(FAMILY, 2, &FAMILY.build("dynamic.c", &[]), &[], str::to_owned);
    let elsewhere = TempDir::new().unwrap();
    let moved = elsewhere.path().join("second");
    fs::rename(trace.path().with_file_name("traces-2"), &moved).unwrap();
    assert_sound(&trace.path());
    let report = replay("torus.toml", &trace.path());
    let said = not_simulated(&report);
    assert!(said.contains(&"not simulated: 2 calls of MPI_Send (32 B)"), "{said:?}");
    assert!(said.iter().any(|warning| warning.contains("the 2 processes that rank 0 of ")), "{said:?}");
    assert_eq!(report["ranks"], 2);
    let both = run(binary("titr").arg("check").args([&trace.path(), &moved as &Path]));
    assert_eq!((both.status, both.stderr.as_str()), (Some(0), ""), "{both:?}");
}

/// `titrace` preloads the tracer into the program, and not into what the program spawns.
#[test]
fn processes_that_are_not_traced() {
    let directory = TempDir::new().unwrap();
    let mut command = FAMILY.mpirun();
    command.args(["-np", "2"]).arg(built("titrace")).arg(FAMILY.build("dynamic.c", &[]));
    let launched = run(command.current_dir(directory.path()));
    assert_eq!(launched.status, Some(0), "{launched:?}");
    let report = replay("torus.toml", &directory.path().join("traces"));
    let said = not_simulated(&report);
    assert!(said.contains(&"not simulated: 2 calls of MPI_Comm_spawn"), "{said:?}");
    assert!(said.iter().any(|warning| warning.contains("trace these processes too")), "{said:?}");
}
