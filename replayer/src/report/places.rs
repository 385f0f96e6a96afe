//! The places of the program that explain a result, where an analysis has found them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::Value;
use titr_common::format::TimeUnit;
use titr_common::units::Seconds;
use titr_simulation::SimulationResult;

/// How many places are shown.
const SHOWN: usize = 3;

/// Prints what ranks wait for most, and what the critical path is made of, of the analyses that were asked for.
pub(super) fn explained(report: &SimulationResult, out: &mut impl Write) -> io::Result<()> {
    if let Some(findings) = report.analyses.get("wait-states") {
        parts("Ranks wait because of", &findings["waiting"], &findings["causes"], out)?;
    }
    if let Some(findings) = report.analyses.get("critical-path") {
        parts("On the critical path", &findings["length"], &findings["segments"], out)?;
    }
    Ok(())
}

/// Prints the largest parts of a time by their kinds and places, whatever their ranks.
fn parts(title: &str, whole: &Value, parts: &Value, out: &mut impl Write) -> io::Result<()> {
    let mut sums = BTreeMap::<String, f64>::new();
    for part in parts.as_array().into_iter().flatten() {
        *sums.entry(name(part)).or_default() += part["seconds"].as_f64().unwrap_or_default();
    }
    let whole = whole.as_f64().unwrap_or_default();
    if whole <= 0.0 || sums.is_empty() {
        return Ok(());
    }
    let unit = TimeUnit::of(Seconds(whole));
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    writeln!(out, "\n{title:<24}{:>16} = 100 %", format!("{} {}", unit.show(Seconds(whole)), unit.name))?;
    // What rounds to nothing explains nothing.
    for (name, seconds) in sums.into_iter().take(SHOWN).filter(|(_, seconds)| *seconds >= 0.0005 * whole) {
        writeln!(out, "  {:>5.1} %  {name}", 100.0 * seconds / whole)?;
    }
    Ok(())
}

/// The kind and the place of a cause or a segment.
fn name(part: &Value) -> String {
    let text = |key| part[key].as_str();
    let kind = match text("kind") {
        Some("compute") => "computation",
        Some("overhead") => "overheads of messages",
        Some("latency") => "latencies of messages",
        Some("transfer") => "the bytes of messages",
        Some("contention") => "messages that share links",
        Some("storage") => "accesses to files",
        Some(other) => other,
        None => "",
    };
    let site = text("call_site").map_or(String::new(), |site| format!(" at {site}"));
    let region = text("region").map_or(String::new(), |region| format!(" in region {region}"));
    format!("{kind}{site}{region}")
}
