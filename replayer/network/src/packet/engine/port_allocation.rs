//! Allocation of ports to packets without a choice: a free port with room behind it forwards one of its waiting
//! packets, and the others wait until it is free again.

use super::super::arbitration::{ArbiterState, Priority, Request};
use super::super::ids::{OutputId, QueueId};
use super::super::prefetch::BATCH;
use super::RoutedEngine;
use super::traversal::room;
use crate::ids::Optional;
use crate::topology::{ChannelIndex, Routing};

/// A request for a port that can be granted.
#[derive(Clone, Copy)]
struct PortRequest {
    queue: QueueId,
    channel: ChannelIndex,
    /// The queue before it in the list of the port's requests.
    before: Optional<QueueId>,
}

impl<R: Routing, const UNEVEN: bool> RoutedEngine<R, UNEVEN> {
    /// Lets the active ports pass on packets that have to take them.
    pub(super) fn allocate_ports(&mut self, now: u64) {
        let ports = self.active_ports.take();
        for batch in ports.chunks(BATCH) {
            self.prefetch_ports(batch);
            batch.iter().for_each(|&output| self.allocate_port(output, now));
        }
        self.active_ports.recycle(ports);
    }

    /// Loads the memory that the ports of a batch, their first requests, and the packets of these change.
    fn prefetch_ports(&self, batch: &[OutputId]) {
        let request = |&output: &OutputId| self.outputs.get(output).first_request.get().map(|queue| (output, queue));
        let queued = |(output, queue)| self.queues.get(queue).queued ^ self.usage.peek(queue, output);
        let hops = |(_, queue)| self.packets.get(self.queues.head(queue).packet).hops;
        self.prefetch.load(batch.iter().map(|&output| self.outputs.get(output).first_room));
        self.prefetch.load(batch.iter().filter_map(request).map(queued));
        self.prefetch.load(batch.iter().filter_map(request).map(hops));
    }

    /// Lets a port pass on one of the packets that have to take it.
    fn allocate_port(&mut self, output: OutputId, now: u64) {
        let mut best: Option<PortRequest> = None;
        let (mut before, mut next) = (Optional::none(), self.outputs.get(output).first_request);
        while let Some(queue) = next.get() {
            if let Some(channel) = self.channel_for(queue, output)
                && best.is_none_or(|best| self.priority(queue, output, now) < self.priority(best.queue, output, now))
            {
                best = Some(PortRequest { queue, channel, before });
            }
            (before, next) = (Optional::some(queue), self.queues.get(queue).next_request);
        }
        let Some(PortRequest { queue, channel, before }) = best else { return };
        let after = self.queues.get(queue).next_request;
        match before.get() {
            Some(before) => self.queues.get_mut(before).next_request = after,
            None => self.outputs.get_mut(output).first_request = after,
        }
        self.grant(queue, output, channel, now);
    }

    /// The channel of a free port that the head of a queue, which has to take the port, requests now.
    fn channel_for(&self, queue: QueueId, output: OutputId) -> Option<ChannelIndex> {
        if self.outputs.get(output).first_queue.get().is_none() {
            return Some(ChannelIndex(0));
        }
        let state = self.queues.get(queue);
        let room = |_, channel| room(&self.outputs, self.output_queues.as_ref(), output, channel);
        let vc = self.routing.choose_channel(state.port(output), state.source().arrival(), room);
        vc.map(|vc| vc.channel)
    }

    /// The priority of the head of a queue among those that request a port.
    pub(super) fn priority(&self, queue: QueueId, output: OutputId, now: u64) -> Priority {
        let state = self.queues.get(queue);
        let router = &self.routers[state.router.index()];
        let last = router.index(self.outputs.get(output).served);
        let arbiter = ArbiterState { queues: router.queues, last, output, now, seed: self.parameters.seed };
        let since = || self.packets.get(self.queues.head(queue).packet).since;
        let request = Request { queue: router.index(queue), since, queued: state.queued };
        self.parameters.arbitration.priority(request, arbiter)
    }
}
