//! Looks into traces of MPI programs, and predicts how long the programs take on other machines.

use std::env;
use std::path::Path;
use std::process::ExitCode;

use titr_replayer::{cli, memory};

/// The allocator that ends the command with a message if memory runs out.
#[global_allocator]
static MEMORY: memory::ExitOnOutOfMemory = memory::ExitOnOutOfMemory;

fn main() -> ExitCode {
    memory::exit_on_panics();
    let name = env::args_os().next().unwrap_or_default();
    match Path::new(&name).file_name() {
        Some(name) if name == "titr-replay" => cli::titr_replay::main(),
        _ => cli::titr::main(),
    }
}
