//! Messages that hosts have to send: a queue for each host, divided into packets one by one as injection ports take
//! them.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::ids::MessageId;
use super::{Delivery, Message};
use crate::Connection;
use crate::topology::HostId;

/// The order in which a host sends the packets of its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InjectionOrder {
    /// All packets of a message before the first of the next message.
    #[default]
    Fifo,
    /// Messages of different connections take turns, packet by packet, as in TCP. Messages of one connection follow
    /// each other.
    RoundRobin,
}

/// Messages in transit, and for each host those that wait to be sent.
#[derive(Debug)]
pub(super) struct Sources {
    messages: slab::Slab<Progress>,
    /// For each host, the messages that it sends, the next first.
    waiting: Vec<VecDeque<MessageId>>,
    /// If connections take turns: the further messages of each connection that has a waiting one.
    following: Option<FxHashMap<Connection, VecDeque<MessageId>>>,
}

/// A message and how far it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub message: Message,
    /// The cycle in which it was offered.
    pub created: u64,
    /// The cycle in which its first packet left its host, if it did.
    pub injected: Option<u64>,
    /// Packets that still are in the host.
    unsent: u64,
    /// Packets that are not yet consumed.
    missing: u64,
    /// The most channels that a consumed packet took.
    pub hops: u32,
}

impl Progress {
    /// The delivery of the message, whose last packet is consumed now.
    pub(crate) fn delivery(self, now: u64) -> Delivery {
        let Self { message, created, injected, hops, .. } = self;
        Delivery { message, created, injected: injected.unwrap_or(now), at: now, hops }
    }
}

impl Sources {
    pub(crate) fn new(hosts: usize, order: InjectionOrder) -> Self {
        let following = match order {
            InjectionOrder::Fifo => None,
            InjectionOrder::RoundRobin => Some(FxHashMap::default()),
        };
        Self { messages: slab::Slab::new(), waiting: vec![VecDeque::new(); hosts], following }
    }

    pub(crate) fn insert(&mut self, message: Message, created: u64) -> MessageId {
        let Message { packets, .. } = message;
        let progress = Progress { message, created, injected: None, unsent: packets, missing: packets, hops: 0 };
        MessageId(self.messages.insert(progress) as u32)
    }

    pub(crate) fn get(&self, id: MessageId) -> &Progress {
        &self.messages[id.index()]
    }

    /// Lets the packets of a message be sent. Returns its host.
    pub(crate) fn ready(&mut self, id: MessageId) -> HostId {
        let Message { from, connection, .. } = self.get(id).message;
        if let Some((following, connection)) = self.following.as_mut().zip(connection) {
            match following.entry(connection) {
                Entry::Occupied(mut others) => {
                    others.get_mut().push_back(id);
                    return from;
                }
                Entry::Vacant(none) => {
                    none.insert(VecDeque::new());
                }
            }
        }
        self.waiting[from.index()].push_back(id);
        from
    }

    /// Whether a host has a packet to send.
    pub(crate) fn has_packet(&self, host: HostId) -> bool {
        !self.waiting[host.index()].is_empty()
    }

    /// The message that the next packet of a host is from.
    pub(crate) fn send(&mut self, host: HostId) -> Option<MessageId> {
        let waiting = &mut self.waiting[host.index()];
        let id = *waiting.front()?;
        let progress = &mut self.messages[id.index()];
        progress.unsent -= 1;
        let is_sent = progress.unsent == 0;
        if is_sent || self.following.is_some() {
            waiting.pop_front();
        }
        let Some(following) = &mut self.following else { return Some(id) };
        if !is_sent {
            waiting.push_back(id);
        } else if let Some(connection) = progress.message.connection {
            match following.get_mut(&connection).and_then(VecDeque::pop_front) {
                Some(next) => waiting.push_back(next),
                None => drop(following.remove(&connection)),
            }
        }
        Some(id)
    }

    /// A packet of a message left its host in cycle `at`.
    pub(crate) fn leaves(&mut self, id: MessageId, at: u64) {
        let first = self.messages[id.index()].injected.get_or_insert(at);
        *first = at.min(*first);
    }

    /// A packet of a message leaves its host, and another slab handles its arrival. Returns the message's number there,
    /// which is its tag. Removes the message with its last packet.
    pub(crate) fn hand_over(&mut self, id: MessageId) -> MessageId {
        let progress = &mut self.messages[id.index()];
        let outside = MessageId(progress.message.tag as u32);
        progress.missing -= 1;
        if progress.missing == 0 {
            self.messages.remove(id.index());
        }
        outside
    }

    /// A packet of a message is consumed after `hops` channels. Returns the message if the packet was its last.
    pub(crate) fn arrives(&mut self, id: MessageId, hops: u32) -> Option<Progress> {
        let progress = &mut self.messages[id.index()];
        progress.hops = progress.hops.max(hops);
        progress.missing -= 1;
        if progress.missing > 0 {
            return None;
        }
        self.messages.try_remove(id.index())
    }
}
