//! Disturbances of CPU time that was counted in place of instructions: other work on the cores of the ranks, as far as the
//! manifest of the trace knows of it.

use std::collections::BTreeMap;

use titr_common::statistics::relative_deviation;
use titr_common::trace::Manifest;

/// The part of their time that threads may wait for a core before their caches count as shared.
const DISTURBED: f64 = 0.1;
/// The relative deviation of the time of the reference kernel beyond which it counts as disturbed.
const UNLIKE: f64 = 0.15;

/// A sentence on CPU time that depends on what else ran at that time; `None` if none was counted, or nothing disturbed it.
#[must_use]
pub fn disturbed_counts(manifest: &Manifest) -> Option<String> {
    if manifest.combined.is_some() {
        return None;
    }
    let timed: Vec<_> = manifest.per_rank.iter().filter(|entry| entry.counter.rate.is_some()).collect();
    let times: Vec<_> = timed.iter().filter_map(|entry| entry.process_time.as_deref()).collect();
    let queued: f64 = times.iter().filter_map(|time| time.run_queue).sum();
    let used: f64 = times.iter().map(|time| time.calling_threads).sum();
    let stolen: f64 = times.iter().filter_map(|time| time.stolen).fold(0.0, f64::max);
    let mut why = Vec::new();
    if queued >= DISTURBED * (queued + used) && queued > 0.0 {
        let part = 100.0 * queued / (queued + used);
        why.push(format!("ranks waited for a core for {part:.0} % of their time"));
    }
    if stolen >= DISTURBED {
        why.push(format!("the host of the virtual machine took {:.0} % of the time", 100.0 * stolen));
    }
    let deviation = of_reference_kernel(manifest).unwrap_or_default();
    if deviation >= UNLIKE {
        why.push(format!("a fixed computation took unlike times on the ranks, ± {:.0} %", 100.0 * deviation));
    }
    (!why.is_empty()).then(|| {
        format!(
            "computation was counted in CPU time on a busy machine, which makes it longer by a part that is not known: {} \
             (titrace --counter emulated counts instructions; --repeat 3 takes the least of three runs)",
            why.join("; ")
        )
    })
}

/// The relative standard deviation of the CPU time of the reference kernel, among ranks on processors of one model: the
/// largest of all models.
pub(crate) fn of_reference_kernel(manifest: &Manifest) -> Option<f64> {
    let mut by_model: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for entry in &manifest.per_rank {
        if let (Some(_), Some(kernel)) = (entry.counter.rate, entry.counter.reference) {
            by_model.entry(&entry.cpu).or_default().push(kernel.seconds);
        }
    }
    by_model.values().map(|seconds| relative_deviation(seconds)).max_by(f64::total_cmp)
}
