//! A replay on a machine where nothing takes time, to find out whether a trace can be replayed on any machine.
//!
//! The first replay buffers all sends, so a wait that never ends is due to something missing from the trace, not to the
//! machine. The second replay buffers no send. If it ends in a deadlock, the program relies on buffering, which MPI
//! does not promise (MPI 4.0 §3.5): whether it terminates depends on the library and its eager threshold.

use titr_common::collectives::Library;
use titr_common::time::Time;
use titr_common::trace::manifest::Ended;
use titr_common::trace::{Manifest, Trace, TraceError};
use titr_common::units::{Bytes, Seconds, Speed};
use titr_network::topology::HostId;
use titr_network::{LinkLoad, Network, Transfer, TransferId, Unloaded};
use titr_platform::{Implementation, Mpi, OneSided, Progress, Storage};
use titr_workload::Workload;

use crate::observe::{Breakdown, Observer, Truncations};
use crate::ranks::{Core, Deadlock, ReplayError};
use crate::replay::{Options, ReplayProgress, replay};
use crate::warnings::unfinished;

/// The outcome of a dry run.
#[derive(Clone, Debug, Default)]
pub struct DryRun {
    /// The faults of the trace: reasons why a replay does not reach the end or leaves something over, and amounts of
    /// data that do not match. Empty if the trace is sound.
    pub findings: Vec<String>,
    /// Inconsistent amounts of data, if the recorded run continued after MPI's error and ended normally, and a replay
    /// with the algorithms of any library does so as well.
    pub survived: Vec<String>,
}

/// Replays `trace` and reports progress to `follower`.
///
/// # Errors
/// If the trace cannot be opened.
pub fn dry_run(trace: &Trace, follower: Option<&mut dyn ReplayProgress>) -> Result<DryRun, TraceError> {
    let options = Options { follower, compares_amounts: true, ..instant() };
    let has_finished = has_finished(trace);
    let eager = Bytes(u64::MAX);
    let mut truncations = Truncations::new(trace);
    let findings = match run(trace, Library::SimGrid, eager, vec![&mut truncations], options)? {
        Ok(warnings) if has_finished => {
            return Ok(DryRun { findings: warnings, survived: truncations.findings() });
        }
        Ok(warnings) => truncations.findings().into_iter().chain(warnings).collect(),
        Err(ReplayError::Deadlock(deadlock))
            if trace.manifest().is_some_and(|manifest| unfinished(manifest).is_some()) =>
        {
            vec![format!("the trace ends before the run does: {deadlock:#}")]
        }
        Err(ReplayError::Deadlock(deadlock)) => vec![Deadlock { at: None, ..*deadlock }.to_string()],
        Err(error @ ReplayError::Event { .. }) if has_finished => {
            let mut survived = vec![error.to_string()];
            for &library in Library::ALL {
                let mut truncations = Truncations::new(trace);
                match run(trace, library, eager, vec![&mut truncations], instant())? {
                    Ok(warnings) if warnings.is_empty() => {
                        survived.truncate(1);
                        survived.extend(truncations.findings());
                    }
                    Ok(_) | Err(_) => return Ok(DryRun { findings: survived, survived: Vec::new() }),
                }
            }
            return Ok(DryRun { findings: Vec::new(), survived });
        }
        Err(error) => vec![error.to_string()],
    };
    Ok(DryRun { findings, survived: Vec::new() })
}

/// Whether all ranks of the recorded run called `MPI_Finalize`.
fn has_finished(trace: &Trace) -> bool {
    let all = |manifest: &Manifest| manifest.per_rank.iter().all(|rank| rank.ended == Ended::Finalize);
    trace.manifest().is_some_and(|manifest| !manifest.per_rank.is_empty() && all(manifest))
}

/// The deadlock of a trace that can be replayed if all sends are buffered, when none is; `None` if it does not rely on
/// buffers.
///
/// # Errors
/// If the trace cannot be opened.
pub fn relies_on_buffers(trace: &Trace) -> Result<Option<String>, TraceError> {
    Ok(match run(trace, Library::SimGrid, Bytes(0), Vec::new(), instant())? {
        Err(ReplayError::Deadlock(deadlock)) => Some(format!("{deadlock:#}")),
        Ok(_) | Err(_) => None,
    })
}

fn instant<'o>() -> Options<'o> {
    Options { storage: Storage::instant(), ..Options::default() }
}

/// The warnings of a replay. It is compiled once for all whose observers are a list.
fn run(
    trace: &Trace,
    library: Library,
    eager_threshold: Bytes,
    observers: Vec<&mut dyn Observer>,
    options: Options,
) -> Result<Result<Vec<String>, ReplayError>, TraceError> {
    let core = Core::new(HostId(0), Speed { per_second: f64::INFINITY });
    let one_sided = OneSided::from(Implementation::Mpich);
    let mpi = Mpi { eager_threshold, progress: Progress::Thread, one_sided, ..Mpi::from(library) };
    let workload = Workload::read_ahead(trace.streams()?).recorded_in(trace);
    let cores = vec![core; workload.windows.len()];
    let observer = (Breakdown::new(trace.ranks()), observers);
    let network: &mut dyn Network = &mut Instant::default();
    Ok(replay(workload, cores, &mpi, network, observer, options).map(|outcome| outcome.warnings))
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

    fn unloaded(&mut self, _: &Transfer) -> Unloaded {
        Unloaded { latency: Seconds(0.0), transfer: Seconds(0.0) }
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
