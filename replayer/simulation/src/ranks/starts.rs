//! When ranks start: all at once, or in groups, such as the jobs of a mix.

use std::ops::Range;

use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::trace::EventSource;

use super::Ranks;
use crate::observe::Observer;

/// Consecutive ranks that start together.
pub(crate) struct RankGroup {
    pub(crate) ranks: Range<u32>,
    pub(crate) start: GroupStart,
}

/// When a group of ranks starts.
pub(crate) enum GroupStart {
    At(Time),
    /// When the last rank of the group with this number has finished.
    After(usize),
}

/// The groups of ranks that start and end.
#[derive(Default)]
pub(super) struct Starts {
    groups: Vec<GroupProgress>,
}

struct GroupProgress {
    group: RankGroup,
    /// The number of threads that have not finished.
    unfinished: usize,
    started: Option<Time>,
    /// The groups that start after its end.
    followers: Vec<usize>,
}

impl Starts {
    fn of(groups: Vec<RankGroup>) -> Self {
        let mut followers = vec![Vec::new(); groups.len()];
        for (at, group) in groups.iter().enumerate() {
            if let GroupStart::After(other) = group.start {
                followers[other].push(at);
            }
        }
        let progress = |(group, followers): (RankGroup, Vec<usize>)| GroupProgress {
            unfinished: group.ranks.len(),
            group,
            started: None,
            followers,
        };
        Self { groups: groups.into_iter().zip(followers).map(progress).collect() }
    }

    fn group_of(&self, rank: Rank) -> usize {
        self.groups.partition_point(|progress| progress.group.ranks.end <= rank.0)
    }

    fn of_rank(&mut self, rank: Rank) -> Option<&mut GroupProgress> {
        let at = self.group_of(rank);
        self.groups.get_mut(at)
    }

    /// Whether a group waits for the end of the group of `rank`.
    pub(super) fn is_awaited(&self, rank: Rank) -> bool {
        self.groups.get(self.group_of(rank)).is_some_and(|progress| !progress.followers.is_empty())
    }

    /// A further thread of `rank` exists.
    pub(super) fn add_thread(&mut self, rank: Rank) {
        if let Some(progress) = self.of_rank(rank) {
            progress.unfinished += 1;
        }
    }

    /// A thread of `rank` has finished. Returns the groups that start because it was the last of its group.
    pub(super) fn finish_thread(&mut self, rank: Rank) -> Vec<usize> {
        let Some(progress) = self.of_rank(rank) else { return Vec::new() };
        progress.unfinished -= 1;
        if progress.unfinished == 0 { std::mem::take(&mut progress.followers) } else { Vec::new() }
    }
}

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// Makes all ranks runnable: those of `groups` at their starts, or all now if there are no groups.
    pub(crate) fn start(&mut self, groups: Vec<RankGroup>) {
        self.starts = Starts::of(groups);
        if self.starts.groups.is_empty() {
            self.threads.iter().for_each(|thread| self.mpi.scheduler.ready(thread.waiter()));
        }
        for at in 0..self.starts.groups.len() {
            if let GroupStart::At(time) = self.starts.groups[at].group.start {
                self.start_group(at, time);
            }
        }
    }

    /// The ranks of a group start at `time`, which is now or later.
    fn start_group(&mut self, at: usize, time: Time) {
        let progress = &mut self.starts.groups[at];
        progress.started = Some(time);
        for thread in &mut self.threads[progress.group.ranks.start as usize..progress.group.ranks.end as usize] {
            thread.start_at(time);
            if time > Time::ZERO {
                self.mpi.observer.began(time, thread.waiter(), thread.actor.rank);
            }
            if time > self.mpi.now() {
                self.mpi.scheduler.set_timer(time, thread.waiter());
            } else {
                self.mpi.scheduler.ready(thread.waiter());
            }
        }
    }

    /// The ranks of a group start now, because of the thread whose turn it is.
    pub(super) fn start_after(&mut self, at: usize) {
        self.start_group(at, self.mpi.now());
    }

    /// When each group started; `None` of a group that waits for ever.
    pub(crate) fn started(&self) -> Vec<Option<Time>> {
        self.starts.groups.iter().map(|progress| progress.started).collect()
    }
}
