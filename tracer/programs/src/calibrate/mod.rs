//! `titr-calibrate`: measures the machine that it runs on, and writes a platform file for `titr replay`.
//!
//! Rank 0 decides what is measured next and sends an [order](order::Order) to all ranks, which [execute it](pattern)
//! together; rank 0 collects the times. The [plan](plan) is a list of patterns that share the time given by the user, and
//! [benchmarks of full hosts](rows) follow. [Where](seat) ranks run says which of them are near.
//! Finally, rank 0 passes the measurements to the crate `titr-calibration`, which needs no MPI. With `--from`, the command refines
//! a platform by whole runs, and starts no MPI.

mod calls;
mod order;
mod pattern;
mod plan;
mod rows;
mod seat;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use titr_calibration::benchmarks::FullHosts;
use titr_calibration::measurements::VERSION;
use titr_calibration::{Calibration, ComputeRate, Measurements, NamedTopology, Refinement, calibration};
use titr_common::output::{Command, OutputFile, claim};
use titr_common::terminal::{print, say};
use titr_common::trace::Trace;

use crate::{Comm, Mpi, run};

use order::{Failure, Measuring, Order, follow};

/// The command.
#[must_use]
pub fn main() -> ExitCode {
    let _command = Command::begin();
    let options = CalibrateOptions::try_parse();
    if let Ok(CalibrateOptions { from: Some(runs), output, .. }) = &options {
        return refine(runs, output);
    }
    run("titr-calibrate", options, |mpi, world, options| {
        let status = if world.rank == 0 { lead(options, mpi, world) } else { follow(mpi, world) };
        status.unwrap_or_else(|error| {
            // The other ranks wait for this one.
            say(format_args!("titr-calibrate: rank {}: {error}", world.rank));
            mpi.abort(1)
        })
    })
}

/// Refines a platform by whole runs, which needs no MPI.
fn refine(runs: &Path, output: &Path) -> ExitCode {
    let refined = Refinement::of(runs, Trace::open);
    let written = refined.map_err(|error| error.to_string()).and_then(|refined| {
        OutputFile::write(output, refined.cluster.as_bytes()).map_err(|error| error.to_string())?;
        Ok(refined)
    });
    match written {
        Ok(refined) => {
            print(format_args!("{refined}{} is the platform", output.display()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            say(format_args!("titr-calibrate: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Rank 0: the whole calibration. Errors other than MPI's are reported once, and end all ranks.
fn lead(options: &CalibrateOptions, mpi: &Mpi, world: Comm<'_>) -> Result<ExitCode, Failure> {
    let mut measuring = Measuring { world };
    let result = calibrate(options, mpi, &mut measuring);
    let failed = match result {
        Ok(fits) => !fits,
        Err(Failure::Told(message)) => {
            say(format_args!("titr-calibrate: {message}"));
            true
        }
        Err(error) => return Err(error),
    };
    measuring.tell(&Order::End { failed })?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The part of the time in which all ranks of full hosts measure.
const OF_FULL_HOSTS: f64 = 0.4;

/// Measures, fits and writes the platform. Returns whether it fits the measurements.
fn calibrate(options: &CalibrateOptions, mpi: &Mpi, measuring: &mut Measuring<'_>) -> Result<bool, Failure> {
    if measuring.world.size < 2 {
        return Err(Failure::told(
            "one rank cannot send messages: start at least two, mpirun -np 4 titr-calibrate ...",
        ));
    }
    // An unwritable file is reported before the measurements, not after.
    let rate = options.trace.as_deref().map(ComputeRate::of_file).transpose().map_err(Failure::told)?;
    let outputs = || [options.output.clone()].into_iter().chain(options.measurements.clone());
    claim(outputs()).map_err(Failure::told)?;
    outputs().try_for_each(|path| OutputFile::check(&path)).map_err(Failure::told)?;
    let seats = measuring.seats(mpi)?;
    let mut hosts: Vec<String> = Vec::new();
    let places: Vec<u32> = seats
        .iter()
        .map(|seat| {
            let known = hosts.iter().position(|host| *host == seat.host);
            known.unwrap_or_else(|| {
                hosts.push(seat.host.clone());
                hosts.len() - 1
            }) as u32
        })
        .collect();
    calibration::check_hosts(&hosts, &options.topology).map_err(Failure::told)?;
    let mut measurements = Measurements {
        titr_measurements: VERSION,
        mpi: mpi.library().to_owned(),
        hosts,
        places,
        series: Vec::new(),
        late_receives: Vec::new(),
        detours: Vec::new(),
        full_hosts: FullHosts::default(),
    };
    let of_full_hosts = options.seconds * OF_FULL_HOSTS;
    say(format_args!("titr-calibrate: few ranks, and then full hosts: {} s at most", options.seconds));
    plan::measure(&mut measurements, measuring, options.seconds - of_full_hosts)?;
    rows::measure(&mut measurements, &seats, measuring, of_full_hosts)?;
    if let Some(path) = &options.measurements {
        let text = measurements.to_json().map_err(Failure::told)?;
        OutputFile::write(path, text.as_bytes()).map_err(Failure::told)?;
    }
    let found = Calibration::of(&measurements, &options.topology, rate.as_ref()).map_err(Failure::told)?;
    OutputFile::write(&options.output, found.cluster.as_bytes()).map_err(Failure::told)?;
    for remark in &found.remarks {
        say(format_args!("titr-calibrate: note: {remark}"));
    }
    print(format_args!("{} is the platform", options.output.display()));
    Ok(!found.misses.are_too_many())
}

const NOTES: &str = "\
Start at least two ranks on each of at least two hosts. Hosts are numbered in the order of their first rank.

Examples:
  mpirun -np 16 titr-calibrate --output cluster.toml
  mpirun -np 32 titr-calibrate --topology torus=4x4 --trace traces/ --measurements cluster.json --output cluster.toml
  titr calibrate cluster.json --topology mesh=4x4 --output cluster.toml     # fits again, without MPI
  titr-calibrate --from runs.toml --output refined.toml                     # refines a platform by whole runs, without MPI

Exit status: 0 done; 1 nothing can be measured or written, or the platform does not fit; 2 wrong usage.";

/// Measures the machine that it runs on, and writes a platform file for titr replay.
#[derive(Debug, Parser)]
#[command(name = "titr-calibrate", version, after_help = NOTES)]
pub(crate) struct CalibrateOptions {
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
