//! Predicts how long a traced MPI program takes on another machine.

fn main() -> std::process::ExitCode {
    titr_replayer::cli::replay::main()
}
