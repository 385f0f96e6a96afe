//! Switch allocation: which packets a router passes on in a cycle, and on which channel. Each head asks for one port, each
//! port is granted to one request, and the packets of the others ask again when something has changed.

use super::super::arbitration::{ArbiterState, Priority, Request};
use super::super::ids::{OutputId, QueueIndex};
use super::super::layout::{Output, RouterState, Source};
use super::RoutedEngine;
use crate::ids::Optional;
use crate::topology::{ChannelIndex, HostId, OutputVc, PortIndex, RouterId, Routing};

/// The requests for the ports of the router that is being looked at.
#[derive(Debug)]
pub(super) struct Requests {
    /// For each port, the queue with the best request, and the channel that its head asks for.
    best: Vec<(Optional<QueueIndex>, ChannelIndex)>,
    /// Ports that are asked for.
    asked: Vec<PortIndex>,
}

impl Requests {
    /// For routers of at most so many ports.
    pub(super) fn new(ports: u32) -> Self {
        Self { best: vec![(Optional::none(), ChannelIndex(0)); ports as usize], asked: Vec::new() }
    }

    /// Takes out a port that is asked for, with the queue and the channel of the best request.
    fn pop(&mut self) -> Option<(QueueIndex, OutputVc)> {
        let port = self.asked.pop()?;
        let (queue, channel) = std::mem::replace(&mut self.best[port.index()], (Optional::none(), ChannelIndex(0)));
        Some((queue.get()?, OutputVc { port, channel }))
    }
}

impl<R: Routing, const UNEVEN: bool> RoutedEngine<R, UNEVEN> {
    /// Passes on what a router can in this cycle.
    pub(super) fn allocate_switch(&mut self, router: RouterId, now: u64) {
        let this = self.routers[router.index()];
        let mut losers = false;
        for word in 0..this.queues.div_ceil(64) {
            let mut left = self.waiting[(this.first_word + word) as usize];
            while left != 0 {
                let queue = QueueIndex(64 * word + left.trailing_zeros());
                left &= left - 1;
                if let Some(vc) = self.request(router, this, queue)
                    && !(UNEVEN && self.is_held_back(router, this.queue(queue), this.output(vc.port), now))
                {
                    losers |= self.enter_request(this, queue, vc, now);
                }
            }
        }
        self.routers[router.index()].waiting -= self.requests.asked.len() as u32;
        while let Some((queue, vc)) = self.requests.pop() {
            if UNEVEN && self.competes(router, queue, this.output(vc.port), vc.channel) {
                continue;
            }
            self.grant(this, queue, vc, now);
        }
        if losers && (self.parameters.consumption_ports > 1 || self.routing.has_alternatives()) {
            self.retry.push(router);
            self.retry_at = now + 1;
        }
    }

    /// The virtual channel that the head of a queue asks for.
    fn request(&self, router: RouterId, this: RouterState, index: QueueIndex) -> Option<OutputVc> {
        let queue = this.queue(index);
        let state = self.queues.get(queue);
        let free = |port| Some(&self.outputs[this.output(port).index()]).filter(|output| !output.busy);
        if let Some(port) = state.fixed_output.get() {
            let output = free(port)?;
            if output.first_queue.get().is_none() {
                return Some(OutputVc { port, channel: ChannelIndex(0) });
            }
            let room = |_, channel| self.room(output, this.output(port), channel);
            return self.routing.choose_channel(port, state.source.arrival(), room);
        }
        let room = |port, channel| free(port).map_or(0, |output| self.room(output, this.output(port), channel));
        let id = self.queues.head(queue);
        let header = &self.packets.get(id).header;
        if header.destination == router {
            return self.consumption_port(header.to, index, this);
        }
        self.routing.choose(router, header, self.packets.state(id), state.source.arrival(), room)
    }

    /// Packets that there is room for in a virtual channel of a port.
    #[inline]
    fn room(&self, output: &Output, id: OutputId, channel: ChannelIndex) -> u32 {
        let behind = output.queue(channel).map_or(0, |queue| self.queues.room(queue));
        match &self.output_queues {
            None => behind,
            // Room for one at least, and what enters a ring leaves a place free in one of the two queues.
            Some(queues) => match queues.room(id, channel) {
                0 => 0,
                room => room + behind,
            },
        }
    }

    /// Enters a head's request for a port; returns whether it is not the only one.
    fn enter_request(&mut self, this: RouterState, queue: QueueIndex, vc: OutputVc, now: u64) -> bool {
        let (rival, _) = self.requests.best[vc.port.index()];
        match rival.get() {
            None => self.requests.asked.push(vc.port),
            Some(rival) if self.priority(this, rival, vc.port, now) < self.priority(this, queue, vc.port, now) => {
                return true;
            }
            Some(_) => {}
        }
        self.requests.best[vc.port.index()] = (Optional::some(queue), vc.channel);
        rival.get().is_some()
    }

    /// The priority of the head of a queue among those that ask for a port.
    fn priority(&self, this: RouterState, index: QueueIndex, port: PortIndex, now: u64) -> Priority {
        let (queue, output) = (this.queue(index), this.output(port));
        let last = self.outputs[output.index()].served;
        let arbiter = ArbiterState { queues: this.queues, last, output, now, seed: self.parameters.seed };
        let since = self.packets.get(self.queues.head(queue)).since;
        let request = Request { queue: index, since, queued: self.queues.get(queue).queued };
        self.parameters.arbitration.priority(request, arbiter)
    }

    /// The consumption port that a packet asks for: the first free one, counted from one that its queue's number gives.
    fn consumption_port(&self, to: HostId, queue: QueueIndex, this: RouterState) -> Option<OutputVc> {
        let (first, ports) = (self.hosts[to.index()].places.first_port, self.parameters.consumption_ports);
        let mut from_any = (0..ports).map(|port| PortIndex(first.0 + (queue.0 + port) % ports));
        let port = from_any.find(|&port| !self.outputs[this.output(port).index()].busy)?;
        Some(OutputVc { port, channel: ChannelIndex(0) })
    }

    /// Passes on the head of a queue.
    pub(super) fn grant(&mut self, this: RouterState, index: QueueIndex, vc: OutputVc, now: u64) {
        let (queue, output) = (this.queue(index), this.output(vc.port));
        let id = self.queues.head(queue);
        self.waiting[(this.first_word + index.0 / 64) as usize] &= !(1 << (index.0 % 64));
        let granted = &mut self.outputs[output.index()];
        granted.busy = true;
        granted.served = index;
        let next = granted.queue(vc.channel);
        if UNEVEN && let Some(next) = next {
            return self.grant_uneven(queue, output, vc, next, now);
        }
        self.tails.push(now, (queue, output));
        let packet = self.packets.get_mut(id);
        if let Source::Host(_) = self.queues.get(queue).source {
            packet.left = now;
            self.sources.leaves(packet.message, now);
        }
        self.usage.leave(queue, now - packet.since + u64::from(self.parameters.packet_phits));
        let Some(next) = next else {
            self.consumed.push(now, id);
            return;
        };
        packet.hops += 1;
        let to = self.queues.get(next).router;
        self.routing.hop(vc.port, to, self.packets.state_mut(id));
        if let Some(queues) = &mut self.output_queues {
            return queues.push(output, vc.channel, id);
        }
        self.usage.carry(next);
        self.queues.get_mut(next).reserved += 1;
        self.headers.push(now, (id, next));
    }
}
