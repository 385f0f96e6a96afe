//! Traces without shared file systems: each rank in its own directory, gathered at `MPI_Finalize` or afterwards.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use titr_common::trace::Trace;
use titr_tests::{Family, Run, binary, lines, run};

/// `mpirun` of a program that is traced, in `directory`.
fn mpirun(family: Family, ranks: u32, directory: &Path, program: &Path) -> Command {
    let mut command = family.mpirun();
    command.arg("-np").arg(ranks.to_string()).arg(program).current_dir(directory).env("LD_PRELOAD", family.preload());
    command
}

/// A trace of the wavefront, where the variables say.
fn wavefront(family: Family, ranks: u32, directory: &Path, variables: &[(&str, &str)]) {
    let program = family.build("wavefront.f90", &[]);
    let mut command = mpirun(family, ranks, directory, &program);
    let run = run(command.args(["16", "5"]).envs(variables.iter().copied()));
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains(&format!("16^3 on {ranks} ranks")), "{run:?}");
}

/// The predicted time on a machine that computes in no time, because computation differs from run to run.
fn simulated_time(trace: &[PathBuf]) -> f64 {
    let torus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/torus.toml");
    let mut command = binary("titr-replay");
    let report =
        run(command.arg("--platform").arg(torus).args(["--set", "hosts.speed=1e30 instr/s", "--json"]).args(trace));
    assert_eq!(report.status, Some(0), "{}", report.stderr);
    let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    report["simulated_time"].as_f64().unwrap()
}

fn titr(arguments: &[&str], places: &[PathBuf]) -> Run {
    run(binary("titr").args(arguments).args(places))
}

/// The contents of a directory, in order; empty if the directory does not exist.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).map_or(Vec::new(), |files| files.map(|file| file.unwrap().path()).collect());
    files.sort();
    files
}

#[test]
fn a_directory_for_each_rank_gives_the_same_trace() {
    for family in Family::ALL {
        let folder = TempDir::new().unwrap();
        wavefront(family, 6, folder.path(), &[]);
        let pattern = folder.path().join("x/%h-%r");
        wavefront(family, 6, folder.path(), &[("TITRACE_DIR", pattern.to_str().unwrap())]);
        let parts = files(&folder.path().join("x"));
        assert_eq!(parts.len(), 6, "{parts:?}");
        let ordinary = folder.path().join("traces");
        let expected = simulated_time(std::slice::from_ref(&ordinary));
        assert!(expected > 0.0);
        assert_eq!(simulated_time(&parts), expected, "{family:?}");
        for output in ["all.tar", "all"] {
            let output = folder.path().join(output);
            let gathered = titr(&["gather", "--output", output.to_str().unwrap()], &parts);
            assert_eq!(gathered.status, Some(0), "{gathered:?}");
            assert_eq!(simulated_time(std::slice::from_ref(&output)), expected, "{family:?}");
            assert_eq!(lines(&output), lines(&ordinary), "{family:?}");
            assert_eq!(titr(&["check"], &[output]).status, Some(0));
        }
    }
}

#[test]
fn a_rank_that_is_missing_is_named() {
    let folder = TempDir::new().unwrap();
    let pattern = folder.path().join("x/%r");
    wavefront(Family::OpenMpi, 4, folder.path(), &[("TITRACE_DIR", pattern.to_str().unwrap())]);
    let mut parts = files(&folder.path().join("x"));
    parts.remove(2);
    let checked = titr(&["check"], &parts);
    assert_eq!(checked.status, Some(1));
    assert!(checked.stderr.contains("no entry for rank 2 of 4"), "{checked:?}");
}

#[test]
fn what_is_gathered_at_the_end_is_the_trace_and_the_parts_are_gone() {
    for family in Family::ALL {
        for ranks in [1, 2, 5, 8] {
            let folder = TempDir::new().unwrap();
            wavefront(family, ranks, folder.path(), &[]);
            let expected = lines(&folder.path().join("traces"));
            for (arity, directory) in [(2, "local/%r"), (4, "shared")] {
                let archive = folder.path().join(format!("archives/{arity}.tar"));
                let gather = format!("{},arity={arity}", archive.display());
                wavefront(family, ranks, folder.path(), &[("TITRACE_DIR", directory), ("TITRACE_GATHER", &gather)]);
                assert_eq!(lines(&archive), expected, "{family:?}: {ranks} ranks, arity {arity}");
                assert!(files(&folder.path().join("local")).is_empty() && !folder.path().join("shared").exists());
                let checked = titr(&["check"], &[archive]);
                assert_eq!(checked.status, Some(0), "{checked:?}");
            }
        }
    }
}

#[test]
fn a_disk_that_is_too_small_for_all_leaves_the_parts() {
    for family in Family::ALL {
        let folder = TempDir::new().unwrap();
        let program = family.build("gather.c", &[]);
        let mut command = mpirun(family, 4, folder.path(), &program);
        let run = run(command.arg("full").env("TITRACE_GATHER", "all.tar"));
        assert_eq!(run.status, Some(0), "{family:?}: {run:?}");
        assert!(run.stderr.contains("its parts stay where they are"), "{family:?}: {}", run.stderr);
        assert!(!folder.path().join("all.tar").exists() && !folder.path().join("all.tar.unfinished").exists());
        sound(&folder.path().join("traces"), 4);
    }
}

#[test]
fn a_root_that_dies_while_it_gathers_leaves_the_parts() {
    for family in Family::ALL {
        let folder = TempDir::new().unwrap();
        let program = family.build("gather.c", &[]);
        let [archive, stream] =
            ["all.tar.unfinished", "traces/rank-000003.tit.gz"].map(|name| folder.path().join(name));
        let mut command = mpirun(family, 4, folder.path(), &program);
        let run = run(command.arg("die").args([&archive, &stream]).env("TITRACE_GATHER", "all.tar"));
        assert_ne!(run.status, Some(0), "{family:?}: {run:?}");
        assert!(archive.exists() && !folder.path().join("all.tar").exists(), "{family:?}: {run:?}");
        fs::rename(stream.with_extension("gz.kept"), &stream).unwrap();
        sound(&folder.path().join("traces"), 4);
    }
}

/// The trace of `gather.c` is whole.
fn sound(trace: &Path, ranks: u32) {
    let source = Trace::open(trace).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(source.ranks(), ranks);
    for mut stream in source.streams().unwrap() {
        while stream.next_event().unwrap_or_else(|error| panic!("{error}")).is_some() {}
        assert!(stream.events() > 60_000);
    }
}

#[test]
fn an_archive_that_cannot_be_written_is_said_at_the_beginning() {
    let folder = TempDir::new().unwrap();
    let family = Family::OpenMpi;
    let program = family.build("sendrecv.c", &[]);
    let run = run(mpirun(family, 2, folder.path(), &program).env("TITRACE_GATHER", "/proc/all.tar"));
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stderr.contains("will not be gathered: /proc/all.tar: "), "{}", run.stderr);
    assert!(folder.path().join("traces/manifest.json").exists());
}

#[test]
fn an_unknown_placeholder_is_refused_before_the_program_runs() {
    let folder = TempDir::new().unwrap();
    let family = Family::Mpich;
    let program = family.build("sendrecv.c", &[]);
    let refused = run(mpirun(family, 2, folder.path(), &program).env("TITRACE_DIR", "x/%n"));
    assert_ne!(refused.status, Some(0));
    assert!(refused.stderr.contains("there is no %n"), "{}", refused.stderr);
    assert!(!refused.stdout.contains("done") && !folder.path().join("x").exists());
}
