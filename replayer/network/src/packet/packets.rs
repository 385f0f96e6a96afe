//! Packets and messages under way, each known by a small number that is free again once it has arrived.

use super::routing::Ways;

/// A packet's place in [`Packets`].
pub(super) type PacketId = u32;

/// A packet under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    /// When its header came to the queue that it is in.
    pub since: u64,
    /// When it left its host.
    pub left: u64,
    /// The message that it is a part of.
    pub message: u32,
    pub from: u32,
    pub to: u32,
    /// The router at which `to` sits.
    pub goal: u32,
    /// What its choices by chance follow from.
    pub ties: u64,
    /// Channels that it took.
    pub hops: u32,
}

/// All packets, and for each the steps that it has still to go along each dimension of a grid.
#[derive(Debug)]
pub(super) struct Packets {
    packets: Vec<Packet>,
    dimensions: usize,
    steps: Vec<i32>,
    free: Vec<PacketId>,
}

impl Packets {
    pub fn new(dimensions: usize) -> Self {
        Self { packets: Vec::new(), dimensions, steps: Vec::new(), free: Vec::new() }
    }

    pub fn insert(&mut self, packet: Packet) -> PacketId {
        if let Some(id) = self.free.pop() {
            self.packets[id as usize] = packet;
            return id;
        }
        self.packets.push(packet);
        self.steps.resize(self.steps.len() + self.dimensions, 0);
        self.packets.len() as PacketId - 1
    }

    pub fn remove(&mut self, id: PacketId) -> Packet {
        self.free.push(id);
        self.packets[id as usize]
    }

    pub fn get(&self, id: PacketId) -> &Packet {
        &self.packets[id as usize]
    }

    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id as usize]
    }

    pub fn steps(&self, id: PacketId) -> &[i32] {
        let first = id as usize * self.dimensions;
        &self.steps[first..first + self.dimensions]
    }

    /// Counts the steps from router `from` on.
    pub fn depart(&mut self, id: PacketId, from: u32, ways: &Ways) {
        let first = id as usize * self.dimensions;
        ways.depart(from, &self.packets[id as usize], &mut self.steps[first..first + self.dimensions]);
    }

    pub fn steps_mut(&mut self, id: PacketId) -> &mut [i32] {
        let first = id as usize * self.dimensions;
        &mut self.steps[first..first + self.dimensions]
    }
}
