//! Switch allocation: which packets with a choice of ports a router forwards in a cycle, and on which channels. Each
//! head requests one port, each port grants one request, and the other packets try again when something has changed.
//!
//! # Decisions
//!
//! Decisions: packets that compare paths by the packets that are queued.
//!
//! A packet decides when it is the head of its queue, and anew in each cycle until it leaves its router. All heads that compare
//! ports of a router decide before the router forwards the first packet in a cycle.
//!
//! A decision depends only on the packets at the ports of both paths, so it can change only if their number has changed. A head
//! registers with each port that it compares, as with a port that it requests ([`wakeup`](super::wakeup)), and decides anew when
//! a packet joins those at one of these ports, or leaves them. A head that also compares ports of other routers decides anew in
//! each cycle.
//!
//! # Ports
//!
//! Allocation of ports to packets without a choice: a free port with room behind it forwards one of its waiting
//! packets, and the others wait until it is free again.

use std::ops::Range;

use super::super::active_set::ones;
use super::super::layout::RouterState;
use super::traversal::room;
use super::{BATCH, RoutedEngine};
use crate::ids::Optional;
use crate::packet::parameters::{ArbiterState, Priority, Request};
use crate::packet::{OutputId, PacketId, QueueId, QueueIndex};
use crate::topology::{ChannelIndex, OutputVc, PacketAt, PortIndex, RouterId, Routing};

/// The requests for the ports of the router that is being looked at.
#[derive(Debug)]
pub(super) struct Requests {
    /// For each port, the queue with the best request, and the channel that its head requests.
    best: Vec<(Optional<QueueId>, ChannelIndex)>,
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
                    // Meanwhile, another packet may take the port, and the head then requests another one.
                    looks_again |= may_find_another;
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
                // If another channel takes the link, the head may find another port.
                self.wakeup.make_due(this, this.index(queue));
                looks_again |= may_find_another;
                continue;
            }
            self.grant_choice(queue, this.output(vc.port), vc.channel, now);
        }
        if looks_again {
            self.look_again(router, now);
        }
    }

    /// A packet with a choice of ports has come to the head of a queue.
    pub(super) fn enqueue_for_choice(&mut self, queue: QueueId) {
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
        self.routing.choose(PacketAt { at: router, header, state: self.packets.state(id), arrival }, room)
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
        let (routers, outputs) = (&self.routers, &self.outputs);
        let queued = |router: RouterId, port, channels: Range<u32>| {
            let output = routers[router.index()].output(port);
            if router == at {
                register(output);
            }
            let alike = self.parameters.queue_packets;
            let places =
                if UNEVEN { self.uneven.as_ref().map_or(alike, |uneven| uneven.places(output)) } else { alike };
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
