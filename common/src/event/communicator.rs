//! Communicators and the calls that create them (MPI 4.0 §7).

use super::{Rank, Tag};

/// A communicator, by the number that *this rank* assigned; other members may use another number. The numbers of
/// different ranks that denote the same communicator follow from the calls that created it (see [`Group`]).
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
    /// `MPI_Comm_spawn`, `MPI_Comm_spawn_multiple`: the communicator with the processes that were started.
    Spawn,
    /// `MPI_Comm_get_parent`: the communicator with those who started this world, which is there from `MPI_Init` on.
    Parent,
    Accept,
    Connect,
    Join,
    /// No function: a communicator that is there without a call, which costs nothing. It is the `MPI_COMM_WORLD` of this
    /// rank, where several worlds are replayed together, or one that a trace defines without the call that made it; its
    /// [tag](Group::tag) is then the number of the definition, the same for all members.
    World,
}

impl CommCall {
    /// Whether the call joins two groups that may be of different worlds.
    #[must_use]
    pub const fn joins_worlds(self) -> bool {
        matches!(self, Self::Spawn | Self::Parent | Self::Accept | Self::Connect | Self::Join)
    }

    /// Whether all members of the parent make the call, in one order with their other collectives on the parent.
    #[must_use]
    pub const fn is_collective_on_parent(self) -> bool {
        !matches!(self, Self::CreateGroup | Self::CreateFromGroup | Self::World)
    }
}

/// A created communicator, with its members.
///
/// Two ranks mean the same communicator if both created it from the same parent with the same members, and it is the
/// *n*-th of these for both: MPI requires all members of the parent to create such communicators in one order (MPI 4.0
/// §7.4.2). Calls that are not collective on the parent are counted separately: `MPI_Comm_create_group` for each tag,
/// `MPI_Intercomm_create` for each tag and independent of the parents, because its two groups have different ones.
/// Communicators that [join two worlds](CommCall::joins_worlds) are counted by their two groups alone.
///
/// In the trace of one rank, processes of other worlds have the numbers from the size of its own world on, in the order
/// in which the rank met them. Other ranks may use other numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The number this rank gives it from here on.
    pub id: CommId,
    /// The members in the communicator's own order; of an inter-communicator, the local group.
    pub members: Vec<Rank>,
    /// The remote group of an inter-communicator; empty otherwise.
    pub remote: Vec<Rank>,
    /// The tag by which the members found each other: of `MPI_Comm_create_group` and `MPI_Intercomm_create`. Traces of
    /// earlier versions have none.
    pub tag: Option<Tag>,
}
