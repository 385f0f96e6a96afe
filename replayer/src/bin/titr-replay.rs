//! `titr replay` under a name of its own: starts the executable `titr` beside this one.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::{env, io};

fn main() -> ExitCode {
    let beside = env::current_exe().map(|own| own.with_file_name("titr"));
    let start = |titr| -> io::Error { Command::new(titr).arg0("titr-replay").args(env::args_os().skip(1)).exec() };
    let error = beside.map_or_else(|error| error, start);
    eprintln!("titr-replay: cannot start titr, which is installed beside it: {error}");
    ExitCode::FAILURE
}
