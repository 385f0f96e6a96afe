//! One binary, under each MPI library of this machine.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::path::PathBuf;
use std::process::{Command, Output};

/// The example that uses everything once. Cargo builds examples before it runs tests.
fn tour() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.join("examples/tour")
}

fn run(program: &str, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .arg(tour())
        .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
        .envs([("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("OMPI_MCA_mpi_yield_when_idle", "1")])
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}; this test needs Debian's packages openmpi-bin and mpich"))
}

fn printed(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn open_mpi_runs_it() {
    let printed = printed(&run("mpirun.openmpi", &["-np", "3"]));
    assert!(printed.starts_with("3 ranks, Open MPI"), "{printed}");
    assert!(printed.contains("MPI_Send: MPI_ERR_RANK"), "{printed}");
}

#[test]
fn mpich_runs_it() {
    let printed = printed(&run("mpirun.mpich", &["-np", "3"]));
    assert!(printed.starts_with("3 ranks, MPICH"), "{printed}");
    assert!(printed.contains("MPI_Send: Invalid rank"), "{printed}");
}

#[test]
fn a_library_that_is_not_there_is_named() {
    let output = run("env", &["TITR_MPI_LIBRARY=/nowhere/libmpi.so"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("/nowhere/libmpi.so: cannot open shared object file"), "{said}");
    assert!(said.contains("start the program with the library's mpirun"), "{said}");
}

#[test]
fn the_program_exports_no_function_of_mpi() {
    let output = Command::new("nm").args(["--dynamic", "--defined-only"]).arg(tour()).output().unwrap();
    assert!(output.status.success());
    let symbols = String::from_utf8_lossy(&output.stdout);
    assert!(!symbols.contains("MPI_"), "{symbols}");
}
