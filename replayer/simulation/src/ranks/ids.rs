//! The identifiers of threads, messages and windows in a replay.

use titr_network::TransferId;

pub(super) use crate::observe::{ActiveMessageIndex, FileCallIndex, PartIndex, SynchronisationIndex, ThreadIndex};

/// A message from the moment it is sent until it is both delivered and received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MessageId(pub(super) u32);

/// An access of a file to one disk, until it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StorageAccessId(pub(super) u32);

/// The content of a transfer in the network: a message or a storage access. Half of the transfer ids are for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    Message(MessageId),
    Storage(StorageAccessId),
}

/// The bit that tells storage from messages.
const STORAGE: u32 = 1 << 31;

impl From<MessageId> for TransferId {
    fn from(id: MessageId) -> Self {
        Self(id.0)
    }
}

impl From<StorageAccessId> for TransferId {
    fn from(id: StorageAccessId) -> Self {
        Self(id.0 | STORAGE)
    }
}

impl From<TransferId> for Carried {
    #[inline]
    fn from(id: TransferId) -> Self {
        if id.0 < STORAGE { Self::Message(MessageId(id.0)) } else { Self::Storage(StorageAccessId(id.0 & !STORAGE)) }
    }
}

/// A window, by its place among those that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WindowIndex(pub(super) u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PartitionedSide {
    Sender,
    Receiver,
}
