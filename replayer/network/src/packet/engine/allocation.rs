//! Switch allocation: which packets with a choice of ports a router forwards in a cycle, and on which channels. Each
//! head requests one port, each port grants one request, and the other packets try again when something has changed.

use super::super::active_set::ones;
use super::super::ids::{OutputId, QueueId, QueueIndex};
use super::super::layout::RouterState;
use super::RoutedEngine;
use super::traversal::room;
use crate::ids::Optional;
use crate::topology::{ChannelIndex, OutputVc, PortIndex, RouterId, Routing};

/// The requests for the ports of the router that is being looked at.
#[derive(Debug)]
pub(super) struct Requests {
    /// For each port, the queue with the best request, and the channel that its head requests.
    best: Vec<(Optional<QueueId>, ChannelIndex)>,
    /// Ports with requests.
    asked: Vec<PortIndex>,
}

impl Requests {
    /// For routers of at most this many ports.
    pub(super) fn new(ports: u32) -> Self {
        Self { best: vec![(Optional::none(), ChannelIndex(0)); ports as usize], asked: Vec::new() }
    }

    /// Removes a port with requests; returns it with the queue and the channel of the best request.
    fn pop(&mut self) -> Option<(QueueId, OutputVc)> {
        let port = self.asked.pop()?;
        let (queue, channel) = std::mem::replace(&mut self.best[port.index()], (Optional::none(), ChannelIndex(0)));
        Some((queue.get()?, OutputVc { port, channel }))
    }
}

impl<R: Routing, const UNEVEN: bool> RoutedEngine<R, UNEVEN> {
    /// Lets the active routers pass on packets that have a choice.
    pub(super) fn allocate_switches(&mut self, now: u64) {
        if self.retry_at <= now {
            self.retry.drain(..).for_each(|router| self.active_routers.add(router));
        }
        let routers = self.active_routers.take();
        if R::DECIDES && self.routing.watches_other_routers() {
            self.decide_heads(&routers);
        }
        routers.iter().for_each(|&router| self.allocate_switch(router, now));
        self.active_routers.recycle(routers);
        if R::DECIDES {
            self.reconsider_after_decisions(now);
        }
    }

    /// Forwards the packets that a router can forward in this cycle.
    fn allocate_switch(&mut self, router: RouterId, now: u64) {
        let this = self.routers[router.index()];
        let may_find_another = self.parameters.consumption_ports > 1 || self.routing.has_alternatives();
        let mut looks_again = false;
        let decided = self.decided.len();
        for word in 0..this.queues.div_ceil(64) {
            for place in ones(self.wakeup.take_due(this.first_word + word)) {
                let index = QueueIndex(64 * word + place);
                let queue = this.queue(index);
                if R::DECIDES && self.is_undecided(self.queues.head(queue).packet, router) {
                    if self.routing.watches_other_routers() {
                        self.wakeup.make_due(this, index);
                        looks_again = true;
                    } else {
                        self.decide(router, this, index);
                    }
                }
                let Some(vc) = self.request(router, this, queue) else { continue };
                if UNEVEN && self.is_held_back(router, queue, this.output(vc.port), now) {
                    self.wakeup.make_due(this, index);
                } else if let Some(loser) = self.enter_request(this, queue, vc, now)
                    && may_find_another
                {
                    self.wakeup.make_due(this, this.index(loser));
                    looks_again = true;
                }
            }
        }
        if R::DECIDES {
            self.count_decided(decided);
        }
        while let Some((queue, vc)) = self.requests.pop() {
            if UNEVEN && self.competes(queue, this.output(vc.port), vc.channel) {
                continue;
            }
            self.grant_choice(queue, this.output(vc.port), vc.channel, now);
        }
        if looks_again {
            self.look_again(router, now);
        }
    }

    /// A packet with a choice of ports has come to the head of a queue.
    pub(super) fn choose_from_now_on(&mut self, queue: QueueId) {
        let router = self.queues.get(queue).router;
        let state = self.routers[router.index()];
        self.wakeup.add(state, state.index(queue));
        self.active_routers.add(router);
    }

    /// Passes on the head of a queue by a port of its choice.
    pub(super) fn grant_choice(&mut self, queue: QueueId, output: OutputId, channel: ChannelIndex, now: u64) {
        let router = self.routers[self.queues.get(queue).router.index()];
        self.wakeup.remove(router, router.index(queue));
        self.grant(queue, output, channel, now);
    }

    /// The virtual channel that the head of a queue requests. Registers the head with the ports that it looks at.
    fn request(&mut self, router: RouterId, this: RouterState, queue: QueueId) -> Option<OutputVc> {
        let id = self.queues.head(queue).packet;
        let header = &self.packets.get(id).header;
        let register = self.wakeup.registrar(this.index(queue));
        if header.destination == router {
            let (first, ports) = (self.hosts[header.to.index()].places.first_port, self.parameters.consumption_ports);
            // The first free one, starting at a port determined by the number of the queue.
            let mut from_any = (0..ports).map(|port| PortIndex(first.0 + (this.index(queue).0 + port) % ports));
            let is_free = |port: &PortIndex| {
                register(this.output(*port));
                !self.outputs.get(this.output(*port)).busy
            };
            return from_any.find(is_free).map(|port| OutputVc { port, channel: ChannelIndex(0) });
        }
        let room = |port, channel| {
            let output = this.output(port);
            register(output);
            match self.outputs.get(output).busy {
                true => 0,
                false => room(&self.outputs, self.output_queues.as_ref(), output, channel),
            }
        };
        let arrival = self.queues.get(queue).source().arrival();
        self.routing.choose(router, header, self.packets.state(id), arrival, room)
    }

    /// Enters a head's request for a port; returns the head of the two that was refused, if the request is not the only one.
    fn enter_request(&mut self, this: RouterState, queue: QueueId, vc: OutputVc, now: u64) -> Option<QueueId> {
        let (rival, _) = self.requests.best[vc.port.index()];
        let output = this.output(vc.port);
        match rival.get() {
            None => self.requests.asked.push(vc.port),
            Some(rival) if self.priority(rival, output, now) < self.priority(queue, output, now) => return Some(queue),
            Some(_) => {}
        }
        self.requests.best[vc.port.index()] = (Optional::some(queue), vc.channel);
        rival.get()
    }
}
