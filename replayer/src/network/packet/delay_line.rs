//! What is due when, where everything is due after one and the same delay: a queue is all the calendar that needs.

use std::collections::VecDeque;

/// Things that come out so many cycles after they went in.
#[derive(Clone, Debug)]
pub(super) struct DelayLine<T> {
    delay: u64,
    due: VecDeque<(u64, T)>,
}

impl<T> DelayLine<T> {
    pub fn new(delay: u64) -> Self {
        Self { delay, due: VecDeque::new() }
    }

    pub fn push(&mut self, now: u64, thing: T) {
        self.due.push_back((now + self.delay, thing));
    }

    /// When the next thing comes out.
    pub fn next(&self) -> Option<u64> {
        self.due.front().map(|&(at, _)| at)
    }

    /// What comes out at `now`, one by one.
    pub fn pop(&mut self, now: u64) -> Option<T> {
        self.due.pop_front_if(|&mut (at, _)| at <= now).map(|(_, thing)| thing)
    }
}
