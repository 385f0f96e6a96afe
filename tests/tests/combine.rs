//! Repeated recordings of real programs, combined into one trace by `titr combine` and `titrace --repeat`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use titr_common::trace::Manifest;
use titr_tests::{Family, assert_sound, binary, built, lines, replay, run};

const PLATFORM: &str = "torus.toml";

/// `--repeat` before the `mpirun` of a family, in `directory`.
fn repeated(family: Family, directory: &Path, options: &[&str], program: &Path) -> Command {
    let launcher = family.mpirun();
    let around: Vec<_> = launcher.get_args().collect();
    // The family's command is `timeout … mpirun`: the deadline remains around everything.
    let position = around.iter().position(|word| word.to_string_lossy().starts_with("mpirun")).unwrap();
    let mut command = Command::new(launcher.get_program());
    command.args(&around[..position]).arg(built("titrace")).args(options).args(&around[position..]);
    command.args(["-np", "4"]).arg(program).current_dir(directory);
    command.envs(launcher.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

fn simulated_time(trace: &Path) -> f64 {
    replay(PLATFORM, trace)["simulated_time"].as_f64().unwrap()
}

#[test]
fn the_least_of_three_runs_is_no_slower_than_any_of_them() {
    for family in Family::ALL {
        let folder = TempDir::new().unwrap();
        let mut command = repeated(family, folder.path(), &["--repeat", "3"], &family.build("wavefront.f90", &[]));
        let done = run(command.args(["16", "5"]));
        assert_eq!(done.status, Some(0), "{family:?}: {}", done.stderr);
        assert!(done.stderr.contains("traces: combined from 3 runs by least; "), "{}", done.stderr);
        let traces = folder.path().join("traces");
        assert_sound(&traces);
        let manifest = Manifest::read(&traces).unwrap();
        assert_eq!(manifest.combined.unwrap().runs, 3);
        let runs: Vec<PathBuf> = (1..=3).map(|run| folder.path().join(format!("traces-runs/run-{run}"))).collect();
        let combined = simulated_time(&traces);
        for recording in &runs {
            assert_eq!(lines(recording), lines(&traces), "{family:?}");
            assert!(combined <= simulated_time(recording), "{family:?}: {combined}");
        }
        let median = folder.path().join("median");
        let command = &mut binary("titr");
        let done = run(command.args(["combine", "--by", "median", "-o"]).arg(&median).args(&runs));
        assert_eq!(done.status, Some(0), "{}", done.stderr);
        assert!(combined <= simulated_time(&median), "{family:?}");
    }
}

#[test]
fn programs_that_poll_are_repeated() {
    for family in Family::ALL {
        let folder = TempDir::new().unwrap();
        let mut command = repeated(family, folder.path(), &["--repeat", "3"], &family.build("polling.c", &[]));
        let done = run(&mut command);
        assert_eq!(done.status, Some(0), "{family:?}: {}", done.stderr);
        let traces = folder.path().join("traces");
        assert_sound(&traces);
        assert_eq!(lines(&traces), lines(&folder.path().join("traces-runs/run-1")), "{family:?}");
        assert!(simulated_time(&traces) > 0.0);
    }
}

#[test]
fn a_difference_in_communication_is_named() {
    for family in Family::ALL {
        let folder = TempDir::new().unwrap();
        let program = family.build("wavefront.f90", &[]);
        let runs = ["5", "6"].map(|iterations| {
            let recording = folder.path().join(iterations);
            let mut command = family.mpirun();
            command.args(["-np", "4"]).arg(built("titrace")).arg("--dir").arg(&recording).arg(&program);
            let done = run(command.args(["16", iterations]));
            assert_eq!(done.status, Some(0), "{}", done.stderr);
            recording
        });
        let done = run(binary("titr").args(["combine", "-o"]).arg(folder.path().join("both")).args(&runs));
        assert_eq!(done.status, Some(1), "{done:?}");
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
        let names_both =
            runs.iter().all(|path| done.stderr.contains(&format!("{}/rank-000000.tit.gz:", path.display())));
        assert!(done.stderr.starts_with("titr: the runs differ in communication: ") && names_both, "{done:?}");
    }
}

#[test]
fn what_cannot_be_repeated_is_refused() {
    let family = Family::OpenMpi;
    let folder = TempDir::new().unwrap();
    let program = family.build("ring.c", &[]);
    let refused = |command: &mut Command, because: &str| {
        let refused = run(command);
        assert_eq!(refused.status, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(because), "{refused:?}");
    };
    refused(&mut repeated(family, folder.path(), &["--repeat", "2", "--mode", "extended"], &program), "use mode ti");
    refused(&mut repeated(family, folder.path(), &["--repeat", "2", "--dir", "%h"], &program), "without placeholders");
    let mut command = family.mpirun();
    command.args(["-np", "1"]).arg(built("titrace")).args(["--repeat", "2"]).arg(&program).current_dir(folder.path());
    refused(&mut command, "put titrace before mpirun");
    let done = run(binary("titrace").args(["--repeat", "2", "sh", "-c", "exit 7"]).current_dir(folder.path()));
    assert_eq!(done.status, Some(7), "{done:?}");
    assert!(done.stderr.contains("run 1 of 2 failed"), "{done:?}");
}
