//! Things that are due after a delay that is the same for all: a queue is all the calendar that needs.

use std::collections::VecDeque;

/// Things that come out so many cycles after they went in.
#[derive(Clone, Debug)]
pub(super) struct DelayLine<T> {
    delay: u64,
    things: VecDeque<T>,
    /// In which cycles things come out, and how many in each.
    due: VecDeque<(u64, u32)>,
}

impl<T> DelayLine<T> {
    pub fn new(delay: u64) -> Self {
        Self { delay, things: VecDeque::new(), due: VecDeque::new() }
    }

    #[inline]
    pub fn push(&mut self, now: u64, thing: T) {
        self.things.push_back(thing);
        match self.due.back_mut() {
            Some((at, count)) if *at == now + self.delay => *count += 1,
            _ => self.due.push_back((now + self.delay, 1)),
        }
    }

    /// The cycle in which the next thing comes out; `u64::MAX` if there is none.
    #[inline]
    pub fn next(&self) -> u64 {
        self.due.front().map_or(u64::MAX, |&(at, _)| at)
    }

    /// The number of things that come out at `now`, which is no later than [`next`](Self::next). Each has to be
    /// [taken](Self::take).
    #[inline]
    pub fn due(&mut self, now: u64) -> u32 {
        self.due.pop_front_if(|&mut (at, _)| at <= now).map_or(0, |(_, count)| count)
    }

    /// Takes a thing that comes out.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        self.things.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_come_out_in_order_and_on_time() {
        let mut line = DelayLine::new(3);
        [(1, 'a'), (1, 'b'), (2, 'c')].into_iter().for_each(|(now, thing)| line.push(now, thing));
        assert_eq!((line.next(), line.due(3)), (4, 0));
        assert_eq!((line.due(4), line.take(), line.take()), (2, Some('a'), Some('b')));
        assert_eq!((line.next(), line.due(5), line.take(), line.next()), (5, 1, Some('c'), u64::MAX));
    }
}
