//! The engine for output-queued switches.
//!
//! # A switch
//!
//! A packet whose header has come joins the queue of its port at once: the port that the routing chooses, with the room of a
//! port counted by the packets in its queue. A port sends the packets of its queue in their order, a phit per cycle, and its
//! virtual channels, each with a queue of its own, in turn. Switching is **cut-through**: a port that is idle begins to send a
//! packet whose header has come. A packet has its place in the memory from the cycle in which its sender begins to send it, if
//! senders pause, or else from the arrival of its header, until its tail has left.
//!
//! A host sends the packets of its messages over its injection ports as a switch does: a phit per cycle, while there is room.
//! Links with token buckets pass some packets faster ([departures]).
//!
//! # A cycle
//!
//! Each step is executed for the whole network before the next one:
//!
//! 1. **Tails.** A packet that a port or a host began to send L cycles ago, or fewer if it is short or a bucket passes it, has left: the port is idle, and the place of the
//!    packet in the memory is free.
//! 2. **Consumption.** A packet that a consumption port began to send as many cycles ago (plus w, if its host has a cable) is with its
//!    host.
//! 3. **Headers.** A packet that a port began to send 1 + w + r cycles ago is at the next switch, and so is one that a host began
//!    to send 1 + r cycles ago (plus w, if the host has a cable). Each joins a queue, or is lost. Those of one cycle do so in
//!    the order of their inputs, which begins at another input in each cycle.
//! 4. **Losses.** A host learns of packets that were lost, and will send these before others.
//! 5. **Ports.** Each idle port begins to send a packet if there is room for it at the next switch, in the order of the ports.
//! 6. **Hosts.** So do the injection ports of hosts.
//!
//! A packet alone takes (1 + r) + h·(1 + w + r) + L cycles over h channels, as with input queues.

mod arrival;
mod departures;
mod memory;
#[cfg(test)]
mod reference;
mod sending;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use super::active_set::ActiveSet;
use super::delay_line::DelayLine;
use super::engine::Engine;
use super::layout::Layout;
use super::parameters::PacketParameters;
use super::sources::{Packets, Sources};
use super::spec::{Delays, PacketSpec};
use super::usage::{PacketCount, Usage};
use super::{Delivery, Message, MessageId, OutputId, PacketId, QueueId};
use crate::Connection;
use crate::topology::{ChannelIndex, HostId, LinkId, PortIndex, RouterGraph, RouterId, Routing, RoutingVisitor};
use departures::{Departures, Spans};
use memory::{Account, Losses, Memories};

/// An idle network of output-queued switches.
pub(super) fn output_queued(spec: &PacketSpec) -> Box<dyn Engine> {
    struct WithRouting<'a>(&'a PacketSpec);
    impl RoutingVisitor for WithRouting<'_> {
        type Output = Box<dyn Engine>;

        fn visit<R: Routing>(self, routing: &R) -> Box<dyn Engine> {
            Box::new(OutputQueuedEngine::new(self.0, routing))
        }
    }
    spec.routing.visit(WithRouting(spec))
}

/// The packets of a switch that wait for a port, but not in its queue: none, as each joins the queue of its port when it arrives.
fn none_awaits(_: RouterId, _: PortIndex) -> u32 {
    0
}

/// A network of output-queued switches.
#[derive(Debug)]
struct OutputQueuedEngine<R> {
    parameters: PacketParameters,
    routing: R,
    layout: Layout,
    virtual_channels: u32,
    memories: Memories,
    ports: Vec<PortState>,
    /// The packets of each virtual channel of each port, the next first.
    queues: Vec<VecDeque<Queued>>,
    hosts: Vec<SendingHost>,
    packets: Packets,
    sources: Sources,
    /// Senders that wait for memory of each switch.
    paused: Vec<Vec<PausedSender>>,

    /// Messages that hosts have to send from now on.
    offers: DelayLine<MessageId>,
    /// Packets on their way from a host to its switch.
    injected: DelayLine<(QueueId, PacketId)>,
    /// Packets on their way to the next switch.
    headers: DelayLine<(QueueId, PacketId)>,
    /// Headers of this cycle; kept to be used again.
    arrivals: Vec<(QueueId, PacketId)>,
    /// Packets that ports are sending.
    tails: Departures<Account>,
    /// Injection ports that are sending, by their input at the switch.
    injecting: Departures<QueueId>,
    /// Packets that consumption ports have sent to hosts.
    consumed: Departures<PacketId>,
    spans: Spans,
    /// Cycles of a tail between a consumption port and its host.
    to_host: u64,
    /// Packets that were lost, until their hosts know it.
    losses: Losses,
    /// Connections of which a packet has arrived, with their hosts, by the cycle in which these know it.
    acknowledgements: BTreeMap<u64, Vec<(HostId, Connection)>>,
    /// Cycles that an acknowledgement takes without channels, and for each of them.
    way_back: [u64; 2],
    /// Ports that may begin to send.
    active_ports: ActiveSet<OutputId>,
    /// Hosts that may begin to send.
    active_hosts: ActiveSet<HostId>,
    usage: Usage,
}

/// A packet in the queue of a port.
#[derive(Clone, Copy, Debug)]
struct Queued {
    packet: PacketId,
    /// The input by which it came.
    input: QueueId,
}

#[derive(Clone, Copy, Debug)]
struct PortState {
    is_busy: bool,
    /// The virtual channel that it served last.
    served: ChannelIndex,
    /// Packets in its queues.
    queued: u32,
    /// Whether it waits for memory.
    is_paused: bool,
}

/// A sender that waits for memory.
#[derive(Clone, Copy, Debug)]
enum PausedSender {
    Port(OutputId),
    Host(HostId),
}

#[derive(Clone, Debug)]
struct SendingHost {
    /// Which of its injection ports are busy.
    busy: Vec<bool>,
    /// Whether it waits for memory.
    is_paused: bool,
    /// Packets to send again.
    lost: VecDeque<PacketId>,
    /// Packets that it has begun to send, without those sent again.
    begun: u64,
    sent: PacketCount,
    received: PacketCount,
}

impl<R: Routing> OutputQueuedEngine<R> {
    /// An idle network of output-queued switches.
    fn new(spec: &PacketSpec, routing: &R) -> Self {
        let PacketSpec { graph, parameters, .. } = spec;
        let (layout, virtual_channels) = (Layout::new(spec), spec.virtual_channels());
        let Delays { offer, hop, tail, consumption } = Delays::of(spec);
        let port =
            PortState { is_busy: false, served: ChannelIndex(virtual_channels - 1), queued: 0, is_paused: false };
        let host = SendingHost {
            busy: vec![false; parameters.injection_ports as usize],
            is_paused: false,
            lost: VecDeque::new(),
            begun: 0,
            sent: PacketCount::default(),
            received: PacketCount::default(),
        };
        Self {
            routing: routing.clone(),
            virtual_channels,
            memories: Memories::new(spec, &layout),
            ports: vec![port; layout.outputs.len()],
            queues: vec![VecDeque::new(); layout.outputs.len() * virtual_channels as usize],
            hosts: vec![host; layout.hosts.len()],
            packets: Packets::new(routing.state_words()),
            sources: Sources::new(layout.hosts.len(), parameters.injection_order, parameters.connection_window),
            paused: vec![Vec::new(); layout.routers.len()],
            offers: DelayLine::new(0),
            injected: DelayLine::new(offer),
            headers: DelayLine::new(hop),
            arrivals: Vec::new(),
            tails: Departures::new(tail),
            injecting: Departures::new(tail),
            consumed: Departures::new(consumption),
            spans: Spans::new(spec, &layout),
            to_host: consumption - tail,
            losses: Losses::new(spec),
            acknowledgements: BTreeMap::new(),
            way_back: [offer, hop],
            active_ports: ActiveSet::new(layout.outputs.len()),
            active_hosts: ActiveSet::new(layout.hosts.len()),
            usage: Usage::new(&layout, graph, virtual_channels),
            parameters: parameters.clone(),
            layout,
        }
    }

    /// Phits by which a packet is shorter than others.
    fn missing_phits(&self, packet: PacketId) -> u64 {
        u64::from(self.parameters.packet_phits - self.spans.phits(packet))
    }

    fn queue(&self, output: OutputId, channel: ChannelIndex) -> usize {
        output.index() * self.virtual_channels as usize + channel.index()
    }

    /// The account of a packet at the switch at whose input it is.
    fn account(&self, input: QueueId, output: OutputId, channel: ChannelIndex) -> Account {
        Account { router: self.layout.queues[input.index()].router, input, output: (output, channel) }
    }
}

impl<R: Routing> Engine for OutputQueuedEngine<R> {
    fn offer(&mut self, now: u64, message: Message) {
        let id = self.sources.insert(message, now);
        self.offers.push(now, id);
    }

    fn next_cycle(&self) -> Option<u64> {
        let arrivals = self.offers.next().min(self.injected.next()).min(self.headers.next());
        let departures = self.tails.next().min(self.injecting.next()).min(self.consumed.next());
        let acknowledged = self.acknowledgements.first_key_value().map_or(u64::MAX, |(&at, _)| at);
        Some(arrivals.min(departures).min(self.losses.next()).min(acknowledged)).filter(|&next| next != u64::MAX)
    }

    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        self.release_tails(now);
        self.consume(now, delivered);
        self.take_in(now);
        self.learn_of_losses(now);
        self.send_from_ports(now);
        self.send_from_hosts(now);
    }

    fn usage(&self) -> &Usage {
        &self.usage
    }

    fn take_usage(&mut self) -> Usage {
        self.usage.take()
    }

    fn carried(&self, graph: &RouterGraph) -> Vec<(LinkId, PacketCount)> {
        self.usage.of_links(graph, self.hosts.iter().map(|state| [state.sent, state.received]))
    }
}
