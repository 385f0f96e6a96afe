//! One collective call as one member sees it.

use super::algorithms::blocks::{Blocks, Data};
use super::algorithms::comm::Comm;
use super::step::Member;
use crate::event::CollectiveOp;
use crate::units::Bytes;

/// Everything that decides a member's steps but the library.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Whose steps are asked for.
    pub me: Member,
    /// How many members the communicator has.
    pub size: u32,
    /// The root as a member of it; 0 where there is none. The root in `op`, a rank in the world, is not looked at.
    pub root: Member,
    /// What is to be done.
    pub op: &'a CollectiveOp,
    /// Size of one element of the datatype.
    pub element: Bytes,
    /// Whether operands may change places. All predefined operations let them.
    pub is_commutative: bool,
}

/// More members than any communicator has; fewer than would let a rank's arithmetic overflow.
const MEMBERS: u32 = 1 << 30;

impl Call<'_> {
    /// Whether `me` and `root` are members.
    pub(super) fn is_sound(&self) -> bool {
        self.me < self.size && self.root < self.size && self.size <= MEMBERS
    }

    pub(super) fn comm(&self) -> Comm {
        Comm { me: self.me, size: self.size }
    }

    /// A vector of the call's datatype.
    pub(super) fn data(&self, bytes: Bytes) -> Data {
        Data::new(bytes, self.element)
    }

    /// The block that the call moves for each member: what the root says of its own, and others of theirs.
    pub(super) fn block(&self, at_root: Bytes, elsewhere: Bytes) -> Bytes {
        if self.me == self.root { at_root } else { elsewhere }
    }

    /// The blocks that a list describes.
    pub(super) fn blocks(&self, lens: &[Bytes]) -> Blocks {
        Blocks::listed(self.size, lens)
    }

    /// One block of this length for each member.
    pub(super) fn equal_blocks(&self, len: Bytes) -> Blocks {
        Blocks::Equal { count: self.size, len: len.0 }
    }

    /// Whether no member has anything to move, as every member can tell.
    pub(super) fn moves_nothing(&self) -> bool {
        let is_empty = |lens: &[Bytes]| lens.iter().all(|len| len.0 == 0);
        match self.op {
            CollectiveOp::Bcast { bytes, .. }
            | CollectiveOp::Reduce { bytes, .. }
            | CollectiveOp::Allreduce { bytes, .. }
            | CollectiveOp::Scan { bytes, .. }
            | CollectiveOp::Exscan { bytes, .. }
            | CollectiveOp::ReduceScatterBlock { bytes, .. } => bytes.0 == 0,
            CollectiveOp::Gather { send, recv, .. } => self.block(*recv, *send).0 == 0,
            CollectiveOp::Scatter { send, recv, .. } => self.block(*send, *recv).0 == 0,
            CollectiveOp::Allgather { recv, .. } | CollectiveOp::Alltoall { recv, .. } => recv.0 == 0,
            CollectiveOp::Allgatherv { recvs, .. } => is_empty(recvs),
            CollectiveOp::ReduceScatter { counts, .. } => is_empty(counts),
            CollectiveOp::Barrier
            | CollectiveOp::Gatherv { .. }
            | CollectiveOp::Scatterv { .. }
            | CollectiveOp::Alltoallv { .. }
            | CollectiveOp::Alltoallw { .. } => false,
        }
    }
}
