//! A simulation as one of several replays that differ by chance.

use titr_platform::{Model, Policy};
use titr_workload::Computation;

use super::Simulation;
use crate::disturbances::disturbed_counts;
use crate::noise::Draw;
use crate::uncertainty::of_volumes;

impl Simulation<'_> {
    /// Replays with random choices for everything that is known to vary: what the platform's [`Spread`](titr_platform::Spread)
    /// names except the uncertainty of keys, the recorded volumes, a random placement, and the choices of a packet network.
    pub fn draw(self, draw: Draw) -> Self {
        Self { draw: Some(draw), ..self }
    }

    /// Whether anything is known to vary from run to run.
    #[must_use]
    pub fn varies(&self) -> bool {
        let has_chance = match self.platform.model {
            Model::Packet(_) => true,
            Model::Flow(_) | Model::Ideal => matches!(self.platform.policy, Policy::Random { .. }),
        };
        has_chance || !self.platform.spread.is_none() || self.deviation_of_volumes() > 0.0
    }

    /// The factor on computation: the one that was asked for, and that of the draw.
    pub(super) fn drawn_compute_scale(&self) -> f64 {
        let drawn = self.draw.map_or(1.0, |draw| draw.factor_on_volumes(self.deviation_of_volumes()));
        self.compute_scale * drawn
    }

    /// The relative standard deviation of the recorded volumes, as far as it is known.
    fn deviation_of_volumes(&self) -> f64 {
        match (self.computation, self.trace.manifest()) {
            (Computation::Counted, Some(manifest)) if disturbed_counts(manifest).is_none() => {
                of_volumes(manifest).unwrap_or_default()
            }
            (Computation::Counted | Computation::Timed | Computation::Ignored, _) => 0.0,
        }
    }
}
