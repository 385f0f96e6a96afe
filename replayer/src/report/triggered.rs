//! The summary of a replayed network trace, as text for the user.

use std::io::{self, Write};

use titr_common::format::{TimeUnit, count, plural, uncertain, volume};
use titr_simulation::result::Percentiles;
use titr_simulation::triggered::TriggeredResult;

use super::text::{channel_table, links, of_runs, packets};

/// Prints the summary of a replayed network trace.
///
/// # Errors
/// If `out` cannot be written.
pub(crate) fn summary(result: &TriggeredResult, out: &mut impl Write) -> io::Result<()> {
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
    writeln!(out, "                on a {}, {} {noun}, {} model", network.topology, count(hosts), network.model)?;
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
    links(&result.links, out)?;
    if let Some(channels) = result.packets.as_ref().and_then(|packets| packets.channels.as_ref()) {
        channel_table(channels, out)?;
    }
    if !result.warnings.is_empty() {
        writeln!(out, "\nTo be kept in mind")?;
        for warning in &result.warnings {
            writeln!(out, "  {warning}")?;
        }
    }
    let (wall, rate) = (result.replay.wall_seconds, count(result.replay.messages_per_second as u64));
    writeln!(out, "\nReplayed in {wall:.3} s, {rate} messages a second of a processor's time")
}
