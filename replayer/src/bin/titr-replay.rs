//! Predicts how long a traced MPI program takes on another machine.

/// The allocator that ends the command with a message if memory runs out.
#[global_allocator]
static MEMORY: titr_replayer::memory::OrExit = titr_replayer::memory::OrExit;

fn main() -> std::process::ExitCode {
    titr_replayer::memory::exit_on_panics();
    titr_replayer::cli::titr_replay::main()
}
