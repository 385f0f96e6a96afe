//! `titrace`, which is placed between `mpirun` and the program: preloads the tracer into it, or reports why that is
//! impossible.
//!
//! ```text
//!   options ──► TITRACE_*     library ──► LD_PRELOAD     program: can it be preloaded into? ──► exec
//! ```

mod elf;
mod emulator;
mod library;
mod options;
mod preload;
mod program;
mod repeat;
mod witness;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use clap::Parser;
use thiserror::Error;
use titr_common::terminal::{self, say, say_usage};
use titr_config::{Config, ConfigError, CounterChoice};

use emulator::{Emulator, EmulatorError};
use library::Library;
use options::Options;
use preload::preload;
use program::Program;
use witness::UntracedWatcher;

/// An error because of which the program is not started.
#[derive(Debug, Error)]
enum Error {
    #[error(transparent)]
    Library(#[from] library::LibraryError),
    #[error(transparent)]
    Program(#[from] program::ProgramError),
    #[error(transparent)]
    Emulator(#[from] EmulatorError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Repeat(#[from] repeat::RepeatError),
    #[error("cannot start {0}: {1}")]
    Start(String, std::io::Error),
}

fn main() -> ExitCode {
    let options = Options::try_parse().unwrap_or_else(|error| {
        if error.use_stderr() {
            if witness::speaks(&witness::RANK) {
                say_usage(&error.render().to_string());
            }
            std::process::exit(error.exit_code());
        }
        std::process::exit(terminal::status_of("titrace", error.print()).into())
    });
    let error = match options.repeat {
        Some(runs) => match repeat::repeat(&options, runs) {
            Ok(status) => return status,
            Err(error) => error.into(),
        },
        // Comes back only when it could not become the program.
        None => {
            let Err(error) = start(&options);
            error
        }
    };
    // A file may be missing on one host only, and variables are the same on all.
    let by = if matches!(error, Error::Config(_)) { &witness::RANK } else { &witness::LOCAL_RANK };
    if witness::speaks(by) {
        say(format_args!("titrace: {error}"));
    }
    ExitCode::FAILURE
}

/// Becomes the program.
fn start(options: &Options) -> Result<std::convert::Infallible, Error> {
    let (name, arguments) = options.command.split_first().unzip();
    let (name, arguments) = (name.map_or_else(Default::default, OsString::as_os_str), arguments.unwrap_or_default());
    let program = Program::find(name)?;
    let library = Library::find(options.library.as_deref())?;
    let loaded = program.check(&library)?;
    if program.is_launcher() && !options.repeated {
        say(format_args!(
            "titrace: {0} starts the ranks, and may not hand the tracer on to those on other hosts: put titrace after it, \
             as in `{0} -np 64 titrace PROGRAM`",
            program.name()
        ));
    }
    let mut settings = options.settings();
    let config = Config::from_variables(std::env::vars_os().chain(settings.iter().cloned()))?;
    let emulator =
        (config.counter == CounterChoice::Emulated).then(|| Emulator::find(&program, &library)).transpose()?;
    settings.extend(preload::setting(loaded.as_ref(), std::env::var_os(preload::OPTIONS)));
    let preload = preload(&library.path, std::env::var_os("LD_PRELOAD").as_deref());
    if options.verbose {
        let set: Vec<_> =
            settings.iter().map(|(name, value)| format!("{}={} ", name.display(), value.display())).collect();
        say(format_args!("titrace: {}LD_PRELOAD={} {}", set.concat(), preload.display(), program.path.display()));
    }
    let (mut command, started) = match &emulator {
        Some(emulator) => (emulator.command(&program.path, name, &preload)?, emulator.path.display().to_string()),
        None => {
            let mut command = Command::new(&program.path);
            command.arg0(name).env("LD_PRELOAD", preload);
            (command, program.name())
        }
    };
    command.args(arguments).envs(settings);
    let witness = UntracedWatcher::new();
    if !loaded.is_some_and(|loaded| loaded.is_linked_with_mpi()) {
        witness.start(&program.name(), program.is_launcher());
    }
    let (variable, value) = witness.setting();
    let error = command.env(variable, value).exec();
    witness.dismiss();
    Err(Error::Start(started, error))
}
