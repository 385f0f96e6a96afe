//! Messages that hosts have to send: a queue for each host, divided into packets one by one as injection ports take
//! them.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::{Delivery, Message, MessageId, PacketId};
use crate::Connection;
use crate::topology::{Header, HostId, RouterId, Routing};

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
    /// For each host, the messages that it sends, the next first. If connections take turns, one of each that may send.
    waiting: Vec<VecDeque<MessageId>>,
    /// If connections take turns: those that have messages, or packets on their way.
    connections: Option<FxHashMap<Connection, ConnectionState>>,
    /// Packets of a connection that may be on their way at once. `None`: any number.
    window: Option<u32>,
}

/// A connection that takes turns with others.
#[derive(Clone, Debug, Default)]
struct ConnectionState {
    /// Messages that have packets left, the next first.
    messages: VecDeque<MessageId>,
    /// Whether the first of them waits to be sent.
    is_waiting: bool,
    /// Packets on their way, if there is a window.
    in_transit: u32,
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
    /// No messages. `window` is the packets of a connection that may be on their way at once, if connections take turns.
    pub(crate) fn new(hosts: usize, order: InjectionOrder, window: Option<u32>) -> Self {
        let connections = match order {
            InjectionOrder::Fifo => None,
            InjectionOrder::RoundRobin => Some(FxHashMap::default()),
        };
        let (messages, waiting) = (slab::Slab::new(), vec![VecDeque::new(); hosts]);
        Self { messages, waiting, connections, window }
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
        match self.connections.as_mut().zip(connection) {
            Some((connections, connection)) => {
                connections.entry(connection).or_default().messages.push_back(id);
                self.take_turn(connection);
            }
            None => self.waiting[from.index()].push_back(id),
        }
        from
    }

    /// Lets a connection wait for its turn, if it has a message and its window is open.
    fn take_turn(&mut self, connection: Connection) {
        let Some(connections) = &mut self.connections else { return };
        let Some(state) = connections.get_mut(&connection).filter(|state| !state.is_waiting) else { return };
        match state.messages.front() {
            Some(&id) if self.window.is_none_or(|window| state.in_transit < window) => {
                state.is_waiting = true;
                self.waiting[self.messages[id.index()].message.from.index()].push_back(id);
            }
            None if state.in_transit == 0 => drop(connections.remove(&connection)),
            Some(_) | None => {}
        }
    }

    /// A host learns that a packet of a connection has arrived.
    pub(crate) fn acknowledge(&mut self, connection: Connection) {
        if let Some(state) = self.connections.as_mut().and_then(|connections| connections.get_mut(&connection)) {
            state.in_transit -= 1;
            self.take_turn(connection);
        }
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
        let Some(connections) = &mut self.connections else {
            if is_sent {
                waiting.pop_front();
            }
            return Some(id);
        };
        waiting.pop_front();
        match progress.message.connection {
            Some(connection) if is_sent || self.window.is_some() => {
                if let Some(state) = connections.get_mut(&connection) {
                    state.is_waiting = false;
                    state.in_transit += u32::from(self.window.is_some());
                    if is_sent {
                        state.messages.pop_front();
                    }
                    self.take_turn(connection);
                }
            }
            _ if !is_sent => waiting.push_back(id),
            Some(_) | None => {}
        }
        Some(id)
    }

    /// Phits of the packet of a message that was sent last, if it is shorter than others.
    pub(crate) fn phits_of_last_sent(&self, id: MessageId) -> Option<u32> {
        let Progress { message, unsent, .. } = self.messages[id.index()];
        message.last_phits.filter(|_| unsent == 0)
    }

    /// A packet of a message left its host in cycle `at`.
    pub(crate) fn leaves(&mut self, id: MessageId, at: u64) {
        let first = self.messages[id.index()].injected.get_or_insert(at);
        *first = at.min(*first);
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
