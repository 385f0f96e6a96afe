//! A packet network that can be built: a graph of routers, a routing that is free of deadlock in it, and parameters.

use super::parameters::PacketParameters;
use crate::topology::{RouterGraph, RoutingFunction, Unroutable};

/// Packets that queues have room for in all, at most.
const MAX_SLOTS: u64 = 1 << 31;

/// A packet network as it is to be built.
#[derive(Clone, Debug)]
pub struct PacketSpec {
    pub(super) graph: RouterGraph,
    pub(super) routing: RoutingFunction,
    pub(super) parameters: PacketParameters,
}

impl PacketSpec {
    /// The network of these routers. No parameter but delays, header, output queue and seed is 0, and the header leaves
    /// room for a payload.
    ///
    /// # Errors
    /// If the graph cannot be routed as the parameters ask for, or not without deadlocks, or if it is too large.
    pub fn new(graph: RouterGraph, parameters: PacketParameters) -> Result<Self, Unroutable> {
        let routing = RoutingFunction::new(&graph, &parameters.routing)?;
        if routing.has_rings() && parameters.queue_packets < 2 {
            return Err(Unroutable::Impossible(
                "a ring needs queues of two packets, of which the bubble is one".to_owned(),
            ));
        }
        let ports = graph.all_ports().len() as u64;
        let at_hosts =
            graph.hosts().len() as u64 * u64::from(parameters.injection_ports.max(parameters.consumption_ports));
        let queues = ports * u64::from(routing.virtual_channels()) + at_hosts;
        if queues * u64::from(parameters.queue_packets) > MAX_SLOTS {
            return Err(Unroutable::Impossible(
                "so many queues of so many packets do not fit the memory of most machines".to_owned(),
            ));
        }
        Ok(Self { graph, routing, parameters })
    }

    /// The network of one of several runs, which differ in what chance decides.
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

    /// Whether there are rings, which bubbles keep moving.
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
