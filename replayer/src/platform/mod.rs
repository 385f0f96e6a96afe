//! A machine, resolved: what `cluster.toml` says with every default filled in.

use titr_common::collectives::Selection;
use titr_common::units::{Bytes, Instructions, Seconds};

use crate::topology::HostId;

/// What MPI costs beyond the wires, and the protocols it uses.
#[derive(Clone, Debug)]
pub struct Mpi {
    /// Sends of fewer bytes complete at once.
    pub eager_threshold: Bytes,
    /// When such a message starts to travel.
    pub eager_transfer: EagerTransfer,
    /// What a blocking send costs before the message leaves (SimGrid's `os`).
    pub send_overhead: Overhead,
    /// What a non-blocking send costs (`ois`).
    pub isend_overhead: Overhead,
    /// What the receipt of an eager message costs (`or`).
    pub recv_overhead: Overhead,
    /// Which algorithm each collective uses.
    pub collectives: Selection,
}

/// When an eager message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EagerTransfer {
    /// When it is sent, as in MPI libraries.
    AtOnce,
    /// Once the receive is posted too: SimGrid's default.
    OnMatch,
}

/// A cost in steps of message size: `seconds + seconds_per_byte × bytes` of the last step whose `from` is at most the
/// size; none below the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overhead(pub Vec<OverheadStep>);

/// One step of an [`Overhead`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverheadStep {
    /// The first size it holds for.
    pub from: Bytes,
    /// Fixed part.
    pub seconds: Seconds,
    /// Part that grows with the size.
    pub seconds_per_byte: Seconds,
}

impl Overhead {
    /// The cost for a message of `bytes`.
    #[must_use]
    pub fn of(&self, bytes: Bytes) -> Seconds {
        match self.0.iter().rev().find(|step| step.from <= bytes) {
            Some(step) => Seconds(step.seconds.0 + step.seconds_per_byte.0 * bytes.0 as f64),
            None => Seconds(0.0),
        }
    }
}

/// How fast a host computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Instructions per second of one core.
    pub per_second: f64,
}

impl Speed {
    /// How long `work` takes on one core.
    #[must_use]
    pub fn time_for(self, work: Instructions) -> Seconds {
        Seconds(work.0 / self.per_second)
    }
}

/// Where each rank runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement(pub Vec<HostId>);
