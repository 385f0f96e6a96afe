//! The options of the command.

use std::path::PathBuf;

use clap::Parser;
use titr_calibration::NamedTopology;

const NOTES: &str = "\
Start at least two ranks on each of at least two hosts. Hosts are numbered in the order of their first rank.

Examples:
  mpirun -np 16 titr-calibrate --output cluster.toml
  mpirun -np 32 titr-calibrate --topology torus=4x4 --trace traces/ --measurements cluster.json --output cluster.toml
  titr calibrate cluster.json --topology mesh=4x4 --output cluster.toml     # fits again, without MPI
  titr-calibrate --from runs.toml --output refined.toml                     # refines a platform by whole runs, without MPI

Exit status: 0 done; 1 nothing can be measured or written, or the platform does not fit; 2 wrong usage.";

/// Measures the machine that it runs on, and writes a platform file for titr-replay.
#[derive(Debug, Parser)]
#[command(name = "titr-calibrate", version, after_help = NOTES)]
pub(crate) struct Options {
    /// The platform file to write.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Refines a platform by whole runs instead, on one process: the file names the platform, the keys of the values that are refined,
    /// and traces with the times that their programs took. `titr calibrate --from` is the same.
    #[arg(long, value_name = "RUNS", conflicts_with_all = ["measurements", "topology", "trace", "seconds"])]
    pub from: Option<PathBuf>,
    /// Also writes the measurements to this file, for `titr calibrate`, whose --report shows how well the platform fits.
    #[arg(long, value_name = "FILE")]
    pub measurements: Option<PathBuf>,
    /// The topology: star, torus=4x4, mesh=4x4, fat-tree=4,4:1,2:1,1 (children:parents:cables), xgft=4,4:1,2.
    #[arg(long, default_value = "star")]
    pub topology: NamedTopology,
    /// An extended trace of a program, which gives the speed of a core.
    #[arg(long, value_name = "TRACE")]
    pub trace: Option<PathBuf>,
    /// Time limit of the measurements, which leave out message sizes that would take too long.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive)]
    pub seconds: f64,
}

fn positive(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    seconds.ok_or_else(|| "a number of seconds is more than 0".to_owned())
}
