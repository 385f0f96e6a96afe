//! Processor sharing: all customers in progress get an equal share of one resource at every instant.
//!
//! With *n* in progress, each gets 1/*n* of the resource. Virtual time V advances by d*t*/*n*, so a customer that
//! enters at V with work *w* is done at V + *w*, independent of other arrivals and departures (Kleinrock, "Queueing
//! Systems" vol. 2, §4.4). SimGrid's disks share their bandwidth in the same way (`surf/disk_s19`).
//!
//! Virtual time is a whole number of 2⁻³² ps, so that sums do not depend on their order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use titr_common::time::Time;

const FRACTION_BITS: u32 = 32;

/// A resource and the keys of those that share it.
#[derive(Debug, Default)]
pub(crate) struct ProcessorSharing {
    now: Time,
    virtual_time: u128,
    /// The virtual time at which each is done, a number that makes ties stable, and its key.
    under_way: BinaryHeap<Reverse<(u128, u64, u32)>>,
    entered: u64,
}

impl ProcessorSharing {
    /// `key` enters at `now`, with this many picoseconds of work for the whole resource. No other is done by `now`.
    pub(crate) fn enter(&mut self, now: Time, work: u64, key: u32) {
        self.advance(now);
        self.entered += 1;
        let done = self.virtual_time + (u128::from(work) << FRACTION_BITS);
        self.under_way.push(Reverse((done, self.entered, key)));
    }

    /// The time of the next completion, if no other enters before.
    pub(crate) fn next_event(&self) -> Option<Time> {
        let Reverse((done, ..)) = self.under_way.peek()?;
        let need = done.saturating_sub(self.virtual_time).saturating_mul(self.under_way.len() as u128);
        let picoseconds = need.div_ceil(1 << FRACTION_BITS);
        Some(Time(self.now.0.saturating_add(u64::try_from(picoseconds).unwrap_or(u64::MAX))))
    }

    /// Takes out one that is done by `now`, which is not later than [`next_event`](Self::next_event).
    pub(crate) fn pop_by(&mut self, now: Time) -> Option<u32> {
        self.advance(now);
        self.under_way.peek().filter(|Reverse((done, ..))| *done <= self.virtual_time)?;
        self.under_way.pop().map(|Reverse((.., key))| key)
    }

    fn advance(&mut self, now: Time) {
        let passed = u128::from(now.0.saturating_sub(self.now.0)) << FRACTION_BITS;
        self.virtual_time += passed / self.under_way.len().max(1) as u128;
        self.now = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a resource that each enters at a time with its work; when each is done.
    fn run(entries: &[(u64, u64)]) -> Vec<u64> {
        let mut sharing = ProcessorSharing::default();
        let mut done = vec![0; entries.len()];
        let mut entries = (0..).zip(entries).peekable();
        loop {
            let entry = entries.peek().map(|(_, (at, _))| Time(*at));
            match (sharing.next_event(), entry) {
                (Some(next), entry) if entry.is_none_or(|entry| next <= entry) => {
                    while let Some(key) = sharing.pop_by(next) {
                        done[key as usize] = next.0;
                    }
                }
                (_, Some(at)) => entries.next().into_iter().for_each(|(key, (_, work))| sharing.enter(at, *work, key)),
                (_, None) => return done,
            }
        }
    }

    #[test]
    fn one_alone_has_everything() {
        assert_eq!(run(&[(5, 100)]), [105]);
        assert_eq!(run(&[(0, 100), (200, 100)]), [100, 300]);
    }

    #[test]
    fn equals_are_done_together() {
        assert_eq!(run(&[(0, 100), (0, 100), (0, 100)]), [300, 300, 300]);
    }

    #[test]
    fn the_rest_is_shared_by_who_is_left() {
        // Both share until 20, when the small one is done; the large one has done 10 of its 100 then.
        assert_eq!(run(&[(0, 100), (0, 10)]), [110, 20]);
        // The first is alone until 40 and has 60 left; it does 10 of them while the second does its 10.
        assert_eq!(run(&[(0, 100), (40, 10)]), [110, 60]);
    }

    #[test]
    fn a_work_of_nothing_is_done_at_once() {
        assert_eq!(run(&[(0, 100), (50, 0)]), [100, 50]);
    }
}
