//! Where each rank's time goes.

use serde::Serialize;
use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::units::Seconds;

use super::{Activity, Observer};

/// A rank's time by activity, summed over its threads. With one thread the parts add up to `finish`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)] // Named as the activities are.
pub struct Shares {
    pub compute: Seconds,
    pub send: Seconds,
    pub recv: Seconds,
    pub wait: Seconds,
    pub file: Seconds,
    pub collective: Seconds,
    /// The time at which the last thread of the rank was done.
    pub finish: Seconds,
}

/// The shares of all ranks, summed exactly.
#[derive(Clone, Debug)]
pub struct Breakdown(Vec<Sums>);

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    by_activity: [u64; 6],
    finish: Time,
}

impl Breakdown {
    /// The breakdown at the start, without any time, of a world of `ranks` ranks.
    #[must_use]
    pub fn new(ranks: u32) -> Self {
        Self(vec![Sums::default(); ranks as usize])
    }

    /// The time of each rank by activity.
    pub fn per_rank(&self) -> impl Iterator<Item = Shares> + '_ {
        self.0.iter().map(|sums| {
            let [compute, send, recv, wait, file, collective] = sums.by_activity.map(|sum| Time(sum).seconds());
            Shares { compute, send, recv, wait, file, collective, finish: sums.finish.seconds() }
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
