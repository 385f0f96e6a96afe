//! `titr calibrate`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Parser;
use titr_calibration::{Calibration, ComputeRate, Measurements, NamedTopology, Refinement};
use titr_common::output::{OutputFile, claim};
use titr_common::terminal::{on_one_line, say};
use titr_formats::input;

use super::Failure;
use super::benchmarks::{BenchmarkArgs, benchmarks, is_of_calibrate};
use crate::page::write_calibration;

const NOTES: &str = "\
Reads the measurements that `mpirun titr-calibrate --measurements FILE` wrote, or what the Intel MPI Benchmarks and OSU's
Micro-Benchmarks print, or CSV with their results. Needs no MPI.

Examples:
  titr calibrate measurements.json --topology torus=4x4 --trace traces/ --output cluster.toml --report fit.html
  titr calibrate imb-1.txt imb-2.txt --job-nodes 1,2 --hosts 32 --link '100 Gbit/s' --latency '1 us' --output cluster.toml
  titr calibrate --from runs.toml --output refined.toml

Exit status: 0 done; 1 the measurements or runs are at fault, or the platform does not fit them; 2 wrong usage.";

/// Fits a platform to the measurements of a machine, or refines one by whole runs.
#[derive(Debug, Parser)]
#[command(after_help = NOTES)]
pub(super) struct CalibrateArgs {
    /// The file of measurements that titr-calibrate wrote, or files with results of IMB or OSU's programs.
    #[arg(required_unless_present = "from", value_name = "FILE")]
    measurements: Vec<PathBuf>,
    #[command(flatten)]
    benchmarks: BenchmarkArgs,
    /// Refines a platform by whole runs instead: the file names the platform, the keys of the values that are refined, and traces with
    /// the times that their programs took.
    #[arg(long, value_name = "RUNS", conflicts_with_all = ["measurements", "topology", "trace"])]
    from: Option<PathBuf>,
    /// The topology: star, torus=4x4, mesh=4x4, fat-tree=4,4:1,2:1,1 (children:parents:cables), xgft=4,4:1,2, or typical: switches
    /// with eight hosts and three uplinks [default: star; for results of benchmarks, typical].
    #[arg(long)]
    topology: Option<NamedTopology>,
    /// An extended trace of a program, which gives the speed of a core.
    #[arg(long, value_name = "TRACE")]
    trace: Option<PathBuf>,
    /// The platform file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Also writes a page for a browser, in one file of HTML: the measured and the predicted times of each pattern of messages.
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    report: Option<PathBuf>,
}

pub(super) fn calibrate(args: &CalibrateArgs, out: &mut impl Write) -> Result<(), Failure> {
    match (&args.measurements[..], &args.from) {
        // Clap asks for one of the two.
        ([], None) => Ok(()),
        ([], Some(runs)) => refine(runs, &args.output, out),
        ([measurements], _) if is_of_calibrate(measurements) => fit(measurements, args, out),
        _ if args.report.is_some() => Err(Failure::Usage(
            "--report shows what titr-calibrate measured; --predict FILE writes results of benchmarks beside predictions"
                .to_owned(),
        )),
        (files, _) => {
            let topology = args.topology.as_ref().unwrap_or(&NamedTopology::Typical);
            benchmarks(files, &args.benchmarks, (topology, &args.output), out)
        }
    }
}

/// Refines a platform by the runs of a file.
fn refine(runs: &Path, output: &Path, out: &mut impl Write) -> Result<(), Failure> {
    let refined = Refinement::of(runs, |trace| input::open(&[trace]))?;
    OutputFile::write(output, refined.cluster.as_bytes())?;
    Ok(writeln!(out, "{refined}{} is the platform", on_one_line(&output.display().to_string()))?)
}

/// Fits a platform to measurements.
fn fit(measurements: &Path, args: &CalibrateArgs, out: &mut impl Write) -> Result<(), Failure> {
    let measurements = Measurements::load(measurements)?;
    let rate = args.trace.as_deref().map(ComputeRate::of_file).transpose()?;
    claim([&args.output].into_iter().chain(&args.report).cloned())?;
    let found = Calibration::of(&measurements, args.topology.as_ref().unwrap_or(&NamedTopology::Star), rate.as_ref())?;
    OutputFile::write(&args.output, found.cluster.as_bytes())?;
    if let Some(page) = &args.report {
        write_calibration(&found, page)?;
    }
    for remark in &found.remarks {
        say(format_args!("titr: note: {remark}"));
    }
    writeln!(out, "{} is the platform", on_one_line(&args.output.display().to_string()))?;
    if found.misses.are_too_many() { Err(Failure::Findings) } else { Ok(()) }
}
