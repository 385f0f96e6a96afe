//! `titr-calibrate`.

fn main() -> std::process::ExitCode {
    titr_mpi::calibrate::main()
}
