//! The streams of messages in transit, and the message that completes next.
//!
//! A stream progresses at its own rate, or with the [shared level](super::max_min). Streams with their own rate wait in
//! a heap ordered by the time of their next completion. The others wait in a second heap, ordered by the virtual time
//! V(t) = ∫ λ dt of the shared level λ at their next completion. A change of λ moves none of them: only the first one
//! matters, and its completion time takes one division.

use titr_common::time::Time;
use titr_common::units::Seconds;

use super::max_min::{FlowId, Pace};
use super::stream::{Completion, Instant, Member, Stream};
use crate::indexed_heap::{Deadline, IndexedHeap, NonNegative};

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
    shared_level: f64,
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

    /// Sets the shared level from now on.
    pub(crate) fn set_shared_level(&mut self, level: f64) {
        self.shared_level = level;
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
