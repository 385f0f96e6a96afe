//! Looks into traces of MPI programs.

fn main() -> std::process::ExitCode {
    titr_replayer::cli::titr::main()
}
