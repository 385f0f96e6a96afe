//! What becomes of selected messages and collectives: they are removed, or have another size.

use titr_common::event::{Collective, Incoming, Outgoing, Volumes};
use titr_common::units::{Bytes, Instructions};

/// What becomes of a selected message or collective.
#[derive(Clone, Copy)]
pub(crate) enum Treatment {
    Removed,
    Scaled(ByteFactor),
}

impl Treatment {
    /// The message as it is sent in the changed program; `None` if it is not.
    pub(crate) fn outgoing(self, message: Outgoing) -> Option<Outgoing> {
        match self {
            Self::Removed => None,
            Self::Scaled(factor) => Some(Outgoing { bytes: factor.of(message.bytes), ..message }),
        }
    }

    /// The message as it is received in the changed program; `None` if it is not.
    pub(crate) fn incoming(self, message: Incoming) -> Option<Incoming> {
        match self {
            Self::Removed => None,
            Self::Scaled(factor) => Some(Incoming { bytes: factor.of(message.bytes), ..message }),
        }
    }

    /// A member's call in the changed program; `None` if there is none.
    pub(crate) fn collective(self, call: Collective) -> Option<Collective> {
        let Self::Scaled(factor) = self else { return None };
        let scaled = |volumes: &Volumes| match volumes {
            Volumes::None => Volumes::None,
            Volumes::Each(bytes) => Volumes::Each(factor.of(*bytes)),
            Volumes::PerMember(list) => Volumes::PerMember(list.iter().map(|bytes| factor.of(*bytes)).collect()),
        };
        let work = Instructions(call.work.0 * factor.0);
        Some(Collective { send: scaled(&call.send), recv: scaled(&call.recv), work, ..call })
    }
}

/// The factor that bytes are multiplied with.
#[derive(Clone, Copy)]
pub(crate) struct ByteFactor(pub f64);

impl ByteFactor {
    /// So many times the bytes.
    pub(crate) fn of(self, Bytes(bytes): Bytes) -> Bytes {
        // A factor of 1 leaves sizes that no float can hold as they are.
        if self.0.to_bits() == 1.0_f64.to_bits() { Bytes(bytes) } else { Bytes((bytes as f64 * self.0).round() as u64) }
    }
}
