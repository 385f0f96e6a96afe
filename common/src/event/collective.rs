//! Collective operations of all members of a communicator (MPI 4.0 §6).

use super::{CommId, Rank};
use crate::units::{Bytes, Instructions};

/// A collective operation with its arguments, as the rank that writes the event passes them. An argument that is
/// significant only at the root is zero elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    /// The communicator that the collective runs on.
    pub comm: CommId,
    /// The operation.
    pub kind: CollectiveKind,
    /// The root of an operation that has one; `None` on an inter-communicator in the root's group, of those who are not the
    /// root (`MPI_PROC_NULL`).
    pub root: Option<Rank>,
    /// The bytes that the rank gives. If MPI's function has one count for both buffers (a broadcast, a reduction, a scan),
    /// that count is here, and `recv` is [`Volumes::None`].
    pub send: Volumes,
    /// The bytes that the rank gets.
    pub recv: Volumes,
    /// Size of one element of the datatype: algorithms cut messages at its multiples.
    pub element: Bytes,
    /// The computation of each rank, once, to reduce; zero for an operation that reduces nothing.
    pub work: Instructions,
    /// Whether the operation of a reduction is commutative, as all predefined operations are (`MPI_Op_create`):
    /// libraries use other algorithms if it is not.
    pub is_commutative: bool,
}

/// The bytes in one buffer of a collective.
#[derive(Clone, Debug, Eq)]
pub enum Volumes {
    /// MPI's function has no such argument.
    None,
    /// A single number: of the whole vector, or for each member alike.
    Each(Bytes),
    /// A number for each member, in the order of the communicator. On an inter-communicator, for each member of the
    /// remote group; for a reduction with a scattered result, of the local group.
    PerMember(Vec<Bytes>),
}

// Faster than the derived comparison, which compares the variants first.
impl PartialEq for Volumes {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Each(one), Self::Each(other)) => one == other,
            (Self::PerMember(one), Self::PerMember(other)) => one == other,
            (Self::None | Self::Each(_) | Self::PerMember(_), _) => false,
        }
    }
}

impl Volumes {
    /// The number, if there is one for all; zero otherwise.
    pub fn each(&self) -> Bytes {
        match self {
            Self::Each(bytes) => *bytes,
            Self::None | Self::PerMember(_) => Bytes(0),
        }
    }

    /// The numbers of the members; none if there is not one for each.
    pub fn per_member(&self) -> &[Bytes] {
        match self {
            Self::PerMember(list) => list,
            Self::None | Self::Each(_) => &[],
        }
    }
}

/// A collective operation without its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // Named as MPI names them.
pub enum CollectiveKind {
    Barrier,
    Bcast,
    Reduce,
    Allreduce,
    Scan,
    Exscan,
    ReduceScatter,
    ReduceScatterBlock,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    Gatherv,
    Scatterv,
    Allgatherv,
    Alltoallv,
    Alltoallw,
}

/// The arguments that MPI's function for a kind of collective has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The form of [`Collective::send`].
    pub send: Extent,
    /// The form of [`Collective::recv`].
    pub recv: Extent,
    /// Whether the function has a root.
    pub is_rooted: bool,
    /// Whether the function reduces.
    pub reduces: bool,
}

/// The form of a [`Volumes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// [`Volumes::None`].
    None,
    /// [`Volumes::Each`].
    Each,
    /// [`Volumes::PerMember`].
    PerMember,
}

impl CollectiveKind {
    /// The name of MPI's function in lower case, without `mpi_`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            // In a trace, the words are SimGrid's.
            Self::ReduceScatter => "reduce_scatter",
            Self::ReduceScatterBlock => "reduce_scatter_block",
            _ => self.word(),
        }
    }

    /// Whether the result of a reduction is scattered among the members.
    #[must_use]
    pub const fn is_shared_out(self) -> bool {
        matches!(self, Self::ReduceScatter | Self::ReduceScatterBlock)
    }

    /// The arguments that MPI's function has.
    #[must_use]
    pub const fn signature(self) -> Signature {
        use Extent::{Each, None, PerMember};
        let (send, recv, is_rooted, reduces) = match self {
            Self::Barrier => (None, None, false, false),
            Self::Bcast => (Each, None, true, false),
            Self::Reduce => (Each, None, true, true),
            Self::Allreduce | Self::Scan | Self::Exscan => (Each, None, false, true),
            Self::ReduceScatter => (None, PerMember, false, true),
            Self::ReduceScatterBlock => (None, Each, false, true),
            Self::Gather | Self::Scatter => (Each, Each, true, false),
            Self::Allgather | Self::Alltoall => (Each, Each, false, false),
            Self::Gatherv => (Each, PerMember, true, false),
            Self::Scatterv => (PerMember, Each, true, false),
            Self::Allgatherv => (Each, PerMember, false, false),
            Self::Alltoallv | Self::Alltoallw => (PerMember, PerMember, false, false),
        };
        Signature { send, recv, is_rooted, reduces }
    }
}

impl std::fmt::Display for CollectiveKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Collective {
    /// A barrier on `comm`.
    #[must_use]
    pub fn barrier(comm: CommId) -> Self {
        Self {
            comm,
            kind: CollectiveKind::Barrier,
            root: None,
            send: Volumes::None,
            recv: Volumes::None,
            element: Bytes(1),
            work: Instructions(0.0),
            is_commutative: true,
        }
    }
}

/// A neighbourhood collective, as one rank calls it. A neighbour may be there twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighborhood {
    /// The communicator, which has a topology.
    pub comm: CommId,
    /// The MPI function.
    pub op: NeighborOp,
    /// Each destination and the bytes that go there, in the order of the topology.
    pub sends: Vec<(Rank, Bytes)>,
    /// Each source and the bytes received from it, in the order of the topology.
    pub recvs: Vec<(Rank, Bytes)>,
}

/// The MPI function of a neighbourhood collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Named as MPI names them.
pub enum NeighborOp {
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
}
