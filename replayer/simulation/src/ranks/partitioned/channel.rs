//! Pairs of a partitioned send and a partitioned receive, and the progress of each.

use std::collections::{BTreeSet, VecDeque};
use std::ops::RangeInclusive;

use titr_common::event::{Rank, RequestId, Tag};
use titr_common::program::{Context, Fault};
use titr_common::time::Time;
use titr_common::units::Bytes;
use titr_platform::Partitioned as Implementation;

use crate::observe::OperationId;
use crate::ranks::clock::Waiter;

/// The messages that a send and a receive match by when they are set up (MPI 4.0 §4.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::ranks) struct Route {
    /// The context of the communicator.
    pub(in crate::ranks) context: Context,
    pub(in crate::ranks) from: Rank,
    pub(in crate::ranks) to: Rank,
    pub(in crate::ranks) tag: Tag,
}

/// A partitioned send and the partitioned receive that it is matched with.
pub(in crate::ranks) struct Channel {
    pub(in crate::ranks) route: Route,
    /// The context in which the messages of its parts meet their receives, each with its number as the tag.
    pub(in crate::ranks) context: Context,
    pub(in crate::ranks) sender: Option<Sender>,
    pub(in crate::ranks) receiver: Option<Receiver>,
    /// The messages sent in the round that the receiver is in or starts next, and in those after it.
    pub(in crate::ranks) sent: VecDeque<Vec<u32>>,
    /// The number of rounds for which the sender knows that the receiver has started.
    pub(in crate::ranks) cleared: u64,
    /// Messages in transit.
    pub(in crate::ranks) under_way: usize,
    /// The number of sides that are freed.
    pub(in crate::ranks) freed: u32,
}

/// The sending side.
pub(in crate::ranks) struct Sender {
    pub(in crate::ranks) bytes: Bytes,
    pub(in crate::ranks) parts: u32,
    /// The operation of the current start, until it is complete.
    pub(in crate::ranks) operation: Option<OperationId>,
    /// The parts that are ready in this round.
    pub(in crate::ranks) ready: BTreeSet<u32>,
    /// Messages whose sends are not complete.
    pub(in crate::ranks) pending: usize,
    /// The round that has begun, from 1.
    pub(in crate::ranks) round: u64,
    /// The rounds whose messages are all sent.
    pub(in crate::ranks) issued: u64,
    pub(in crate::ranks) clock: Time,
}

/// The receiving side.
pub(in crate::ranks) struct Receiver {
    pub(in crate::ranks) parts: u32,
    /// The operation of the current start, until it is complete.
    pub(in crate::ranks) operation: Option<OperationId>,
    /// The messages that have arrived in this round.
    pub(in crate::ranks) arrived: BTreeSet<u32>,
    /// The waiters, each with the messages of this round that it waits for.
    pub(in crate::ranks) waiting: Vec<(Waiter, RangeInclusive<u32>)>,
    pub(in crate::ranks) clock: Time,
}

impl Sender {
    pub(in crate::ranks) fn new(bytes: Bytes, parts: u32) -> Self {
        let (operation, ready) = (None, BTreeSet::new());
        Self { bytes, parts, operation, ready, pending: 0, round: 0, issued: 0, clock: Time::ZERO }
    }

    /// The bytes of a message.
    pub(in crate::ranks) fn bytes_of(&self, message: u32, implementation: Implementation) -> Bytes {
        match implementation {
            Implementation::Whole => self.bytes,
            Implementation::Each => {
                let until = |part: u64| u128::from(self.bytes.0) * u128::from(part) / u128::from(self.parts.max(1));
                Bytes((until(u64::from(message) + 1) - until(u64::from(message))) as u64)
            }
        }
    }

    /// Marks a part as ready.
    ///
    /// # Errors
    /// If the send is not started, or has no such part left.
    pub(in crate::ranks) fn mark(&mut self, request: RequestId, part: u32) -> Result<(), Fault> {
        if self.operation.is_none() {
            return Err(Fault::NotPartitioned(request));
        }
        if part >= self.parts || !self.ready.insert(part) {
            return Err(Fault::NoSuchPart { request, part, parts: self.parts });
        }
        Ok(())
    }

    pub(in crate::ranks) fn is_ready(&self) -> bool {
        self.ready.len() == self.parts as usize
    }
}

impl Receiver {
    pub(in crate::ranks) fn new(parts: u32) -> Self {
        let (operation, arrived, waiting) = (None, BTreeSet::new(), Vec::new());
        Self { parts, operation, arrived, waiting, clock: Time::ZERO }
    }

    /// The messages, of this total number, that contain data of a part.
    pub(in crate::ranks) fn messages_of(&self, part: u32, messages: u32) -> RangeInclusive<u32> {
        let (part, parts, messages) = (u64::from(part), u64::from(self.parts.max(1)), u64::from(messages));
        let first = part * messages / parts;
        let last = ((part + 1) * messages).div_ceil(parts).saturating_sub(1).max(first);
        first as u32..=last as u32
    }

    /// Whether all these messages have arrived.
    pub(in crate::ranks) fn has(&self, messages: &RangeInclusive<u32>) -> bool {
        self.arrived.range(messages.clone()).count() > (messages.end() - messages.start()) as usize
    }
}

impl Channel {
    pub(in crate::ranks) fn new(route: Route, context: Context) -> Self {
        let (sender, receiver, sent) = (None, None, VecDeque::new());
        Self { route, context, sender, receiver, sent, cleared: 0, under_way: 0, freed: 0 }
    }

    /// How many messages a round has; `None` before the send is set up.
    pub(in crate::ranks) fn messages(&self, implementation: Implementation) -> Option<u32> {
        let sender = self.sender.as_ref()?;
        Some(match implementation {
            Implementation::Each => sender.parts,
            Implementation::Whole => 1,
        })
    }

    /// Whether both sides are freed, and nothing travels.
    pub(in crate::ranks) fn is_over(&self) -> bool {
        self.freed == 2 && self.under_way == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_receiver_is_in_the_messages_that_overlap_it() {
        let messages = |parts, messages| {
            (0..parts).map(|part| Receiver::new(parts).messages_of(part, messages)).collect::<Vec<_>>()
        };
        assert_eq!(messages(2, 4), [0..=1, 2..=3]);
        assert_eq!(messages(4, 2), [0..=0, 0..=0, 1..=1, 1..=1]);
        assert_eq!(messages(2, 3), [0..=1, 1..=2]);
        assert_eq!(messages(3, 1), [0..=0, 0..=0, 0..=0]);
    }

    #[test]
    fn the_bytes_of_the_parts_add_up() {
        let sender = Sender::new(Bytes(10), 3);
        let bytes: Vec<u64> = (0..3).map(|part| sender.bytes_of(part, Implementation::Each).0).collect();
        assert_eq!(bytes, [3, 3, 4]);
        assert_eq!(sender.bytes_of(0, Implementation::Whole), Bytes(10));
    }
}
