//! The times at which ranks begin the iterations of a loop.

use std::collections::VecDeque;

use titr_common::event::Activity;
use titr_common::event::Rank;
use titr_common::event_buffer::EventRef;
use titr_common::time::Time;
use titr_simulation::observe::Observer;

/// Takes the times at which ranks begin the iterations of a loop, which are known by the number of events before them.
#[derive(Clone, Debug)]
pub(crate) struct IterationTimes {
    ranks: Vec<RankProgress>,
    boundaries: Vec<Boundary>,
}

/// The beginning of an iteration, which is the end of the one before.
#[derive(Clone, Copy, Debug)]
struct Boundary {
    /// The sum over all ranks of the times at which they began the iteration.
    began: u128,
    /// The sum over all ranks of the time they had computed by then.
    computed: u128,
    /// The time when the first rank began it.
    first: u64,
    /// The time when the last rank began it.
    last: u64,
}

#[derive(Clone, Debug)]
struct RankProgress {
    events: u64,
    /// The number of events before each remaining iteration, and before the events after the last one.
    boundaries: VecDeque<u64>,
    /// Time that was computed.
    computed: u64,
}

/// The time that an iteration took, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct IterationTime {
    /// Time from the beginning of the iteration to the beginning of the next, as the mean over all ranks.
    pub(crate) whole: f64,
    /// Time that was computed, the mean over all ranks.
    pub(crate) computed: f64,
    /// How much the first rank gains on the mean of all ranks during the iteration.
    pub(crate) ahead: f64,
    /// How much the last rank falls behind the mean of all ranks during the iteration.
    pub(crate) behind: f64,
}

impl IterationTimes {
    pub(crate) fn new(boundaries: &[VecDeque<u64>]) -> Self {
        let count = boundaries.first().map_or(0, VecDeque::len);
        let progress =
            |boundaries: &VecDeque<u64>| RankProgress { events: 0, boundaries: boundaries.clone(), computed: 0 };
        let ranks = boundaries.iter().map(progress).collect();
        let boundary = Boundary { began: 0, computed: 0, first: u64::MAX, last: 0 };
        Self { ranks, boundaries: vec![boundary; count] }
    }

    pub(crate) fn iterations(&self) -> Vec<IterationTime> {
        let ranks = self.ranks.len().max(1) as f64;
        let mean = |from: u128, to: u128| (to as f64 - from as f64) * 1e-12 / ranks;
        let seconds = |from: u64, to: u64| (to as f64 - from as f64) * 1e-12;
        let time = |pair: &[Boundary]| {
            let whole = mean(pair[0].began, pair[1].began);
            IterationTime {
                whole,
                computed: mean(pair[0].computed, pair[1].computed),
                ahead: whole - seconds(pair[0].first, pair[1].first),
                behind: seconds(pair[0].last, pair[1].last) - whole,
            }
        };
        self.boundaries.windows(2).map(time).collect()
    }

    /// Records that a rank is at a boundary.
    fn pass(&mut self, rank: Rank, at: Time) {
        let progress = &mut self.ranks[rank.0 as usize];
        let number = self.boundaries.len() - progress.boundaries.len();
        progress.boundaries.pop_front();
        let boundary = &mut self.boundaries[number];
        boundary.began += u128::from(at.0);
        boundary.computed += u128::from(progress.computed);
        boundary.first = boundary.first.min(at.0);
        boundary.last = boundary.last.max(at.0);
    }
}

impl Observer for IterationTimes {
    fn event_began(&mut self, rank: Rank, _: EventRef<'_>, at: Time) {
        let progress = &mut self.ranks[rank.0 as usize];
        let before = progress.events;
        progress.events += 1;
        if progress.boundaries.front() == Some(&before) {
            self.pass(rank, at);
        }
    }

    fn active(&mut self, rank: Rank, activity: Activity, from: Time, to: Time) {
        if activity == Activity::Compute {
            self.ranks[rank.0 as usize].computed += to.0.saturating_sub(from.0);
        }
    }

    fn finished(&mut self, rank: Rank, at: Time) {
        while !self.ranks[rank.0 as usize].boundaries.is_empty() {
            self.pass(rank, at);
        }
    }
}
