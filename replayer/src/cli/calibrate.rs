//! `titr calibrate`.

use std::io::Write;
use std::path::PathBuf;

use clap::Parser;
use titr_calibration::{Calibration, Measurements, NamedTopology, output};
use titr_common::output::Claims;
use titr_common::terminal::say;

use super::Failure;

const NOTES: &str = "\
Reads the measurements that `mpirun titr-calibrate --measurements FILE` wrote. Needs no MPI.

Example:
  titr calibrate measurements.json --topology torus=4x4 --trace traces/ --output cluster.toml

Exit status: 0 done; 1 the measurements are at fault, or the platform does not fit them; 2 wrong usage.";

/// Fits a platform to the measurements of a machine.
#[derive(Debug, Parser)]
#[command(after_help = NOTES)]
pub(super) struct CalibrateArgs {
    /// The file of measurements that titr-calibrate wrote.
    measurements: PathBuf,
    /// The topology: star, torus=4x4, mesh=4x4, fat-tree=4,4:1,2:1,1 (children:parents:cables), xgft=4,4:1,2.
    #[arg(long, default_value = "star")]
    topology: NamedTopology,
    /// An extended trace of a program, which gives the speed of a core.
    #[arg(long, value_name = "TRACE")]
    trace: Option<PathBuf>,
    /// The platform file to write. A picture of the fit has the same name and .svg.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub(super) fn calibrate(args: &CalibrateArgs, out: &mut impl Write) -> Result<(), Failure> {
    let mut claims = Claims::new();
    [Some(&args.measurements), args.trace.as_ref()].into_iter().flatten().try_for_each(|path| claims.read(path))?;
    output::files(&args.output).iter().try_for_each(|path| claims.write(path))?;
    let measurements = Measurements::load(&args.measurements)?;
    let rate = args.trace.as_deref().map(output::rate).transpose()?;
    let found = Calibration::of(&measurements, &args.topology, rate.as_ref())?;
    let picture = found.write(&args.output)?;
    for remark in &found.remarks {
        say(format_args!("titr: note: {remark}"));
    }
    writeln!(out, "{} is the platform, {} shows how well it fits", args.output.display(), picture.display())?;
    if found.misses.are_too_many() { Err(Failure::Findings) } else { Ok(()) }
}
