//! Events in nodes, other than those of the network, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use titr_common::time::Time;

use crate::causes::Causes;
use crate::message::Message;

/// Something that happens at a node.
#[derive(Debug)]
pub(crate) enum Event {
    /// A processor continues.
    Resume { node: u32 },
    /// A message leaves a node, and arrives at once if it stays there.
    Send { message: Message, causes: Causes },
    /// The directory of the message's receiver handles it.
    Handle { message: Message, causes: Causes },
}

/// Future events. Those at one time happen in the order in which they were scheduled.
#[derive(Debug, Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<(Time, u64, usize)>>,
    events: slab::Slab<Event>,
    planned: u64,
}

impl Events {
    /// Plans an event.
    pub(crate) fn plan(&mut self, at: Time, event: Event) {
        let key = self.events.insert(event);
        self.heap.push(Reverse((at, self.planned, key)));
        self.planned += 1;
    }

    /// The time of the next event.
    pub(crate) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the next event, if it happens by `now`.
    pub(crate) fn take(&mut self, now: Time) -> Option<Event> {
        let &Reverse((at, _, key)) = self.heap.peek()?;
        if at > now {
            return None;
        }
        self.heap.pop();
        self.events.try_remove(key)
    }
}
