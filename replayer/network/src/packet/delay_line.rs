//! A queue of items that are all due after the same delay; such items need no sorting.

use std::collections::VecDeque;

/// Items that come out a fixed number of cycles after they went in.
#[derive(Clone, Debug)]
pub(super) struct DelayLine<T> {
    delay: u64,
    /// The cycles in which items come out, and the items of each cycle but the last.
    due: VecDeque<(u64, Vec<T>)>,
    /// The last cycle in which things come out, if there is one, and these things.
    last: (u64, Vec<T>),
    /// Memory to be used again.
    spare: Vec<Vec<T>>,
}

impl<T> DelayLine<T> {
    pub(crate) fn new(delay: u64) -> Self {
        Self { delay, due: VecDeque::new(), last: (u64::MAX, Vec::new()), spare: Vec::new() }
    }

    /// The cycle in which items that go in at `now` come out.
    #[inline]
    pub(crate) fn end(&self, now: u64) -> u64 {
        now + self.delay
    }

    #[inline]
    pub(crate) fn push(&mut self, now: u64, thing: T) {
        if self.last.0 != self.end(now) {
            self.begin(self.end(now));
        }
        self.last.1.push(thing);
    }

    #[cold]
    fn begin(&mut self, end: u64) {
        let before = std::mem::replace(&mut self.last, (end, self.spare.pop().unwrap_or_default()));
        if before.0 != u64::MAX {
            self.due.push_back(before);
        }
    }

    /// The cycle in which the next thing comes out; `u64::MAX` if there is none.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.due.front().map_or(self.last.0, |&(at, _)| at)
    }

    /// Removes the items that come out at `now`, which is no later than [`next`](Self::next), and returns them in
    /// order; none if nothing comes out. Return the list with [`recycle`](Self::recycle).
    #[inline]
    pub(crate) fn take(&mut self, now: u64) -> Vec<T> {
        if self.next() > now {
            return Vec::new();
        }
        let first = self.due.pop_front();
        first.map_or_else(|| std::mem::replace(&mut self.last, (u64::MAX, Vec::new())).1, |(_, things)| things)
    }

    /// Gives back the memory of things that have come out.
    #[inline]
    pub(crate) fn recycle(&mut self, mut things: Vec<T>) {
        if things.capacity() > 0 {
            things.clear();
            self.spare.push(things);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_come_out_in_order_and_on_time() {
        let mut line = DelayLine::new(3);
        [(1, 'a'), (1, 'b'), (2, 'c')].into_iter().for_each(|(now, thing)| line.push(now, thing));
        assert_eq!((line.next(), line.take(3)), (4, vec![]));
        let things = line.take(4);
        assert_eq!(things, ['a', 'b']);
        line.recycle(things);
        line.push(3, 'd');
        assert_eq!((line.next(), line.take(5), line.take(6), line.next()), (5, vec!['c'], vec!['d'], u64::MAX));
    }
}
