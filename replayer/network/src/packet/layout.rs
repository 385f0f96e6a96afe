//! Where everything stands: the queues and ports of a fabric's routers, in arrays.
//!
//! The queues of a router are numbered side by side: those at the ends of channels that lead to it, in the order of the
//! routers and ports that these come from, channel by channel; then those of its hosts. So are its ports: those of the
//! fabric, then those that its hosts are reached by.

use super::parameters::Parameters;
use super::routing::{Arrival, Way};
use crate::topology::{Fabric, LinkId};

/// No queue, no router.
pub(super) const NOWHERE: u32 = u32::MAX;

/// A router's share of the arrays.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Router {
    pub first_input: u32,
    pub inputs: u32,
    pub first_output: u32,
    pub outputs: u32,
    /// Where the bits of its queues begin, 64 a word.
    pub first_word: u32,
    /// Queues whose head waits.
    pub waiting: u32,
}

/// A queue, and where it stands in its ring of slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    pub router: u32,
    /// The router whose port leads here; `NOWHERE` if a host does.
    pub upstream: u32,
    /// The host, if it is a host's.
    pub host: u32,
    pub arrival: Arrival,
    /// The port that its head has to take; `NOWHERE` if it has a choice.
    pub settled: u32,
    pub head: u32,
    /// Packets whose header is here.
    pub queued: u32,
    /// Places taken: those, and those of packets on their way here.
    pub reserved: u32,
}

impl Input {
    /// The virtual channel that leads to it, unless a host does.
    pub fn channel(&self, fabric: &Fabric) -> Option<(LinkId, u32)> {
        let Way { port, channel } = self.arrival?;
        fabric.ports(self.upstream).get(port as usize).map(|port| (port.link, channel))
    }
}

/// A port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    /// The queue of its first channel; `NOWHERE` if packets are consumed there.
    pub first_queue: u32,
    pub busy: bool,
    /// The place of the queue that it served last.
    pub served: u32,
}

/// The arrays of an idle network.
#[derive(Debug)]
pub(super) struct Layout {
    pub routers: Vec<Router>,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
    /// Of each host, its first queue, and its first port as its router counts.
    pub hosts: Vec<(u32, u32)>,
    /// Words of bits in all.
    pub words: u32,
}

impl Layout {
    pub fn new(fabric: &Fabric, parameters: &Parameters) -> Self {
        let Parameters { virtual_channels, injection_ports, consumption_ports, .. } = *parameters;
        let mut routers = vec![Router::default(); fabric.routers() as usize];
        for (from, router) in (0..).zip(0..routers.len()) {
            routers[router].outputs = fabric.ports(from).len() as u32;
            for to in fabric.ports(from).iter().filter_map(|port| port.to) {
                routers[to as usize].inputs += virtual_channels;
            }
        }
        let mut hosts = Vec::with_capacity(fabric.sockets.len());
        for socket in &fabric.sockets {
            let router = &mut routers[socket.router as usize];
            hosts.push((router.inputs, router.outputs));
            router.inputs += injection_ports;
            router.outputs += consumption_ports;
        }
        let (mut inputs, mut outputs, mut words) = (0, 0, 0);
        for router in &mut routers {
            (router.first_input, router.first_output, router.first_word) = (inputs, outputs, words);
            inputs += router.inputs;
            outputs += router.outputs;
            words += router.inputs.div_ceil(64);
        }
        for (host, socket) in hosts.iter_mut().zip(&fabric.sockets) {
            host.0 += routers[socket.router as usize].first_input;
        }
        let mut layout = Self { routers, inputs: Vec::new(), outputs: Vec::new(), hosts, words };
        layout.join(fabric, parameters, inputs as usize, outputs as usize);
        layout
    }

    /// Leads ports to queues.
    fn join(&mut self, fabric: &Fabric, parameters: &Parameters, inputs: usize, outputs: usize) {
        let empty = Input {
            router: NOWHERE,
            upstream: NOWHERE,
            host: NOWHERE,
            arrival: None,
            settled: NOWHERE,
            head: 0,
            queued: 0,
            reserved: 0,
        };
        self.inputs = vec![empty; inputs];
        self.outputs = vec![Output { first_queue: NOWHERE, busy: false, served: 0 }; outputs];
        let mut next: Vec<u32> = self.routers.iter().map(|router| router.first_input).collect();
        for from in 0..fabric.routers() {
            let first_output = self.routers[from as usize].first_output;
            for (number, port) in (0..).zip(fabric.ports(from)) {
                let Some(to) = port.to else { continue };
                let first_queue = next[to as usize];
                next[to as usize] += parameters.virtual_channels;
                self.outputs[(first_output + number) as usize].first_queue = first_queue;
                for channel in 0..parameters.virtual_channels {
                    self.inputs[(first_queue + channel) as usize] =
                        Input { router: to, upstream: from, arrival: Some(Way { port: number, channel }), ..empty };
                }
            }
        }
        for ((host, socket), &(first_input, _)) in (0..).zip(&fabric.sockets).zip(&self.hosts) {
            for queue in first_input..first_input + parameters.injection_ports {
                self.inputs[queue as usize] = Input { router: socket.router, host, ..empty };
            }
        }
        for router in &self.routers {
            for output in router.first_output..router.first_output + router.outputs {
                // The first turn goes to the first queue.
                self.outputs[output as usize].served = router.inputs.saturating_sub(1);
            }
        }
    }
}
