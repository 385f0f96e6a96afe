//! Packets in transit, each with a small number that is free again once it has arrived.

use super::ids::{MessageId, PacketId};
use crate::topology::{Header, RouterId, Routing};

/// A packet in transit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    /// The cycle in which its header arrives at its present or next queue.
    pub since: u64,
    /// The cycle in which it left its host.
    pub left: u64,
    pub header: Header,
    /// The message that it is a part of.
    pub message: MessageId,
    /// Channels that it took.
    pub hops: u32,
}

/// Words of the routing's state that are stored next to their packet.
const WORDS_BESIDE: usize = 4;

/// A packet and its state for the routing, in one line of cache if the state is short.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Record {
    packet: Packet,
    state: [i32; WORDS_BESIDE],
}

/// All packets, with the state that the routing keeps in each.
#[derive(Debug)]
pub(super) struct Packets {
    records: Vec<Record>,
    state_words: usize,
    /// States that are too long to be stored next to their packets.
    long_states: Vec<i32>,
    free: Vec<PacketId>,
}

impl Packets {
    pub(crate) fn new(state_words: usize) -> Self {
        Self { records: Vec::new(), state_words, long_states: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn insert(&mut self, packet: Packet) -> PacketId {
        if let Some(id) = self.free.pop() {
            self.records[id.index()].packet = packet;
            return id;
        }
        self.records.push(Record { packet, state: [0; WORDS_BESIDE] });
        if self.state_words > WORDS_BESIDE {
            self.long_states.resize(self.long_states.len() + self.state_words, 0);
        }
        PacketId(self.records.len() as u32 - 1)
    }

    pub(crate) fn remove(&mut self, id: PacketId) -> Packet {
        self.free.push(id);
        self.records[id.index()].packet
    }

    #[inline]
    pub(crate) fn get(&self, id: PacketId) -> &Packet {
        &self.records[id.index()].packet
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.records[id.index()].packet
    }

    /// The state that the packet carries for the routing.
    #[inline]
    pub(crate) fn state(&self, id: PacketId) -> &[i32] {
        match self.records[id.index()].state.get(..self.state_words) {
            Some(state) => state,
            None => &self.long_states[id.index() * self.state_words..][..self.state_words],
        }
    }

    #[inline]
    pub(crate) fn state_mut(&mut self, id: PacketId) -> &mut [i32] {
        match self.records[id.index()].state.get_mut(..self.state_words) {
            Some(state) => state,
            None => &mut self.long_states[id.index() * self.state_words..][..self.state_words],
        }
    }

    /// Lets a packet start at the router `from`.
    pub(crate) fn depart(&mut self, id: PacketId, from: RouterId, routing: &impl Routing) {
        let header = self.get(id).header;
        routing.depart(from, &header, self.state_mut(id));
    }
}
