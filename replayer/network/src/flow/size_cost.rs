//! The cost of a size: the part of a message's cost that does not depend on its route.

use titr_common::units::Bytes;

use super::parameters::FlowParameters;

/// The cost of a message of one size, whatever its route.
#[derive(Clone, Copy, Debug)]
pub(super) struct SizeCost {
    /// The payload.
    pub bytes: Bytes,
    /// The service that it needs until it is complete, in bytes.
    pub need: f64,
    /// The factor on the latency of its route.
    pub latency_factor: f64,
}

impl SizeCost {
    pub(crate) fn of(bytes: Bytes, parameters: &FlowParameters) -> Self {
        let size = bytes + parameters.envelope;
        let need = size.0 as f64 / parameters.bandwidth_factor.at(size);
        Self { bytes, need, latency_factor: parameters.latency_factor.at(size) }
    }

    /// The cost of a message that takes `stretch` times as long.
    pub(crate) fn stretched(self, stretch: f64) -> Self {
        Self { need: self.need * stretch, latency_factor: self.latency_factor * stretch, ..self }
    }
}
