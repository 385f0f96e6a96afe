//! Streams: all messages in transit between the same two hosts.
//!
//! They get the same share of the same links, so one sum describes the progress of each: the *service* S(t) = ∫ r dt
//! since the stream began. A message that enters at t₀ and needs a service of s is complete when S(t) = S(t₀) + s,
//! however r changes in between. A change of the rate therefore costs the same for a thousand messages as for one, and
//! the order of completion is known when messages enter. (This is the virtual time of fair queueing: Demers, Keshav and
//! Shenker, "Analysis and simulation of a fair queueing algorithm", SIGCOMM 1989.)

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use titr_common::time::Time;
use titr_common::units::Seconds;

use super::max_min::Pace;

/// The messages between two hosts that are in their transfer phase.
#[derive(Debug)]
pub(super) struct Stream {
    /// The message that needs the least further service. Few streams have another, so it is stored here.
    first: Option<Member>,
    others: BinaryHeap<Member>,
    /// S when the pace was last set, in bytes.
    service: f64,
    pace: Pace,
    /// The instant at which the pace was last set.
    since: Instant,
    /// The message that completes next, and its time; `None`: not computed since the last change.
    next: Option<(Completion, u64)>,
    /// Whether the stream is in its heap.
    pub is_known: bool,
}

/// An instant: its time, and the virtual time V(t) = ∫ λ dt of the shared level λ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Instant {
    pub time: Time,
    pub virtual_time: f64,
}

/// A message in transit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// S when it is complete.
    complete: f64,
    /// Breaks ties.
    pub sequence: u64,
    pub message: u32,
}

/// The instant at which something is complete.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Completion {
    At(Time),
    /// At this virtual time of the shared level.
    AtVirtual(f64),
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            first: None,
            others: BinaryHeap::new(),
            service: 0.0,
            pace: Pace::Rate(0.0),
            since: Instant::default(),
            next: None,
            is_known: false,
        }
    }
}

impl Stream {
    /// Brings S up to date; on at `pace` from now on.
    #[inline]
    pub(crate) fn set_pace(&mut self, now: Instant, pace: Pace) {
        if (now, pace) == (self.since, self.pace) {
            return;
        }
        match self.pace {
            Pace::Rate(rate) if now.time > self.since.time => self.service += rate * (now.time - self.since.time).0,
            Pace::Rate(_) => {}
            Pace::Shared(inverse_penalty) => {
                self.service += inverse_penalty * (now.virtual_time - self.since.virtual_time)
            }
        }
        (self.since, self.pace) = (now, pace);
        self.forget_next();
    }

    /// A message enters that needs so much service.
    #[inline]
    pub(crate) fn enter(&mut self, now: Instant, need: f64, sequence: u64, message: u32) {
        if self.first.is_none() {
            // Earlier sums are no longer needed. Small sums are exact.
            (self.service, self.since, self.pace) = (0.0, now, Pace::Rate(0.0));
        } else {
            self.set_pace(now, self.pace);
        }
        self.forget_next();
        let member = Member { complete: self.service + need, sequence, message };
        match &mut self.first {
            Some(first) => self.others.push(if member > *first { std::mem::replace(first, member) } else { member }),
            None => self.first = Some(member),
        }
    }

    /// The message that is complete next, and when, if the pace stays.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(Completion, u64)> {
        if self.next.is_none() {
            self.next = self.find_next();
        }
        self.next
    }

    fn forget_next(&mut self) {
        (self.next, self.is_known) = (None, false);
    }

    #[inline]
    fn find_next(&self) -> Option<(Completion, u64)> {
        let first = self.first?;
        let left = (first.complete - self.service).max(0.0);
        let completion = match self.pace {
            Pace::Rate(rate) => Completion::At(self.since.time + Seconds(left / rate)),
            Pace::Shared(inverse_penalty) => Completion::AtVirtual(self.since.virtual_time + left / inverse_penalty),
        };
        Some((completion, first.sequence))
    }

    /// Takes out the message that is complete next if it is complete by then.
    #[inline]
    pub(crate) fn leave(&mut self, by: Completion) -> Option<Member> {
        self.next().filter(|&(next, _)| match (next, by) {
            (Completion::At(next), Completion::At(by)) => next <= by,
            (Completion::AtVirtual(next), Completion::AtVirtual(by)) => next <= by,
            _ => false,
        })?;
        self.forget_next();
        std::mem::replace(&mut self.first, self.others.pop())
    }
}

/// The first to be complete is the greatest, which a `BinaryHeap` gives first.
impl Ord for Member {
    fn cmp(&self, other: &Self) -> Ordering {
        other.complete.total_cmp(&self.complete).then(other.sequence.cmp(&self.sequence))
    }
}

impl PartialOrd for Member {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Member {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Member {}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 bytes at 10 B/s for 4 s, then at 20 B/s: there after 7 s. Another 30 that enter at 4 s are there before.
    #[test]
    fn messages_of_a_stream_are_served_alike() {
        let at = |seconds| Instant { time: Time::from_seconds(Seconds(seconds)), virtual_time: 0.0 };
        let mut stream = Stream::default();
        stream.enter(at(0.0), 100.0, 0, 7);
        stream.set_pace(at(0.0), Pace::Rate(10.0));
        stream.enter(at(4.0), 30.0, 1, 8);
        stream.set_pace(at(4.0), Pace::Rate(20.0));
        assert!(stream.leave(Completion::At(at(5.0).time)).is_none());
        for (seconds, message) in [(5.5, 8), (7.0, 7)] {
            let complete = Completion::At(at(seconds).time);
            assert_eq!(stream.next().map(|(next, _)| next), Some(complete));
            assert_eq!(stream.leave(complete).map(|member| member.message), Some(message));
        }
        assert!(stream.next().is_none());
    }

    /// 100 bytes at 10 B/s for 4 s, then at half the shared level, whose virtual time is 30 by then: there when that is 150.
    #[test]
    fn a_shared_level_carries_a_stream() {
        let mut stream = Stream::default();
        stream.enter(Instant::default(), 100.0, 0, 7);
        stream.set_pace(Instant::default(), Pace::Rate(10.0));
        stream.set_pace(Instant { time: Time::from_seconds(Seconds(4.0)), virtual_time: 30.0 }, Pace::Shared(0.5));
        assert_eq!(stream.next(), Some((Completion::AtVirtual(150.0), 0)));
    }
}
