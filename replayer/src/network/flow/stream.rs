//! Messages that travel together: all those under way between the same two hosts.
//!
//! They get the same share of the same links, so one sum says what each of them has got: the *service* S(t) = ∫ r dt since
//! the stream began. A message that enters at t₀ and needs a service of s is complete when S(t) = S(t₀) + s, whatever r does
//! meanwhile: a change of the rate costs the same for a thousand messages as for one, and the order in which they
//! are complete is known when they enter. (This is the virtual time of fair queueing: Demers, Keshav and Shenker,
//! "Analysis and simulation of a fair queueing algorithm", SIGCOMM 1989.)

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use titr_common::units::Seconds;

use crate::time::Time;

/// The messages between two hosts that are in their transfer phase.
#[derive(Debug, Default)]
pub(super) struct Stream {
    members: BinaryHeap<Member>,
    /// S at `since`, in bytes.
    service: f64,
    since: Time,
    /// r from then on, in bytes per second.
    rate: f64,
}

/// A message under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// S when it is complete.
    complete: f64,
    /// Breaks ties.
    pub sequence: u64,
    pub message: u32,
}

impl Stream {
    /// Brings S up to date; `rate` from now on.
    pub fn set_rate(&mut self, now: Time, rate: f64) {
        if now > self.since {
            self.service += self.rate * (now - self.since).0;
            self.since = now;
        }
        self.rate = rate;
    }

    /// A message enters that needs so much service.
    pub fn enter(&mut self, now: Time, need: f64, sequence: u64, message: u32) {
        if self.members.is_empty() {
            // Nobody remembers what was before. Small sums are exact ones.
            (self.service, self.since, self.rate) = (0.0, now, 0.0);
        } else {
            self.set_rate(now, self.rate);
        }
        self.members.push(Member { complete: self.service + need, sequence, message });
    }

    /// The message that is complete next, and when, if the rate stays.
    pub fn next(&self) -> Option<(Time, Member)> {
        let first = self.members.peek()?;
        Some((self.since + Seconds((first.complete - self.service).max(0.0) / self.rate), *first))
    }

    /// Takes out the message that is complete next if that is by now.
    pub fn leave(&mut self, now: Time) -> Option<Member> {
        self.next().filter(|&(at, _)| at <= now)?;
        self.members.pop()
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
        let at = |seconds| Time::from_seconds(Seconds(seconds));
        let mut stream = Stream::default();
        stream.enter(at(0.0), 100.0, 0, 7);
        stream.set_rate(at(0.0), 10.0);
        stream.enter(at(4.0), 30.0, 1, 8);
        stream.set_rate(at(4.0), 20.0);
        assert_eq!(stream.leave(at(5.0)), None);
        for (seconds, message) in [(5.5, 8), (7.0, 7)] {
            assert_eq!(stream.next().map(|(time, member)| (time, member.message)), Some((at(seconds), message)));
            assert_eq!(stream.leave(at(seconds)).map(|member| member.message), Some(message));
        }
        assert!(stream.next().is_none());
    }
}
