//! A packet network that can be built: a graph of routers, a routing that is free of deadlock in it, and parameters.

use std::sync::Arc;

use super::link_timing::LinkTimings;
use super::parameters::{Buffer, BufferSharing, MemoryDivision, PacketParameters, Switch, WhenFull};
use crate::chance::chance;
use crate::topology::{HostPort, LinkId, RouterGraph, RouterId, Routing, RoutingFunction, Unroutable};

/// Packets that queues have room for in all, at most.
const MAX_SLOTS: u64 = 1 << 31;

/// The specification of a packet network.
#[derive(Clone, Debug)]
pub struct PacketSpec {
    pub(super) graph: RouterGraph,
    pub(super) routing: RoutingFunction,
    pub(super) parameters: PacketParameters,
    /// The timing of links, if they are not alike.
    pub(super) timings: Option<LinkTimings>,
    /// The memory of each router, if it is limited.
    pub(super) memories: Option<Arc<[MemoryDivision]>>,
    /// The networks of the further rails, if rails differ.
    further_rails: Option<FurtherRails>,
}

/// The networks of all rails but the first.
#[derive(Clone, Debug)]
struct FurtherRails {
    specs: Arc<[PacketSpec]>,
    links: u32,
}

impl PacketSpec {
    /// The network of these routers. No parameter except delays, header, output queue and seed is 0, and the header
    /// leaves room for a payload.
    ///
    /// # Errors
    /// If the graph cannot be routed with these parameters, or not without deadlocks, or if it is too large.
    pub fn new(graph: RouterGraph, mut parameters: PacketParameters) -> Result<Self, Unroutable> {
        let routing = RoutingFunction::new(&graph, &parameters.routing)?;
        if routing.has_rings() && parameters.queue_packets < 2 {
            return Err(Unroutable::Impossible(
                "a ring needs queues of two packets, of which the bubble is one".to_owned(),
            ));
        }
        let mut timings = LinkTimings::of(&graph, &parameters)?;
        if let Some(common) = timings.as_ref().and_then(|timings| timings.common(&graph)) {
            // Equal cables need no timings of their own.
            parameters.wire_delay = parameters.wire_delay.saturating_add(common.wire.try_into().unwrap_or(u32::MAX));
            parameters.queue_packets = parameters.queue_packets.saturating_add(common.on_the_way);
            timings = None;
        }
        let mut spec = Self { graph, routing, parameters, timings, memories: None, further_rails: None };
        spec.check_memory()?;
        match spec.parameters.switch {
            Switch::OutputQueued(buffer) => {
                spec.check_output_queues(buffer)?;
                spec.memories = buffer.map(|buffer| spec.divide(buffer)).transpose()?;
            }
            Switch::InputQueued if spec.parameters.burst.0 > 0 => {
                let why = "only links between output-queued switches have token buckets";
                return Err(Unroutable::Impossible(why.to_owned()));
            }
            Switch::InputQueued => {}
        }
        Ok(spec)
    }

    fn check_memory(&self) -> Result<(), Unroutable> {
        let Self { graph, routing, parameters, .. } = self;
        let ports = graph.all_ports().len() as u64;
        let at_hosts =
            graph.hosts().len() as u64 * u64::from(parameters.queues_of_host().max(parameters.consumption_ports));
        let queues = ports * u64::from(routing.virtual_channels()) + at_hosts;
        if queues * u64::from(self.most_places()) > MAX_SLOTS {
            return Err(Unroutable::Impossible(format!(
                "{queues} queues of {} packets do not fit the memory of most machines: larger packets are fewer",
                self.most_places()
            )));
        }
        Ok(())
    }

    /// Whether switches can have output queues.
    fn check_output_queues(&self, buffer: Option<Buffer>) -> Result<(), Unroutable> {
        let refuse = |why: &str| Err(Unroutable::Impossible(why.to_owned()));
        if self.timings.is_some() {
            return refuse("output-queued switches need links that are alike, full duplex, and no limiters");
        }
        if !matches!(buffer, Some(Buffer { when_full: WhenFull::Pause, .. })) {
            return Ok(());
        }
        if self.has_rings() {
            return refuse("switches in a ring that pause each other can wait for ever: a packet has to be dropped");
        }
        match self.routing.of_whole_network() {
            RoutingFunction::Grid(grid) if grid.has_alternatives() => {
                refuse("with adaptive routing in a mesh, switches that pause each other can wait for ever")
            }
            _ => Ok(()),
        }
    }

    /// The memory of each switch.
    fn divide(&self, buffer: Buffer) -> Result<Arc<[MemoryDivision]>, Unroutable> {
        let pauses = matches!(buffer.when_full, WhenFull::Pause);
        let places = buffer.size.0 / self.parameters.packet_bytes().0;
        let divide = |(router, accounts): (RouterId, u32)| {
            let division = buffer.divide(places.try_into().unwrap_or(u32::MAX), accounts);
            division.ok_or_else(|| {
                let needed = match (buffer.sharing, buffer.when_full) {
                    (_, WhenFull::Pause) => format!("one for each of its {accounts} inputs"),
                    (BufferSharing::Partitioned, WhenFull::Drop { .. }) => {
                        format!("one for each of its {accounts} outputs")
                    }
                    (BufferSharing::Shared { .. }, WhenFull::Drop { .. }) => "one".to_owned(),
                };
                let (size, name) = (buffer.size.0, self.graph.router_name(router));
                Unroutable::Impossible(format!(
                    "a memory of {size} bytes has room for {places} packets, and {name} needs room for {needed}"
                ))
            })
        };
        let accounts = if pauses { self.inputs() } else { self.output_channels() };
        self.graph.routers().zip(accounts).map(divide).collect()
    }

    /// The number of virtual channels that lead to each router, and of injection ports.
    fn inputs(&self) -> Vec<u32> {
        let mut inputs = vec![0; self.graph.routers().count()];
        for to in self.graph.all_ports().iter().filter_map(|port| port.to) {
            inputs[to.index()] += self.virtual_channels();
        }
        for host in self.graph.hosts() {
            inputs[host.router.index()] += self.parameters.injection_ports;
        }
        inputs
    }

    /// The number of virtual channels that lead away from each router, and of consumption ports.
    fn output_channels(&self) -> Vec<u32> {
        let channels = |router: RouterId| {
            let ports = self.graph.ports(router).iter().filter(|port| port.to.is_some());
            ports.count() as u32 * self.virtual_channels()
        };
        let mut outputs: Vec<u32> = self.graph.routers().map(channels).collect();
        for host in self.graph.hosts() {
            outputs[host.router.index()] += self.parameters.consumption_ports;
        }
        outputs
    }

    /// The network of the first rail of a machine whose `further` rails have other networks. Each rail has this number of links.
    #[must_use]
    pub fn with_further_rails(self, further: Vec<Self>, links: u32) -> Self {
        Self { further_rails: Some(FurtherRails { specs: further.into(), links: links.max(1) }), ..self }
    }

    /// The network of a rail, as written.
    fn rail(&self, number: u32) -> &Self {
        let further = self.further_rails.as_ref().zip(number.checked_sub(1));
        further.and_then(|(rails, place)| rails.specs.get(place as usize)).unwrap_or(self)
    }

    /// The network of a rail. Rails differ in their random choices.
    #[must_use]
    pub fn of_rail(&self, number: u32) -> Self {
        let mut spec = self.rail(number).clone();
        if number > 0 {
            spec.parameters.seed = chance(spec.parameters.seed, number.into(), 0);
        }
        spec
    }

    /// The network for one of several runs, which differ in their random choices.
    #[must_use]
    pub fn of_run(&self, run: u32) -> Self {
        let mut spec = self.clone();
        spec.parameters.seed = spec.parameters.seed.wrapping_add(run.into());
        spec
    }

    /// The routers.
    #[must_use]
    pub fn graph(&self) -> &RouterGraph {
        &self.graph
    }

    /// The parameters of routers and packets.
    #[must_use]
    pub fn parameters(&self) -> &PacketParameters {
        &self.parameters
    }

    /// Virtual channels of each link.
    #[must_use]
    pub fn virtual_channels(&self) -> u32 {
        self.routing.virtual_channels()
    }

    /// Packets that the queue at the end of a link has room for.
    pub(super) fn places(&self, link: LinkId) -> u32 {
        let on_the_way = self.timings.as_ref().map_or(0, |timings| timings.get(link).on_the_way);
        self.parameters.queue_packets.saturating_add(on_the_way)
    }

    /// Cycles of a cable between a host and its router, if hosts have cables.
    pub(super) fn cable_delay(&self) -> u64 {
        let Some(&HostPort { cable: Some((cable, _)), .. }) = self.graph.hosts().first() else { return 0 };
        u64::from(self.parameters.wire_delay) + self.timings.as_ref().map_or(0, |timings| timings.get(cable).wire)
    }

    /// Packets that the largest queue has room for.
    pub(super) fn most_places(&self) -> u32 {
        let places = self.graph.links().filter(|_| self.timings.is_some()).map(|link| self.places(link));
        places.max().unwrap_or(self.parameters.queue_packets)
    }

    /// Cycles that a packet takes a link, in the mean. The links of several rails are numbered rail by rail.
    pub(super) fn packet_cycles(&self, link: LinkId) -> f64 {
        let (spec, link) = match &self.further_rails {
            Some(FurtherRails { links, .. }) => (self.rail(link.0 / links), LinkId(link.0 % links)),
            None => (self, link),
        };
        let alike = f64::from(spec.parameters.packet_phits);
        spec.timings.as_ref().map_or(alike, |timings| timings.mean_packet(link))
    }

    /// Phits that each link passes at once after a pause.
    pub(super) fn burst_phits(&self) -> u64 {
        self.parameters.burst.0 / self.parameters.phit.0
    }

    /// Whether there are rings, which need bubbles to avoid deadlock.
    #[must_use]
    pub fn has_rings(&self) -> bool {
        self.routing.has_rings()
    }

    /// The length of a cycle, in seconds.
    #[must_use]
    pub fn cycle(&self) -> f64 {
        self.parameters.phit.0 as f64 / self.parameters.bandwidth
    }
}

/// Cycles from one event to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// Cycles from the offer of a message until its first header requests a port of the router of its host: a cycle to
    /// get there, the host's cable if it has one, and the router's own delay.
    pub offer: u64,
    /// Cycles from the grant of a port until the header requests a port of the next router.
    pub hop: u64,
    /// Cycles from the grant of a port until the tail has left the queue.
    pub tail: u64,
    /// Cycles from the grant of a consumption port until the tail has reached the host.
    pub consumption: u64,
}

impl Delays {
    /// The delays of a network.
    pub(crate) fn of(spec: &PacketSpec) -> Self {
        let parameters = spec.parameters();
        let (router, wire) = (u64::from(parameters.router_delay), u64::from(parameters.wire_delay));
        let cable = spec.cable_delay();
        let tail = u64::from(parameters.packet_phits);
        Self { offer: 1 + cable + router, hop: 1 + wire + router, tail, consumption: tail + cable }
    }

    /// Cycles from the offer of a packet until it is consumed, over `channels` channels with nothing in its way.
    pub(crate) fn alone(&self, channels: u64) -> u64 {
        self.offer + channels * self.hop + self.consumption
    }

    /// Cycles that `packets` of one message take over `route` without contention: until the first phit has reached the
    /// host, and from then on until the last has. On unequal links, the slowest determines the pace. Token buckets are full.
    pub(super) fn unloaded(
        &self,
        spec: &PacketSpec,
        route: &[LinkId],
        packets: u64,
        last_phits: Option<u32>,
    ) -> (f64, f64) {
        let cables = usize::from(spec.graph().has_host_cables());
        let channels = route.get(cables..route.len().saturating_sub(cables)).unwrap_or_default();
        let (mut latency, mut packet) = (self.alone(channels.len() as u64) - self.tail, self.tail as f64);
        if let Some(timings) = &spec.timings {
            for &link in channels {
                let timing = timings.get(link);
                latency += timing.wire + timing.phit - 1;
                packet = packet.max(timings.mean_packet(link));
            }
        }
        // A link passes a packet in a cycle at least.
        let burst = spec.burst_phits() as f64;
        let missing = last_phits.map_or(0.0, |last| self.tail as f64 - f64::from(last));
        (
            latency as f64,
            (packets as f64 * packet - missing - burst).max(if burst > 0.0 { packets as f64 } else { 0.0 }),
        )
    }
}
