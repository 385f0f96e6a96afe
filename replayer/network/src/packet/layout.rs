//! The queues and ports of all routers of a graph, in arrays.
//!
//! The queues of a router are numbered side by side: those at the ends of channels that lead to it, in the order of the
//! routers and ports that these come from, channel by channel; then those of its hosts. So are its ports: those of the
//! graph, then those by which its hosts are reached.

use super::ids::{OutputId, QueueId, QueueIndex};
use super::spec::PacketSpec;
use crate::ids::Optional;
use crate::topology::{ChannelIndex, HostId, LinkId, OutputVc, PortIndex, RouterGraph, RouterId};

/// A router's share of the arrays.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RouterState {
    pub first_queue: QueueId,
    pub queues: u32,
    pub first_output: OutputId,
    pub outputs: u32,
    /// The first word of the bits of its queues, 64 a word.
    pub first_word: u32,
    /// Queues whose head waits.
    pub waiting: u32,
}

impl RouterState {
    #[inline]
    pub fn queue(&self, index: QueueIndex) -> QueueId {
        QueueId(self.first_queue.0 + index.0)
    }

    #[inline]
    pub fn output(&self, port: PortIndex) -> OutputId {
        OutputId(self.first_output.0 + port.0)
    }

    /// All its ports.
    pub fn all_outputs(&self) -> impl Iterator<Item = OutputId> + use<> {
        (self.first_output.0..self.first_output.0 + self.outputs).map(OutputId)
    }
}

/// An input queue, and where it stands in its ring of slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputQueue {
    pub router: RouterId,
    pub source: Source,
    /// The port that its head has to take, unless it has a choice.
    pub fixed_output: Optional<PortIndex>,
    pub head: u32,
    /// Packets whose header is here.
    pub queued: u32,
    /// Places taken: those of packets that are here, those of packets on their way here, and those that the largest
    /// queue has beyond this one.
    pub reserved: u32,
}

/// The origin of a queue's packets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// A virtual channel of another router.
    Channel { router: RouterId, vc: OutputVc },
    /// A host that is attached to the router.
    Host(HostId),
}

impl Source {
    /// The virtual channel by which packets arrive, unless they come from a host.
    #[inline]
    pub fn arrival(self) -> Option<OutputVc> {
        match self {
            Self::Channel { vc, .. } => Some(vc),
            Self::Host(_) => None,
        }
    }

    /// The link and its virtual channel by which packets arrive, unless they come from a host.
    pub fn channel(self, graph: &RouterGraph) -> Option<(LinkId, ChannelIndex)> {
        match self {
            Self::Channel { router, vc } => graph.port(router, vc.port).map(|port| (port.link, vc.channel)),
            Self::Host(_) => None,
        }
    }
}

/// An output port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    /// The queue at the end of its first virtual channel; none if packets are consumed there.
    pub first_queue: Optional<QueueId>,
    pub busy: bool,
    /// The queue that it served last.
    pub served: QueueIndex,
}

impl Output {
    /// The queue at the end of a virtual channel, unless packets are consumed there.
    #[inline]
    pub fn queue(&self, channel: ChannelIndex) -> Option<QueueId> {
        self.first_queue.get().map(|first| QueueId(first.0 + channel.0))
    }
}

/// A host's places at its router.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostPlaces {
    pub router: RouterId,
    /// Its injection ports, which are queues of the router.
    pub first_queue: QueueId,
    /// Its consumption ports.
    pub first_port: PortIndex,
}

/// The arrays of an idle network.
#[derive(Debug)]
pub(super) struct Layout {
    pub routers: Vec<RouterState>,
    pub queues: Vec<InputQueue>,
    pub outputs: Vec<Output>,
    pub hosts: Vec<HostPlaces>,
    /// Words of bits in all.
    pub words: u32,
}

impl Layout {
    pub fn new(spec: &PacketSpec) -> Self {
        let (graph, virtual_channels) = (&spec.graph, spec.virtual_channels());
        let mut routers = vec![RouterState::default(); graph.routers().count()];
        for from in graph.routers() {
            routers[from.index()].outputs = graph.ports(from).len() as u32;
            for to in graph.ports(from).iter().filter_map(|port| port.to) {
                routers[to.index()].queues += virtual_channels;
            }
        }
        let mut hosts = Vec::with_capacity(graph.hosts().len());
        for host in graph.hosts() {
            let router = &mut routers[host.router.index()];
            let (first_queue, first_port) = (QueueId(router.queues), PortIndex(router.outputs));
            hosts.push(HostPlaces { router: host.router, first_queue, first_port });
            router.queues += spec.parameters.injection_ports;
            router.outputs += spec.parameters.consumption_ports;
        }
        let (mut queues, mut outputs, mut words) = (0, 0, 0);
        for router in &mut routers {
            (router.first_queue, router.first_output, router.first_word) = (QueueId(queues), OutputId(outputs), words);
            queues += router.queues;
            outputs += router.outputs;
            words += router.queues.div_ceil(64);
        }
        for host in &mut hosts {
            host.first_queue.0 += routers[host.router.index()].first_queue.0;
        }
        let mut layout = Self { routers, queues: Vec::new(), outputs: Vec::new(), hosts, words };
        layout.join(spec, queues as usize, outputs as usize);
        layout
    }

    /// Leads ports to queues.
    fn join(&mut self, spec: &PacketSpec, queues: usize, outputs: usize) {
        let most = spec.most_places();
        let idle = |router, source: Source| InputQueue {
            router,
            source,
            fixed_output: Optional::none(),
            head: 0,
            queued: 0,
            reserved: source.channel(&spec.graph).map_or(0, |(link, _)| most - spec.places(link)),
        };
        self.queues = vec![idle(RouterId(0), Source::Host(HostId(0))); queues];
        self.outputs = vec![Output { first_queue: Optional::none(), busy: false, served: QueueIndex(0) }; outputs];
        let mut next: Vec<QueueId> = self.routers.iter().map(|router| router.first_queue).collect();
        for from in spec.graph.routers() {
            for (port, &crate::topology::Port { to, .. }) in (0..).map(PortIndex).zip(spec.graph.ports(from)) {
                let Some(to) = to else { continue };
                let first = next[to.index()];
                next[to.index()].0 += spec.virtual_channels();
                self.outputs[self.routers[from.index()].output(port).index()].first_queue = Optional::some(first);
                for channel in 0..spec.virtual_channels() {
                    let vc = OutputVc { port, channel: ChannelIndex(channel) };
                    self.queues[first.index() + channel as usize] = idle(to, Source::Channel { router: from, vc });
                }
            }
        }
        for (host, places) in (0..).map(HostId).zip(&self.hosts) {
            let ports = places.first_queue.index()..;
            self.queues[ports].iter_mut().take(spec.parameters.injection_ports as usize).for_each(|queue| {
                *queue = idle(places.router, Source::Host(host));
            });
        }
        for router in &self.routers {
            for output in router.all_outputs() {
                // The first turn goes to the first queue.
                self.outputs[output.index()].served = QueueIndex(router.queues.saturating_sub(1));
            }
        }
    }
}
