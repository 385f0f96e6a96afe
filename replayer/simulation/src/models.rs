//! The network models that a platform may name.
//!
//! A model is an implementation of [`Network`] in its own folder of the network crate, a variant of
//! [`titr_platform::Model`] with its parameters, and a line here.

use std::sync::Arc;

use titr_network::Network;
use titr_network::flow::Flow;
use titr_network::ideal::Ideal;
use titr_network::packet::{PacketNetwork, Threads};
use titr_platform::{Model, Platform};

use crate::profile::{self, OwnWork};

/// The platform's network with nothing under way, for one of several runs that differ in what chance decides.
#[must_use]
pub fn build(platform: &Platform, run: u32) -> Box<dyn Network> {
    build_on_threads(platform, run, 1)
}

/// As [`build`], on so many threads at most, if the model can take several. What it does is the same for any number.
#[must_use]
pub fn build_on_threads(platform: &Platform, run: u32, most_threads: usize) -> Box<dyn Network> {
    let topology = Arc::clone(&platform.topology);
    match &platform.model {
        Model::Flow(parameters) => Box::new(Flow::new(topology, parameters.clone())),
        Model::Ideal => Box::new(Ideal::new(topology)),
        Model::Packet(spec) => {
            Box::new(PacketNetwork::new(Arc::new(spec.of_run(run)), topology, threads(most_threads)))
        }
    }
}

/// So many threads at most for a network, whose time is the network's in titr's own profile.
#[must_use]
pub(crate) fn threads(most: usize) -> Threads {
    Threads { most, begin: || drop(profile::enter(OwnWork::Network)) }
}
