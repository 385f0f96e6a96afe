//! Decisions: packets that compare paths by the packets that are queued.
//!
//! A packet decides when it is the head of its queue, and anew in each cycle until it leaves its router. All heads that compare
//! ports of a router decide before the router forwards the first packet in a cycle.
//!
//! A decision depends only on the packets at the ports of both paths, so it can change only if their number has changed. A head
//! registers with each port that it compares, as with a port that it requests ([`wakeup`](super::wakeup)), and decides anew when
//! a packet joins those at one of these ports, or leaves them. A head that also compares ports of other routers decides anew in
//! each cycle.

use std::ops::Range;

use super::super::active_set::ones;
use super::super::ids::{OutputId, PacketId, QueueIndex};
use super::super::layout::RouterState;
use super::RoutedEngine;
use crate::topology::{RouterId, Routing};

impl<R: Routing, const UNEVEN: bool> RoutedEngine<R, UNEVEN> {
    /// Whether packets decide anew while they wait.
    #[inline]
    pub(super) fn reconsiders(&self) -> bool {
        R::DECIDES && self.routing.reconsiders()
    }

    /// Whether a packet that is the head of a queue of a router decides there.
    #[inline]
    pub(super) fn is_undecided(&self, id: PacketId, at: RouterId) -> bool {
        self.routing.is_undecided(self.packets.state(id)) && self.packets.get(id).header.destination != at
    }

    /// Lets the heads of these routers decide that look for a port in this cycle, before any router forwards a packet.
    pub(super) fn decide_heads(&mut self, routers: &[RouterId]) {
        for &router in routers {
            let this = self.routers[router.index()];
            for word in 0..this.queues.div_ceil(64) {
                for place in ones(self.wakeup.due(this.first_word + word)) {
                    let queue = QueueIndex(64 * word + place);
                    if self.is_undecided(self.queues.head(this.queue(queue)).packet, router) {
                        self.decide(router, this, queue);
                    }
                }
            }
        }
        self.count_decided(0);
    }

    /// Makes the decision of the head of a queue, which is undecided.
    pub(super) fn decide(&mut self, at: RouterId, this: RouterState, queue: QueueIndex) {
        let id = self.queues.head(this.queue(queue)).packet;
        let header = self.packets.get(id).header;
        let is_first = self.routing.awaited(self.packets.state(id)).is_none();
        let register = self.wakeup.registrar(queue);
        let (routers, outputs, places) = (&self.routers, &self.outputs, self.parameters.queue_packets);
        let queued = |router: RouterId, port, channels: Range<u32>| {
            let output = routers[router.index()].output(port);
            if router == at {
                register(output);
            }
            let behind = places * channels.len() as u32 - outputs.room_of(output, channels.clone());
            self.output_queues.as_ref().map_or(behind, |queues| behind + queues.waiting(output, channels))
        };
        let awaiting = |router: RouterId, port| self.awaiting[routers[router.index()].output(port).index()];
        self.routing.decide(at, &header, self.packets.state_mut(id), queued, awaiting);
        if is_first && let Some(port) = self.routing.awaited(self.packets.state(id)) {
            self.decided.push((this.output(port), queue));
        }
    }

    /// Counts the packets that decided first in this cycle, but for the first `counted` of them, which are counted already.
    pub(super) fn count_decided(&mut self, counted: usize) {
        self.decided[counted..].iter().for_each(|(output, _)| self.awaiting[output.index()] += 1);
    }

    /// Lets other heads decide anew in the next cycle that compared the ports which packets await since this cycle.
    pub(super) fn reconsider_after_decisions(&mut self, now: u64) {
        let mut decided = std::mem::take(&mut self.decided);
        for (output, head) in decided.drain(..) {
            let router = self.outputs.get(output).router;
            if self.wakeup.wake_others(self.routers[router.index()], output, head) {
                self.look_again(router, now);
            }
        }
        self.decided = decided;
    }

    /// A packet leaves its router by a port: it awaits no port any more, and is behind this port.
    pub(super) fn count_departure(&mut self, id: PacketId, output: OutputId, now: u64) {
        let router = self.routers[self.outputs.get(output).router.index()];
        let awaited = self.routing.awaited(self.packets.state(id)).map(|port| router.output(port));
        if let Some(awaited) = awaited {
            self.awaiting[awaited.index()] -= 1;
        }
        // A packet that takes the port that it awaits still counts once there.
        if awaited != Some(output) {
            self.reconsider(output, now);
            awaited.into_iter().for_each(|awaited| self.reconsider(awaited, now));
        }
    }

    /// The number of packets at a port changes from the next cycle on: heads that compared the port decide anew then.
    #[inline]
    pub(super) fn reconsider(&mut self, output: OutputId, now: u64) {
        if !self.reconsiders() || self.wakeup.is_empty() {
            return;
        }
        let router = self.outputs.get(output).router;
        if self.wakeup.wake(self.routers[router.index()], output) {
            self.look_again(router, now);
        }
    }

    /// Visits a router in the next cycle.
    #[inline]
    pub(super) fn look_again(&mut self, router: RouterId, now: u64) {
        self.retry.push(router);
        self.retry_at = now + 1;
    }
}
