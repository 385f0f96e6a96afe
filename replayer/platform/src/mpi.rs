//! MPI on a platform: the protocols of point-to-point messages, their costs beyond the wires, and algorithms of collectives.

use serde::Deserialize;
use titr_common::collectives::Selection;
use titr_common::units::{Bytes, Seconds};

/// The protocols and costs of an MPI library.
#[derive(Clone, Debug)]
pub struct Mpi {
    /// Sends of fewer bytes complete at once.
    pub eager_threshold: Bytes,
    /// The moment at which an eager message starts to travel.
    pub eager_transfer: EagerTransfer,
    /// Cost of a blocking send before the message leaves (SimGrid's `os`).
    pub send_overhead: Overhead,
    /// Cost of a non-blocking send (`ois`).
    pub isend_overhead: Overhead,
    /// Cost of receiving an eager message (`or`).
    pub recv_overhead: Overhead,
    /// The algorithm of each collective.
    pub collectives: Selection,
}

impl Mpi {
    /// These protocols and algorithms, at no cost of their own.
    #[must_use]
    pub fn without_overheads(&self) -> Self {
        let free = Overhead::default();
        Self { send_overhead: free.clone(), isend_overhead: free.clone(), recv_overhead: free, ..self.clone() }
    }
}

/// The moment at which an eager message starts to travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EagerTransfer {
    /// When it is sent, as in MPI libraries.
    #[default]
    AtOnce,
    /// Once the receive is posted too: SimGrid's default.
    OnMatch,
}

/// A cost in steps of message size: `seconds + seconds_per_byte × bytes` of the last step whose `above` is less than
/// the size, or of the first; nothing if there are no steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overhead {
    /// The steps, by rising size.
    steps: Vec<OverheadStep>,
}

/// A step of an [`Overhead`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverheadStep {
    /// The step holds for larger messages than this.
    pub above: Bytes,
    /// Fixed part.
    pub seconds: Seconds,
    /// Part that grows with the size.
    pub seconds_per_byte: Seconds,
}

impl Overhead {
    /// A cost in these steps.
    #[must_use]
    pub fn new(mut steps: Vec<OverheadStep>) -> Self {
        steps.sort_by_key(|step| step.above);
        Self { steps }
    }

    /// The cost for a message of `bytes`.
    #[must_use]
    pub fn of(&self, bytes: Bytes) -> Seconds {
        let step = self.steps.iter().rev().find(|step| step.above < bytes).or(self.steps.first());
        step.map_or(Seconds(0.0), |step| Seconds(step.seconds.0 + step.seconds_per_byte.0 * bytes.0 as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overhead_steps_above_its_sizes() {
        let step = |above, seconds, per_byte| OverheadStep {
            above: Bytes(above),
            seconds: Seconds(seconds),
            seconds_per_byte: Seconds(per_byte),
        };
        let overhead = Overhead::new(vec![step(1000, 7.0, 0.0), step(10, 1.0, 2.0)]);
        assert_eq!([0, 10, 11, 1000, 1001].map(|size| overhead.of(Bytes(size)).0), [1.0, 21.0, 23.0, 2001.0, 7.0]);
        assert_eq!(Overhead::default().of(Bytes(5)), Seconds(0.0));
    }
}
