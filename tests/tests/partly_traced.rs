//! A job with some untraced ranks ends as without the tracer, and its trace names the missing ranks.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use titr_common::trace::Manifest;
use titr_tests::{Family, Run, binary, built, run};

/// `mpirun` of two programs: one rank of a ring without the tracer, then two with it.
fn mpirun(family: Family, directory: &Path) -> Command {
    let program = family.build("sendrecv.c", &[]);
    let mut preload = std::ffi::OsString::from("LD_PRELOAD=");
    preload.push(family.preload());
    let mut command = family.mpirun();
    command.args(["-np", "1"]).arg(&program);
    command.args([":", "-np", "2", "env"]).arg(preload).arg(&program).current_dir(directory);
    command
}

/// The output of the program without the tracer, and with the tracer on ranks 1 and 2.
fn compared(family: Family, directory: &Path, variables: &[(&str, &str)]) -> Run {
    let plain = {
        let mut command = family.mpirun();
        run(command.args(["-np", "3"]).arg(family.build("sendrecv.c", &[])).current_dir(directory))
    };
    let traced = run(mpirun(family, directory).envs(variables.iter().copied()));
    assert_eq!((traced.status, &traced.stdout), (Some(0), &plain.stdout), "{family:?}: {traced:?}");
    traced
}

#[test]
fn a_job_of_several_programs_names_all() {
    let platform = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/torus.toml");
    for family in Family::ALL {
        let folder = TempDir::new().unwrap();
        let (one, other) = (family.build("sendrecv.c", &[]), family.build("probe.c", &[]));
        let mut command = family.mpirun();
        command.current_dir(folder.path());
        for (separator, program, argument) in [(None, &one, "a"), (Some(":"), &one, "a"), (Some(":"), &one, "b")] {
            command.args(separator).args(["-np", "1"]).arg(built("titrace")).arg(program).arg(argument);
        }
        let done = run(&mut command);
        assert_eq!(done.status, Some(0), "{family:?}: {}", done.stderr);
        let trace = folder.path().join("traces");
        let programs = format!("{program} a : {program} b", program = one.display());
        let info = run(binary("titr").arg("info").arg(&trace));
        assert!(info.stdout.contains(&programs), "{family:?}: {}", info.stdout);
        let replayed = run(binary("titr-replay").arg("--platform").arg(&platform).arg(&trace));
        assert!(replayed.stdout.contains(&programs), "{family:?}: {}", replayed.stdout);
        let mut alike = family.mpirun();
        let alike = alike.args(["-np", "2"]).arg(built("titrace")).args(["--dir", "alike"]).arg(&other);
        assert_eq!(run(alike.current_dir(folder.path())).status, Some(0));
        let manifest = Manifest::read(&folder.path().join("alike")).unwrap();
        assert_eq!(manifest.programs(), other.display().to_string());
        assert!(manifest.per_rank.iter().all(|entry| entry.command.is_empty()));
    }
}

/// Collectives that one rank makes by the tracer's algorithms, and another by the library's, would never end.
#[test]
fn ranks_that_differ_in_their_mode_are_not_traced() {
    for family in Family::ALL {
        let folder = TempDir::new().unwrap();
        let program = family.build("collectives.c", &[]);
        let mut command = family.mpirun();
        command.current_dir(folder.path());
        for (separator, mode) in [(None, "extended"), (Some(":"), "ti")] {
            let variable = format!("TITRACE_MODE={mode}");
            command.args(separator).args(["-np", "2", "env", &variable]).arg(built("titrace")).arg(&program);
        }
        let done = run(&mut command);
        assert_eq!(done.status, Some(0), "{family:?}: {}", done.stderr);
        assert!(done.stderr.contains("the ranks differ in TITRACE_MODE"), "{family:?}: {}", done.stderr);
    }
}

#[test]
fn the_ranks_with_the_tracer_are_traced_and_the_others_named() {
    for family in Family::ALL {
        let folder = TempDir::new().unwrap();
        for directory in ["traces", "traces-2"] {
            let traced = compared(family, folder.path(), &[]);
            assert!(traced.stderr.contains("run without the tracer: 0\n"), "{family:?}: {}", traced.stderr);
            let trace = folder.path().join(directory);
            let manifest: serde_json::Value =
                serde_json::from_slice(&fs::read(trace.join("manifest.json")).unwrap()).unwrap();
            assert_eq!((&manifest["ranks"], &manifest["untraced_ranks"]), (&3.into(), &[0].as_slice().into()));
            let streams = [1, 2].map(|rank| trace.join(format!("rank-00000{rank}.tit.gz")));
            assert!(streams.iter().all(|stream| fs::metadata(stream).unwrap().len() > 0), "{family:?}");
            let error = Manifest::read(&trace).unwrap_err().to_string();
            assert!(error.ends_with("rank 0 of 3 ran without the tracer"), "{family:?}: {error}");
            let titr = |words: &[&str]| run(binary("titr").args(words).arg(&trace));
            let refused =
                [titr(&["check"]), titr(&["cat", "--rank", "0"]), titr(&["replay", "-p", "star:3 1GB/s 1us"])];
            for refused in refused {
                assert!(refused.status == Some(1) && refused.stderr.contains(&error), "{family:?}: {refused:?}");
            }
            let info = titr(&["info"]);
            assert_eq!(info.status, Some(0), "{family:?}: {info:?}");
            let said = ["in MPI_Finalize (2 of 3 ranks: 1, 2)", "not traced (1 of 3 ranks: 0)", "sendrecv", &error];
            assert!(said.iter().all(|said| info.stdout.contains(said)), "{family:?}: {}", info.stdout);
            let object: serde_json::Value = serde_json::from_str(&titr(&["info", "--json"]).stdout).unwrap();
            let events = |rank: usize| object["per_rank"][rank]["events"].as_u64().unwrap();
            assert!(events(0) == 0 && events(1) > 0 && events(2) > 0, "{family:?}: {object}");
            let cat = titr(&["cat", "--rank", "2"]);
            assert!(cat.status == Some(0) && cat.stdout.contains("2 finalize"), "{family:?}: {cat:?}");
            let cat = titr(&["cat", "--partial"]);
            assert!(cat.status == Some(0) && !cat.stdout.contains("0 init"), "{family:?}: {cat:?}");
            let partial = titr(&["replay", "--partial", "-p", "star:3 1GB/s 1us"]);
            assert!(partial.status == Some(0) && partial.stdout.contains("No prediction"), "{family:?}: {partial:?}");
        }
    }
}

#[test]
fn what_needs_all_ranks_is_not_done_and_said() {
    for family in Family::ALL {
        let folder = TempDir::new().unwrap();
        let extended = compared(family, folder.path(), &[("TITRACE_MODE", "extended")]);
        assert!(extended.stderr.contains("not tracing, as the trace was to be extended"), "{extended:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{family:?}");
        let gathered = compared(family, folder.path(), &[("TITRACE_GATHER", "all.tar")]);
        assert!(gathered.stderr.contains("the trace will not be gathered"), "{gathered:?}");
        assert!(folder.path().join("traces/rank-000001.tit.gz").exists(), "{family:?}");
    }
}
