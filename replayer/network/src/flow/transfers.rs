//! The streams of messages under way, and which of their messages is complete next.
//!
//! A stream goes on at a rate of its own, or with the [tide](super::sharing::tide). The former wait in an agenda by the
//! time of their next completion; the latter in another, by how far the tide has carried then, V(t) = ∫ λ dt, so that a change
//! of λ moves none of them: only the first matters, and when that is due takes one division.

use titr_common::units::Seconds;

use super::sharing::{FlowId, Pace};
use super::stream::{Completion, Instant, Member, Stream};
use crate::agenda::{Agenda, Due};
use titr_common::time::Time;

/// Streams by the number of their flow.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    streams: Vec<Stream>,
    /// When the next message of each stream with a rate is complete, or an earlier time.
    timed: Agenda<Time>,
    /// How far the tide has carried when the next message of each that it carries is complete.
    carried: Agenda<Distance>,
    now: Instant,
    /// λ from now on.
    tide: f64,
}

/// What a tide has carried, which is no less than nothing, as a number by which distances are in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Distance(u64);

impl Transfers {
    /// A message enters the stream of `flow`, needs so much service, and stands until its pace is set.
    pub fn enter(&mut self, flow: FlowId, need: f64, sequence: u64, message: u32) {
        let number = flow.0 as usize;
        if self.streams.len() <= number {
            self.streams.resize_with(number + 1, Stream::default);
        }
        self.streams[number].enter(self.now, need, sequence, message);
    }

    /// What `flow` gets from now on.
    pub fn set_pace(&mut self, flow: FlowId, pace: Pace) {
        let stream = &mut self.streams[flow.0 as usize];
        stream.set_pace(self.now, pace);
        match stream.next() {
            Some((Completion::At(at), sequence)) => {
                self.carried.remove(flow.0);
                self.timed.hasten(flow.0, Due { at, sequence });
            }
            Some((Completion::Carried(distance), sequence)) => {
                self.timed.remove(flow.0);
                self.carried.set(flow.0, Due { at: Distance::of(distance), sequence });
            }
            None => {}
        }
    }

    /// The tide's level from now on.
    pub fn set_tide(&mut self, level: f64) {
        self.tide = level;
    }

    /// When the next message is complete, if all goes on like this.
    pub fn next(&mut self) -> Option<Time> {
        // A stream that got slower is found out here, where it matters.
        while let Some((due, key)) = self.timed.first()
            && let Some((Completion::At(at), sequence)) = self.streams[key as usize].next()
            && at > due.at
        {
            self.timed.set(key, Due { at, sequence });
        }
        let timed = self.timed.first().map(|(due, _)| due.at);
        let carried = self.carried.first().map(|(due, _)| self.when(due.at));
        [timed, carried].into_iter().flatten().min()
    }

    /// Moves on to `now`.
    pub fn advance(&mut self, now: Time) {
        if self.carried.first().is_none() {
            // Nobody remembers what was before.
            self.now.carried = 0.0;
        } else if now > self.now.time {
            self.now.carried += self.tide * (now - self.now.time).0;
        }
        self.now.time = now;
    }

    /// A stream of which a message is complete by now, which is the next's time.
    pub fn next_complete(&mut self) -> Option<(FlowId, Completion)> {
        if let Some((_, key)) = self.timed.pop_by(self.now.time) {
            return Some((FlowId(key), Completion::At(self.now.time)));
        }
        let (due, _) = self.carried.first().filter(|(due, _)| self.when(due.at) <= self.now.time)?;
        let (_, key) = self.carried.pop()?;
        Some((FlowId(key), Completion::Carried(due.at.value().max(self.now.carried))))
    }

    /// Takes a message out of a stream that is complete by then.
    pub fn leave(&mut self, flow: FlowId, by: Completion) -> Option<Member> {
        self.streams[flow.0 as usize].leave(by)
    }

    fn when(&self, distance: Distance) -> Time {
        let left = (distance.value() - self.now.carried).max(0.0);
        self.now.time + Seconds(if left > 0.0 { left / self.tide } else { 0.0 })
    }
}

impl From<Distance> for u64 {
    fn from(distance: Distance) -> Self {
        distance.0
    }
}

impl Distance {
    fn of(distance: f64) -> Self {
        // Floats that are not negative are in the order of their bits; adding makes -0.0 one of them.
        Self((distance + 0.0).to_bits())
    }

    fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}
