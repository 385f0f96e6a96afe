//! `titr-calibrate`: measures the machine that it runs on, and writes a platform file for `titr-replay`.
//!
//! Rank 0 decides what is measured next and sends an [order](order::Order) to all ranks, which [execute it](pattern)
//! together; rank 0 collects the times. The [plan](plan) is a list of patterns that share the time given by the user.
//! Finally, rank 0 passes the measurements to the crate `titr-calibration`, which needs no MPI. With `--from`, the command refines
//! a platform by whole runs, and starts no MPI.

mod detours;
mod options;
mod order;
mod pattern;
mod plan;
mod train;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use titr_calibration::measurements::VERSION;
use titr_calibration::{Calibration, ComputeRate, Measurements, Refinement, calibration};
use titr_common::output::{Command, OutputFile, claim};
use titr_common::terminal::{self, print, say, say_usage};
use titr_common::trace::Trace;
use titr_mpi::{Comm, Mpi};

use crate::options::Options;
use crate::order::{Failure, Measuring, Order, follow};

fn main() -> ExitCode {
    let _command = Command::begin();
    let options = Options::try_parse();
    // Help and version need no MPI.
    if let Err(error) = &options
        && matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
    {
        return terminal::status_of("titr-calibrate", error.print()).into();
    }
    if let Ok(Options { from: Some(runs), output, .. }) = &options {
        return refine(runs, output);
    }
    let mpi = match Mpi::start() {
        Ok(mpi) => mpi,
        Err(error) => {
            say(format_args!("titr-calibrate: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let world = mpi.world();
    let status = match options {
        Ok(options) if world.rank() == 0 => lead(&options, &mpi, world),
        Ok(_) => follow(&mpi, world),
        Err(error) => {
            if world.rank() == 0 {
                say_usage(&error.render().to_string());
            }
            Ok(ExitCode::from(2))
        }
    };
    let status = status.unwrap_or_else(|error| {
        // The other ranks wait for this one.
        say(format_args!("titr-calibrate: rank {}: {error}", world.rank()));
        mpi.abort(1)
    });
    match mpi.finish() {
        Ok(()) => status,
        Err(error) => {
            say(format_args!("titr-calibrate: {error}"));
            ExitCode::FAILURE
        }
    }
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
fn lead(options: &Options, mpi: &Mpi, world: Comm<'_>) -> Result<ExitCode, Failure> {
    let mut measuring = Measuring::new(world);
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

/// Measures, fits and writes the platform. Returns whether it fits the measurements.
fn calibrate(options: &Options, mpi: &Mpi, measuring: &mut Measuring<'_>) -> Result<bool, Failure> {
    if measuring.ranks() < 2 {
        return Err(Failure::told(
            "one rank cannot send messages: start at least two, mpirun -np 4 titr-calibrate ...",
        ));
    }
    // An unwritable file is reported before the measurements, not after.
    let rate = options.trace.as_deref().map(ComputeRate::of_file).transpose().map_err(Failure::told)?;
    let outputs = || [options.output.clone()].into_iter().chain(options.measurements.clone());
    claim(outputs()).map_err(Failure::told)?;
    outputs().try_for_each(|path| OutputFile::check(&path)).map_err(Failure::told)?;
    let names = measuring.names(mpi)?;
    let mut hosts: Vec<String> = Vec::new();
    let places: Vec<u32> = names
        .into_iter()
        .map(|name| {
            let known = hosts.iter().position(|host| *host == name);
            known.unwrap_or_else(|| {
                hosts.push(name);
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
    };
    plan::measure(&mut measurements, measuring, options.seconds)?;
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
