//! `titr check`.

use std::io::Write;

use clap::Args;
use titr_common::terminal::say;
use titr_simulation::{ReplayProgress, unfinished};

use super::meter::Meter;
use super::{Failure, Out, TraceArgs};
use crate::inspect::{self, Verdict};

/// Checks that a trace is complete, that its messages, collectives and requests match, and that its ranks count
/// computation in the same way.
#[derive(Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    trace: TraceArgs,
    /// Prints nothing: the exit status says whether the trace is sound.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn check(args: &CheckArgs, out: &mut Out) -> Result<(), Failure> {
    let trace = &args.trace;
    let source = trace.open()?;
    let mut meter = if args.quiet { None } else { Meter::new(&source) };
    let verdict = inspect::check(&source, meter.as_mut().map(|meter| meter as &mut dyn ReplayProgress))?;
    let Verdict { findings, warnings, relies_on_buffers } = verdict;
    drop(meter);
    if args.quiet {
        return if findings.is_empty() { Ok(()) } else { Err(Failure::Findings) };
    }
    let early = match source.manifest().and_then(unfinished) {
        Some(_) => ", of a run that ended without MPI_Finalize",
        None => "",
    };
    for warning in warnings {
        say(format_args!("{warning}"));
    }
    if let Some(deadlock) = relies_on_buffers {
        say(format_args!(
            "the program relies on buffered sends, which MPI does not promise: with none, and in a replay with a small \
             mpi.eager_threshold, it ends in a deadlock: {deadlock}"
        ));
        writeln!(out, "{trace}: sound where sends are buffered{early}")?;
        return Ok(());
    }
    if findings.is_empty() {
        writeln!(out, "{trace}: sound{early}")?;
        return Ok(());
    }
    for finding in findings {
        say(format_args!("{finding}"));
    }
    Err(Failure::Findings)
}
