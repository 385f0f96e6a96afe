//! Input queues: rings of packets, side by side in one array.

use super::ids::{PacketId, QueueId};
use super::layout::InputQueue;

/// The input queues of all routers.
#[derive(Debug)]
pub(super) struct InputQueues {
    pub queues: Vec<InputQueue>,
    slots: Vec<PacketId>,
    /// Packets that each queue has room for.
    pub capacity: u32,
}

impl InputQueues {
    /// These queues, which are empty.
    pub fn new(queues: Vec<InputQueue>, capacity: u32) -> Self {
        Self { slots: vec![PacketId(0); queues.len() * capacity as usize], queues, capacity }
    }

    #[inline]
    pub fn get(&self, queue: QueueId) -> &InputQueue {
        &self.queues[queue.index()]
    }

    #[inline]
    pub fn get_mut(&mut self, queue: QueueId) -> &mut InputQueue {
        &mut self.queues[queue.index()]
    }

    /// The packet at the head of a queue that is not empty.
    #[inline]
    pub fn head(&self, queue: QueueId) -> PacketId {
        self.slots[self.slot(queue, self.get(queue).head)]
    }

    fn slot(&self, queue: QueueId, place: u32) -> usize {
        queue.index() * self.capacity as usize + place as usize
    }

    /// Packets that there is room for.
    #[inline]
    pub fn room(&self, queue: QueueId) -> u32 {
        self.capacity - self.get(queue).reserved
    }

    /// Appends a packet; returns whether it is the only one.
    pub fn push(&mut self, queue: QueueId, packet: PacketId) -> bool {
        let state = self.get_mut(queue);
        let place = state.head + state.queued;
        state.queued += 1;
        let alone = state.queued == 1;
        let place = if place < self.capacity { place } else { place - self.capacity };
        let slot = self.slot(queue, place);
        self.slots[slot] = packet;
        alone
    }

    /// Takes the head out; returns whether there is another behind.
    pub fn pop(&mut self, queue: QueueId) -> bool {
        let state = &mut self.queues[queue.index()];
        state.head = if state.head + 1 < self.capacity { state.head + 1 } else { 0 };
        state.queued -= 1;
        state.reserved -= 1;
        state.queued > 0
    }
}
