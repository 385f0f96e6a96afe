//! The network models that a platform may select.
//!
//! A model is an implementation of [`Network`] in its own folder of the network crate, a variant of [`Model`] with its
//! parameters, and a line here.

use std::sync::Arc;

use titr_network::packet::PacketNetwork;
use titr_network::topology::{OneRail, Topology};
use titr_network::{Network, RailNetwork, flow, ideal};

use crate::{Model, Platform};

impl Platform {
    /// The platform's network with no messages in transit, for one of several runs with different random choices.
    #[must_use]
    pub fn network(&self, run: u32) -> Box<dyn Network> {
        let rails = self.topology.rails();
        if rails.count.get() == 1 {
            return self.network_on(0, Arc::clone(&self.topology), run);
        }
        let topology = |number| Arc::new(OneRail::of(Arc::clone(&self.topology), number));
        let network = |number| self.network_on(number, topology(number), run);
        Box::new(RailNetwork::new(Arc::clone(&self.topology), rails.numbers().map(network).collect()))
    }

    /// The network of a rail with this topology.
    fn network_on(&self, rail: u32, topology: Arc<dyn Topology>, run: u32) -> Box<dyn Network> {
        match &self.model {
            Model::Flow(parameters) => flow::network(topology, parameters.clone()),
            Model::Ideal => ideal::network(topology),
            Model::Packet(spec) => Box::new(PacketNetwork::new(Arc::new(spec.of_rail(rail).of_run(run)), topology)),
        }
    }
}
