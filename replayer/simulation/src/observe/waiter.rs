//! Identifiers of threads and waiters in a replay, as observers see them.

use titr_common::event::Rank;

use super::calls::CollectiveId;

/// A thread of the simulated program. Number *n* is the main thread of rank *n*; additional threads follow, in the
/// order in which they appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadIndex(pub u32);

impl From<Rank> for ThreadIndex {
    fn from(rank: Rank) -> Self {
        Self(rank.0)
    }
}

/// An active message until it has acted at its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActiveMessageIndex(pub u32);

/// A synchronisation of a window in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SynchronisationIndex(pub u32);

/// A side of a partitioned message, which waits until the message is sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartIndex(pub u32);

/// A call on a file in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileCallIndex(pub u32);

/// A thread, a rank's part in a collective, a call that synchronises accesses to a window, an active message on its way to
/// one, a rank's call on a file, or a side of a partitioned message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // Named as their types are.
pub enum Waiter {
    Thread(ThreadIndex),
    Collective(CollectiveId),
    Synchronisation(SynchronisationIndex),
    ActiveMessage(ActiveMessageIndex),
    FileCall(FileCallIndex),
    Part(PartIndex),
}

/// The work by which a waiter's clock moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Computation of the program, or of a reduction.
    Compute,
    /// The software's part of a message.
    Overhead,
}
