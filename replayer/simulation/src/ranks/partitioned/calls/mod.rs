//! Calls of partitioned communication: a message is set up, started, marked ready part by part, tested, and freed.

mod progress;

use titr_common::event::{Partitioned, Rank, RequestId};
use titr_common::program::{Fault, Template};
use titr_common::units::Bytes;

use crate::observe::{Observer, OperationId};
use crate::ranks::ids::{ChannelIndex, PartitionedSide};
use crate::ranks::library::Library;
use crate::ranks::partitioned::{Channel, Receiver, Route, Sender};
use crate::ranks::thread::Thread;

impl<O: Observer> Library<'_, O> {
    /// A call of partitioned communication; of one that marks parts as ready, the part that is next.
    pub(in crate::ranks) fn partitioned(&mut self, thread: &mut Thread, event: &Partitioned) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        match event {
            &Partitioned::SendInit(message, parts, id) => {
                self.known(message.to)?;
                let context = self.context(rank, message.comm)?;
                let route = Route { context, from: rank, to: message.to, tag: message.tag };
                self.requests(rank).add_persistent(id, Template::Partitioned(message.bytes))?;
                let channel = self.join(route, (rank, id), PartitionedSide::Sender);
                let sender = Sender::new(message.bytes, parts);
                self.partitioned.channel_mut(channel).sender = Some(sender);
                self.meet(channel);
            }
            &Partitioned::RecvInit(message, parts, id) => {
                // Neither can be left open (MPI 4.0 §4.2.1).
                let (Some(from), Some(tag)) = (message.from, message.tag) else {
                    return Err(Fault::NotPartitioned(id));
                };
                self.known(from)?;
                let context = self.context(rank, message.comm)?;
                self.requests(rank).add_persistent(id, Template::Partitioned(message.bytes))?;
                let channel = self.join(Route { context, from, to: rank, tag }, (rank, id), PartitionedSide::Receiver);
                self.partitioned.channel_mut(channel).receiver = Some(Receiver::new(parts));
            }
            Partitioned::Ready(id, parts) => {
                if let Some(&part) = parts.get(thread.started as usize) {
                    self.ready(rank, *id, part)?;
                }
            }
            &Partitioned::Arrived(id, part) => self.await_part(thread, id, part)?,
        }
        Ok(())
    }

    /// The channel of a side that is set up: the oldest of its route that has only the other side, or a new one.
    fn join(&mut self, route: Route, end: (Rank, RequestId), side: PartitionedSide) -> ChannelIndex {
        let messages = &mut self.partitioned;
        let waiting = messages.unmatched.entry(route).or_default();
        let has_only_other = |channel: &ChannelIndex| {
            let channel = &messages.channels[channel.0 as usize];
            match side {
                PartitionedSide::Sender => channel.sender.is_none(),
                PartitionedSide::Receiver => channel.receiver.is_none(),
            }
        };
        let index = if waiting.front().is_some_and(has_only_other) { waiting.pop_front() } else { None };
        let index = index.unwrap_or_else(|| {
            let context = self.communicators.new_context();
            let index = ChannelIndex(messages.channels.insert(Channel::new(route, context)) as u32);
            waiting.push_back(index);
            index
        });
        messages.ends.insert(end, (index, side));
        index
    }

    /// Starts a side of a partitioned message. Returns the operation to wait for.
    pub(in crate::ranks) fn start_partitioned(
        &mut self,
        rank: Rank,
        id: RequestId,
    ) -> Result<Option<OperationId>, Fault> {
        let (channel, side) = self.partitioned.end(rank, id)?;
        Ok(match side {
            PartitionedSide::Sender => self.start_sender(channel),
            PartitionedSide::Receiver => self.start_receiver(channel),
        })
    }

    /// The request of a partitioned message is freed.
    pub(in crate::ranks) fn free_partitioned(&mut self, rank: Rank, id: RequestId) {
        let messages = &mut self.partitioned;
        // The other side may still be behind.
        if let Some((index, _)) = messages.ends.remove(&(rank, id)) {
            messages.channel_mut(index).freed += 1;
            messages.forget_if_over(index);
        }
    }

    /// The bytes that say that a receiver has started: `MPIDIG_part_cts_msg_t` of MPICH has two pointers.
    const CLEAR_TO_SEND: Bytes = Bytes(16);
}
