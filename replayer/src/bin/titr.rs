//! Looks into traces of MPI programs, and predicts how long the programs take on other machines.

use std::process::ExitCode;

use titr_replayer::{cli, memory};

/// The allocator that ends the command with a message if memory runs out.
#[global_allocator]
static MEMORY: memory::ExitOnOutOfMemory = memory::ExitOnOutOfMemory;

fn main() -> ExitCode {
    memory::exit_on_panics();
    cli::titr::main()
}
