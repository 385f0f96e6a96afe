//! The names of threads, messages and windows within a replay.

use titr_common::event::Rank;
use titr_network::TransferId;

/// A thread of the simulated program: number *n* is the main thread of rank *n*, and those of the ranks that have more
/// follow in the order in which they appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ThreadIndex(pub(super) u32);

impl From<Rank> for ThreadIndex {
    fn from(rank: Rank) -> Self {
        Self(rank.0)
    }
}

/// A message from the moment it is sent until it is both delivered and received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageId(pub(super) u32);

impl From<MessageId> for TransferId {
    fn from(id: MessageId) -> Self {
        Self(id.0)
    }
}

/// A window, by its place among those that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WindowIndex(pub(super) u32);

/// An active message until it has acted at its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ActiveMessageIndex(pub(super) u32);

/// A synchronisation of a window in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SynchronisationIndex(pub(super) u32);

/// A call on a file in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileCallIndex(pub(super) u32);
