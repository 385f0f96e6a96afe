//! Input queues: ring buffers of packets in one array.

use super::layout::InputQueue;
use super::{PacketId, QueueId};
use crate::ids::Optional;
use crate::topology::PortIndex;

/// The input queues of all routers.
#[derive(Debug)]
pub(super) struct InputQueues {
    rings: Vec<Ring>,
    /// Packets that each queue has room for.
    capacity: u32,
    /// The slots of queues that are too long for the slots next to their state.
    long: Vec<QueuedPacket>,
}

/// Number of slots next to the state of a queue.
const SLOTS_BESIDE: usize = 4;

/// A queue and its slots, in one line of cache if they are few.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Ring {
    queue: InputQueue,
    slots: [QueuedPacket; SLOTS_BESIDE],
}

#[derive(Clone, Copy, Debug)]
pub(super) struct QueuedPacket {
    pub packet: PacketId,
    /// The port of the queue's router that the packet has to take, unless it has a choice.
    pub output: Optional<PortIndex>,
}

impl InputQueues {
    pub(crate) fn new(queues: Vec<InputQueue>, capacity: u32) -> Self {
        let empty = QueuedPacket { packet: PacketId(0), output: Optional::none() };
        let long = if capacity as usize > SLOTS_BESIDE { queues.len() * capacity as usize } else { 0 };
        let rings = queues.into_iter().map(|queue| Ring { queue, slots: [empty; SLOTS_BESIDE] });
        Self { rings: rings.collect(), capacity, long: vec![empty; long] }
    }

    #[inline]
    pub(crate) fn get(&self, queue: QueueId) -> &InputQueue {
        &self.rings[queue.index()].queue
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, queue: QueueId) -> &mut InputQueue {
        &mut self.rings[queue.index()].queue
    }

    /// The packet at the head of a queue that is not empty.
    #[inline]
    pub(crate) fn head(&self, queue: QueueId) -> QueuedPacket {
        let Ring { queue: InputQueue { head, .. }, slots } = &self.rings[queue.index()];
        if self.long.is_empty() { slots[*head as usize] } else { self.long[self.long_slot(queue, *head)] }
    }

    fn long_slot(&self, queue: QueueId, place: u32) -> usize {
        queue.index() * self.capacity as usize + place as usize
    }

    /// Appends a packet; returns whether it is the only one.
    #[inline]
    pub(crate) fn push(&mut self, queue: QueueId, packet: QueuedPacket) -> bool {
        let Ring { queue: state, slots } = &mut self.rings[queue.index()];
        let place = state.head + state.queued;
        let place = if place < self.capacity { place } else { place - self.capacity };
        state.queued += 1;
        let alone = state.queued == 1;
        if self.long.is_empty() {
            slots[place as usize] = packet;
        } else {
            let slot = self.long_slot(queue, place);
            self.long[slot] = packet;
        }
        alone
    }

    /// Takes the head out; returns whether there is another behind.
    #[inline]
    pub(crate) fn pop(&mut self, queue: QueueId) -> bool {
        let capacity = self.capacity;
        let state = self.get_mut(queue);
        state.head = if state.head + 1 < capacity { state.head + 1 } else { 0 };
        state.queued -= 1;
        state.queued > 0
    }
}
