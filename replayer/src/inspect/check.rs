//! Whether a trace can be replayed, on any machine: by replaying it on one where nothing takes time.
//!
//! Whatever a replay would stumble over shows: messages and receives that do not belong together, collectives
//! that some members did not call, requests that were never made. All sends are buffered there, so a wait that has no end is due to
//! something that is missing and not to a machine.

use titr_common::collectives::{Library, Selection};
use titr_common::event::Rank;
use titr_common::trace::{Manifest, Trace, TraceError};
use titr_common::units::{Bytes, Speed};

use super::counters::Comparison;
use super::inventory::Inventory;
use titr_common::time::Time;
use titr_network::topology::HostId;
use titr_network::{LinkLoad, Network, Transfer, TransferId};
use titr_platform::{EagerTransfer, Mpi, Overhead};
use titr_simulation::ranks::Seat;
use titr_simulation::replay::{Options, replay};
use titr_simulation::workload::Workload;

/// What was found out about a trace.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// What is wrong with it; nothing, if it is sound.
    pub findings: Vec<String>,
    /// What should be known of it all the same.
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

fn findings(source: &Trace) -> Result<Vec<String>, TraceError> {
    let mut findings = Vec::new();
    for rank in (0..source.ranks()).map(Rank) {
        if let Err(error) = read(source, rank).and_then(|()| unchanged(source, rank)) {
            findings.push(error.to_string());
        }
    }
    if !findings.is_empty() {
        return Ok(findings);
    }
    if let Some(manifest) = source.manifest() {
        findings.extend(against_manifest(manifest, &Inventory::of(source)?));
    }
    findings.extend(unreplayable(source)?);
    Ok(findings)
}

fn read(source: &Trace, rank: Rank) -> Result<(), TraceError> {
    let mut stream = source.stream(rank)?;
    while stream.next_event()?.is_some() {}
    Ok(())
}

/// Whether the stream is what its rank has written.
fn unchanged(source: &Trace, rank: Rank) -> Result<(), TraceError> {
    let entry = source.manifest().and_then(|manifest| manifest.per_rank.get(rank.0 as usize));
    let Some((said, file)) = entry.and_then(|entry| entry.crc32).zip(source.file_of(rank)?) else { return Ok(()) };
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

/// Why it cannot be replayed to its end without anything left over.
fn unreplayable(source: &Trace) -> Result<Vec<String>, TraceError> {
    let seat = Seat { host: HostId(0), speed: Speed { per_second: f64::INFINITY } };
    let mpi = Mpi {
        eager_threshold: Bytes(u64::MAX),
        eager_transfer: EagerTransfer::AtOnce,
        send_overhead: Overhead::default(),
        isend_overhead: Overhead::default(),
        recv_overhead: Overhead::default(),
        collectives: Selection::from(Library::SimGrid),
    };
    let workload = Workload::read_ahead(source.streams()?);
    let seats = vec![seat; workload.ranks()];
    Ok(match replay(workload, seats, &mpi, &mut Instant::default(), (), Options::default()) {
        Ok(outcome) => outcome.warnings,
        Err(error) => vec![error.to_string()],
    })
}

/// A network that takes no time.
#[derive(Default)]
struct Instant {
    now: Time,
    under_way: Vec<TransferId>,
}

impl Network for Instant {
    fn inject(&mut self, now: Time, transfer: Transfer) {
        self.now = now;
        self.under_way.push(transfer.id);
    }

    fn next_event(&mut self) -> Option<Time> {
        (!self.under_way.is_empty()).then_some(self.now)
    }

    fn advance(&mut self, _: Time, delivered: &mut Vec<TransferId>) {
        delivered.append(&mut self.under_way);
    }

    fn link_loads(&self) -> Vec<LinkLoad> {
        Vec::new()
    }
}
