//! Possible causes of a deadlock in a replay. The traced program did not end in a deadlock, so the trace and the
//! platform are the first suspects.

use titr_common::format::{count, plural};
use titr_common::trace::Manifest;
use titr_common::units::Bytes;

use crate::ranks::Deadlock;
use crate::warnings;

/// The possible causes of a deadlock, one sentence each. If the manifest knows how the recorded run ended, the first
/// sentence says so.
pub(crate) fn causes(deadlock: &Deadlock, manifest: Option<&Manifest>, eager_threshold: Bytes) -> Vec<String> {
    let mut causes: Vec<String> =
        manifest.filter(|manifest| !manifest.per_rank.is_empty()).map(ending).into_iter().collect();
    if let Some((sends, Bytes(largest))) = deadlock.unbuffered {
        let (which, wait) = (plural(sends, "send", "sends"), plural(sends, "waits", "wait"));
        causes.push(format!(
            "perhaps the program relies on buffered sends, which MPI does not promise: {} {which} of at least \
             mpi.eager_threshold ({} bytes) {wait}, and none does with --set 'mpi.eager_threshold={} B'",
            count(sends),
            eager_threshold.0,
            largest.saturating_add(1)
        ));
    }
    if deadlock.locks > 0 {
        let waits = plural(deadlock.locks, "wait is", "waits are");
        causes.push(format!(
            "perhaps locks of windows are granted in another order than in the recorded run: {} {waits} for a lock that \
             another rank holds",
            count(deadlock.locks)
        ));
    }
    causes.push(
        "perhaps a part of the trace is missing, torn or of another run, or a call is not in it: see `titr check` and \
         `titr info`"
            .to_owned(),
    );
    causes.extend(manifest.map(warnings::of_manifest).unwrap_or_default());
    causes
}

/// The end of the recorded run.
fn ending(manifest: &Manifest) -> String {
    match warnings::unfinished(manifest) {
        None => "the recorded run did finish: all ranks called MPI_Finalize".to_owned(),
        Some(how) => format!("the recorded run did not finish, either: {how}"),
    }
}
