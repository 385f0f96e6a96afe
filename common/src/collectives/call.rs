//! A collective call from the point of view of one member.

use super::algorithms::blocks::{Blocks, Data};
use super::algorithms::comm::Comm;
use super::nodes::NodeMap;
use super::step::Member;
use crate::event::{Collective, CollectiveKind, Completion, Volumes};
use crate::units::Bytes;

/// Whether a call returns when its member's part is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallMode {
    /// The call does.
    #[default]
    Blocking,
    /// The call starts the collective, or sets up one that is started later. Libraries use other algorithms for such
    /// calls (`MPI_Ibcast`, `MPI_Bcast_init`; MPI 4.0 §6.12, §6.13).
    Nonblocking,
}

impl CallMode {
    /// All modes.
    pub const ALL: [Self; 2] = [Self::Blocking, Self::Nonblocking];

    /// The letter that the names of collectives begin with: `i` in `ibcast`.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Blocking => "",
            Self::Nonblocking => "i",
        }
    }
}

impl From<Completion> for CallMode {
    fn from(completion: Completion) -> Self {
        match completion {
            Completion::Blocking => Self::Blocking,
            Completion::Request(_) | Completion::Persistent(_) => Self::Nonblocking,
        }
    }
}

/// The properties of a call that determine a member's steps, except for the library.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The member whose steps are computed.
    pub me: Member,
    /// The number of members of the communicator.
    pub size: u32,
    /// The root as a member of it; 0 for an operation without a root.
    pub root: Member,
    /// The operation.
    pub kind: CollectiveKind,
    /// The bytes that the member gives, as in [`Collective::send`].
    pub send: &'a Volumes,
    /// The bytes that the member gets, as in [`Collective::recv`].
    pub recv: &'a Volumes,
    /// Size of one element of the datatype.
    pub element: Bytes,
    /// Whether the call returns when the member's part is done.
    pub mode: CallMode,
    /// Whether the operation is commutative, as all predefined operations are.
    pub is_commutative: bool,
    /// The nodes that the members are on, if they are known and some but not all members share one.
    pub nodes: Option<&'a NodeMap>,
}

/// An upper bound of the size of communicators, low enough that the arithmetic on ranks cannot overflow.
const MEMBERS: u32 = 1 << 30;

impl<'a> Call<'a> {
    /// The blocking call of member `me` of a communicator of `size`, with `root` as a member of it.
    #[must_use]
    pub fn of(collective: &'a Collective, me: Member, size: u32, root: Member) -> Self {
        let Collective { kind, ref send, ref recv, element, is_commutative, .. } = *collective;
        Self { me, size, root, kind, send, recv, element, mode: CallMode::Blocking, is_commutative, nodes: None }
    }

    /// Whether `me` and `root` are members, and the nodes are theirs.
    pub(super) fn is_sound(&self) -> bool {
        let has_nodes = self.nodes.is_none_or(|nodes| nodes.len() == self.size as usize);
        self.me < self.size && self.root < self.size && self.size <= MEMBERS && has_nodes
    }

    pub(super) fn comm(&self) -> Comm {
        Comm { me: self.me, size: self.size }
    }

    /// The vector that the member gives, in elements of the call's datatype.
    pub(super) fn vector(&self) -> Data {
        self.data(self.send.each())
    }

    /// A vector of the call's datatype.
    pub(super) fn data(&self, bytes: Bytes) -> Data {
        Data::new(bytes, self.element)
    }

    /// The block of one member in a gather or a scatter: the root's length for its own block, and each other member's
    /// for its own.
    pub(super) fn block(&self) -> Bytes {
        let gathers = self.kind == CollectiveKind::Gather;
        if (self.me == self.root) == gathers { self.recv.each() } else { self.send.each() }
    }

    /// The blocks that a list describes.
    pub(super) fn blocks(&self, volumes: &Volumes) -> Blocks {
        Blocks::listed(self.size, volumes.per_member())
    }

    /// The blocks that the members of a reduce-scatter get.
    pub(super) fn shares(&self) -> Blocks {
        match self.recv {
            Volumes::PerMember(lens) => Blocks::listed(self.size, lens),
            Volumes::None | Volumes::Each(_) => self.equal_blocks(self.recv.each()),
        }
    }

    /// The blocks of all members, each `len` long.
    pub(super) fn equal_blocks(&self, len: Bytes) -> Blocks {
        Blocks::Equal { count: self.size, len: len.0 }
    }

    /// Whether all members of a reduce-scatter get shares of one length.
    pub(super) fn is_regular(&self) -> bool {
        self.recv.per_member().windows(2).all(|pair| pair[0] == pair[1])
    }

    /// The bytes that all members get together.
    pub(super) fn total(&self) -> Bytes {
        self.recv.per_member().iter().copied().sum()
    }

    /// The size of the call, which all members know: of the data of a member, or for each member where that differs. Nothing
    /// where members do not know each other's sizes.
    pub(super) fn bytes(&self) -> Bytes {
        match self.kind {
            CollectiveKind::Gather | CollectiveKind::Scatter => self.block(),
            CollectiveKind::Allgatherv | CollectiveKind::ReduceScatter => {
                Bytes(self.total().0 / u64::from(self.size.max(1)))
            }
            CollectiveKind::Gatherv
            | CollectiveKind::Scatterv
            | CollectiveKind::Alltoallv
            | CollectiveKind::Alltoallw => Bytes(0),
            _ => self.send.each().max(self.recv.each()),
        }
    }

    /// Whether no data moves at all, as far as every member can tell.
    pub(super) fn moves_nothing(&self) -> bool {
        match self.kind {
            CollectiveKind::Bcast
            | CollectiveKind::Reduce
            | CollectiveKind::Allreduce
            | CollectiveKind::Scan
            | CollectiveKind::Exscan => self.send.each().0 == 0,
            CollectiveKind::Gather | CollectiveKind::Scatter => self.block().0 == 0,
            CollectiveKind::Allgather | CollectiveKind::Alltoall | CollectiveKind::ReduceScatterBlock => {
                self.recv.each().0 == 0
            }
            CollectiveKind::Allgatherv | CollectiveKind::ReduceScatter => {
                self.recv.per_member().iter().all(|len| len.0 == 0)
            }
            _ => false,
        }
    }
}
