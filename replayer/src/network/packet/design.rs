//! A network as it is to be built: a fabric, and routers that can find their way in it.

use super::parameters::Parameters;
use super::routing::Ways;
use crate::topology::{Fabric, NoFabric};

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
        Ok(Self { fabric, ways, parameters })
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
