//! `titr-reenact`.

fn main() -> std::process::ExitCode {
    titr_mpi::reenact::main()
}
