//! `titrace --repeat N`: runs the program several times, and combines the recordings into one trace.
//!
//! Each run is started by another `titrace`, which writes to its own directory. `titr combine` then makes one trace of
//! all runs.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use thiserror::Error;
use titr_common::terminal::say;
use titr_config::{Config, ConfigError, Mode};

use crate::options::Options;
use crate::program::{Program, ProgramError};
use crate::witness;

/// The reason why a program is not repeated.
#[derive(Debug, Error)]
pub(crate) enum RepeatError {
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(
        "--repeat starts the program several times, which a rank cannot do: put titrace before {launcher}, as in `titrace \
         --repeat {runs} {launcher} -np 4 PROGRAM`",
        launcher = "mpirun"
    )]
    InRank { runs: u32 },
    #[error("--repeat combines volumes of computation, and an extended trace holds the times of one run: use mode ti")]
    Extended,
    #[error("--repeat needs all files of a trace in one directory: name one without placeholders, and no archive")]
    Scattered,
    #[error("{}: it exists already, and nothing is overwritten: name another directory with --dir, or remove it", .0.display())]
    Exists(PathBuf),
    #[error("cannot create {}: {}", .0.display(), .1)]
    Create(PathBuf, std::io::Error),
    #[error("cannot start {0}: {1}")]
    Start(String, std::io::Error),
}

/// Runs the program `runs` times. Returns the exit status of the first run that fails, or of `titr combine`.
pub(crate) fn repeat(options: &Options, runs: u32) -> Result<ExitCode, RepeatError> {
    let name = options.command.first().map_or_else(Default::default, OsString::as_os_str);
    let program = Program::find(name)?;
    if witness::is_rank() && !program.is_launcher() {
        return Err(RepeatError::InRank { runs });
    }
    let settings = options.settings();
    let config = Config::from_variables(std::env::vars_os().chain(settings.iter().cloned()))?;
    if config.mode == Mode::Extended {
        return Err(RepeatError::Extended);
    }
    let output = config.directory.fixed().filter(|_| config.gather.is_none()).ok_or(RepeatError::Scattered)?;
    let recordings = beside(output);
    if let Some(path) = [output, &recordings].into_iter().find(|path| path.exists()) {
        return Err(RepeatError::Exists(path.to_owned()));
    }
    if program.is_launcher() {
        say(format_args!(
            "titrace: {} may not hand the tracer on to ranks on other hosts: record such runs one by one, and combine them \
             with `titr combine`",
            program.name()
        ));
    }
    std::fs::create_dir(&recordings).map_err(|error| RepeatError::Create(recordings.clone(), error))?;
    let directories: Vec<PathBuf> = (1..=runs).map(|run| recordings.join(format!("run-{run}"))).collect();
    for (run, directory) in (1..).zip(&directories) {
        let mut command = Command::new(own("titrace"));
        command.envs(settings.iter().cloned()).env("TITRACE_DIR", directory).arg("--repeated");
        if let Some(library) = &options.library {
            command.arg("--library").arg(library);
        }
        let status = wait(command.arg("--").args(&options.command))?;
        if !status.success() {
            let kept = recordings.display();
            say(format_args!(
                "titrace: run {run} of {runs} failed ({status}): nothing is combined, and {kept} is kept"
            ));
            return Ok(exit_code(status));
        }
    }
    let mut combine = Command::new(own("titr"));
    combine.arg("combine").args(&directories).arg("--output").arg(output);
    if let Some(by) = &options.by {
        combine.arg("--by").arg(by);
    }
    Ok(exit_code(wait(&mut combine)?))
}

/// The directory of the recordings of single runs, beside that of the combined trace.
fn beside(output: &Path) -> PathBuf {
    // Collecting the components removes a slash at the end.
    let mut name = output.components().collect::<PathBuf>().into_os_string();
    name.push("-runs");
    name.into()
}

/// A program that is installed beside this one, or else the one in `PATH`.
fn own(name: &str) -> PathBuf {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(OsStr::new(name)));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| name.into())
}

fn wait(command: &mut Command) -> Result<ExitStatus, RepeatError> {
    command.status().map_err(|error| RepeatError::Start(command.get_program().display().to_string(), error))
}

/// The exit status as a shell reports it.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_are_beside_the_trace() {
        assert_eq!(beside(Path::new("a/traces/")), Path::new("a/traces-runs"));
    }
}
