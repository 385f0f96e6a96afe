//! Messages that hosts have to send: a queue for each host, cut into packets one by one as injection ports take them.

use std::collections::VecDeque;

use super::Message;
use super::ids::MessageId;
use crate::topology::HostId;

/// Messages that are under way, and for each host those that wait to be sent.
#[derive(Debug)]
pub(super) struct Sources {
    messages: slab::Slab<Progress>,
    waiting: Vec<VecDeque<MessageId>>,
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

impl Sources {
    pub fn new(hosts: usize) -> Self {
        Self { messages: slab::Slab::new(), waiting: vec![VecDeque::new(); hosts] }
    }

    pub fn insert(&mut self, message: Message, created: u64) -> MessageId {
        let Message { packets, .. } = message;
        let progress = Progress { message, created, injected: None, unsent: packets, missing: packets, hops: 0 };
        MessageId(self.messages.insert(progress) as u32)
    }

    pub fn get(&self, id: MessageId) -> &Progress {
        &self.messages[id.index()]
    }

    /// Lets the packets of a message be sent. Returns its host.
    pub fn ready(&mut self, id: MessageId) -> HostId {
        let host = self.get(id).message.from;
        self.waiting[host.index()].push_back(id);
        host
    }

    /// The message that the next packet of a host is from.
    pub fn send(&mut self, host: HostId) -> Option<MessageId> {
        let waiting = &mut self.waiting[host.index()];
        let id = *waiting.front()?;
        let progress = &mut self.messages[id.index()];
        progress.unsent -= 1;
        if progress.unsent == 0 {
            waiting.pop_front();
        }
        Some(id)
    }

    /// A packet of a message leaves its host.
    pub fn leaves(&mut self, id: MessageId, now: u64) {
        self.messages[id.index()].injected.get_or_insert(now);
    }

    /// A packet of a message is consumed, after so many channels. Returns the message if the packet was its last.
    pub fn arrives(&mut self, id: MessageId, hops: u32) -> Option<Progress> {
        let progress = &mut self.messages[id.index()];
        progress.hops = progress.hops.max(hops);
        progress.missing -= 1;
        if progress.missing > 0 {
            return None;
        }
        self.messages.try_remove(id.index())
    }
}
