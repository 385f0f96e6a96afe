//! Work that is deferred until its rank is in an MPI call. [`progress`](super::progress) decides which work that is,
//! and does it.

use titr_common::event::Rank;
use titr_platform::Progress;

use super::clock::Waiter;
use super::ids::{ActiveMessageIndex, FileCallIndex, MessageId, PartIndex};
use crate::observe::CollectiveId;

/// A piece of work that waits until its rank is in a call of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// The target of a one-sided access has to act on a message.
    ActiveMessage(ActiveMessageIndex),
    /// The request of a rendezvous has to be answered, or the data has to follow the answer.
    Handshake(MessageId),
    /// A collective is to take its next step.
    Collective(CollectiveId),
    /// A call on a file is to take its next step.
    FileCall(FileCallIndex),
    /// The data of a partitioned message is to leave, now that its receiver has started.
    Part(PartIndex),
}

impl Task {
    /// The waiter whose step it is; a handshake has none.
    pub(super) fn waiter(self) -> Option<Waiter> {
        match self {
            Self::ActiveMessage(message) => Some(Waiter::ActiveMessage(message)),
            Self::Handshake(_) => None,
            Self::Collective(collective) => Some(Waiter::Collective(collective)),
            Self::FileCall(call) => Some(Waiter::FileCall(call)),
            Self::Part(part) => Some(Waiter::Part(part)),
        }
    }
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
