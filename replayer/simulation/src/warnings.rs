//! Warnings from a trace's manifest, about calls and events that the trace does not hold.

use std::collections::BTreeMap;

use titr_common::event::Rank;
use titr_common::format::{count, counted, plural, ranges};
use titr_common::trace::Manifest;
use titr_common::trace::manifest::Ended;
use titr_common::trace::manifest::RankTimes;
use titr_common::trace::process_time::ProcessTime;

/// A number and its noun: `1,024 ranks`.
pub(crate) fn many(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), plural(number, one, many))
}

/// The first sentence of a result with ranks that wait forever: the simulated time is no prediction.
pub(crate) fn no_prediction(waiting: u64, ranks: u64) -> Option<String> {
    let verb = plural(waiting, "waits", "wait");
    (waiting > 0).then(|| {
        format!(
            "no prediction: {} of {} ranks {verb} for ever, for events that are not in the trace",
            count(waiting),
            count(ranks)
        )
    })
}

/// A phrase on the ranks whose streams are torn.
pub(crate) fn torn_ranks(torn: &[(Rank, String)]) -> Option<String> {
    let ranks: Vec<u32> = torn.iter().map(|(rank, _)| rank.0).collect();
    let traces = plural(ranks.len() as u64, "the trace of rank", "the traces of ranks");
    let are = plural(ranks.len() as u64, "is", "are");
    (!ranks.is_empty()).then(|| format!("{traces} {} {are} torn", ranges(&ranks)))
}

/// A sentence on the ranks whose streams are torn, and why the first is.
pub(crate) fn torn(torn: &[(Rank, String)]) -> Vec<String> {
    let [(_, first), more @ ..] = torn else { return Vec::new() };
    let others = format!("; {} torn, too", many(more.len() as u64, "rank is", "ranks are"));
    vec![if more.is_empty() { first.clone() } else { format!("{first}{others}") }]
}

/// A sentence on the ranks that did not end in `MPI_Finalize`, and how they ended; `None` if all did, or nothing is known.
#[must_use]
pub fn unfinished(manifest: &Manifest) -> Option<String> {
    let mut by_ending = BTreeMap::<(bool, String), Vec<u32>>::new();
    for rank in manifest.per_rank.iter().filter(|rank| rank.ended != Ended::Finalize) {
        by_ending.entry((rank.ended.may_be_consequence(), rank.ended.to_string())).or_default().push(rank.rank);
    }
    let (all, unfinished) = (manifest.per_rank.len() as u64, by_ending.values().map(Vec::len).sum::<usize>());
    let how = |((_, how), ranks): ((bool, String), Vec<u32>)| {
        format!("{} {} {how}", plural(ranks.len() as u64, "rank", "ranks"), ranges(&ranks))
    };
    let hows: Vec<String> = by_ending.into_iter().map(how).collect();
    (unfinished > 0).then(|| {
        let ranks = counted(unfinished, "rank", "ranks");
        format!("{ranks} of {} never called MPI_Finalize: {}", count(all), hows.join(", "))
    })
}

/// A sentence for each kind of call or event that is missing from the trace.
pub(crate) fn of_manifest(manifest: &Manifest) -> Vec<String> {
    let mut untraced = BTreeMap::<&str, u64>::new();
    for (name, calls) in manifest.per_rank.iter().flat_map(|rank| &rank.untraced) {
        *untraced.entry(name).or_default() += calls;
    }
    let lost: u64 = manifest.per_rank.iter().map(|rank| rank.lost_events).sum();
    let mut warnings: Vec<String> = untraced
        .into_iter()
        .map(|(name, number)| {
            format!("not simulated, as it is not in the trace: {name} ({})", many(number, "call", "calls"))
        })
        .collect();
    if lost > 0 {
        warnings.push(format!("{} could not be written when tracing", many(lost, "event", "events")));
    }
    let threaded = manifest.per_rank.iter().filter(|rank| rank.threads > 1).count() as u64;
    if threaded > 0 {
        warnings.push(format!(
            "{} called MPI from several threads: each computes on a core of its own, and what they waited for each \
             other in but MPI is not in the trace",
            many(threaded, "rank", "ranks")
        ));
    }
    warnings.extend(uncounted_computation(manifest));
    warnings
}

/// A sentence for each kind of computation that was not counted, where it would change the prediction.
pub fn uncounted_computation(manifest: &Manifest) -> impl Iterator<Item = String> {
    let threads = ("threads that do not call MPI", " (TITRACE_THREADS=sum adds it to that)");
    let of_threads = RankTimes::that_matter(manifest, ProcessTime::uncounted_threads).zip(Some(threads));
    let of_children = RankTimes::that_matter(manifest, |time| time.children).zip(Some(("child processes", "")));
    let calls = ("calls of MPI that are no events", "");
    let of_calls = RankTimes::that_matter(manifest, |time| time.passed_over).zip(Some(calls));
    of_threads.into_iter().chain(of_children).chain(of_calls).map(|(RankTimes { seconds, ranks, counted }, (whose, advice))| {
        format!(
            "{seconds:.3} s of CPU time of {whose} is not in the trace, in {} whose computation in it took {counted:.3} s{advice}",
            many(ranks, "rank", "ranks")
        )
    })
}
