//! Allreduce algorithms. Sources: Open MPI 4.1 `coll_base_allreduce.c`, `nbc_iallreduce.c`; MPICH 4.0
//! `allreduce_intra_*.c`; SimGrid 3.32 `allreduce-lr.cpp`; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.5.
//!
//! The ring needs an operation that commutes; recursive doubling keeps the order of ranks.

use super::algorithms;
use super::allgather;
use super::blocks::{Blocks, Data};
use super::comm::{Comm, Fold, Role, Survivor, doubling};
use super::reduce_scatter;
use super::schedule::Schedule;
use crate::collectives::step::{Buffer, Slice};

algorithms! {
    /// The algorithms of a reduction to all.
    Allreduce {
        /// A linear reduction to member 0, then a linear broadcast.
        Linear = "linear" | "basic_linear",
        /// A reduction to member 0, then a broadcast, each as its own rules say.
        NonOverlapping = "nonoverlapping" | "non_overlapping" | "reduce_bcast",
        /// The whole vector exchanged at distances 1, 2, 4, ….
        RecursiveDoubling = "recursive_doubling",
        /// A reduce-scatter around the ring, then an allgather around it.
        Ring = "ring",
        /// A reduction up a binomial tree to member 0, then a broadcast down a binomial tree (`libnbc`).
        BinomialTrees = "binomial_trees",
        /// The ring, where each member's first message is the block of the next member (`libnbc`).
        RingFromNext = "ring_from_next",
        /// Everyone sends everything to everyone (SimGrid's `iallreduce`).
        AllToAll = "all_to_all",
        /// A reduce-scatter and an allgather around the ring in several phases, each on a part of every block.
        SegmentedRing = "segmented_ring",
        /// The ring on blocks of one length; what is left after whole blocks goes by another reduction (SimGrid).
        EqualRing = "equal_ring" | "lr",
        /// A reduce-scatter by recursive halving of the vector, then an allgather (Rabenseifner; Open MPI).
        Rabenseifner = "rabenseifner" | "redscat_allgather",
        /// Rabenseifner's algorithm on blocks of nearly one length (MPICH).
        ReduceScatterAllgather = "reduce_scatter_allgather",
        /// A reduction within each node, another one among the first members of the nodes, and a broadcast within each node
        /// (MPICH).
        Smp = "smp",
        /// Within each node to its first member, among these to one and back, and within each node, segment by segment
        /// (Open MPI).
        Han = "han",
    }
}

/// [`Allreduce::RecursiveDoubling`].
pub(in crate::collectives) fn recursive_doubling(comm: Comm, data: Data) -> Schedule {
    let mut steps = Schedule::new();
    let (result, incoming) = (data.whole(Buffer::Recv), data.whole(Buffer::Scratch));
    let fold = Fold::new(comm.size, Survivor::Odd);
    let Some(rank) = reduce_scatter::fold_in(&mut steps, comm, fold, result, incoming) else {
        steps.recv(comm.me + 1, result);
        return steps;
    };
    for distance in doubling(fold.size) {
        let peer = rank ^ distance;
        steps.exchange(fold.member(peer), result, incoming);
        steps.reduce_in_order(peer, rank, incoming, result);
    }
    if let Role::Takes(partner, _) = fold.role(comm.me) {
        steps.send(partner, result);
    }
    steps
}

/// [`Allreduce::Ring`], and with more than one phase [`Allreduce::SegmentedRing`].
pub(in crate::collectives) fn ring(comm: Comm, data: Data, phases: u32) -> Schedule {
    let mut steps = Schedule::new();
    let blocks = Blocks::Balanced { count: comm.size, data };
    steps.copy(data.whole(Buffer::Send), data.whole(Buffer::Recv));
    if comm.size == 1 {
        return steps;
    }
    for phase in 0..phases {
        let part = |round: u32| {
            let whole = blocks.block(Buffer::Recv, comm.before(round));
            let parts = Blocks::Balanced { count: phases, data: Data { bytes: whole.len.0, element: data.element } };
            Buffer::Recv.at(whole.offset.0 + parts.start(phase), parts.len(phase))
        };
        let landing =
            |round: u32| Buffer::Scratch.at(if round % 2 == 1 { 0 } else { blocks.len(0) }, part(round).len.0);
        reduce_scatter::around(&mut steps, comm, part, landing);
    }
    // The member has reduced the block of the next one.
    allgather::ring(&mut steps, comm, comm.size - 1, &blocks);
    steps
}

/// [`Allreduce::RingFromNext`] (`allred_sched_ring`).
pub(in crate::collectives) fn ring_from_next(comm: Comm, data: Data) -> Schedule {
    let mut steps = Schedule::new();
    let blocks = Blocks::Balanced { count: comm.size, data };
    if comm.size == 1 {
        steps.copy(data.whole(Buffer::Send), data.whole(Buffer::Recv));
        return steps;
    }
    let (left, right) = (comm.before(1), comm.after(1));
    for round in 0..2 * comm.size - 2 {
        let (given, taken) =
            (comm.before(round % comm.size).wrapping_add(1) % comm.size, comm.before(round % comm.size));
        let source = if round == 0 { Buffer::Send } else { Buffer::Recv };
        let result = blocks.block(Buffer::Recv, taken);
        steps.sendrecv(right, blocks.block(source, given), left, result);
        if round + 1 < comm.size {
            steps.reduce_right(blocks.block(Buffer::Send, taken), result);
        }
    }
    steps
}

/// [`Allreduce::AllToAll`].
pub(in crate::collectives) fn all_to_all(comm: Comm, data: Data) -> Schedule {
    reduce_scatter::from_all(comm, |_| data.whole(Buffer::Send), data.whole(Buffer::Recv))
}

/// [`Allreduce::EqualRing`] of as many whole blocks as there are members. The vector has an element for each.
pub(in crate::collectives) fn equal_ring(comm: Comm, data: Data) -> Schedule {
    let mut steps = Schedule::new();
    let elements = data.count() / u64::from(comm.size) * u64::from(comm.size);
    let data = Data { bytes: data.elements(Buffer::Send, 0..elements).len.0, ..data };
    let blocks = Blocks::Balanced { count: comm.size, data };
    let block = |buffer: Buffer, member: u32| blocks.block(buffer, member);
    let (left, right) = (comm.before(1), comm.after(1));
    steps.copy(block(Buffer::Send, left), block(Buffer::Recv, left));
    for round in 1..comm.size {
        let (given, taken) = (comm.before(round), comm.before(round + 1));
        steps.sendrecv(right, block(Buffer::Recv, given), left, block(Buffer::Recv, taken));
        steps.reduce_left(block(Buffer::Send, taken), block(Buffer::Recv, taken));
    }
    allgather::ring(&mut steps, comm, 0, &blocks);
    steps
}

/// The elements that [`equal_ring`] leaves to another reduction; `None` if the vector divides evenly.
pub(in crate::collectives) fn left_over(comm: Comm, data: Data) -> Option<Slice> {
    let count = data.count();
    let rest = data.elements(Buffer::Recv, count - count % u64::from(comm.size)..count);
    (rest.len.0 > 0).then_some(rest)
}

/// The number of phases of [`Allreduce::SegmentedRing`], whose segments have about `segment` bytes.
pub(in crate::collectives) fn phases(comm: Comm, data: Data, segment: u64) -> u32 {
    let round = u64::from(comm.size).saturating_mul(data.segment_elements(segment));
    let (whole, rest) = (data.count() / round, data.count() % round);
    let has_more = rest >= u64::from(comm.size) && rest > round / 2;
    u32::try_from(whole + u64::from(whole > 0 && has_more)).unwrap_or(u32::MAX).max(1)
}
