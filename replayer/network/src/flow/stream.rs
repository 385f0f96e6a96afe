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

use super::max_min::{FlowId, Pace};
use crate::indexed_heap::{Deadline, IndexedHeap, NonNegative};

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

// The streams of messages in transit, and the message that completes next.
//
// A stream progresses at its own rate, or with the [shared level](super::max_min). Streams with their own rate wait in
// a heap ordered by the time of their next completion. The others wait in a second heap, ordered by the virtual time
// V(t) = ∫ λ dt of the shared level λ at their next completion. A change of λ moves none of them: only the first one
// matters, and its completion time takes one division.

/// Streams by the number of their flow.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    streams: Vec<Stream>,
    /// The time at which the next message of each stream with a rate is complete, or an earlier time.
    timed: IndexedHeap<Time>,
    /// The virtual time at which the next message of each stream with the shared level is complete.
    shared: IndexedHeap<NonNegative>,
    now: Instant,
    /// λ from now on.
    pub shared_level: f64,
}

impl Transfers {
    /// A message that needs this much service enters the stream of `flow`, and does not progress until its pace is set.
    pub(crate) fn enter(&mut self, flow: FlowId, need: f64, sequence: u64, message: u32) {
        let number = flow.0 as usize;
        if self.streams.len() <= number {
            self.streams.resize_with(number + 1, Stream::default);
        }
        self.streams[number].enter(self.now, need, sequence, message);
    }

    /// Sets the pace of `flow` from now on.
    pub(crate) fn set_pace(&mut self, flow: FlowId, pace: Pace) {
        let stream = &mut self.streams[flow.0 as usize];
        stream.set_pace(self.now, pace);
        if std::mem::replace(&mut stream.is_known, true) {
            return;
        }
        match stream.next() {
            Some((Completion::At(at), sequence)) => {
                self.shared.remove(flow.0);
                self.timed.decrease_key(flow.0, Deadline { at, sequence });
            }
            Some((Completion::AtVirtual(at), sequence)) => {
                self.timed.remove(flow.0);
                self.shared.set(flow.0, Deadline { at: NonNegative::of(at), sequence });
            }
            None => {}
        }
    }

    /// The time of the next completion at the present rates.
    pub(crate) fn next(&mut self) -> Option<Time> {
        // A stream that got slower is found out here, where it matters.
        while let Some((due, key)) = self.timed.first()
            && let Some((Completion::At(at), sequence)) = self.streams[key as usize].next()
            && at > due.at
        {
            self.timed.set(key, Deadline { at, sequence });
        }
        let timed = self.timed.first().map(|(due, _)| due.at);
        let shared = self.shared.first().map(|(due, _)| self.when(due.at));
        earlier(timed, shared)
    }

    /// Moves on to `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        if self.shared.first().is_none() {
            // Earlier sums are no longer needed.
            self.now.virtual_time = 0.0;
        } else if now > self.now.time {
            self.now.virtual_time += self.shared_level * (now - self.now.time).0;
        }
        self.now.time = now;
    }

    /// A stream with a message that is complete by now.
    pub(crate) fn next_complete(&mut self) -> Option<(FlowId, Completion)> {
        if let Some((_, key)) = self.timed.pop_by(self.now.time) {
            self.streams[key as usize].is_known = false;
            return Some((FlowId(key), Completion::At(self.now.time)));
        }
        let (due, _) = self.shared.first().filter(|(due, _)| self.when(due.at) <= self.now.time)?;
        let (_, key) = self.shared.pop()?;
        self.streams[key as usize].is_known = false;
        Some((FlowId(key), Completion::AtVirtual(due.at.value().max(self.now.virtual_time))))
    }

    /// Takes a message out of a stream that is complete by then.
    pub(crate) fn leave(&mut self, flow: FlowId, by: Completion) -> Option<Member> {
        self.streams[flow.0 as usize].leave(by)
    }

    #[inline]
    fn when(&self, at: NonNegative) -> Time {
        let left = (at.value() - self.now.virtual_time).max(0.0);
        self.now.time + Seconds(if left > 0.0 { left / self.shared_level } else { 0.0 })
    }
}

/// The earlier of two times, if there is any.
pub(super) fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (only, None) | (None, only) => only,
    }
}

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
