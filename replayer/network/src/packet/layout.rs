//! The queues and ports of all routers of a graph, in arrays.
//!
//! The queues of a router have consecutive numbers: first the queues at the ends of channels to the router, in the
//! order of the routers and ports at their starts, channel by channel; then those of its hosts. So do its ports: first
//! those of the graph, then those that lead to its hosts.

use super::spec::PacketSpec;
use super::{OutputId, QueueId, QueueIndex};
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
}

impl RouterState {
    #[inline]
    pub(crate) fn queue(&self, index: QueueIndex) -> QueueId {
        QueueId(self.first_queue.0 + index.0)
    }

    #[inline]
    pub(crate) fn index(&self, queue: QueueId) -> QueueIndex {
        QueueIndex(queue.0 - self.first_queue.0)
    }

    #[inline]
    pub(crate) fn output(&self, port: PortIndex) -> OutputId {
        OutputId(self.first_output.0 + port.0)
    }

    /// All its ports.
    pub(crate) fn all_outputs(&self) -> impl Iterator<Item = OutputId> + use<> {
        (self.first_output.0..self.first_output.0 + self.outputs).map(OutputId)
    }
}

/// An input queue, and its position in its ring of slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputQueue {
    pub router: RouterId,
    /// The first port of its router.
    pub first_output: OutputId,
    source: PackedSource,
    /// The place of its head in the ring.
    pub head: u32,
    /// Packets whose header is here.
    pub queued: u32,
    /// The next queue whose head requests the port that its head requests.
    pub next_request: Optional<QueueId>,
}

impl InputQueue {
    /// The origin of its packets.
    #[inline]
    pub(crate) fn source(&self) -> Source {
        let PackedSource { origin, port, channel } = self.source;
        match port.get() {
            Some(port) => Source::Channel { output: OutputId(origin), vc: OutputVc { port, channel } },
            None => Source::Host(HostId(origin)),
        }
    }

    /// A port of its router.
    #[inline]
    pub(crate) fn output(&self, port: PortIndex) -> OutputId {
        OutputId(self.first_output.0 + port.0)
    }

    /// The number of a port at its router.
    #[inline]
    pub(crate) fn port(&self, output: OutputId) -> PortIndex {
        PortIndex(output.0 - self.first_output.0)
    }
}

/// The origin of a queue's packets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// A virtual channel of a port of another router.
    Channel { output: OutputId, vc: OutputVc },
    /// A host that is attached to the router.
    Host(HostId),
}

impl Source {
    /// The virtual channel by which packets arrive, unless they come from a host.
    #[inline]
    pub(crate) fn arrival(self) -> Option<OutputVc> {
        match self {
            Self::Channel { vc, .. } => Some(vc),
            Self::Host(_) => None,
        }
    }
}

/// A [`Source`] in three words: the number of a port of all, or of a host if there is no port.
#[derive(Clone, Copy, Debug)]
struct PackedSource {
    origin: u32,
    port: Optional<PortIndex>,
    channel: ChannelIndex,
}

impl From<Source> for PackedSource {
    fn from(source: Source) -> Self {
        match source {
            Source::Channel { output, vc } => {
                Self { origin: output.0, port: Optional::some(vc.port), channel: vc.channel }
            }
            Source::Host(host) => Self { origin: host.0, port: Optional::none(), channel: ChannelIndex(0) },
        }
    }
}

/// An output port.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Output {
    pub router: RouterId,
    /// The router that it leads to; its own if packets are consumed there.
    pub to: RouterId,
    /// The queue at the end of its first virtual channel; none if packets are consumed there.
    pub first_queue: Optional<QueueId>,
    /// Packets that the queue at the end of its first virtual channel has room for, after those on their way.
    pub first_room: u32,
    /// The queue that it served last.
    pub served: QueueId,
    /// A queue whose head has to take it and waits.
    pub first_request: Optional<QueueId>,
    pub busy: bool,
}

impl Output {
    /// The queue at the end of a virtual channel, unless packets are consumed there.
    #[inline]
    pub(crate) fn queue(&self, channel: ChannelIndex) -> Option<QueueId> {
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
    pub(crate) fn new(spec: &PacketSpec) -> Self {
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
            router.queues += spec.parameters.queues_of_host();
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
        let mut layout = Self {
            routers,
            queues: Vec::with_capacity(queues as usize),
            outputs: Vec::with_capacity(outputs as usize),
            hosts,
            words,
        };
        layout.join(spec);
        layout
    }

    /// The link and its virtual channel by which packets come from a source, unless they come from a host.
    pub(crate) fn link(&self, source: Source, graph: &RouterGraph) -> Option<(LinkId, ChannelIndex)> {
        match source {
            Source::Channel { output, vc } => {
                let port = graph.port(self.outputs[output.index()].router, vc.port);
                port.map(|port| (port.link, vc.channel))
            }
            Source::Host(_) => None,
        }
    }

    /// Leads ports to queues.
    fn join(&mut self, spec: &PacketSpec) {
        for (router, state) in (0..).map(RouterId).zip(&self.routers) {
            let (first_output, next_request) = (state.first_output, Optional::none());
            let source = Source::Host(HostId(0)).into();
            let queue = InputQueue { router, first_output, source, head: 0, queued: 0, next_request };
            self.queues.extend(std::iter::repeat_n(queue, state.queues as usize));
            let output = Output {
                router,
                to: router,
                first_queue: Optional::none(),
                first_room: 0,
                // The first turn goes to the first queue.
                served: QueueId(state.first_queue.0 + state.queues.saturating_sub(1)),
                first_request: Optional::none(),
                busy: false,
            };
            self.outputs.extend(std::iter::repeat_n(output, state.outputs as usize));
        }
        let mut next: Vec<QueueId> = self.routers.iter().map(|router| router.first_queue).collect();
        for from in spec.graph.routers() {
            for (port, &crate::topology::Port { to, link }) in (0..).map(PortIndex).zip(spec.graph.ports(from)) {
                let Some(to) = to else { continue };
                let first = next[to.index()];
                next[to.index()].0 += spec.virtual_channels();
                let output = self.routers[from.index()].output(port);
                let state = &mut self.outputs[output.index()];
                (state.to, state.first_queue, state.first_room) = (to, Optional::some(first), spec.places(link));
                for channel in 0..spec.virtual_channels() {
                    let vc = OutputVc { port, channel: ChannelIndex(channel) };
                    self.queues[first.index() + channel as usize].source = Source::Channel { output, vc }.into();
                }
            }
        }
        for (host, places) in (0..).map(HostId).zip(&self.hosts) {
            let ports = self.queues[places.first_queue.index()..].iter_mut();
            ports
                .take(spec.parameters.queues_of_host() as usize)
                .for_each(|queue| queue.source = Source::Host(host).into());
        }
    }
}
