//! `titr-reenact`: replays a trace in real time on the machine that it runs on, with one process for each rank of the trace.
//!
//! ```text
//!   options ─► trace ─► changes ─► feasible? ─► all ranks agree ─► start together ─► reenactment ─► report
//!                                   (each rank reads its own stream)                  pace: computes by waiting
//! ```
//!
//! Each process makes the MPI calls of its rank with the same sizes, communicators and requests, and computes, by busy
//! waiting, for the time in the trace. Messages have no content. With titr's tracer preloaded into it (`titrace
//! titr-reenact traces/`), the reenactment is traced itself.

mod calls;
mod communicators;
mod feasible;
mod options;
mod reenactment;
mod report;
mod requests;
mod tags;

use std::process::ExitCode;

use clap::Parser;
use thiserror::Error;
use titr_common::event::Rank;
use titr_common::format::{counted, plural};
use titr_common::terminal::say;
use titr_common::trace::{Trace, TraceError, Transformation};
use titr_workload::{ComputeScaling, Workload};

use crate::{Comm, Mpi, MpiError, run};

use feasible::{Needs, feasible};
use options::ReenactOptions;
use reenactment::{Reenactment, ReenactmentError};
use tags::TagMap;

/// An error because of which a trace is not reenacted.
#[derive(Debug, Error)]
enum Error {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(
        "the trace has {}, and {} {} started: start {trace}, as in `mpirun -np {trace} titr-reenact ...`",
        counted(*trace, "rank", "ranks"),
        counted(*world, "process", "processes"),
        plural((*world).into(), "was", "were")
    )]
    Size { trace: u32, world: u32 },
    #[error("{0}")]
    Infeasible(String),
    #[error(transparent)]
    WhatIf(#[from] options::Infeasible),
    #[error(transparent)]
    Mpi(#[from] MpiError),
    #[error(transparent)]
    Reenactment(#[from] ReenactmentError),
}

/// The command.
#[must_use]
pub fn main() -> ExitCode {
    run("titr-reenact", ReenactOptions::try_parse(), reenact)
}

/// Reenacts the trace if all ranks can; otherwise rank 0 says why not.
fn reenact(mpi: &Mpi, world: Comm<'_>, options: &ReenactOptions) -> ExitCode {
    let prepared = prepare(world, options);
    let objection = prepared.as_ref().err().map(ToString::to_string);
    match agree(world, objection) {
        Ok(true) => {}
        Ok(false) => return ExitCode::FAILURE,
        Err(error) => {
            say(format_args!("titr-reenact: {error}"));
            mpi.abort(1);
        }
    }
    let ended = prepared.and_then(|prepared| match TagMap::agree(world, &prepared.needs.tags)? {
        Some(tags) => perform(mpi, world, options, (prepared, tags)).map(|()| ExitCode::SUCCESS),
        None => Ok(ExitCode::FAILURE),
    });
    match ended {
        Ok(status) => status,
        // The others may wait for this rank.
        Err(error) => {
            say(format_args!("titr-reenact: rank {}: {error}", world.rank));
            mpi.abort(1);
        }
    }
}

/// A rank's trace, ready to be reenacted.
struct Prepared {
    trace: Trace,
    needs: Needs,
    /// Instructions, or the counter's unit, that this rank computes in a second.
    rate: f64,
}

/// Opens the trace and finds out whether this process can reenact its rank.
fn prepare(world: Comm<'_>, options: &ReenactOptions) -> Result<Prepared, Error> {
    let trace = Trace::open_all(&options.places)?;
    if trace.ranks() != world.size {
        return Err(Error::Size { trace: trace.ranks(), world: world.size });
    }
    if let Some(part) = trace.recorded_part() {
        let why = format!("the trace holds only a part of the program ({part}), and a part cannot be reenacted");
        return Err(Error::Infeasible(why));
    }
    let rank = Rank(world.rank);
    let rate = options.rate_of(&trace, rank).map_err(Error::Infeasible)?;
    let recompute = ComputeScaling { computation: options.computation(&trace), scale: options.compute_scale };
    let hypotheses = options.hypotheses()?;
    let mut trace = recompute.apply(trace)?;
    if let Some(hypotheses) = hypotheses {
        trace = hypotheses.apply(trace)?;
    }
    let needs = feasible(&trace, rank).map_err(Error::Infeasible)?;
    Ok(Prepared { trace, needs, rate })
}

/// Whether no rank objects. Rank 0 prints the first objection and its rank. Collective.
fn agree(world: Comm<'_>, objection: Option<String>) -> Result<bool, MpiError> {
    let objections = world.gather(0, objection.unwrap_or_default().as_bytes())?;
    let mut found = objections.iter().enumerate().filter(|(_, text)| !text.is_empty());
    if let Some((rank, text)) = found.next() {
        let others = match found.count() {
            0 => String::new(),
            others => format!(" (and {others} other ranks)"),
        };
        say(format_args!("titr-reenact: rank {rank}{others}: {}", String::from_utf8_lossy(text)));
    }
    let objects = objections.iter().any(|text| !text.is_empty());
    Ok(world.max(objects.into())? == 0)
}

/// Reenacts a rank's events, together with all others, and reports.
fn perform(
    mpi: &Mpi,
    world: Comm<'_>,
    options: &ReenactOptions,
    (prepared, tags): (Prepared, TagMap),
) -> Result<(), Error> {
    let Prepared { trace, needs, rate } = prepared;
    if needs.buffered > 0 {
        mpi.attach_buffer(needs.buffered)?;
    }
    let rank = Rank(world.rank);
    let own = report::recorded(&trace, rank, needs.ended);
    let recorded = report::of_all(world, own)?;
    let mut windows = Workload::new(vec![trace.stream(rank)?]).windows;
    world.synchronise()?;
    let reenactment = Reenactment::new(mpi, rate, report::delay(own, recorded), tags);
    if let [events] = &mut windows[..] {
        let duration = reenactment.run(events)?;
        report::print(world, options.json, recorded, &duration)?;
    }
    Ok(())
}
