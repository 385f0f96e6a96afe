//! Partitioned communication (MPI 4.0 §4): persistent messages that are sent in parts.

use super::{Activity, CommId, CommUse, Incoming, ListSize, Outgoing, RequestId, RequestUse};
use crate::units::Bytes;

/// A call of partitioned communication. Its requests are started and completed by the same events as other requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partitioned {
    /// `MPI_Psend_init`: sets up a send in this many parts.
    SendInit(Outgoing, u32, RequestId),
    /// `MPI_Precv_init`: sets up a receive in this many parts.
    RecvInit(Incoming, u32, RequestId),
    /// `MPI_Pready`, `MPI_Pready_range`, `MPI_Pready_list`: these parts of a started send may leave.
    Ready(RequestId, Vec<u32>),
    /// `MPI_Parrived`, when it says that this part of a started receive has arrived.
    Arrived(RequestId, u32),
}

impl Partitioned {
    /// The persistent request that the call sets up, and the bytes of its message; `None` if the call sets up none.
    #[must_use]
    pub fn sets_up(&self) -> Option<(RequestId, Bytes)> {
        match self {
            &Self::SendInit(Outgoing { bytes, .. }, _, id) | &Self::RecvInit(Incoming { bytes, .. }, _, id) => {
                Some((id, bytes))
            }
            Self::Ready(..) | Self::Arrived(..) => None,
        }
    }

    /// The activity of a rank in the call.
    pub(super) fn activity(&self) -> Activity {
        match self {
            Self::SendInit(..) | Self::Ready(..) => Activity::Send,
            Self::RecvInit(..) => Activity::Recv,
            Self::Arrived(..) => Activity::Wait,
        }
    }

    /// Visits the request that the call names.
    pub(super) fn requests(&mut self, visit: impl FnOnce(&mut RequestId, RequestUse)) {
        match self {
            Self::SendInit(_, _, id) | Self::RecvInit(_, _, id) => visit(id, RequestUse::Makes { persistent: true }),
            Self::Ready(id, _) | Self::Arrived(id, _) => visit(id, RequestUse::Uses),
        }
    }

    /// Visits the communicator that the call names.
    pub(super) fn communicators(&mut self, visit: impl FnOnce(&mut CommId, CommUse)) {
        match self {
            Self::SendInit(message, ..) => visit(&mut message.comm, CommUse::Messages),
            Self::RecvInit(message, ..) => visit(&mut message.comm, CommUse::Messages),
            Self::Ready(..) | Self::Arrived(..) => {}
        }
    }

    /// The size of the lists of the call.
    pub(super) fn list_size(&self) -> ListSize {
        match self {
            Self::SendInit(..) | Self::RecvInit(..) | Self::Arrived(..) => ListSize::default(),
            Self::Ready(_, parts) => ListSize::of(parts),
        }
    }
}
