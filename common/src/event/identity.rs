//! The actors of a trace: ranks and their threads.

/// A rank in `MPI_COMM_WORLD`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u32);

/// A thread of a rank. Its number is the lowest that no living thread of the rank had when it first called MPI; thread 0
/// is the one that initialised MPI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The thread that initialised MPI, and the only one of most programs.
    pub const MAIN: Self = Self(0);
}

/// A rank and its thread: the originator of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Actor {
    /// The rank.
    pub rank: Rank,
    /// The thread of that rank.
    pub thread: ThreadId,
}

impl From<Rank> for Actor {
    fn from(rank: Rank) -> Self {
        Self { rank, thread: ThreadId::MAIN }
    }
}
