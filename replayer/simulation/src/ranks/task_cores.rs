//! The cores that the tasks of a graph take in turns.

use rustc_hash::FxHashMap;
use titr_common::event::Rank;
use titr_common::time::Time;

/// How far a thread is in its current task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskStage {
    /// It takes its next task.
    Next,
    /// It has its core, for this time.
    Begins(Time),
    /// The time before the effects of a call has passed.
    Paid,
}

/// A core of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TaskCore {
    pub(super) rank: Rank,
    pub(super) core: u32,
}

/// The time from which each core is free.
#[derive(Default)]
pub(super) struct TaskCores(FxHashMap<TaskCore, Time>);

impl TaskCores {
    /// The earliest time from `from` on at which a core is free.
    pub(super) fn free(&self, core: TaskCore, from: Time) -> Time {
        self.0.get(&core).map_or(from, |&free| free.max(from))
    }

    /// Takes a core until `end`.
    pub(super) fn take(&mut self, core: TaskCore, end: Time) {
        self.0.insert(core, end);
    }
}
