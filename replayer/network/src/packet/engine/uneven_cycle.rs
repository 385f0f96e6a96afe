//! The steps of a cycle that are different where links are not alike; see [`uneven`](super::uneven).

use super::super::ids::{OutputId, QueueId, QueueIndex};
use super::super::layout::Source;
use super::RoutedEngine;
use super::uneven::{Candidate, Event, Uneven};
use crate::topology::{ChannelIndex, OutputVc, PortIndex, RouterId, Routing};

impl<R: Routing, const UNEVEN: bool> RoutedEngine<R, UNEVEN> {
    /// Tails and headers of this cycle.
    pub(super) fn live_through_events(&mut self, now: u64) {
        while let Some(event) = self.uneven.as_mut().and_then(|uneven| uneven.take(now)) {
            match event {
                Event::PortIdle(output) => self.outputs[output.index()].busy = false,
                Event::QueueTail(queue) => self.free_place(queue),
                Event::LinkIdle(output, channel) => self.free_link(output, channel),
                Event::Header(queue, packet) => self.arrive(packet, queue, now),
                Event::Ready(router) => self.activate(router),
            }
        }
    }

    /// A packet has left a port over its link, which is idle now for all ports that share it.
    fn free_link(&mut self, output: OutputId, channel: ChannelIndex) {
        let Some(uneven) = self.uneven.take() else { return };
        if let Some(queues) = &mut self.output_queues {
            let router = queues.release_tail(output, channel);
            uneven.channels(output).iter().for_each(|&(output, _)| queues.set_idle(output));
            self.activate(router);
        } else {
            for &(output, router) in uneven.channels(output) {
                self.outputs[output.index()].busy = false;
                self.activate(router);
            }
        }
        self.uneven = Some(uneven);
    }

    /// Whether the head of a queue has to wait until it can be passed on without a gap.
    pub(super) fn is_held_back(&mut self, router: RouterId, queue: QueueId, output: OutputId, now: u64) -> bool {
        let since = self.packets.get(self.queues.head(queue)).since;
        self.uneven.as_mut().is_some_and(|uneven| uneven.holds_back(router, queue, output, since, now))
    }

    /// Whether a port has to compete with others for its link: the packet is entered for it.
    pub(super) fn competes(
        &mut self,
        router: RouterId,
        queue: QueueIndex,
        output: OutputId,
        channel: ChannelIndex,
    ) -> bool {
        let Some(uneven) = self.uneven.as_mut().filter(|_| self.output_queues.is_none()) else { return false };
        if !uneven.is_shared(output) {
            return false;
        }
        let loser = uneven.enter(Candidate { output, channel, head: Some((router, queue)) });
        if let Some((router, _)) = loser.and_then(|loser| loser.head) {
            self.routers[router.index()].waiting += 1;
        }
        true
    }

    /// Passes on the head of a queue over a link, or to an output queue.
    pub(super) fn grant_uneven(&mut self, queue: QueueId, output: OutputId, vc: OutputVc, next: QueueId, now: u64) {
        let id = self.queues.head(queue);
        let packet = self.packets.get_mut(id);
        let since = packet.since;
        packet.hops += 1;
        if let Source::Host(_) = self.queues.get(queue).source {
            packet.left = now;
            self.sources.leaves(packet.message, now);
        }
        self.routing.hop(vc.port, self.queues.get(next).router, self.packets.state_mut(id));
        let Some(uneven) = &mut self.uneven else { return };
        let tail = uneven.crossed(queue, since, now);
        uneven.at(tail, Event::QueueTail(queue));
        self.usage.leave(queue, tail - since);
        if let Some(queues) = &mut self.output_queues {
            uneven.at(tail, Event::PortIdle(output));
            return queues.push(output, vc.channel, id);
        }
        let outputs = &mut self.outputs;
        let (idle, header) = uneven.occupy(output, now, |output| outputs[output.index()].busy = true);
        uneven.at(idle, Event::LinkIdle(output, vc.channel));
        uneven.at(header, Event::Header(next, id));
        self.usage.carry(next);
        self.queues.get_mut(next).reserved += 1;
    }

    /// Passes on what competes for links, and what waits in output queues.
    pub(super) fn drive_uneven_links(&mut self, now: u64) {
        self.enter_output_queues();
        while let Some(winner) = self.uneven.as_mut().and_then(Uneven::pop) {
            let Candidate { output, channel, head } = winner;
            if let Some((router, queue)) = head {
                let this = self.routers[router.index()];
                let port = PortIndex(output.0 - this.first_output.0);
                self.grant(this, queue, OutputVc { port, channel }, now);
                continue;
            }
            let (Some(queues), Some(uneven)) = (&mut self.output_queues, &mut self.uneven) else { return };
            let (Some(next), Some(id)) = (self.outputs[output.index()].queue(channel), queues.pop(output, channel))
            else {
                return;
            };
            let (idle, header) = uneven.occupy(output, now, |output| queues.set_busy(output));
            uneven.at(idle, Event::LinkIdle(output, channel));
            uneven.at(header, Event::Header(next, id));
            self.usage.carry(next);
            self.queues.get_mut(next).reserved += 1;
        }
    }

    /// Enters the packets in output queues that can be passed on for their links.
    fn enter_output_queues(&mut self) {
        let (Some(output_queues), Some(uneven)) = (&mut self.output_queues, &mut self.uneven) else { return };
        let (queues, outputs) = (&self.queues, &self.outputs);
        let room = |output: OutputId, channel: ChannelIndex| {
            outputs[output.index()].queue(channel).is_some_and(|next| queues.room(next) > 0)
        };
        while let Some((output, channel)) = output_queues.ready(room) {
            uneven.enter(Candidate { output, channel, head: None });
        }
    }
}
