//! The steps of a cycle that differ with unequal links; see [`uneven`](super::uneven).

use super::super::ids::{OutputId, PacketId, QueueId};
use super::super::input_queues::QueuedPacket;
use super::RoutedEngine;
use super::uneven::{Candidate, Event, Uneven};
use crate::ids::Optional;
use crate::topology::{ChannelIndex, RouterId, Routing};

impl<R: Routing, const UNEVEN: bool> RoutedEngine<R, UNEVEN> {
    /// Tails and headers of this cycle.
    pub(super) fn live_through_events(&mut self, now: u64) {
        while let Some(event) = self.uneven.as_mut().and_then(|uneven| uneven.take(now)) {
            match event {
                Event::PortIdle(output) => {
                    self.outputs.get_mut(output).busy = false;
                    self.activate(output);
                }
                Event::QueueTail(queue) => self.free_place(queue),
                Event::LinkIdle(output, channel) => self.free_link(output, channel),
                Event::Header(queue, packet) => {
                    self.packets.get_mut(packet).since = now;
                    self.arrive(queue, QueuedPacket { packet, output: Optional::none() });
                }
                Event::Ready(router) => self.active_routers.add(router),
            }
        }
    }

    /// A packet has left a port over its link, which is idle now for all ports that share it.
    fn free_link(&mut self, output: OutputId, channel: ChannelIndex) {
        let Some(uneven) = self.uneven.take() else { return };
        if let Some(queues) = &mut self.output_queues {
            queues.release_tail(output, channel);
            uneven.channels(output).iter().for_each(|&output| queues.set_idle(output));
            self.activate(output);
        } else {
            for &output in uneven.channels(output) {
                self.outputs.get_mut(output).busy = false;
                self.activate(output);
            }
        }
        self.uneven = Some(uneven);
    }

    /// Whether the head of a queue has to wait until it can be forwarded without a gap.
    pub(super) fn is_held_back(&mut self, router: RouterId, queue: QueueId, output: OutputId, now: u64) -> bool {
        let since = self.packets.get(self.queues.head(queue).packet).since;
        self.uneven.as_mut().is_some_and(|uneven| uneven.holds_back(router, queue, output, since, now))
    }

    /// Whether a port competes with others for its link; if so, registers the packet as a candidate.
    pub(super) fn competes(&mut self, queue: QueueId, output: OutputId, channel: ChannelIndex) -> bool {
        let Some(uneven) = self.uneven.as_mut().filter(|_| self.output_queues.is_none()) else { return false };
        let is_shared = uneven.is_shared(output);
        if is_shared {
            uneven.enter(Candidate { output, channel, head: Some(queue) });
        }
        is_shared
    }

    /// Passes on the head of a queue, a packet, over a link or to an output queue.
    pub(super) fn grant_uneven(
        &mut self,
        queue: QueueId,
        output: OutputId,
        channel: ChannelIndex,
        id: PacketId,
        now: u64,
    ) {
        let since = self.packets.get(id).since;
        let Some(uneven) = &mut self.uneven else { return };
        let tail = uneven.crossed(queue, since, now);
        uneven.at(tail, Event::QueueTail(queue));
        self.usage.leave(queue, tail - since);
        if let Some(queues) = &mut self.output_queues {
            uneven.at(tail, Event::PortIdle(output));
            return queues.push(output, channel, id);
        }
        self.take_link(output, channel, id, now);
    }

    /// Forwards the packets that compete for links, and those that wait in output queues.
    pub(super) fn drive_uneven_links(&mut self, now: u64) {
        self.enter_output_queues();
        while let Some(Candidate { output, channel, head }) = self.uneven.as_mut().and_then(Uneven::pop) {
            if let Some(queue) = head {
                self.grant_choice(queue, output, channel, now);
            } else if let Some(id) = self.output_queues.as_mut().and_then(|queues| queues.pop(output, channel)) {
                self.take_link(output, channel, id, now);
            }
        }
    }

    /// Sends a packet over the link of a port.
    fn take_link(&mut self, output: OutputId, channel: ChannelIndex, id: PacketId, now: u64) {
        let (Some(next), Some(uneven)) = (self.outputs.take_room(output, channel), &mut self.uneven) else { return };
        let (idle, header) = uneven.occupy(output, now, |output| match &mut self.output_queues {
            Some(queues) => queues.set_busy(output),
            None => self.outputs.get_mut(output).busy = true,
        });
        uneven.at(idle, Event::LinkIdle(output, channel));
        uneven.at(header, Event::Header(next, id));
        self.usage.carry(output, channel);
    }

    /// Enters the packets in output queues that can be passed on for their links.
    fn enter_output_queues(&mut self) {
        let (Some(output_queues), Some(uneven)) = (&mut self.output_queues, &mut self.uneven) else { return };
        let outputs = &self.outputs;
        let room = |output: OutputId, channel: ChannelIndex| outputs.room(output, channel) > 0;
        while let Some((output, channel)) = output_queues.ready(room) {
            uneven.enter(Candidate { output, channel, head: None });
        }
    }
}
