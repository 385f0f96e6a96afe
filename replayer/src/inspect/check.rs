//! Whether a trace can be replayed, on any machine: by replaying it on one where nothing takes time.
//!
//! Everything that a replay would stumble over shows: messages and receives that do not belong together, collectives
//! that some members did not call, requests that were never made.

use titr_common::event::Rank;
use titr_common::trace::{Manifest, Trace, TraceError};
use titr_simulation::{Comparison, dry_run};

use super::inventory::Inventory;

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Faults of the trace; none, if it is sound.
    pub findings: Vec<String>,
    /// Facts that should be known of a sound trace too.
    pub warnings: Vec<String>,
}

/// Checks a trace, which is read several times.
///
/// # Errors
/// Where it cannot be read to count what it holds.
pub fn check(trace: &Trace) -> Result<Verdict, TraceError> {
    let mut warnings = trace.manifest().map(|manifest| Comparison::of(manifest).warnings()).unwrap_or_default();
    let findings = findings(trace)?;
    warnings.extend(trace.untranslated());
    Ok(Verdict { findings, warnings })
}

fn findings(trace: &Trace) -> Result<Vec<String>, TraceError> {
    let mut findings = Vec::new();
    for rank in (0..trace.ranks()).map(Rank) {
        if let Err(error) = read(trace, rank).and_then(|()| unchanged(trace, rank)) {
            findings.push(error.to_string());
        }
    }
    if !findings.is_empty() {
        return Ok(findings);
    }
    if let Some(manifest) = trace.manifest() {
        findings.extend(against_manifest(manifest, &Inventory::of(trace)?));
    }
    findings.extend(dry_run(trace)?);
    Ok(findings)
}

fn read(trace: &Trace, rank: Rank) -> Result<(), TraceError> {
    let mut stream = trace.stream(rank)?;
    while stream.next_event()?.is_some() {}
    Ok(())
}

/// Fails where the stream is not what its rank has written.
fn unchanged(trace: &Trace, rank: Rank) -> Result<(), TraceError> {
    let entry = trace.manifest().and_then(|manifest| manifest.per_rank.get(rank.0 as usize));
    let Some((said, file)) = entry.and_then(|entry| entry.crc32).zip(trace.file_of(rank)?) else { return Ok(()) };
    file.check(said)
}

fn against_manifest(manifest: &Manifest, inventory: &Inventory) -> Vec<String> {
    let mut findings = Vec::new();
    for (said, found) in manifest.per_rank.iter().zip(&inventory.per_rank) {
        if said.events != found.events {
            findings
                .push(format!("rank {}: {} events, where the manifest says {}", said.rank, found.events, said.events));
        }
        if said.lost_events > 0 {
            findings.push(format!("rank {}: {} events could not be written", said.rank, said.lost_events));
        }
    }
    findings
}
