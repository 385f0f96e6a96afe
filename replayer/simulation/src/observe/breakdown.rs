//! Where each rank's time goes.

use serde::Serialize;
use titr_common::event::Rank;
use titr_common::units::Seconds;

use super::{Activity, Observer};
use titr_common::time::Time;

/// One rank's time by activity, that of all its threads. Of one thread the parts add up to `finish`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)] // Named as the activities are.
pub struct Shares {
    pub compute: Seconds,
    pub send: Seconds,
    pub recv: Seconds,
    pub wait: Seconds,
    pub collective: Seconds,
    /// When it was done: the last of its threads.
    pub finish: Seconds,
}

/// The shares of all ranks, summed exactly.
#[derive(Clone, Debug)]
pub struct Breakdown(Vec<Sums>);

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    by_activity: [u64; 5],
    finish: Time,
}

impl Breakdown {
    /// For a world of `ranks`.
    #[must_use]
    pub fn new(ranks: u32) -> Self {
        Self(vec![Sums::default(); ranks as usize])
    }

    /// What was gathered, by rank.
    pub fn per_rank(&self) -> impl Iterator<Item = Shares> + '_ {
        self.0.iter().map(|sums| {
            let [compute, send, recv, wait, collective] = sums.by_activity.map(|sum| Time(sum).seconds());
            Shares { compute, send, recv, wait, collective, finish: sums.finish.seconds() }
        })
    }
}

impl Observer for Breakdown {
    fn spent(&mut self, rank: Rank, activity: Activity, from: Time, to: Time) {
        let sums = &mut self.0[rank.0 as usize];
        sums.by_activity[activity as usize] += to.0.saturating_sub(from.0);
        sums.finish = sums.finish.max(to);
    }
}
