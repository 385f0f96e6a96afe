//! The scheduler: the runnable waiters, in the order in which they became runnable, and timers for later.
//!
//! # Deferred work
//!
//! Work that is deferred until its rank is in an MPI call. [`chapters`](super::chapters) decides which work that is,
//! and does it.

use std::collections::VecDeque;

use titr_common::event::{Actor, Rank};
use titr_common::time::Time;
use titr_common::units::Seconds;
use titr_network::{Deadline, TimerQueue};
use titr_platform::Progress;

use super::ids::MessageId;

#[derive(Default)]
pub(super) struct Scheduler {
    ready: VecDeque<Waiter>,
    timers: TimerQueue<Waiter>,
    sequence: u64,
}

impl Scheduler {
    /// Makes `waiter` runnable now.
    pub(super) fn ready(&mut self, waiter: Waiter) {
        self.ready.push_back(waiter);
    }

    /// Makes `waiter` runnable at `time`.
    pub(super) fn set_timer(&mut self, time: Time, waiter: Waiter) {
        self.sequence += 1;
        self.timers.set(waiter, Deadline { at: time, sequence: self.sequence });
    }

    /// The runnable waiters, in order.
    pub(super) fn upcoming(&self) -> impl Iterator<Item = Waiter> {
        self.ready.iter().copied()
    }

    pub(super) fn next(&mut self) -> Option<Waiter> {
        self.ready.pop_front()
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        self.timers.first().map(|due| due.at)
    }

    /// Makes the waiters runnable whose timers have expired by `now`.
    #[inline]
    pub(super) fn advance(&mut self, now: Time) {
        while let Some(waiter) = self.timers.pop_by(now) {
            self.ready.push_back(waiter);
        }
    }
}

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

pub(super) use crate::observe::Waiter;

/// The local time of a waiter. Computing moves it ahead of simulated time; effects on other waiters happen when
/// simulated time has caught up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    pub(super) time: Time,
    /// How many operations the waiter waits for.
    pub(super) awaited: u32,
}

impl Clock {
    /// Records that one of the awaited operations was completed at `now`, which costs the waiter `overhead`, in
    /// seconds. Returns the duration of the overhead in simulated time.
    pub(super) fn complete(&mut self, now: Time, overhead: Seconds) -> Time {
        let begin = self.time.max(now);
        self.time = begin + overhead;
        self.awaited -= 1;
        Time(self.time.0 - begin.0)
    }
}

/// What all waiters that are no threads have: work in the background, for a call that a thread has made.
#[derive(Clone, Copy, Debug)]
pub(super) struct BackgroundWork {
    /// The thread that made the call; for work that any thread could do, the main thread of its rank.
    pub(super) actor: Actor,
    pub(super) clock: Clock,
    /// Whether the next step needs the processor of the rank, if the library makes progress only in calls.
    pub(super) needs_processor: bool,
}

impl BackgroundWork {
    /// Work for `actor` that begins at `now` and needs no processor.
    pub(super) fn new(actor: Actor, now: Time) -> Self {
        Self { actor, clock: Clock { time: now, awaited: 0 }, needs_processor: false }
    }
}
