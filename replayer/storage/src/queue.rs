//! First come, first served: one customer at a time has all of a resource, in order of arrival.

use std::collections::VecDeque;

use titr_common::time::Time;

/// A resource, and the keys of those that it serves or that wait for it.
#[derive(Debug, Default)]
pub(crate) struct ServiceQueue {
    /// The completion time of each, and its key.
    under_way: VecDeque<(Time, u32)>,
}

impl ServiceQueue {
    /// `key` arrives at `now`, with this many picoseconds of work. No key has arrived later than `now`.
    pub(crate) fn enter(&mut self, now: Time, work: u64, key: u32) {
        let begin = self.under_way.back().map_or(now, |(done, _)| now.max(*done));
        self.under_way.push_back((Time(begin.0.saturating_add(work)), key));
    }

    /// The time of the next completion.
    pub(crate) fn next_event(&self) -> Option<Time> {
        self.under_way.front().map(|(done, _)| *done)
    }

    /// Takes out one that is done by `now`.
    pub(crate) fn pop_by(&mut self, now: Time) -> Option<u32> {
        self.under_way.pop_front_if(|(done, _)| *done <= now).map(|(_, key)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_after_another_has_everything() {
        let mut queue = ServiceQueue::default();
        queue.enter(Time(5), 100, 1);
        queue.enter(Time(5), 10, 2);
        queue.enter(Time(110), 10, 3);
        let mut done = Vec::new();
        while let Some(at) = queue.next_event() {
            done.push((at, queue.pop_by(at)));
        }
        assert_eq!(done, [(Time(105), Some(1)), (Time(115), Some(2)), (Time(125), Some(3))]);
        queue.enter(Time(200), 10, 4);
        assert_eq!((queue.pop_by(Time(209)), queue.pop_by(Time(210))), (None, Some(4)));
    }
}
