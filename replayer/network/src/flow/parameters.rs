//! Parameters of the flow model, and presets: consistent sets of values.

use serde::Deserialize;
use titr_common::units::Bytes;

use super::infiniband::Penalties;

/// The parameters of the flow model (`[network.flow]` in platform files).
#[derive(Clone, Debug, PartialEq)]
pub struct FlowParameters {
    /// Multiplies a route's latency.
    pub latency_factor: Factor,
    /// Multiplies a message's share of bandwidth.
    pub bandwidth_factor: Factor,
    /// *S*: how many bytes' time on each link counts as part of the round trip that a flow's share goes by.
    pub weight_s: f64,
    /// γ: the maximum number of bytes that TCP keeps in transit in a round trip; 0 if there is no such window.
    pub tcp_gamma: f64,
    /// The part of its rate that a flow takes on the reverse route, for acknowledgements.
    pub crosstraffic: f64,
    /// Bytes that each link between hosts passes at once after a pause, as a limiter with a token bucket does; 0: none.
    pub burst: Bytes,
    /// Bytes that MPI adds to each message.
    pub envelope: Bytes,
    /// Whether messages from one process to another travel one after the other.
    pub in_order: bool,
    /// Penalties of messages that share an InfiniBand adapter; `None`: there are none.
    pub contention: Option<Penalties>,
}

/// A set of values that go together. But for the first, SimGrid has them under the same names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// A message takes the latency of its route plus its bytes over the least bandwidth there when alone, and nothing
    /// on the reverse route. Messages from one process to another travel one after the other.
    #[default]
    Plain,
    /// Fitted to MPI ping-pongs over TCP on Gigabit Ethernet: Clauss et al., "Single node on-line simulation of MPI
    /// applications with SMPI", IPDPS 2011. SimGrid's default for MPI.
    Smpi,
    /// The links' own values, with acknowledgements, a window and 16 additional bytes per message: Casanova and
    /// Marchal, "A network model for simulation of grid application", LIP RR-2002-40.
    Cm02,
    /// Fitted to bulk TCP transfers: Velho and Legrand, "Accuracy study and improvement of network simulation in the
    /// SimGrid framework", SIMUTools 2009.
    Lv08,
    /// The values of [`Smpi`](Self::Smpi), with the penalties of messages that share an InfiniBand adapter: Vienne's thesis.
    Ib,
}

impl From<Preset> for FlowParameters {
    fn from(preset: Preset) -> Self {
        let plain = Self {
            latency_factor: Factor::constant(1.0),
            bandwidth_factor: Factor::constant(1.0),
            weight_s: 0.0,
            tcp_gamma: 0.0,
            crosstraffic: 0.0,
            burst: Bytes(0),
            envelope: Bytes(0),
            in_order: true,
            contention: None,
        };
        // Alike in all of SimGrid 3.32's models: network/TCP-gamma, network/crosstraffic, and the 16 bytes that SMPI
        // adds to every message.
        let cm02 =
            Self { tcp_gamma: 4_194_304.0, crosstraffic: 0.05, envelope: Bytes(16), in_order: false, ..plain.clone() };
        let smpi = Self {
            latency_factor: Factor::steps(SMPI_LATENCY),
            bandwidth_factor: Factor::steps(SMPI_BANDWIDTH),
            weight_s: 8775.0,
            ..cm02.clone()
        };
        match preset {
            Preset::Plain => plain,
            Preset::Smpi => smpi,
            Preset::Ib => Self { contention: Some(Penalties::default()), ..smpi },
            Preset::Cm02 => cm02,
            Preset::Lv08 => Self {
                latency_factor: Factor::constant(13.01),
                bandwidth_factor: Factor::constant(0.97),
                weight_s: 20537.0,
                ..cm02
            },
        }
    }
}

/// SimGrid 3.32, default of smpi/bw-factor.
const SMPI_BANDWIDTH: [(u64, f64); 9] = [
    (0, 0.812_084),
    (257, 0.338_112),
    (732, 0.341_987),
    (1426, 0.608_902),
    (3484, 0.774_93),
    (5776, 1.087_39),
    (9376, 0.587_29),
    (15424, 0.697_866),
    (65472, 0.940_694),
];

/// SimGrid 3.32, default of smpi/lat-factor.
const SMPI_LATENCY: [(u64, f64); 9] = [
    (0, 2.014_67),
    (257, 1.953_41),
    (732, 1.9503),
    (1426, 1.610_75),
    (3484, 1.881_01),
    (5776, 2.187_96),
    (9376, 2.592_99),
    (15424, 3.488_45),
    (65472, 11.6436),
];

/// A factor that depends on the size of the message in steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// Pairs of a size and the value for sizes above it, by increasing size.
    steps: Vec<(u64, f64)>,
}

impl Factor {
    /// One factor for every size.
    #[must_use]
    pub fn constant(factor: f64) -> Self {
        Self::steps([(0, factor)])
    }

    /// The value for this size: the second number of the last step whose first number is *below* the size; 1 up to the
    /// first step.
    #[must_use]
    pub fn steps(steps: impl Into<Vec<(u64, f64)>>) -> Self {
        let mut steps = steps.into();
        steps.sort_by_key(|&(above, _)| above);
        Self { steps }
    }

    /// The factor for a message of this size.
    #[must_use]
    pub fn at(&self, size: Bytes) -> f64 {
        let step = self.steps.iter().rev().find(|&&(above, _)| above < size.0);
        step.map_or(1.0, |&(_, factor)| factor)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_holds_above_its_size() {
        let factor = Factor::steps([(1000, 3.0), (0, 2.0)]);
        assert_eq!([0, 1, 1000, 1001, u64::MAX].map(|size| factor.at(Bytes(size))), [1.0, 2.0, 2.0, 3.0, 3.0]);
    }
}
