//! Work that is deferred until its rank is in an MPI call. [`progress`](super::progress) decides which work that is,
//! and does it.

use titr_common::event::Rank;
use titr_platform::Progress;

use super::clock::Waiter;
use super::ids::MessageId;

/// A piece of work that waits until its rank is in a call of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// The request of a rendezvous has to be answered, or the data has to follow the answer.
    Handshake(MessageId),
    /// A waiter is to take its next step.
    Step(Waiter),
}

/// The work that waits in all ranks.
pub(super) struct Deferred {
    rule: Progress,
    /// The tasks of each rank, in order of arrival.
    waiting: Vec<Vec<Task>>,
    /// The number of tasks of all ranks.
    count: usize,
}

impl Deferred {
    pub(super) fn new(ranks: usize, rule: Progress) -> Self {
        Self { rule, waiting: vec![Vec::new(); ranks], count: 0 }
    }

    /// Whether the library makes progress in calls only.
    #[inline]
    pub(super) fn is_by_calls(&self) -> bool {
        self.rule == Progress::Calls
    }

    /// `task` waits until `rank` is in a call.
    pub(super) fn defer(&mut self, rank: Rank, task: Task) {
        self.waiting[rank.0 as usize].push(task);
        self.count += 1;
    }

    /// Whether a rank has deferred work.
    #[inline]
    pub(super) fn is_due(&self, rank: Rank) -> bool {
        self.count > 0 && !self.waiting[rank.0 as usize].is_empty()
    }

    /// Removes and returns the deferred work of a rank.
    pub(super) fn take(&mut self, rank: Rank) -> Vec<Task> {
        let tasks = std::mem::take(&mut self.waiting[rank.0 as usize]);
        self.count -= tasks.len();
        tasks
    }
}
