//! What hosts have to send: a queue of messages each, cut to packets one by one as ports take them.

use std::collections::VecDeque;

use super::Message;

/// Messages that are under way, and for each host those that wait to be sent.
#[derive(Debug)]
pub(super) struct Sources {
    messages: slab::Slab<Progress>,
    waiting: Vec<VecDeque<u32>>,
}

/// A message and how far it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub message: Message,
    /// When it was offered.
    pub created: u64,
    /// When its first packet left its host, if it did.
    pub injected: Option<u64>,
    /// Packets that still are in the host.
    unsent: u64,
    /// Packets that are not yet consumed.
    missing: u64,
}

impl Sources {
    pub fn new(hosts: usize) -> Self {
        Self { messages: slab::Slab::new(), waiting: vec![VecDeque::new(); hosts] }
    }

    pub fn insert(&mut self, message: Message, created: u64) -> u32 {
        let Message { packets, .. } = message;
        let progress = Progress { message, created, injected: None, unsent: packets, missing: packets };
        self.messages.insert(progress) as u32
    }

    pub fn get(&self, id: u32) -> &Progress {
        &self.messages[id as usize]
    }

    /// Lets a message's packets be sent. Returns its host.
    pub fn ready(&mut self, id: u32) -> u32 {
        let host = self.get(id).message.from;
        self.waiting[host as usize].push_back(id);
        host
    }

    /// The message that the next packet of a host is from.
    pub fn send(&mut self, host: u32) -> Option<u32> {
        let waiting = &mut self.waiting[host as usize];
        let id = *waiting.front()?;
        let progress = &mut self.messages[id as usize];
        progress.unsent -= 1;
        if progress.unsent == 0 {
            waiting.pop_front();
        }
        Some(id)
    }

    /// A packet of a message leaves its host.
    pub fn leaves(&mut self, id: u32, now: u64) {
        self.messages[id as usize].injected.get_or_insert(now);
    }

    /// A packet of a message is consumed; the message, if that was the last.
    pub fn arrives(&mut self, id: u32) -> Option<Progress> {
        let progress = &mut self.messages[id as usize];
        progress.missing -= 1;
        if progress.missing > 0 {
            return None;
        }
        self.messages.try_remove(id as usize)
    }
}
