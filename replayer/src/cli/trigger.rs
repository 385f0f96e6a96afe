//! `titr trigger`: replays a trace of the messages in a network.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use titr_common::format::{TimeUnit, count, plural, uncertain, volume};
use titr_common::output::claim;
use titr_common::terminal::{Escaped, on_one_line};
use titr_network::statistics::Percentiles;
use titr_simulation::triggered::{TriggeredReplay, TriggeredResult};

use super::machine::MachineArgs;
use super::report::ReportArgs;
use super::runs::RunsArgs;
use super::time::TimeArgs;
use super::{Failure, Out};
use crate::report::Results;
use crate::report::text::{channel_table, links, of_runs, packets};

/// Replays a network trace: each message is injected when its triggers have arrived, so that the network's speed feeds back into
/// its load.
#[derive(Args)]
pub(super) struct TriggerArgs {
    /// The network trace, which `titr replay --network-trace` wrote and to which `titr triggers` added triggers.
    #[arg(value_name = "MESSAGES")]
    messages: PathBuf,
    #[command(flatten)]
    machine: MachineArgs,
    /// Injects each message at its own time, regardless of its triggers.
    #[arg(long)]
    open_loop: bool,
    #[command(flatten)]
    runs: RunsArgs,
    /// Prints each virtual channel of a packet network, not only the busiest links.
    #[arg(long)]
    channels: bool,
    #[command(flatten)]
    time: TimeArgs,
    #[command(flatten)]
    report: ReportArgs,
}

pub(super) fn trigger(args: &TriggerArgs, out: &mut Out) -> Result<(), Failure> {
    args.time.measure(out, |out| {
        let platform = args.machine.load()?;
        claim(args.report.files())?;
        let replay = TriggeredReplay {
            platform: &platform,
            trace: &args.messages,
            open_loop: args.open_loop,
            runs: args.runs.runs.unwrap_or(1),
            jobs: args.runs.jobs(),
            channels: args.channels,
        };
        let result = replay.run()?;
        args.report.write(Results::Triggered(&result), out)?;
        if args.report.has_summary() {
            summary(&result, out)?;
        }
        Ok(None)
    })
}

/// Prints the summary of a replayed network trace.
fn summary(result: &TriggeredResult, out: &mut Escaped<impl Write>) -> io::Result<()> {
    let TriggeredResult { simulated_time, recorded_time, messages, triggered, bytes, network, .. } = result;
    writeln!(out, "Last arrival    {}", uncertain(*simulated_time, None))?;
    if let Some(runs) = &result.runs {
        writeln!(out, "                {}", of_runs(runs))?;
    }
    if let Some(recorded) = recorded_time {
        writeln!(out, "                {} when it was recorded", uncertain(*recorded, None))?;
    }
    let hosts = u64::from(network.hosts);
    let noun = plural(hosts, "host", "hosts");
    writeln!(
        out,
        "                on a {}, {} {noun}, {} model",
        on_one_line(&network.topology),
        count(hosts),
        network.model
    )?;
    let how = if result.open_loop {
        "all at their own times".to_owned()
    } else {
        format!("{} by triggers", count(*triggered))
    };
    let noun = plural(*messages, "message", "messages");
    writeln!(out, "                {} {noun}, {how}, {}", count(*messages), volume(*bytes))?;
    let Percentiles { p50, p95, p99, max } = result.latency_percentiles;
    let unit = TimeUnit::of(max);
    let [mean, p50, p95, p99, max] = [result.latency, p50, p95, p99, max].map(|time| unit.show(time));
    let name = unit.name;
    writeln!(out, "  message takes {mean} {name}; half within {p50}, 95 % {p95}, 99 % {p99}, all {max}")?;
    if let Some(found) = &result.packets {
        packets(found, out)?;
    }
    links(&result.links, result.packets.as_ref(), out)?;
    if let Some(channels) = result.packets.as_ref().and_then(|packets| packets.channels.as_ref()) {
        channel_table(channels, out)?;
    }
    if !result.warnings.is_empty() {
        writeln!(out, "\nTo be kept in mind")?;
        for warning in &result.warnings {
            writeln!(out, "  {}", on_one_line(warning))?;
        }
    }
    let (wall, rate) = (result.replay.wall_seconds, count(result.replay.messages_per_second as u64));
    writeln!(out, "\nReplayed in {wall:.3} s, {rate} messages a second of a processor's time")
}
