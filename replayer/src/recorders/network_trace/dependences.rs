//! The receptions that each message depends on: the simulator's knowledge of causes, as triggers of network traces.
//!
//! A replay is a system of maxima and sums: a waiter's clock is the maximum of its own time and the times of everything
//! it waits for, plus its own work. A message therefore leaves at the maximum, over the receptions before it, of their
//! times plus the work since. The receptions that a waiter depends on are its **causes**, each with its **slack**: how
//! much later it could have been without delaying the waiter. The cause without slack has released the waiter. If there
//! are many causes, those with most slack are discarded.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use titr_common::time::Time;
use titr_network::TransferId;
use titr_simulation::network_traces::{Label, Trigger};

use titr_simulation::observe::{OperationId, Waiter};

/// Causes that are kept of a waiter.
const KEPT: usize = 4;

/// A reception, or the start of the program, that a waiter depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cause {
    /// The message, and when it was received; `None`: the start.
    reception: Option<(Label, Time)>,
    /// The time by which it could have been later without delaying the waiter, in picoseconds.
    slack: u64,
}

/// The causes of a waiter, or of an action of a waiter.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Dependence {
    at: Time,
    /// In order of slack: the first has none.
    causes: Vec<Cause>,
}

impl Dependence {
    /// On the start of the program.
    fn on_start() -> Self {
        Self { at: Time::ZERO, causes: vec![Cause { reception: None, slack: 0 }] }
    }

    /// On a message that was received just now.
    fn on_message(label: Label, now: Time) -> Self {
        Self { at: now, causes: vec![Cause { reception: Some((label, now)), slack: 0 }] }
    }

    /// Work until `to`.
    fn work_until(&mut self, to: Time) {
        self.at = self.at.max(to);
    }

    /// Depends on `other` as well.
    fn join(&mut self, other: &Self) {
        let at = self.at.max(other.at);
        let later = |mut cause: Cause, of: Time| {
            cause.slack = cause.slack.saturating_add(at.0 - of.0);
            cause
        };
        let mut causes: Vec<Cause> = self.causes.iter().map(|&cause| later(cause, self.at)).collect();
        for cause in other.causes.iter().map(|&cause| later(cause, other.at)) {
            match causes.iter_mut().find(|known| known.reception == cause.reception) {
                Some(known) => known.slack = known.slack.min(cause.slack),
                None => causes.push(cause),
            }
        }
        causes.sort_by_key(|cause| cause.slack);
        causes.truncate(KEPT);
        *self = Self { at, causes };
    }

    /// The triggers of a message that leaves at `now`; none if its time follows from the start of the program alone.
    fn triggers(&self, now: Time) -> Vec<Trigger> {
        let is_reception = |cause: &Cause| cause.reception.is_some();
        if !self.causes.first().is_some_and(is_reception) {
            return Vec::new();
        }
        // The time between the waiter's last work and the departure is part of the message's delay.
        let trigger = |&Cause { reception, slack }: &Cause| {
            let (label, received) = reception?;
            let delay = now.0.saturating_sub(received.0).checked_sub(slack)?;
            Some(Trigger { label, delay: Time(delay) })
        };
        self.causes.iter().filter_map(trigger).collect()
    }
}

/// The causes of all waiters, and of their actions.
#[derive(Debug, Default)]
pub(super) struct Dependences {
    /// The dependences of waiters that have waited.
    waiters: BTreeMap<Waiter, Dependence>,
    /// The dependences of messages that may depart.
    messages: FxHashMap<TransferId, Dependence>,
    /// The dependences of completed operations that were not yet waited or tested for.
    completed: FxHashMap<OperationId, Dependence>,
    turn: Doer,
}

/// The current cause.
#[derive(Debug)]
enum Doer {
    Waiter(Waiter),
    Of(Dependence),
}

impl Default for Doer {
    fn default() -> Self {
        Self::Of(Dependence::on_start())
    }
}

impl Dependences {
    /// The causes of the current action.
    fn current(&self) -> Dependence {
        match &self.turn {
            Doer::Waiter(waiter) => self.waiters.get(waiter).cloned().unwrap_or_else(Dependence::on_start),
            Doer::Of(dependence) => dependence.clone(),
        }
    }

    /// The turn of `waiter` begins.
    pub(super) fn turn_began(&mut self, waiter: Waiter) {
        self.turn = Doer::Waiter(waiter);
    }

    /// A message is received.
    pub(super) fn received(&mut self, label: Label, now: Time) {
        self.turn = Doer::Of(Dependence::on_message(label, now));
    }

    /// A waiter comes into being.
    pub(super) fn began(&mut self, waiter: Waiter) {
        let current = self.current();
        self.waiters.insert(waiter, current);
    }

    /// A waiter begins at `at` that follows another.
    pub(super) fn follows(&mut self, waiter: Waiter, followed: Waiter, at: Time) {
        let mut dependence = self.waiters.get(&followed).cloned().unwrap_or_else(Dependence::on_start);
        dependence.work_until(at);
        self.waiters.insert(waiter, dependence);
    }

    /// A waiter is gone.
    pub(super) fn ended(&mut self, waiter: Waiter) {
        if matches!(self.turn, Doer::Waiter(turn) if turn == waiter) {
            self.turn = Doer::Of(self.current());
        }
        self.waiters.remove(&waiter);
    }

    /// A waiter works until `to`.
    pub(super) fn works(&mut self, waiter: Waiter, to: Time) {
        self.waiters.entry(waiter).or_insert_with(Dependence::on_start).work_until(to);
    }

    pub(super) fn completed(&mut self, operation: OperationId, now: Time) {
        let mut current = self.current();
        current.work_until(now);
        self.completed.insert(operation, current);
    }

    /// A waiter becomes runnable at `now`, at an additional cost of `cost`.
    pub(super) fn released(&mut self, now: Time, waiter: Waiter, operation: Option<OperationId>, cost: Time) {
        let cause = match operation {
            Some(operation) => self.completed.remove(&operation),
            None => Some(self.current()),
        };
        let released = self.waiters.entry(waiter).or_insert_with(Dependence::on_start);
        if let Some(cause) = cause {
            released.join(&cause);
        }
        released.work_until(Time(now.0.max(released.at.0).saturating_add(cost.0)));
    }

    /// A message may leave.
    pub(super) fn may_depart(&mut self, message: TransferId) {
        let current = self.current();
        match self.messages.get_mut(&message) {
            Some(known) => known.join(&current),
            None => drop(self.messages.insert(message, current)),
        }
    }

    /// The triggers of a message that leaves at `now`.
    pub(super) fn leaves(&mut self, message: TransferId, now: Time) -> Vec<Trigger> {
        self.messages.remove(&message).map_or_else(Vec::new, |dependence| dependence.triggers(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use titr_simulation::observe::ThreadIndex;

    const THREAD: Waiter = Waiter::Thread(ThreadIndex(0));

    fn triggers(all: &[(u64, u64)]) -> Vec<Trigger> {
        all.iter().map(|&(label, delay)| Trigger { label: Label(label), delay: Time(delay) }).collect()
    }

    /// A thread computes until 100, waits for messages that come at 150 and 120, computes for 10 and sends.
    #[test]
    fn a_message_depends_on_all_that_its_sender_waited_for() {
        let mut all = Dependences::default();
        all.turn_began(THREAD);
        all.works(THREAD, Time(100));
        all.received(Label(7), Time(120));
        all.completed(OperationId(1), Time(120));
        all.released(Time(120), THREAD, Some(OperationId(1)), Time::ZERO);
        all.received(Label(3), Time(150));
        all.completed(OperationId(0), Time(150));
        all.released(Time(150), THREAD, Some(OperationId(0)), Time(2));
        all.turn_began(THREAD);
        all.works(THREAD, Time(162));
        all.may_depart(TransferId(0));
        // Message 7 could have come 30 later, and the start have been 50 later.
        assert_eq!(all.leaves(TransferId(0), Time(162)), triggers(&[(3, 12), (7, 12)]));
    }

    #[test]
    fn a_message_that_nothing_held_back_has_no_trigger() {
        let mut all = Dependences::default();
        all.turn_began(THREAD);
        all.works(THREAD, Time(100));
        all.received(Label(7), Time(20));
        all.completed(OperationId(1), Time(20));
        all.turn_began(THREAD);
        all.released(Time(100), THREAD, Some(OperationId(1)), Time::ZERO);
        all.may_depart(TransferId(0));
        assert_eq!(all.leaves(TransferId(0), Time(100)), []);
    }
}
