//! `titr advise`.

use std::io::Write;

use clap::Args;
use titr_analyses::advise::advise as advice_for;
use titr_call_sites::CallSiteNames;
use titr_common::event::CollectiveKind;
use titr_common::trace::Transformation;
use titr_simulation::Computation;

use super::machine::MachineArgs;
use super::runs::JobsArgs;
use super::{Failure, TraceArgs};
use crate::inspect::Inventory;
use crate::report::advice;

/// Replays a trace with hypotheses that its waiting times suggest, and ranks them by the time that they save.
#[derive(Debug, Args)]
pub(super) struct AdviseArgs {
    #[command(flatten)]
    machine: MachineArgs,
    /// Takes the length of computation from the times of an extended trace, not from the speed of the simulated host.
    #[arg(long)]
    timed: bool,
    /// Prints one JSON object, with a file of hypotheses for each suggestion.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    jobs: JobsArgs,
    #[command(flatten)]
    trace: TraceArgs,
}

/// The command.
pub(super) fn advise(args: &AdviseArgs, out: &mut impl Write) -> Result<(), Failure> {
    let platform = args.machine.load()?;
    let trace = CallSiteNames::default().apply(args.trace.open()?)?;
    let kinds = Inventory::of(&trace)?.kinds;
    let collectives: Vec<CollectiveKind> =
        CollectiveKind::ALL.into_iter().filter(|kind| kinds.contains_key(kind.name())).collect();
    let computation = if args.timed { Computation::Timed } else { Computation::Counted };
    let advice = advice_for(&platform, &trace, &collectives, computation, args.jobs.jobs())?;
    if !args.json {
        return Ok(advice::summary(&advice, out)?);
    }
    serde_json::to_writer(&mut *out, &advice).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}
