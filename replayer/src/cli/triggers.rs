//! `titr triggers`: finds which message of a network trace triggers which.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use titr_common::format::count;
use titr_network_traces::{Rules, TriggerCounts, TriggerSource, find_triggers};

use super::Failure;

/// Finds the message that triggers each message of a network trace, and writes the trace with these triggers.
#[derive(Debug, Args)]
pub struct TriggersArgs {
    /// The trace, as `titr-replay --network-trace` writes it.
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Writes the trace with its triggers to this file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Reads from this file which kinds of messages trigger which (see docs/NETWORK-TRACES.md). Without it, the last message
    /// received at its node triggers a message.
    #[arg(long, value_name = "FILE", conflicts_with = "exact")]
    rules: Option<PathBuf>,
    /// Takes the triggers that the simulation knew when it recorded the trace.
    #[arg(long)]
    exact: bool,
}

/// The command.
pub fn triggers(args: &TriggersArgs, out: &mut impl Write) -> Result<(), Failure> {
    if args.output.canonicalize().is_ok_and(|output| args.trace.canonicalize().is_ok_and(|trace| trace == output)) {
        return Err(Failure::Usage("--output must be another file than the trace".to_owned()));
    }
    let source = match &args.rules {
        _ if args.exact => TriggerSource::Exact,
        Some(rules) => TriggerSource::Rules(Rules::load(rules)?),
        None => TriggerSource::Rules(Rules::default()),
    };
    let TriggerCounts { messages, exact, replies, protocol, data, none } =
        find_triggers(&args.trace, &args.output, &source)?;
    writeln!(out, "{} messages", count(messages))?;
    let rows = [
        ("recorded by the simulation", exact),
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
