//! Predicts how long a traced MPI program takes on another machine.

/// Where there is no more memory, the command ends with a message.
#[global_allocator]
static MEMORY: titr_memory::OrExit = titr_memory::OrExit;

fn main() -> std::process::ExitCode {
    titr_memory::exit_on_panics();
    titr_replayer::cli::titr_replay::main()
}
