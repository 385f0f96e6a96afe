//! The cycle of the engine, and its cost. The [module](super) lists the steps of a cycle in order.
//!
//! The engine visits only what can have changed. A packet without a choice waits in the list of requests for its port.
//! A port with requests is **active** in a cycle if it became free, room appeared behind it, or a request arrived while
//! it was free ([`allocation`]). Packets with a choice wait in their router, which is active if one of them became
//! the head of a queue, a port that one of them waits for became free or had room behind it ([`wakeup`]), or
//! the queues changed by which one of them decides. Nothing else can make a packet move in this cycle that
//! could not move before.
//!
//! In a network of equal links, every delay is one of a few constants, so events wait in queues ([`DelayLine`]) and
//! need no sorting. With unequal links, the events that depend on them are in a calendar ([`uneven`]).
//!
//! Large networks do not fit into the caches, so the cost of an event is the number of cache lines that it touches. A
//! queue with its slots is one line ([`InputQueues`]), a port with its credits half a line ([`Outputs`]), and a packet
//! another line ([`Packets`]), which is touched once per hop: at a grant, **lookahead routing** computes the port that
//! the packet needs at the next router, and the header carries that port. Events of a cycle come in batches, and the
//! memory of a batch is loaded together ([`Prefetch`]).

mod allocation;
mod traversal;
mod uneven;
mod wakeup;

use std::fmt::Debug;

use super::active_set::ActiveSet;
use super::delay_line::DelayLine;
use super::input_queues::{InputQueues, QueuedPacket};
use super::layout::{HostPlaces, Layout, RouterState, Source};
use super::link_timing::LinkTimings;
use super::output_queues::{OutputQueues, Outputs};
use super::parameters::PacketParameters;
use super::sources::{Packets, Sources};
use super::spec::{Delays, PacketSpec};
use super::usage::{PacketCount, Usage};
use super::{Delivery, Message, MessageId, OutputId, PacketId, QueueId, QueueIndex};
use crate::ids::Optional;
use crate::topology::{HostId, LinkId, RouterGraph, RouterId, Routing, RoutingFunction, RoutingVisitor};
use allocation::Requests;
use uneven::Uneven;
use wakeup::Wakeup;

/// A network of routers, and the cycle that it is at.
pub trait Engine: Debug + Send + Sync {
    /// Accepts a message at cycle `now`, which is not before the last cycle that was advanced to, and at which
    /// something may still happen: the cycle of the next [`advance`](Self::advance), or an earlier one.
    fn offer(&mut self, now: u64, message: Message);

    /// The next cycle in which something happens.
    fn next_cycle(&self) -> Option<u64>;

    /// Simulates cycle `now`, which is no later than [`next_cycle`](Self::next_cycle), and appends the deliveries.
    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>);

    /// Packet counts of the channels and hosts since they were last taken.
    fn usage(&self) -> &Usage;

    /// Takes these counts.
    fn take_usage(&mut self) -> Usage;

    /// The packets that each link of `graph`, which this network was made of, has carried.
    fn carried(&self, graph: &RouterGraph) -> Vec<(LinkId, PacketCount)>;
}

/// An idle network of input-queued routers.
pub(super) fn input_queued(spec: &PacketSpec) -> Box<dyn Engine> {
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
        (Some(timings), routing) => Box::new(RoutedEngine::<_, true>::new(spec, routing.clone(), Some(timings))),
        (None, routing) => routing.visit(WithRouting(spec)),
    }
}

/// The engine for one type of routing, fixed at compile time because the engine calls the routing several times for
/// each hop of a packet. Whether there are `UNEVEN` links is fixed at compile time as well.
#[derive(Debug)]
struct RoutedEngine<R, const UNEVEN: bool> {
    parameters: PacketParameters,
    routing: R,
    routers: Vec<RouterState>,
    queues: InputQueues,
    outputs: Outputs,
    output_queues: Option<OutputQueues>,
    hosts: Vec<HostState>,
    packets: Packets,
    sources: Sources,
    /// The heads of queues that wait and have a choice of ports.
    wakeup: Wakeup,

    /// Messages on their way from a host to its router.
    offers: DelayLine<MessageId>,
    /// Headers on their way to a queue.
    headers: DelayLine<(QueueId, QueuedPacket)>,
    /// Tails that have not left a queue by a port.
    tails: DelayLine<(QueueId, OutputId)>,
    /// Packets that are being consumed.
    consumed: DelayLine<PacketId>,
    /// Ports that may pass on one of the packets that have to take them.
    active_ports: ActiveSet<OutputId>,
    /// Routers that may pass on a packet that has a choice.
    active_routers: ActiveSet<RouterId>,
    /// Routers to look at in the next cycle, as a packet that another was preferred to may find another port.
    retry: Vec<RouterId>,
    retry_at: u64,
    /// Hosts with an idle injection port that may have more to send.
    refill: Vec<HostId>,
    /// Hosts with an injection port that is busy with a packet, if its router has several queues for it.
    injecting: DelayLine<HostId>,
    requests: Requests,
    /// For each port, the waiting packets that chose it when they decided first; none if packets do not decide.
    awaiting: Vec<u32>,
    /// The ports that packets await which decided first in this cycle, and the queues of the packets.
    decided: Vec<(OutputId, QueueIndex)>,
    usage: Usage,
    prefetch: Prefetch,
    /// The links, if they are not alike.
    uneven: Option<Uneven>,
}

/// A host, its places at its router, and its traffic.
#[derive(Clone, Copy, Debug)]
struct HostState {
    places: HostPlaces,
    /// Injection ports that are busy; counted if its router has several queues for each.
    injecting: u32,
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
            hosts: layout
                .hosts
                .iter()
                .map(|&places| HostState { places, injecting: 0, sent: 0, received: 0 })
                .collect(),
            sources: Sources::new(graph.hosts().len(), parameters.injection_order, None),
            packets: Packets::new(routing.state_words()),
            wakeup: Wakeup::new(&layout),
            output_queues: OutputQueues::new(&layout, spec.virtual_channels(), parameters.output_queue, tail),
            offers: DelayLine::new(offer),
            headers: DelayLine::new(hop),
            tails: DelayLine::new(tail),
            consumed: DelayLine::new(consumption),
            active_ports: ActiveSet::new(layout.outputs.len()),
            active_routers: ActiveSet::new(layout.routers.len()),
            retry: Vec::new(),
            retry_at: 0,
            refill: Vec::new(),
            injecting: DelayLine::new(parameters.packet_phits.into()),
            requests: Requests::new(widest),
            awaiting: if R::DECIDES { vec![0; layout.outputs.len()] } else { Vec::new() },
            decided: Vec::new(),
            usage: Usage::new(&layout, graph, spec.virtual_channels()),
            prefetch: Prefetch::new(layout.outputs.len()),
            uneven: timings.map(|timings| Uneven::new(spec, timings, &layout)),
            queues: InputQueues::new(layout.queues, spec.most_places()),
            routers: layout.routers,
            outputs: Outputs::new(layout.outputs, spec.virtual_channels()),
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
        let behind = self.output_queues.as_ref().map_or(u64::MAX, |queues| queues.tails.next());
        let arrivals = self.offers.next().min(self.headers.next());
        let departures = self.tails.next().min(self.consumed.next()).min(self.injecting.next());
        let uneven = if UNEVEN { self.uneven.as_ref().map_or(u64::MAX, Uneven::next) } else { u64::MAX };
        Some(arrivals.min(departures).min(uneven).min(retry).min(behind)).filter(|&next| next != u64::MAX)
    }

    fn usage(&self) -> &Usage {
        &self.usage
    }

    fn take_usage(&mut self) -> Usage {
        self.usage.take()
    }

    fn carried(&self, graph: &RouterGraph) -> Vec<(LinkId, PacketCount)> {
        let alike = |packets| PacketCount { packets, missing_phits: 0 };
        self.usage.of_links(graph, self.hosts.iter().map(|state| [state.sent, state.received].map(alike)))
    }

    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        let tails = self.tails.take(now);
        for batch in tails.chunks(BATCH) {
            self.prefetch_tails(batch);
            batch.iter().for_each(|&(queue, output)| self.release(queue, output));
        }
        self.tails.recycle(tails);
        self.release_cables(now);
        if UNEVEN {
            self.process_events(now);
        }
        let headers = self.headers.take(now);
        for batch in headers.chunks(BATCH) {
            self.prefetch_headers(batch);
            batch.iter().for_each(|&(queue, packet)| self.arrive(queue, packet));
        }
        self.headers.recycle(headers);
        self.fill_queues_of_hosts(now);
        let consumed = self.consumed.take(now);
        for &packet in &consumed {
            self.deliver(packet, now, delivered);
        }
        self.consumed.recycle(consumed);
        self.allocate_ports(now);
        self.allocate_switches(now);
        if UNEVEN {
            self.drive_uneven_links(now);
        } else {
            self.drive_cables(now);
        }
    }
}

impl<R: Routing, const UNEVEN: bool> RoutedEngine<R, UNEVEN> {
    /// Loads the memory that the tails of a batch change.
    fn prefetch_tails(&self, batch: &[(QueueId, OutputId)]) {
        let room = |output| self.outputs.get(output).first_room;
        self.prefetch.load(batch.iter().map(|&(queue, output)| self.queues.get(queue).queued ^ room(output)));
        self.prefetch.load(batch.iter().map(|&(queue, _)| match self.queues.get(queue).source() {
            Source::Channel { output, .. } => room(output),
            Source::Host(_) => 0,
        }));
    }

    /// Loads the memory that the headers of a batch change.
    fn prefetch_headers(&self, batch: &[(QueueId, QueuedPacket)]) {
        self.prefetch.load(batch.iter().map(|&(queue, _)| self.queues.get(queue).queued));
        self.prefetch.load(batch.iter().map(|&(queue, packet)| match packet.output.get() {
            Some(port) => self.outputs.get(self.queues.get(queue).output(port)).first_room,
            None => 0,
        }));
    }

    /// Handles the arrival of a packet's header at a queue.
    fn arrive(&mut self, queue: QueueId, packet: QueuedPacket) {
        if self.queues.push(queue, packet) {
            self.on_new_head(queue, packet);
        }
    }

    /// A packet's tail has left `queue` through `output`.
    fn release(&mut self, queue: QueueId, output: OutputId) {
        self.outputs.get_mut(output).busy = false;
        self.free_place(queue);
        self.activate(output);
    }

    /// A packet's tail has left `queue`.
    fn free_place(&mut self, queue: QueueId) {
        let more = self.queues.pop(queue);
        match self.queues.get(queue).source() {
            Source::Channel { output, vc } => {
                *self.outputs.room_mut(output, vc.channel) += 1;
                self.activate(output);
                if let Some(queues) = &mut self.output_queues {
                    queues.activate(output);
                }
            }
            Source::Host(host) if !more => self.refill.push(host),
            Source::Host(_) => {}
        }
        if more {
            self.on_new_head(queue, self.queues.head(queue));
        }
    }

    /// Looks at a port in this cycle, which became free or behind which there is room again, if a packet waits for it. Packets
    /// that decide anew also look at a busy port, behind which there are fewer packets.
    #[inline]
    fn activate(&mut self, output: OutputId) {
        let port = self.outputs.get(output);
        if port.busy && !self.reconsiders() {
            return;
        }
        if !port.busy && port.first_request.get().is_some() {
            self.active_ports.add(output);
        }
        if !self.wakeup.is_empty() && self.wakeup.wake(self.routers[port.router.index()], output) {
            self.active_routers.add(port.router);
        }
    }

    /// Handles a new head of a queue, which waits from now on: for the port that it has to take, or for any.
    fn on_new_head(&mut self, queue: QueueId, packet: QueuedPacket) {
        let state = self.queues.get_mut(queue);
        let Some(port) = packet.output.get() else { return self.enqueue_for_choice(queue) };
        let output = state.output(port);
        let port = self.outputs.get_mut(output);
        state.next_request = std::mem::replace(&mut port.first_request, Optional::some(queue));
        if !port.busy {
            self.active_ports.add(output);
        }
    }

    /// A packet is consumed to its last phit.
    fn deliver(&mut self, id: PacketId, now: u64, delivered: &mut Vec<Delivery>) {
        let packet = self.packets.remove(id);
        self.usage.consume(packet.hops, now - packet.left, 0);
        self.hosts[packet.header.to.index()].received += 1;
        if let Some(last) = self.sources.arrives(packet.message, packet.hops) {
            delivered.push(last.delivery(now));
        }
    }
}

// Prefetching. A large network does not fit into the caches, and each of its events accesses another place. A
// processor that handles events one by one waits for memory each time; given a batch of them, it loads all at once (S.
// Chen, A. Ailamaki, P. B. Gibbons, T. C. Mowry, "Improving Hash Join Performance through Prefetching", ACM TODS
// 32(3), 2007).

/// Events of a batch: about the number of loads that a processor can have outstanding.
pub(super) const BATCH: usize = 16;

/// The size of a network, in ports, from which batches pay: smaller ones fit the processor's own caches.
const LARGE: usize = 8192;

/// Loads ahead of use, where they pay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefetch {
    is_large: bool,
}

impl Prefetch {
    /// For a network of this many ports.
    pub(crate) fn new(ports: usize) -> Self {
        Self { is_large: ports >= LARGE }
    }

    /// Loads something of each place that a batch is about to use. No load waits for another one, unless the iterator makes
    /// it.
    #[inline]
    pub(crate) fn load(self, loads: impl Iterator<Item = u32>) {
        if self.is_large {
            std::hint::black_box(loads.fold(0, |all, load| all ^ load));
        }
    }
}
