//! Runs programs, with and without the tracer.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::Family;

/// The outcome of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    /// The exit status of `mpirun`; `None` if a signal ended it.
    pub status: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A run, and the trace that it left.
pub struct Traced {
    /// The outcome of the run.
    pub run: Run,
    directory: TempDir,
}

impl Traced {
    /// The trace directory, whether it is there or not.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("traces")
    }
}

/// Cargo's target directory: a test lies in its PROFILE/deps.
pub(crate) fn target() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}

/// A file that `cargo build --release --workspace` makes.
///
/// # Panics
/// If it is missing.
pub fn built(name: &str) -> PathBuf {
    let release = std::env::var_os("TITR_TARGET").map_or_else(|| target().join("release"), PathBuf::from);
    let file = release.join(name);
    assert!(file.exists(), "{} is missing: run cargo build --release --workspace first", file.display());
    file
}

/// The tracer.
pub fn library() -> PathBuf {
    built("libtitrace.so")
}

/// `titr` or `titr-replay`.
pub fn binary(name: &str) -> Command {
    Command::new(built(name))
}

/// Runs `command` to its end.
pub fn run(command: &mut Command) -> Run {
    let Output { status, stdout, stderr } =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}: run ci/install test"));
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Run { status: status.code(), stdout: text(&stdout), stderr: text(&stderr) }
}

/// Runs `mpirun -np RANKS PROGRAM ARGUMENTS` with and without the tracer, which may not change what it prints on
/// standard output — as far as `comparable` keeps that — nor its exit status.
///
/// # Panics
/// If it does.
pub fn traced(
    family: Family,
    ranks: u32,
    program: &Path,
    arguments: &[&str],
    comparable: impl Fn(&str) -> String,
) -> Traced {
    traced_as(&[], family, ranks, program, arguments, comparable)
}

/// The same with variables that tell the tracer how.
///
/// # Panics
/// As [`traced`].
pub fn traced_as(
    variables: &[(&str, &str)],
    family: Family,
    ranks: u32,
    program: &Path,
    arguments: &[&str],
    comparable: impl Fn(&str) -> String,
) -> Traced {
    let mut command = family.mpirun();
    command.arg("-np").arg(ranks.to_string()).arg(program).args(arguments);
    compared(family, command, variables, comparable)
}

/// Runs `mpirun -np RANKS PROGRAM` with the tracer only, for a trace whose program another test compares.
///
/// # Panics
/// If the program fails.
pub fn traced_only(variables: &[(&str, &str)], family: Family, ranks: u32, program: &Path) -> Traced {
    traced_with(variables, family, ranks, program, &[])
}

/// [`traced_only`] of a program with arguments.
///
/// # Panics
/// If the program fails.
pub fn traced_with(
    variables: &[(&str, &str)],
    family: Family,
    ranks: u32,
    program: &Path,
    arguments: &[&str],
) -> Traced {
    let directory = TempDir::new().unwrap();
    let mut command = family.mpirun();
    command.arg("-np").arg(ranks.to_string()).arg(program).args(arguments).current_dir(directory.path());
    let run = run(command.env("LD_PRELOAD", family.preload()).envs(variables.iter().copied()));
    assert_eq!(run.status, Some(0), "{family:?}: {}", run.stderr);
    Traced { run, directory }
}

/// The same without `mpirun`, on one rank: the exit status is the program's own. `mpirun`'s is not where a rank exits without
/// `MPI_Finalize`: MPICH's ends with 1 if it sees the connection close before it sees the exit, and of several ranks either
/// library's may kill another first.
///
/// # Panics
/// As [`traced`].
pub fn traced_alone(family: Family, program: &Path, arguments: &[&str], comparable: impl Fn(&str) -> String) -> Traced {
    let mut command = family.alone(program);
    command.args(arguments);
    compared(family, command, &[], comparable)
}

fn compared(
    family: Family,
    mut command: Command,
    variables: &[(&str, &str)],
    comparable: impl Fn(&str) -> String,
) -> Traced {
    let directory = TempDir::new().unwrap();
    command.current_dir(directory.path());
    let plain = run(&mut command);
    let run = run(command.env("LD_PRELOAD", family.preload()).envs(variables.iter().copied()));
    assert_eq!(run.status, plain.status, "untraced: {}\ntraced: {}", plain.stderr, run.stderr);
    assert_eq!(comparable(&run.stdout), comparable(&plain.stdout), "{}", run.stderr);
    Traced { run, directory }
}

/// The lines that a program prints of how far it has come, whatever `mpirun` prints of its end.
pub fn milestones(text: &str) -> String {
    text.lines().filter(|line| line.starts_with("before") || line.starts_with("done")).collect()
}

/// `titr check` finds nothing wrong with a trace.
///
/// # Panics
/// If it does.
#[track_caller]
pub fn assert_sound(trace: &Path) {
    let verdict = run(binary("titr").arg("check").arg(trace));
    assert_eq!(verdict.status, Some(0), "{}: {}{}", trace.display(), verdict.stdout, verdict.stderr);
}

/// The JSON report of a replay on `examples/PLATFORM`.
///
/// # Panics
/// If the replay fails.
pub fn replay(platform: &str, trace: &Path) -> serde_json::Value {
    replay_with(&[], platform, trace)
}

/// The JSON report of a replay on `examples/PLATFORM` with these options.
///
/// # Panics
/// If the replay fails.
pub fn replay_with(options: &[&str], platform: &str, trace: &Path) -> serde_json::Value {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut command = binary("titr-replay");
    let report = run(command.arg("--json").args(options).arg("--platform").arg(examples.join(platform)).arg(trace));
    assert_eq!(report.status, Some(0), "{}", report.stderr);
    serde_json::from_str(&report.stdout).unwrap()
}
