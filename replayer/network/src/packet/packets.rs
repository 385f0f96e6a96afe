//! Packets under way, each known by a small number that is free again once it has arrived.

use super::ids::{MessageId, PacketId};
use crate::topology::{Header, RouterId, Routing};

/// A packet under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    /// The cycle in which its header came to the queue that it is in.
    pub since: u64,
    /// The cycle in which it left its host.
    pub left: u64,
    pub header: Header,
    /// The message that it is a part of.
    pub message: MessageId,
    /// Channels that it took.
    pub hops: u32,
}

/// All packets, with what the routing has each of them carry.
#[derive(Debug)]
pub(super) struct Packets {
    packets: Vec<Packet>,
    state_words: usize,
    states: Vec<i32>,
    free: Vec<PacketId>,
}

impl Packets {
    pub fn new(state_words: usize) -> Self {
        Self { packets: Vec::new(), state_words, states: Vec::new(), free: Vec::new() }
    }

    pub fn insert(&mut self, packet: Packet) -> PacketId {
        if let Some(id) = self.free.pop() {
            self.packets[id.index()] = packet;
            return id;
        }
        self.packets.push(packet);
        self.states.resize(self.states.len() + self.state_words, 0);
        PacketId(self.packets.len() as u32 - 1)
    }

    pub fn remove(&mut self, id: PacketId) -> Packet {
        self.free.push(id);
        self.packets[id.index()]
    }

    pub fn get(&self, id: PacketId) -> &Packet {
        &self.packets[id.index()]
    }

    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id.index()]
    }

    /// The state that the packet carries for the routing.
    pub fn state(&self, id: PacketId) -> &[i32] {
        let first = id.index() * self.state_words;
        &self.states[first..first + self.state_words]
    }

    pub fn state_mut(&mut self, id: PacketId) -> &mut [i32] {
        let first = id.index() * self.state_words;
        &mut self.states[first..first + self.state_words]
    }

    /// Lets a packet start at the router `from`.
    pub fn depart(&mut self, id: PacketId, from: RouterId, routing: &impl Routing) {
        let header = self.packets[id.index()].header;
        routing.depart(from, &header, self.state_mut(id));
    }
}
