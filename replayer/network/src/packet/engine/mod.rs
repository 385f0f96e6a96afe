//! The cycle, and what it costs: see the [module](super) for what happens in one, in which order.
//!
//! Only what can have changed is looked at. A router is **active** in a cycle if a packet came to head one of its
//! queues, one of its ports became free, or room appeared behind one — while packets wait in it; no other router can pass
//! on a packet in this cycle that it could not before. Every delay in a network of like routers and packets is one of a
//! few constants, so what is due when stands in queues ([`DelayLine`]) and needs no sorting. Where links are not alike, what
//! depends on them stands in a calendar ([`uneven`]).

mod allocation;
mod uneven;
mod uneven_cycle;

use std::fmt::Debug;

use super::active_set::ActiveSet;
use super::delay_line::DelayLine;
use super::delays::Delays;
use super::ids::{MessageId, OutputId, PacketId, QueueId};
use super::input_queues::InputQueues;
use super::layout::{HostPlaces, Layout, Output, RouterState, Source};
use super::link_timing::LinkTimings;
use super::output_queues::OutputQueues;
use super::packets::{Packet, Packets};
use super::parameters::PacketParameters;
use super::sources::{Progress, Sources};
use super::spec::PacketSpec;
use super::usage::Usage;
use super::{Delivery, Message};
use crate::chance::chance;
use crate::topology::{
    ChannelIndex, Header, HostId, LinkId, RouterGraph, RouterId, Routing, RoutingFunction, RoutingVisitor,
};
use allocation::Requests;
use uneven::Uneven;

/// A network of routers, and the cycle that it is at.
pub trait Engine: Debug + Send + Sync {
    /// Hands over a message at cycle `now`, which is not before the last that was advanced to, and at which something may
    /// still happen: it is that of the next [`advance`](Self::advance), or earlier.
    fn offer(&mut self, now: u64, message: Message);

    /// The next cycle in which something happens.
    fn next_cycle(&self) -> Option<u64>;

    /// Lives through cycle `now`, which is no later than [`next_cycle`](Self::next_cycle), and appends what was delivered.
    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>);

    /// Counts of what was carried where.
    fn usage(&self) -> &Usage;

    /// Counts of what was carried where since this was last asked.
    fn take_usage(&mut self) -> Usage;

    /// The number of packets that each link of `graph`, which this network was made of, has carried.
    fn carried(&self, graph: &RouterGraph) -> Vec<(LinkId, u64)>;
}

/// An idle network.
#[must_use]
pub fn engine(spec: &PacketSpec) -> Box<dyn Engine> {
    struct WithRouting<'a>(&'a PacketSpec);
    impl RoutingVisitor for WithRouting<'_> {
        type Output = Box<dyn Engine>;

        fn visit<R: Routing>(self, routing: &R) -> Box<dyn Engine> {
            Box::new(RoutedEngine::<R, false>::new(self.0, routing.clone(), None))
        }
    }
    match (&spec.timings, &spec.routing) {
        (Some(timings), RoutingFunction::Table(routing)) => {
            Box::new(RoutedEngine::<_, true>::new(spec, routing.clone(), Some(timings)))
        }
        _ => spec.routing.visit(WithRouting(spec)),
    }
}

/// The engine for one type of routing, which is fixed at compile time because the engine asks it several times for each
/// hop of a packet. So is whether there are links that are `UNEVEN`.
#[derive(Debug)]
struct RoutedEngine<R, const UNEVEN: bool> {
    parameters: PacketParameters,
    routing: R,
    routers: Vec<RouterState>,
    queues: InputQueues,
    outputs: Vec<Output>,
    output_queues: Option<OutputQueues>,
    hosts: Vec<HostState>,
    packets: Packets,
    sources: Sources,
    /// For each router, which of its queues have a packet at their head that waits to be passed on.
    waiting: Vec<u64>,

    /// Messages on their way from a host to its router.
    offers: DelayLine<MessageId>,
    /// Headers on their way to a queue.
    headers: DelayLine<(PacketId, QueueId)>,
    /// Tails that have not left a queue by a port.
    tails: DelayLine<(QueueId, OutputId)>,
    /// Packets that are being consumed.
    consumed: DelayLine<PacketId>,
    active: ActiveSet,
    /// Routers to look at in the next cycle, as a packet that another was preferred to may find another port.
    retry: Vec<RouterId>,
    retry_at: u64,
    /// Hosts with an idle injection port that may have more to send.
    refill: Vec<HostId>,
    requests: Requests,
    usage: Usage,
    /// The links, if they are not alike.
    uneven: Option<Uneven>,
}

/// A host, its places at its router, and its traffic.
#[derive(Clone, Copy, Debug)]
struct HostState {
    places: HostPlaces,
    /// Packets that it has sent.
    sent: u64,
    /// Packets that it has received.
    received: u64,
}

impl<R: Routing, const UNEVEN: bool> RoutedEngine<R, UNEVEN> {
    fn new(spec: &PacketSpec, routing: R, timings: Option<&LinkTimings>) -> Self {
        let PacketSpec { graph, parameters, .. } = spec;
        let layout = Layout::new(spec);
        let widest = layout.routers.iter().map(|router| router.outputs).max().unwrap_or_default();
        let Delays { offer, hop, tail, consumption } = Delays::of(spec);
        Self {
            hosts: layout.hosts.iter().map(|&places| HostState { places, sent: 0, received: 0 }).collect(),
            sources: Sources::new(graph.hosts().len(), parameters.injection_order),
            packets: Packets::new(routing.state_words()),
            waiting: vec![0; layout.words as usize],
            output_queues: OutputQueues::new(&layout, spec.virtual_channels(), parameters.output_queue, tail),
            offers: DelayLine::new(offer),
            headers: DelayLine::new(hop),
            tails: DelayLine::new(tail),
            consumed: DelayLine::new(consumption),
            active: ActiveSet::new(layout.routers.len()),
            retry: Vec::new(),
            retry_at: 0,
            refill: Vec::new(),
            requests: Requests::new(widest),
            usage: Usage::new(layout.queues.iter().map(|queue| queue.source.channel(graph))),
            uneven: timings.map(|timings| Uneven::new(spec, timings, &layout)),
            queues: InputQueues::new(layout.queues, spec.most_places()),
            routers: layout.routers,
            outputs: layout.outputs,
            routing,
            parameters: parameters.clone(),
        }
    }
}

impl<R: Routing, const UNEVEN: bool> Engine for RoutedEngine<R, UNEVEN> {
    fn offer(&mut self, now: u64, message: Message) {
        let id = self.sources.insert(message, now);
        self.offers.push(now, id);
    }

    fn next_cycle(&self) -> Option<u64> {
        let retry = if self.retry.is_empty() { u64::MAX } else { self.retry_at };
        let behind = self.output_queues.as_ref().map_or(u64::MAX, OutputQueues::next);
        let arrivals = self.offers.next().min(self.headers.next());
        let departures = self.tails.next().min(self.consumed.next());
        let uneven = if UNEVEN { self.uneven.as_ref().map_or(u64::MAX, Uneven::next) } else { u64::MAX };
        Some(arrivals.min(departures).min(uneven).min(retry).min(behind)).filter(|&next| next != u64::MAX)
    }

    fn usage(&self) -> &Usage {
        &self.usage
    }

    fn take_usage(&mut self) -> Usage {
        let empty = self.usage.empty();
        std::mem::replace(&mut self.usage, empty)
    }

    fn carried(&self, graph: &RouterGraph) -> Vec<(LinkId, u64)> {
        let channels = self.usage.channels().map(|channel| (channel.link, channel.packets));
        let cables = self.hosts.iter().zip(graph.hosts()).filter_map(|(state, host)| {
            let (to_router, to_host) = host.cable?;
            Some([(to_router, state.sent), (to_host, state.received)])
        });
        channels.chain(cables.flatten()).collect()
    }

    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        for _ in 0..self.tails.due(now) {
            let Some((queue, output)) = self.tails.take() else { break };
            self.release(queue, output);
        }
        for _ in 0..self.output_queues.as_mut().map_or(0, |queues| queues.due(now)) {
            let Some(router) = self.output_queues.as_mut().and_then(OutputQueues::release) else { break };
            self.activate(router);
        }
        if UNEVEN {
            self.live_through_events(now);
        }
        for _ in 0..self.headers.due(now) {
            let Some((packet, queue)) = self.headers.take() else { break };
            self.arrive(packet, queue, now);
        }
        for _ in 0..self.offers.due(now) {
            let Some(message) = self.offers.take() else { break };
            let host = self.sources.ready(message);
            self.refill.push(host);
        }
        while let Some(host) = self.refill.pop() {
            self.inject(host, now);
        }
        for _ in 0..self.consumed.due(now) {
            let Some(packet) = self.consumed.take() else { break };
            self.deliver(packet, now, delivered);
        }
        if self.retry_at <= now {
            while let Some(router) = self.retry.pop() {
                self.active.add(router);
            }
        }
        let mut place = 0;
        while let Some((first, mut left)) = self.active.take(&mut place) {
            while left != 0 {
                self.allocate_switch(RouterId(first.0 + left.trailing_zeros()), now);
                left &= left - 1;
            }
        }
        if UNEVEN {
            self.drive_uneven_links(now);
        } else {
            self.drive_cables(now);
        }
    }
}

impl<R: Routing, const UNEVEN: bool> RoutedEngine<R, UNEVEN> {
    /// Passes on what waits in output queues.
    fn drive_cables(&mut self, now: u64) {
        let Some(output_queues) = &mut self.output_queues else { return };
        loop {
            let (queues, outputs) = (&self.queues, &self.outputs);
            let room = |output: OutputId, channel: ChannelIndex| {
                outputs[output.index()].queue(channel).is_some_and(|next| queues.room(next) > 0)
            };
            let Some((output, channel, packet)) = output_queues.forward(now, room) else { return };
            let Some(next) = self.outputs[output.index()].queue(channel) else { return };
            self.usage.carry(next);
            self.queues.get_mut(next).reserved += 1;
            self.headers.push(now, (packet, next));
        }
    }

    /// The header of a packet comes to a queue.
    fn arrive(&mut self, packet: PacketId, queue: QueueId, now: u64) {
        self.packets.get_mut(packet).since = now;
        if self.queues.push(queue, packet) {
            self.on_new_head(queue);
        }
    }

    /// A packet's tail has left `queue` through `output`.
    fn release(&mut self, queue: QueueId, output: OutputId) {
        self.outputs[output.index()].busy = false;
        self.free_place(queue);
    }

    /// A packet's tail has left `queue`.
    fn free_place(&mut self, queue: QueueId) {
        let more = self.queues.pop(queue);
        let state = self.queues.get(queue);
        let (router, source) = (state.router, state.source);
        if more {
            self.on_new_head(queue);
        }
        match source {
            Source::Channel { router: upstream, vc } => {
                self.activate(upstream);
                if let Some(queues) = &mut self.output_queues {
                    queues.activate(self.routers[upstream.index()].output(vc.port));
                }
            }
            Source::Host(host) if !more => self.refill.push(host),
            Source::Host(_) => {}
        }
        self.activate(router);
    }

    /// Looks at a router in this cycle, if any packet waits in it.
    fn activate(&mut self, router: RouterId) {
        if self.routers[router.index()].waiting > 0 {
            self.active.add(router);
        }
    }

    /// A packet has come to the head of a queue, and waits there from now on.
    fn on_new_head(&mut self, queue: QueueId) {
        let id = self.queues.head(queue);
        let header = &self.packets.get(id).header;
        let state = self.queues.get_mut(queue);
        let router = state.router;
        let fixed_output = if header.destination != router {
            self.routing.fixed_output(router, header, self.packets.state(id))
        } else {
            (self.parameters.consumption_ports == 1).then(|| self.hosts[header.to.index()].places.first_port)
        };
        state.fixed_output = fixed_output.into();
        let RouterState { first_queue, first_word, waiting, .. } = &mut self.routers[router.index()];
        *waiting += 1;
        let place = queue.0 - first_queue.0;
        self.waiting[(*first_word + place / 64) as usize] |= 1 << (place % 64);
        self.active.add(router);
    }

    /// Gives each idle injection port of a host a packet, the first port first.
    fn inject(&mut self, host: HostId, now: u64) {
        let HostPlaces { router, first_queue, .. } = self.hosts[host.index()].places;
        for queue in (first_queue.0..first_queue.0 + self.parameters.injection_ports).map(QueueId) {
            if self.queues.get(queue).queued > 0 {
                continue;
            }
            let Some(message) = self.sources.send(host) else { return };
            let Message { from, to, .. } = self.sources.get(message).message;
            let sent = &mut self.hosts[host.index()].sent;
            let random = chance(self.parameters.seed, host.0.into(), *sent);
            *sent += 1;
            let header = Header { from, to, destination: self.hosts[to.index()].places.router, random };
            let packet = self.packets.insert(Packet { since: now, left: now, header, message, hops: 0 });
            self.packets.depart(packet, router, &self.routing);
            self.queues.get_mut(queue).reserved += 1;
            self.queues.push(queue, packet);
            self.on_new_head(queue);
        }
    }

    /// A packet is consumed to its last phit.
    fn deliver(&mut self, id: PacketId, now: u64, delivered: &mut Vec<Delivery>) {
        let packet = self.packets.remove(id);
        self.usage.consume(packet.hops, now - packet.left);
        self.hosts[packet.header.to.index()].received += 1;
        if let Some(progress) = self.sources.arrives(packet.message, packet.hops) {
            let Progress { message, created, injected, hops, .. } = progress;
            delivered.push(Delivery { message, created, injected: injected.unwrap_or(now), at: now, hops });
        }
    }
}
