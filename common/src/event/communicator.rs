//! Communicators and the calls that make them (MPI 4.0 §7).

use super::Rank;

/// A communicator, by the number that *this rank* gave it; other members may number it otherwise. Which numbers mean one
/// communicator across ranks follows from the members and the order of creation (see [`Group`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommId(pub u32);

impl CommId {
    /// `MPI_COMM_WORLD`, which no event introduces.
    pub const WORLD: Self = Self(0);
    /// `MPI_COMM_SELF`, which no event introduces.
    pub const SELF: Self = Self(1);
}

/// The MPI function that made a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Named as MPI names them.
pub enum CommCall {
    Dup,
    Idup,
    Split,
    SplitType,
    Create,
    CreateGroup,
    CartCreate,
    CartSub,
    GraphCreate,
    DistGraphCreate,
    DistGraphCreateAdjacent,
    IntercommCreate,
    IntercommMerge,
    CreateFromGroup,
}

/// A communicator that was made, by its members.
///
/// Two ranks mean the same communicator if the members are the same in the same order and it is the *n*-th of these
/// members for both: MPI has every member make the communicators it shares in one order (MPI 4.0 §7.4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The number this rank gives it from here on.
    pub id: CommId,
    /// The members in the communicator's own order; of an inter-communicator, the local group.
    pub members: Vec<Rank>,
    /// The remote group of an inter-communicator; empty otherwise.
    pub remote: Vec<Rank>,
}
