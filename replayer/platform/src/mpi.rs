//! MPI on a platform: the protocols of point-to-point messages, their costs beyond the wires, and algorithms of collectives.

use serde::Deserialize;
use titr_common::collectives::Selection;
use titr_common::units::Bytes;

use crate::one_sided::OneSided;
use crate::overhead::Overhead;

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
    /// One-sided communication.
    pub one_sided: OneSided,
}

impl Mpi {
    /// These protocols and algorithms, at no cost of their own.
    #[must_use]
    pub fn without_overheads(&self) -> Self {
        let free = Overhead::default();
        Self {
            send_overhead: free.clone(),
            isend_overhead: free.clone(),
            recv_overhead: free,
            one_sided: self.one_sided.without_overheads(),
            ..self.clone()
        }
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
