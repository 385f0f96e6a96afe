//! `titr triggers`: finds which message of a network trace triggers which.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use titr_common::format::{count, plural};
use titr_common::output::claim;
use titr_simulation::network_traces::{Rules, TriggerCounts, TriggerSource, find_triggers};

use super::Failure;

/// Finds the message that triggers each message of a network trace, and writes the trace with these triggers.
#[derive(Debug, Args)]
pub(crate) struct TriggersArgs {
    /// A trace that `titr replay --network-trace` wrote.
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Writes the trace with its triggers to this file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Reads rules for the triggers of each kind of message from this file (see docs/NETWORK-TRACES.md). Without it, the trigger
    /// of a message is the last message that its node received.
    #[arg(long, value_name = "FILE", conflicts_with = "exact")]
    rules: Option<PathBuf>,
    /// Takes the triggers that the simulation recorded with the trace.
    #[arg(long)]
    exact: bool,
}

pub(crate) fn triggers(args: &TriggersArgs, out: &mut impl Write) -> Result<(), Failure> {
    claim([args.output.clone()])?;
    let source = match &args.rules {
        _ if args.exact => TriggerSource::Exact,
        Some(rules) => TriggerSource::Rules(Rules::load(rules)?),
        None => TriggerSource::Rules(Rules::default()),
    };
    let found = find_triggers(&args.trace, &args.output, &source)?;
    let TriggerCounts { messages, exact, replies, protocol, data, none } = found;
    writeln!(out, "{} {}", count(messages), plural(messages, "message", "messages"))?;
    let rows = [
        ("known from the trace", exact),
        ("reply to a request", replies),
        ("table of the protocol", protocol),
        ("last data received", data),
        ("no trigger", none),
    ];
    for (rule, found) in rows.into_iter().filter(|(_, found)| *found > 0) {
        let share = 100.0 * found as f64 / messages as f64;
        writeln!(out, "  {rule:<28}{:>12}  {share:>5.1} %", count(found))?;
    }
    Ok(())
}
