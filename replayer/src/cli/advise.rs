//! `titr advise`.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use titr_common::format::uncertain;
use titr_common::terminal::{on_one_line, say};
use titr_common::trace::Transformation;
use titr_common::units::Seconds;
use titr_simulation::Computation;

use super::machine::MachineArgs;
use super::program::{Compute, compute};
use super::runs::JobsArgs;
use super::{Failure, TraceArgs, print_json};
use crate::call_sites::CallSiteNames;
use crate::studies::advise::{Advice, Step, TriedHypothesis, advise as advice_for};

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
    /// Prints one JSON object, with the text of a file for `titr replay --what-if` for each hypothesis.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    jobs: JobsArgs,
    #[command(flatten)]
    trace: TraceArgs,
}

pub(super) fn advise(args: &AdviseArgs, out: &mut impl Write) -> Result<(), Failure> {
    let platform = args.machine.load()?;
    let trace = CallSiteNames::default().apply(args.trace.open()?)?;
    let platform = platform.for_trace(&trace);
    let computation = match args.compute {
        Some((_, Some(_))) => return Err(Failure::Usage("titr advise takes no --compute scaled=FACTOR".into())),
        Some((source, None)) => source,
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
            let (all, hypothesis) = (all.load(Ordering::Relaxed).max(number), on_one_line(hypothesis));
            say(format_args!("{number} of {all}: {hypothesis}: {outcome}"));
        }
    };
    let follow: &(dyn Fn(Step) + Sync) = if args.json { &|_| () } else { &follow };
    let advice = advice_for(&platform, &trace, computation, args.jobs.jobs(), follow)?;
    Ok(if args.json { print_json(&advice, out) } else { summary(&advice, out) }?)
}

/// The hypotheses that are shown.
const SHOWN: usize = 10;
/// Hypotheses that save nothing, of which so many are named.
const OF_NO_USE: usize = 12;

/// Less than this part of the predicted time is not worth trying.
const WORTH: f64 = 0.001;

/// Prints promising changes, with the hypotheses file of the best one.
fn summary(advice: &Advice, out: &mut impl Write) -> io::Result<()> {
    let Advice { simulated_time: Seconds(simulated_time), hypotheses, bounds, not_tried } = advice;
    writeln!(out, "Predicted time  {}", uncertain(Seconds(*simulated_time), None))?;
    let worth: Vec<&TriedHypothesis> =
        hypotheses.iter().filter(|tried| tried.saves.0 >= WORTH * simulated_time).collect();
    if worth.is_empty() {
        writeln!(out, "\nNone of {} hypotheses saves as much as a thousandth of it.", hypotheses.len())?;
    } else {
        writeln!(out, "\nWould save")?;
        let mut before = None;
        for tried in worth.iter().take(SHOWN) {
            line(tried, *simulated_time, before, out)?;
            before = tried.because.as_deref();
        }
        if worth.len() > SHOWN {
            writeln!(out, "  and {} more (--json)", worth.len() - SHOWN)?;
        }
        let of_no_use = hypotheses.iter().filter(|tried| tried.saves.0 < WORTH * simulated_time);
        let of_no_use: Vec<_> = of_no_use.map(|tried| on_one_line(&tried.hypothesis).into_owned()).collect();
        if !of_no_use.is_empty() {
            let rest = of_no_use.len().saturating_sub(OF_NO_USE);
            let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
            let shown = &of_no_use[..of_no_use.len() - rest];
            writeln!(out, "    nothing         {}{more}", shown.join("; "))?;
        }
    }
    writeln!(out, "\nAt most")?;
    bounds.iter().try_for_each(|tried| line(tried, *simulated_time, None, out))?;
    if let Some(best) = worth.first() {
        writeln!(out, "\nThe first, for titr replay --what-if:\n\n{}", best.changes.trim_end())?;
    }
    if !not_tried.is_empty() {
        writeln!(
            out,
            "\nHypotheses that were not tried, or do not fit the program: {} (--json says why).",
            not_tried.len()
        )?;
    }
    Ok(())
}

/// Prints a hypothesis and what it saves, and its cause unless the line before has it.
fn line(tried: &TriedHypothesis, whole: f64, before: Option<&str>, out: &mut impl Write) -> io::Result<()> {
    let saves = uncertain(tried.saves, None);
    writeln!(out, "  {:>5.1} %  {saves:>9}  {}", 100.0 * tried.saves.0 / whole, on_one_line(&tried.hypothesis))?;
    let because = tried.because.iter().filter(|because| Some(because.as_str()) != before);
    because.into_iter().try_for_each(|because| writeln!(out, "                      {}", on_one_line(because)))
}
