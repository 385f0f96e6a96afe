//! A network as it is to be built: a fabric, and routers that can find their way in it.

use super::parameters::Parameters;
use super::routing::Ways;
use crate::topology::{Fabric, NoFabric};

/// Packets that queues have room for in all, at most.
const MOST_SLOTS: u64 = 1 << 31;

/// Routers in a fabric, and the rules that they go by.
#[derive(Clone, Debug)]
pub struct Design {
    pub(super) fabric: Fabric,
    pub(super) ways: Ways,
    pub(super) parameters: Parameters,
}

impl Design {
    /// Puts routers of these parameters into a fabric. No parameter but delays, header and seed is 0, and the header
    /// leaves room for a payload.
    ///
    /// # Errors
    /// If the fabric cannot be routed so, or not without deadlocks.
    pub fn new(fabric: Fabric, parameters: Parameters) -> Result<Self, NoFabric> {
        let ways = Ways::new(&fabric, &parameters)?;
        if ways.has_rings() && parameters.queue_packets < 2 {
            return Err(NoFabric("a ring needs queues of two packets, of which the bubble is one"));
        }
        let ports: u64 = (0..fabric.routers()).map(|router| fabric.ports(router).len() as u64).sum();
        let at_hosts =
            fabric.sockets.len() as u64 * u64::from(parameters.injection_ports.max(parameters.consumption_ports));
        let queues = ports * u64::from(parameters.virtual_channels) + at_hosts;
        if queues * u64::from(parameters.queue_packets) > MOST_SLOTS {
            return Err(NoFabric("so many queues of so many packets do not fit the memory of most machines"));
        }
        Ok(Self { fabric, ways, parameters })
    }

    /// The same network with the chance of one of several runs.
    #[must_use]
    pub fn of_run(&self, run: u32) -> Self {
        let mut design = self.clone();
        design.parameters.seed = design.parameters.seed.wrapping_add(run.into());
        design
    }

    /// The routers.
    #[must_use]
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// What they are like.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Whether there are rings, which bubbles keep moving.
    #[must_use]
    pub fn has_rings(&self) -> bool {
        self.ways.has_rings()
    }

    /// How long a cycle is, in seconds.
    #[must_use]
    pub fn cycle(&self) -> f64 {
        self.parameters.phit.0 as f64 / self.parameters.bandwidth
    }
}
