//! `titr advise`.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use titr_analyses::advise::{Step, advise as advice_for};
use titr_common::event::CollectiveKind;
use titr_common::format::uncertain;
use titr_common::terminal::say;
use titr_common::trace::Transformation;
use titr_simulation::Computation;
use titr_workload::call_sites::CallSiteNames;

use super::machine::MachineArgs;
use super::program::{Compute, compute};
use super::runs::JobsArgs;
use super::{Failure, TraceArgs};
use crate::inspect::Inventory;
use crate::report::advice;

/// Replays a trace with hypotheses (changes of the program or the machine) that its waiting times suggest, and sorts
/// them by the time that they save.
#[derive(Debug, Args)]
pub(super) struct AdviseArgs {
    #[command(flatten)]
    machine: MachineArgs,
    /// Sets the time of computation, as in `titr replay`: `counted`, `timed`, or `none`.
    #[arg(long, value_name = "SOURCE", value_parser = compute)]
    compute: Option<Compute>,
    /// The same as `--compute timed`.
    #[arg(long, hide = true, conflicts_with = "compute")]
    timed: bool,
    /// Prints one JSON object, with the text of a file for `titr-replay --what-if` for each hypothesis.
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
    let computation = match args.compute {
        Some(Compute::Scaled(_)) => return Err(Failure::Usage("titr advise takes no --compute scaled=FACTOR".into())),
        Some(compute) => compute.source(),
        None if args.timed => Computation::Timed,
        None => Computation::of(&trace),
    };
    let steps = AtomicUsize::new(0);
    let all = AtomicUsize::new(0);
    let follow = |step: Step| match step {
        Step::Replayed(time, hypotheses) => {
            all.store(hypotheses, Ordering::Relaxed);
            say(format_args!("{} as it is; now {hypotheses} hypotheses", uncertain(time, None)));
        }
        Step::Tried(hypothesis, saves) => {
            let number = steps.fetch_add(1, Ordering::Relaxed) + 1;
            let outcome = match saves {
                Some(saves) if saves.0 > 0.0 => format!("saves {}", uncertain(saves, None)),
                Some(_) => "saves nothing".to_owned(),
                None => "does not fit the program".to_owned(),
            };
            say(format_args!("{number} of {}: {hypothesis}: {outcome}", all.load(Ordering::Relaxed)));
        }
    };
    let follow: &(dyn Fn(Step) + Sync) = if args.json { &|_| () } else { &follow };
    let advice = advice_for(&platform, &trace, &collectives, computation, args.jobs.jobs(), follow)?;
    if !args.json {
        return Ok(advice::summary(&advice, out)?);
    }
    serde_json::to_writer(&mut *out, &advice).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}
