//! Times of the ranks' processes, summed over a trace.

use super::manifest::Manifest;
use super::process_time::ProcessTime;

/// A time, summed over some ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTimes {
    /// The sum, in seconds.
    pub seconds: f64,
    /// The number of ranks in the sum.
    pub ranks: u64,
    /// The CPU time that was counted as computation in these ranks, in seconds.
    pub counted: f64,
}

impl RankTimes {
    /// The sum of a time over the ranks in which it [matters](ProcessTime::matters); `None` if it matters in none.
    pub fn that_matter(manifest: &Manifest, time: impl Fn(&ProcessTime) -> f64) -> Option<Self> {
        let all = manifest.per_rank.iter().filter_map(|entry| entry.process_time.as_deref());
        let mut sum = Self { seconds: 0.0, ranks: 0, counted: 0.0 };
        for of_rank in all.filter(|of_rank| of_rank.matters(time(of_rank))) {
            sum.seconds += time(of_rank);
            sum.ranks += 1;
            sum.counted += of_rank.counted();
        }
        (sum.ranks > 0).then_some(sum)
    }
}
