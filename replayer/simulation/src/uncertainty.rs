//! How uncertain a predicted time is, as far as the trace and the replay know it.
//!
//! Three sources are known: the spread of repeated recordings of the program (`titr combine`), the spread of the time that
//! the reference kernel took on ranks that counted CPU time, and the spread of runs with different random choices. The first
//! two concern computation, and so count by its part of the time. The sources are independent: their squares add up.

use std::collections::BTreeMap;

use titr_common::statistics::relative_deviation;
use titr_common::time::Time;
use titr_common::trace::Manifest;
use titr_common::units::Seconds;
use titr_workload::Computation;

use crate::observe::Shares;

/// The standard deviation of a predicted time as a fraction of that time; `None` if no source of uncertainty is known.
pub(crate) fn uncertainty(
    manifest: Option<&Manifest>,
    computation: Computation,
    time: Seconds,
    per_rank: &[Shares],
    runs: &[Time],
) -> Option<f64> {
    let of_volumes = match (computation, manifest) {
        (Computation::Counted, Some(manifest)) if is_unknown(manifest) => return None,
        (Computation::Counted, Some(manifest)) => of_volumes(manifest),
        (Computation::Counted | Computation::Timed | Computation::Ignored, _) => None,
    };
    let most = per_rank.iter().map(|shares| shares.compute.0).fold(0.0, f64::max);
    let part = if time.0 > 0.0 { (most / time.0).min(1.0) } else { 0.0 };
    let of_runs = relative_deviation(&runs.iter().map(|time| time.seconds().0).collect::<Vec<_>>());
    let all = (of_volumes.unwrap_or_default() * part).hypot(of_runs);
    (all > 0.0).then_some(all)
}

/// The relative standard deviation of the slowest rank's computation.
pub(crate) fn of_volumes(manifest: &Manifest) -> Option<f64> {
    match &manifest.combined {
        // A choice among several runs varies less than one run.
        Some(combined) => Some(combined.slowest_rank_deviation / f64::from(combined.runs).sqrt()),
        None => of_reference_kernel(manifest),
    }
}

/// Whether the spread of the volumes is unknown: CPU time of a busy machine, recorded once, is longer by a part that nothing
/// tells, the reference kernel at the start included.
pub(crate) fn is_unknown(manifest: &Manifest) -> bool {
    manifest.combined.is_none() && disturbed_counts(manifest).is_some()
}

/// The part of their time that threads may wait for a core before their caches count as shared.
const DISTURBED: f64 = 0.1;
/// The relative deviation of the time of the reference kernel beyond which it counts as disturbed.
const UNLIKE: f64 = 0.15;

/// A sentence on CPU time that depends on what else ran at that time; `None` if none was counted, or nothing disturbed it.
pub(crate) fn disturbed_counts(manifest: &Manifest) -> Option<String> {
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
        let (which, repeat) = match &manifest.combined {
            None => (String::new(), "titrace --repeat 3 takes the least of three runs; "),
            Some(combined) => (format!(", {} of {} runs,", combined.by.name(), combined.runs), ""),
        };
        format!(
            "computation was counted in CPU time{which} on a busy machine and may be too long by an unknown part: {} \
             ({repeat}--counter emulated counts instructions, and hosts.speed then has to say how many a core executes)",
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

#[cfg(test)]
mod tests {
    use super::*;
    use titr_common::trace::combined::{Combined, CombinedBy};
    use titr_common::trace::manifest::{Counter, ReferenceCount};

    fn counted(seconds: &[f64]) -> Manifest {
        let mut manifest = Manifest::of_unknown_origin(seconds.len() as u32);
        for (entry, &seconds) in manifest.per_rank.iter_mut().zip(seconds) {
            let reference = Some(ReferenceCount { volume: 1e9 * seconds, seconds });
            entry.counter = Counter { rate: Some(1e9), reference, ..Counter::exact("cpu") };
        }
        manifest
    }

    fn shares(compute: f64) -> Shares {
        Shares { compute: Seconds(compute), ..Shares::default() }
    }

    #[test]
    fn the_spread_of_the_kernel_counts_by_the_part_of_computation() {
        let manifest = counted(&[0.95, 1.05]);
        let of = |computation| {
            uncertainty(Some(&manifest), computation, Seconds(4.0), &[shares(1.0), shares(2.0)], &[Time::ZERO])
        };
        let kernel = 0.005_f64.sqrt();
        assert!((of(Computation::Counted).unwrap() - kernel / 2.0).abs() < 1e-12);
        assert_eq!([Computation::Timed, Computation::Ignored].map(of), [None, None]);
    }

    #[test]
    fn nothing_is_known_of_a_busy_machine() {
        let mut manifest = counted(&[0.5, 1.5]);
        assert!(disturbed_counts(&manifest).unwrap().contains("--repeat 3"));
        manifest.combined = Some(Combined::new(CombinedBy::Least, 3, 0.0, Vec::new()));
        let said = disturbed_counts(&manifest).unwrap();
        assert!(said.contains("least of 3 runs, on a busy machine") && !said.contains("--repeat"), "{said}");
        manifest.combined = None;
        let times = [Time(9), Time(11)];
        let of = |computation| uncertainty(Some(&manifest), computation, Seconds(1.0), &[shares(1.0)], &times);
        assert_eq!(of(Computation::Counted), None);
        assert!(of(Computation::Timed).is_some());
    }

    #[test]
    fn runs_that_agree_leave_nothing_uncertain() {
        let runs =
            |picoseconds: [u64; 2]| uncertainty(None, Computation::Counted, Seconds(1.0), &[], &picoseconds.map(Time));
        assert_eq!(runs([7, 7]), None);
        assert!((runs([9, 11]).unwrap() - 0.02_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn exact_counts_of_one_run_have_no_known_spread() {
        let manifest = Manifest::of_unknown_origin(2);
        assert_eq!(uncertainty(Some(&manifest), Computation::Counted, Seconds(1.0), &[shares(1.0)], &[]), None);
    }
}
