//! Partitioned messages (MPI 4.0 §4): persistent messages whose parts become ready one by one.
//!
//! A send and a receive are matched when they are set up, by source, tag and communicator, in the order of the calls.
//! From then on they form a [`Channel`]: the *n*-th start of the send matches the *n*-th start of the receive. Their
//! numbers of parts may differ: the receiver's parts only determine what it tests for.
//!
//! The messages depend on the library ([`Implementation`]): one for each part when it becomes ready, or one for all
//! parts when all are ready and the receiver has announced that it has started. In either case the size decides whether
//! a message is eager, and the request of each side completes with its last message. Setting up a message costs
//! nothing.

mod calls;
mod channel;

pub(super) use channel::{Channel, Receiver, Route, Sender};

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use slab::Slab;
use titr_common::event::{Rank, RequestId};
use titr_common::program::Fault;
use titr_common::time::Time;
use titr_common::units::Seconds;
use titr_platform::Partitioned as Implementation;

use super::ids::{ChannelIndex, PartIndex, PartitionedSide};
use super::point_to_point::protocol::Protocol;

/// All partitioned messages.
pub(super) struct PartitionedMessages {
    pub(super) implementation: Implementation,
    pub(super) channels: Slab<Channel>,
    /// The side that a request of a rank is.
    pub(super) ends: FxHashMap<(Rank, RequestId), (ChannelIndex, PartitionedSide)>,
    /// Channels with only one side set up, in order.
    pub(super) unmatched: FxHashMap<Route, VecDeque<ChannelIndex>>,
    /// Messages in transit.
    pub(super) parts: Slab<PartMessage>,
}

/// A message of a channel, at the side that waits for it.
#[derive(Clone, Copy)]
pub(super) struct PartMessage {
    pub(super) channel: ChannelIndex,
    pub(super) what: What,
}

/// The message that a side waits for.
#[derive(Clone, Copy)]
pub(super) enum What {
    /// The sender waits until the send of a message is complete.
    Sent,
    /// The receiver waits until it has this message.
    Received(u32),
    /// The sender is to hear that the receiver has started.
    ClearToSend,
}

impl PartitionedMessages {
    pub(super) fn new(implementation: Implementation) -> Self {
        Self {
            implementation,
            channels: Slab::new(),
            ends: FxHashMap::default(),
            unmatched: FxHashMap::default(),
            parts: Slab::new(),
        }
    }

    pub(super) fn channel(&self, index: ChannelIndex) -> &Channel {
        &self.channels[index.0 as usize]
    }

    pub(super) fn channel_mut(&mut self, index: ChannelIndex) -> &mut Channel {
        &mut self.channels[index.0 as usize]
    }

    pub(super) fn end(&self, rank: Rank, request: RequestId) -> Result<(ChannelIndex, PartitionedSide), Fault> {
        self.ends.get(&(rank, request)).copied().ok_or(Fault::NotPartitioned(request))
    }

    /// Forgets a channel both of whose sides are freed.
    pub(super) fn forget_if_over(&mut self, index: ChannelIndex) {
        if self.channel(index).is_over() {
            self.channels.remove(index.0 as usize);
        }
    }

    /// The time of the side that a message belongs to once the software's part of the message is done, which takes `cost`.
    pub(super) fn complete(&mut self, part: PartIndex, now: Time, cost: Seconds) -> Time {
        let PartMessage { channel, what } = self.parts[part.0 as usize];
        let channel = self.channel_mut(channel);
        let clock = match what {
            What::Sent => channel.sender.as_mut().map(|sender| &mut sender.clock),
            What::Received(_) => channel.receiver.as_mut().map(|receiver| &mut receiver.clock),
            What::ClearToSend => None,
        };
        let Some(clock) = clock else { return now };
        *clock = now.max(*clock) + cost;
        *clock
    }

    /// Whether a message announces that the receiver has started.
    pub(super) fn lets_data_leave(&self, part: PartIndex) -> bool {
        matches!(self.parts[part.0 as usize].what, What::ClearToSend)
    }

    /// The side that waits for a message.
    pub(super) fn waiting(&self, part: PartIndex) -> Rank {
        let PartMessage { channel, what } = self.parts[part.0 as usize];
        let route = self.channel(channel).route;
        match what {
            What::Sent | What::ClearToSend => route.from,
            What::Received(_) => route.to,
        }
    }

    /// A side of a partitioned message in words, and the rank at its other side.
    pub(super) fn describe(&self, index: ChannelIndex, side: PartitionedSide) -> (String, Rank) {
        let Route { from, to, tag, .. } = self.channel(index).route;
        match side {
            PartitionedSide::Sender => (format!("a partitioned send to rank {} with tag {}", to.0, tag.0), to),
            PartitionedSide::Receiver => {
                (format!("a partitioned receive from rank {} with tag {}", from.0, tag.0), from)
            }
        }
    }

    /// The threads that wait for a part to arrive, and the channel of each.
    pub(super) fn awaited_parts(&self) -> impl Iterator<Item = (super::clock::Waiter, ChannelIndex)> {
        self.channels.iter().flat_map(|(index, channel)| {
            let waiting = channel.receiver.iter().flat_map(|receiver| &receiver.waiting);
            waiting.map(move |(waiter, _)| (*waiter, ChannelIndex(index as u32)))
        })
    }

    /// The time that a rank spends to mark a part as ready: all of the cost of the message that then departs.
    pub(super) fn cost_of_ready(&self, rank: Rank, request: RequestId, part: u32, protocol: &Protocol) -> Seconds {
        let sender = self.end(rank, request).ok().and_then(|(channel, _)| self.channel(channel).sender.as_ref());
        let Some(sender) = sender else { return Seconds(0.0) };
        match self.implementation {
            Implementation::Each => protocol.cost_of_isend(sender.bytes_of(part, Implementation::Each)).all(),
            Implementation::Whole if sender.ready.len() + 1 == sender.parts as usize => {
                protocol.cost_of_isend(sender.bytes).all()
            }
            Implementation::Whole => Seconds(0.0),
        }
    }
}
