//! Timers that are never moved or cancelled: a queue for timers that are set in the order in which they are due, and a
//! heap for the rest.
//!
//! Messages of equal size and distance take equally long, so most messages of a program are due in the order of
//! injection. A timer in the queue costs a single comparison.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::indexed_heap::Deadline;
use titr_common::time::Time;

/// Timers, each with a key, which need not be unique.
#[derive(Debug, Default)]
pub(super) struct TimerQueue {
    /// In order.
    queue: VecDeque<(Deadline, u32)>,
    heap: BinaryHeap<Reverse<(Deadline, u32)>>,
}

impl TimerQueue {
    /// Sets a timer.
    pub(crate) fn set(&mut self, key: u32, due: Deadline) {
        if self.queue.back().is_none_or(|&(last, _)| last <= due) {
            self.queue.push_back((due, key));
        } else {
            self.heap.push(Reverse((due, key)));
        }
    }

    /// The deadline of the first timer.
    pub(crate) fn first(&self) -> Option<Deadline> {
        match (self.queue.front(), self.heap.peek()) {
            (Some(&(queued, _)), Some(&Reverse((heaped, _)))) => Some(queued.min(heaped)),
            (Some(&(due, _)), None) | (None, Some(&Reverse((due, _)))) => Some(due),
            (None, None) => None,
        }
    }

    /// Takes out the timer that is due first if it is due by `now`, and returns its key.
    pub(crate) fn pop_by(&mut self, now: Time) -> Option<u32> {
        let first = self.first().filter(|due| due.at <= now)?;
        if self.queue.front().is_some_and(|&(due, _)| due == first) {
            self.queue.pop_front().map(|(_, key)| key)
        } else {
            self.heap.pop().map(|Reverse((_, key))| key)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Timers come out in the order of their time, then of their insertion, after any sequence of insertions and
        /// removals.
        #[test]
        fn come_in_order(steps in prop::collection::vec((0_u64..50, 0_u64..60), 0..200)) {
            let mut timers = TimerQueue::default();
            let mut model = std::collections::BTreeSet::new();
            for (sequence, (at, now)) in (0_u64..).zip(steps) {
                timers.set(sequence as u32, Deadline { at: Time(at), sequence });
                model.insert((at, sequence));
                prop_assert_eq!(timers.first().map(|due| (due.at.0, due.sequence)), model.first().copied());
                while let Some(key) = timers.pop_by(Time(now)) {
                    let (at, sequence) = model.pop_first().unwrap();
                    prop_assert!(at <= now && sequence == u64::from(key));
                }
                prop_assert!(model.first().is_none_or(|&(at, _)| at > now));
            }
        }
    }
}
