//! Pairs the sends of messages with their receives.
//!
//! Messages of one **channel** do not overtake each other (MPI 4.0 §3.5): the first to be sent is the first to be
//! received. Ranks are read in the order in which calls were made, so a receive that waits is read before its send.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use titr_common::event::{CommId, Rank, Tag};
use titr_common::program::{Communicators, Context, Fault};

/// The key that messages are matched by. Within a collective, `number` is the collective's, elsewhere it is the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Channel {
    pub(crate) context: Context,
    pub(crate) from: Rank,
    pub(crate) to: Rank,
    pub(crate) number: u64,
}

impl Channel {
    /// The channel of a message from one rank to another with this tag, on what `rank` calls `comm`.
    pub(crate) fn of(
        communicators: &mut Communicators,
        rank: Rank,
        comm: CommId,
        [from, to]: [Rank; 2],
        tag: Tag,
    ) -> Result<Self, Fault> {
        let index = communicators.find(rank, comm)?;
        let context = communicators.get(index).context;
        Ok(Self { context, from, to, number: u64::from(tag.0.cast_unsigned()) })
    }
}

/// Messages with one known end.
#[derive(Debug)]
enum UnmatchedEnds<S, R> {
    Sent(VecDeque<S>),
    Received(VecDeque<R>),
}

/// The messages whose other end is not known yet. `S` describes a send, and `R` a receive.
#[derive(Debug)]
pub(crate) struct MessagePairs<S, R> {
    open: FxHashMap<Channel, UnmatchedEnds<S, R>>,
}

impl<S, R> Default for MessagePairs<S, R> {
    fn default() -> Self {
        Self { open: FxHashMap::default() }
    }
}

impl<S, R> MessagePairs<S, R> {
    /// Adds a send; returns both ends if the receive is known.
    pub(crate) fn send(&mut self, channel: Channel, send: S) -> Option<(S, R)> {
        match self.open.entry(channel).or_insert_with(|| UnmatchedEnds::Sent(VecDeque::new())) {
            UnmatchedEnds::Sent(sent) => {
                sent.push_back(send);
                None
            }
            UnmatchedEnds::Received(received) => {
                let receive = received.pop_front();
                if received.is_empty() {
                    self.open.remove(&channel);
                }
                receive.map(|receive| (send, receive))
            }
        }
    }

    /// Adds a receive; returns both ends if the send is known.
    pub(crate) fn receive(&mut self, channel: Channel, receive: R) -> Option<(S, R)> {
        match self.open.entry(channel).or_insert_with(|| UnmatchedEnds::Received(VecDeque::new())) {
            UnmatchedEnds::Received(received) => {
                received.push_back(receive);
                None
            }
            UnmatchedEnds::Sent(sent) => {
                let send = sent.pop_front();
                if sent.is_empty() {
                    self.open.remove(&channel);
                }
                send.map(|send| (send, receive))
            }
        }
    }

    /// The sends without a receive, in no order.
    pub(crate) fn unreceived(self) -> impl Iterator<Item = S> {
        let sent = self.open.into_values().filter_map(|halves| match halves {
            UnmatchedEnds::Sent(sent) => Some(sent),
            UnmatchedEnds::Received(_) => None,
        });
        sent.flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_a_channel_do_not_overtake_each_other() {
        let channel = |number| Channel { context: Context(0), from: Rank(0), to: Rank(1), number };
        let mut pairs = MessagePairs::default();
        assert_eq!(pairs.receive(channel(7), "first receive"), None);
        assert_eq!(pairs.send(channel(7), 1), Some((1, "first receive")));
        assert_eq!(
            (pairs.send(channel(7), 2), pairs.send(channel(7), 3), pairs.send(channel(8), 4)),
            (None, None, None)
        );
        assert_eq!(pairs.receive(channel(7), "next"), Some((2, "next")));
        let mut left: Vec<i32> = pairs.unreceived().collect();
        left.sort_unstable();
        assert_eq!(left, [3, 4]);
    }
}
