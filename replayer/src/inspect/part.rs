//! The part of a program in a trace that does not hold all of it.

use titr_common::format::{count, plural};
use titr_common::trace::Trace;
use titr_common::trace::part_calls::PartCalls;

/// The text of the line that `titr info` has on the part; `None` if the trace is of the whole program.
#[must_use]
pub fn recorded_part(trace: &Trace) -> Option<String> {
    let (part, manifest) = (trace.recorded_part()?, trace.manifest()?);
    let mut all = PartCalls::default();
    let mut ranks = 0;
    for calls in manifest.per_rank.iter().filter_map(|entry| entry.part) {
        ranks += u64::from(calls.times > 0);
        all.before += calls.before;
        all.inside += calls.inside;
        all.after += calls.after;
    }
    let PartCalls { before, inside, after, .. } = all;
    Some(format!(
        "{part}, of {} {}: {} {} in it, {} before it, {} after it",
        count(ranks),
        plural(ranks, "rank", "ranks"),
        count(inside),
        plural(inside, "call", "calls"),
        count(before),
        count(after)
    ))
}
