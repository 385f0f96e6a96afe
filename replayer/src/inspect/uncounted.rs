//! Times of a program's processes outside the computation and calls in its trace.

use titr_common::format::{count, plural};
use titr_common::trace::Manifest;
use titr_common::trace::process_time::ProcessTime;
use titr_common::trace::rank_times::RankTimes;

/// The least CPU time before `MPI_Init` that is worth a line, in seconds: to start a program takes some.
const START: f64 = 0.1;

/// A time of a process, in seconds.
type TimeOf<'a> = &'a dyn Fn(&ProcessTime) -> f64;

/// The name and the text of each line that `titr info` has on it; none of times that would change no prediction.
#[must_use]
pub fn uncounted(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let advice = "; TITRACE_THREADS=sum adds it to the computation";
    let started = |time: &ProcessTime| if time.cpu_before < START { 0.0 } else { time.cpu_before };
    let kinds: [(_, TimeOf<'_>, _); 6] = [
        (
            "not counted",
            &ProcessTime::uncounted_threads,
            format!("of CPU time of threads that do not call MPI{advice}"),
        ),
        ("not counted", &|time| time.children, "of CPU time of child processes".to_owned()),
        ("not counted", &|time| time.passed_over, "of CPU time in calls of MPI that are no events".to_owned()),
        ("not counted", &started, "of CPU time before MPI_Init".to_owned()),
        ("counted too", &|time| time.added, "of CPU time of threads that do not call MPI".to_owned()),
        (
            "waited",
            &|time| time.idle().unwrap_or_default(),
            "outside of MPI at the least, for a device such as a GPU, a file or another thread".to_owned(),
        ),
    ];
    let line = |(name, time, what): (&'static str, TimeOf<'_>, String)| {
        let RankTimes { seconds, ranks, .. } = RankTimes::that_matter(manifest, time)?;
        Some((name, format!("{seconds:.3} s in {} {}, {what}", count(ranks), plural(ranks, "rank", "ranks"))))
    };
    kinds.into_iter().filter_map(line).collect()
}
