//! The progress of a partitioned message from its sender to its receiver.

use titr_common::event::{Rank, RequestId, SendMode, Tag};
use titr_common::program::Fault;
use titr_common::time::Time;
use titr_common::units::Bytes;
use titr_platform::Partitioned as Implementation;

use crate::observe::{Caller, Observer, OperationId};
use crate::ranks::clock::Waiter;
use crate::ranks::ids::{ChannelIndex, PartIndex, PartitionedSide};
use crate::ranks::library::Library;
use crate::ranks::operation::{Claim, Completion, OperationKind};
use crate::ranks::partitioned::{PartMessage, What};
use crate::ranks::point_to_point::envelope::{Envelope, Selector};
use crate::ranks::point_to_point::exchange::Outbound;
use crate::ranks::thread::Thread;

impl<O: Observer> Library<'_, O> {
    pub(super) fn start_sender(&mut self, index: ChannelIndex) -> Option<OperationId> {
        let operation = self.exchange.operations.open(OperationKind::Partitioned(index, PartitionedSide::Sender));
        let channel = self.partitioned.channel_mut(index);
        channel.sent.push_back(Vec::new());
        if let Some(sender) = &mut channel.sender {
            (sender.operation, sender.round) = (Some(operation), sender.round + 1);
            sender.ready.clear();
        }
        self.send_ready(index, None);
        Some(operation)
    }

    pub(super) fn start_receiver(&mut self, index: ChannelIndex) -> Option<OperationId> {
        if !self.causality.has_receives() {
            return None;
        }
        let operation = self.exchange.operations.open(OperationKind::Partitioned(index, PartitionedSide::Receiver));
        if let Some(receiver) = &mut self.partitioned.channel_mut(index).receiver {
            receiver.operation = Some(operation);
            receiver.arrived.clear();
        }
        self.meet(index);
        Some(operation)
    }

    /// A receiver that has started announces this to its sender, if the library does so, and takes the messages already
    /// sent.
    pub(super) fn meet(&mut self, index: ChannelIndex) {
        let implementation = self.partitioned.implementation;
        let channel = self.partitioned.channel_mut(index);
        let has_started = channel.receiver.as_ref().is_some_and(|receiver| receiver.operation.is_some());
        if channel.sender.is_none() || !has_started {
            return;
        }
        let sent = channel.sent.front().cloned().unwrap_or_default();
        let envelope = Envelope { context: channel.context, source: channel.route.to, tag: Tag(0) };
        let to = channel.route.from;
        sent.into_iter().for_each(|message| self.take(index, message));
        if implementation == Implementation::Whole {
            let waiter = Waiter::Part(self.under_way(index, What::ClearToSend));
            self.exchange.transfer((to, envelope, Self::CLEAR_TO_SEND), waiter, self.now, &mut self.observer);
        }
        self.settle(index);
    }

    /// The receiver posts the receive of a message.
    fn take(&mut self, index: ChannelIndex, message: u32) {
        let channel = self.partitioned.channel(index);
        let (to, from) = (channel.route.to, channel.route.from);
        let selector = Selector { context: channel.context, source: Some(from), tag: Some(tag(message)) };
        let received =
            self.exchange.receive(to, (selector, None), Caller::Thread(to.into()), self.now, &mut self.observer);
        self.await_message(index, What::Received(message), received);
    }

    /// A part of a send is ready.
    pub(super) fn ready(&mut self, rank: Rank, id: RequestId, part: u32) -> Result<(), Fault> {
        let (index, _) = self.partitioned.end(rank, id)?;
        let sender = self.partitioned.channel_mut(index).sender.as_mut().ok_or(Fault::NotPartitioned(id))?;
        sender.mark(id, part)?;
        self.send_ready(index, Some(part));
        Ok(())
    }

    /// Sends every message that may depart, after a part became ready or the channel changed otherwise.
    fn send_ready(&mut self, index: ChannelIndex, part: Option<u32>) {
        let (implementation, has_receives) = (self.partitioned.implementation, self.causality.has_receives());
        let channel = self.partitioned.channel_mut(index);
        let Some(sender) = &mut channel.sender else { return };
        let is_cleared = channel.cleared >= sender.round || !has_receives;
        let (message, is_all) = match implementation {
            Implementation::Each => (part, sender.is_ready()),
            Implementation::Whole => {
                let is_all = sender.is_ready() && is_cleared && sender.issued < sender.round;
                (is_all.then_some(0), is_all)
            }
        };
        if is_all {
            sender.issued = sender.round;
        }
        if let Some(message) = message {
            self.send_message(index, message);
        }
        self.settle(index);
    }

    fn send_message(&mut self, index: ChannelIndex, message: u32) {
        let implementation = self.partitioned.implementation;
        let channel = self.partitioned.channel_mut(index);
        let Some(sender) = &mut channel.sender else { return };
        sender.pending += 1;
        let bytes: Bytes = sender.bytes_of(message, implementation);
        // If the receiver has started a round, it is in the oldest round that has stored messages.
        let takes =
            channel.sent.len() == 1 && channel.receiver.as_ref().is_some_and(|receiver| receiver.operation.is_some());
        channel.sent.back_mut().into_iter().for_each(|sent| sent.push(message));
        let envelope = Envelope { context: channel.context, source: channel.route.from, tag: tag(message) };
        let to = channel.route.to;
        if takes {
            self.take(index, message);
        }
        let outbound = Outbound { to, envelope, bytes, mode: SendMode::Standard };
        let sent = self.exchange.send(outbound, self.now, &mut self.observer);
        self.await_message(index, What::Sent, sent);
    }

    /// Waits for a message, at once if it is there.
    fn await_message(&mut self, index: ChannelIndex, what: What, operation: Option<OperationId>) {
        let part = self.under_way(index, what);
        let waiter = Waiter::Part(part);
        match operation.map(|operation| self.exchange.operations.claim(operation, waiter)) {
            None => self.scheduler.ready(waiter),
            Some(Claim::Done(eager)) => {
                self.exchange.operations.completions.push(Completion { waiter, operation, eager });
            }
            Some(Claim::Awaited) => {}
        }
    }

    fn under_way(&mut self, channel: ChannelIndex, what: What) -> PartIndex {
        self.partitioned.channel_mut(channel).under_way += 1;
        let part = PartIndex(self.partitioned.parts.insert(PartMessage { channel, what }) as u32);
        self.observer.began(self.now, Waiter::Part(part), self.partitioned.waiting(part));
        part
    }

    /// A message is sent or received, and the software's part of that is done.
    pub(in crate::ranks) fn advance_part(&mut self, part: PartIndex) {
        let PartMessage { channel: index, what } = self.partitioned.parts.remove(part.0 as usize);
        self.observer.ended(Waiter::Part(part));
        let channel = self.partitioned.channel_mut(index);
        channel.under_way -= 1;
        match what {
            What::Sent => channel.sender.iter_mut().for_each(|sender| sender.pending -= 1),
            What::Received(message) => {
                if let Some(receiver) = &mut channel.receiver {
                    receiver.arrived.insert(message);
                    let waiting = std::mem::take(&mut receiver.waiting);
                    let (over, still): (Vec<_>, _) = waiting.into_iter().partition(|(_, range)| receiver.has(range));
                    receiver.waiting = still;
                    for (waiter, _) in over {
                        self.observer.released(self.now, waiter, None, Time::ZERO);
                        self.exchange.operations.completions.push(Completion { waiter, operation: None, eager: None });
                    }
                }
            }
            What::ClearToSend => {
                channel.cleared += 1;
                return self.send_ready(index, None);
            }
        }
        self.settle(index);
        self.partitioned.forget_if_over(index);
    }

    /// Completes the operations of the sides that have all they wait for.
    fn settle(&mut self, index: ChannelIndex) {
        let implementation = self.partitioned.implementation;
        let channel = self.partitioned.channel_mut(index);
        let messages = channel.messages(implementation);
        let mut complete = |operation: Option<OperationId>| {
            if let Some(operation) = operation {
                self.observer.completed(self.now, operation);
                self.exchange.operations.complete(operation);
            }
        };
        if let Some(sender) = &mut channel.sender
            && sender.issued == sender.round
            && sender.pending == 0
        {
            complete(sender.operation.take());
        }
        if let (Some(receiver), Some(messages)) = (&mut channel.receiver, messages)
            && receiver.operation.is_some()
            && receiver.arrived.len() >= messages as usize
        {
            complete(receiver.operation.take());
            channel.sent.pop_front();
        }
    }

    /// `thread` waits until a part of a receive has arrived.
    pub(super) fn await_part(&mut self, thread: &mut Thread, id: RequestId, part: u32) -> Result<(), Fault> {
        let (index, side) = self.partitioned.end(thread.actor.rank, id)?;
        let implementation = self.partitioned.implementation;
        let channel = self.partitioned.channel_mut(index);
        let messages = channel.messages(implementation);
        let Some(receiver) = &mut channel.receiver else { return Err(Fault::NotPartitioned(id)) };
        if side == PartitionedSide::Sender || part >= receiver.parts {
            return Err(Fault::NoSuchPart { request: id, part, parts: receiver.parts });
        }
        // A receive that is not active has all its parts (MPI 4.0 §4.2.2).
        if receiver.operation.is_some() {
            // Before the send is set up, the messages that will carry the part are unknown: then all of them.
            let range = receiver.messages_of(part, messages.unwrap_or(1));
            if !receiver.has(&range) {
                receiver.waiting.push((thread.waiter(), range));
                thread.clock.awaited += 1;
            }
        }
        Ok(())
    }
}

/// The tag of a message within its channel.
fn tag(message: u32) -> Tag {
    Tag(message.cast_signed())
}
