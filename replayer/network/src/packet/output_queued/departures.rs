//! Tails that leave some cycles after their headers: all after the same, but for those that a token bucket passes at once.

use std::collections::BTreeMap;

use super::super::delay_line::DelayLine;

/// Items that come out a number of cycles after they went in, at most L.
#[derive(Debug)]
pub(super) struct Departures<T> {
    usual: DelayLine<T>,
    /// L.
    most: u64,
    /// Items that come out sooner, by their cycle.
    sooner: BTreeMap<u64, Vec<T>>,
}

impl<T> Departures<T> {
    pub(crate) fn new(most: u64) -> Self {
        Self { usual: DelayLine::new(most), most, sooner: BTreeMap::new() }
    }

    /// `cycles` is at most L.
    pub(crate) fn push(&mut self, now: u64, cycles: u64, thing: T) {
        if cycles == self.most {
            return self.usual.push(now, thing);
        }
        self.sooner.entry(now + cycles).or_default().push(thing);
    }

    /// The cycle in which the next thing comes out; `u64::MAX` if there is none.
    pub(crate) fn next(&self) -> u64 {
        let sooner = self.sooner.first_key_value().map_or(u64::MAX, |(&at, _)| at);
        self.usual.next().min(sooner)
    }

    /// Removes the items that come out at `now`, which is no later than [`next`](Self::next). Return the list with
    /// [`recycle`](Self::recycle).
    pub(crate) fn take(&mut self, now: u64) -> Vec<T> {
        let mut taken = self.usual.take(now);
        if let Some(sooner) = self.sooner.first_entry().filter(|first| *first.key() <= now) {
            taken.extend(sooner.remove());
        }
        taken
    }

    /// Gives back the memory of things that have come out.
    pub(crate) fn recycle(&mut self, things: Vec<T>) {
        self.usual.recycle(things);
    }
}
