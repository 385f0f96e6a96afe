//! Reductions to a root. Sources: Open MPI 4.1 `coll_base_reduce.c`, `nbc_ireduce.c`; MPICH 4.0 `reduce_intra_*.c`;
//! SimGrid 3.32 `smpi_nbc_impl.cpp`; Pješivac-Grbović et al., Cluster Computing 10(2), 2007, section 3.
//!
//! The order of the operands of a non-commutative operation is preserved only by [`Reduce::Linear`],
//! [`Reduce::InOrderBinary`], [`Reduce::Binomial`] and [`Reduce::BinomialExchanged`].

use super::algorithms;
use super::blocks::Data;
use super::comm::Comm;
use super::rabenseifner::{self, Variant};
use super::schedule::Schedule;
use super::tree::Tree;
use crate::collectives::step::{Buffer, Member, Slice};

algorithms! {
    /// The algorithms of a reduction.
    Reduce {
        /// Everyone sends to the root, which receives from the last member to the first.
        Linear = "linear" | "basic_linear",
        /// Everyone sends to the root, which receives from all at once (SimGrid).
        LinearNonblocking = "linear_nb",
        /// Along several chains that end at the root.
        Chain = "chain",
        /// Along one chain.
        Pipeline = "pipeline",
        /// Up a binary tree.
        Binary = "binary" | "binary_tree",
        /// Up a binary tree that keeps the order of ranks, to the last member, which sends the result to the root.
        InOrderBinary = "in_order_binary",
        /// Up a binomial tree, one message after the other (MPICH).
        Binomial = "binomial_serial",
        /// Up a binomial tree, with the next message in transit while one is reduced (Open MPI).
        BinomialPipelined = "binomial_pipelined",
        /// Up a binomial tree in which the root has exchanged its number with member 0, one message after the other (`libnbc`).
        BinomialExchanged = "binomial_exchanged",
        /// Along a chain in which the root has exchanged its number with member 0, one segment after the other (`libnbc`).
        ChainExchanged = "chain_exchanged",
        /// A reduce-scatter by recursive halving of the vector, then a binomial gather (Rabenseifner; Open MPI).
        Rabenseifner = "rabenseifner" | "redscat_gather",
        /// Rabenseifner's algorithm on blocks of nearly one length (MPICH).
        ReduceScatterGather = "reduce_scatter_gather",
        /// Within each other node, among the first members of the nodes, and within the root's node (MPICH).
        Smp = "smp",
        /// Within each node, among the first members of the nodes to member 0, and from there to the root (MPICH).
        SmpToFirst = "smp_to_first",
        /// Within each node, and among the members in the root's place of their nodes, segment by segment (Open MPI).
        Han = "han",
    }
}

/// The steps of a reduction.
pub(in crate::collectives) fn reduce(
    algorithm: Reduce,
    comm: Comm,
    root: Member,
    data: Data,
    segment: u64,
    fanout: u32,
    is_commutative: bool,
) -> Schedule {
    let up = |tree: &Tree| {
        let result = if comm.me == root { Buffer::Recv } else { Buffer::Scratch };
        up(tree, data, segment, result, is_commutative)
    };
    match algorithm {
        _ if comm.size == 1 => {
            let mut steps = Schedule::new();
            steps.copy(data.whole(Buffer::Send), data.whole(Buffer::Recv));
            steps
        }
        Reduce::Linear => linear(comm, root, data),
        Reduce::LinearNonblocking => linear_nonblocking(comm, root, data),
        Reduce::Chain => up(&Tree::chain(comm, root, fanout)),
        Reduce::Pipeline => up(&Tree::chain(comm, root, 1)),
        Reduce::Binary => up(&Tree::binary(comm, root)),
        Reduce::BinomialPipelined => up(&Tree::binomial(comm, root)),
        Reduce::InOrderBinary => {
            let last = comm.size - 1;
            let mut steps = up(&Tree::in_order_binary(comm));
            if comm.me == last && root != last {
                steps.send(root, data.whole(Buffer::Scratch));
            } else if comm.me == root && root != last {
                steps.recv(last, data.whole(Buffer::Recv));
            }
            steps
        }
        Reduce::Binomial => binomial(comm, root, data, is_commutative, Tree::binomial),
        Reduce::BinomialExchanged => binomial(comm, root, data, is_commutative, |comm, root| {
            Tree::exchanged(comm, root, |comm| Tree::binomial(comm, 0))
        }),
        Reduce::ChainExchanged => {
            chain_in_rounds(&Tree::exchanged(comm, root, |comm| Tree::chain(comm, 0, 1)), data, segment)
        }
        Reduce::Rabenseifner => rabenseifner::reduce(Variant::Halves, comm, root, data),
        Reduce::ReduceScatterGather => rabenseifner::reduce(Variant::Blocks, comm, root, data),
        Reduce::Smp | Reduce::SmpToFirst | Reduce::Han => Schedule::new(), // `smp`, `han`
    }
}

fn linear(comm: Comm, root: Member, data: Data) -> Schedule {
    let mut steps = Schedule::new();
    let (own, result) = (data.whole(Buffer::Send), data.whole(Buffer::Recv));
    if comm.me != root {
        steps.send(root, own);
        return steps;
    }
    let incoming = data.whole(Buffer::Scratch);
    let last = comm.size - 1;
    if comm.me == last {
        steps.copy(own, result);
    } else {
        steps.recv(last, result);
    }
    for member in (0..last).rev() {
        if member == comm.me {
            steps.reduce_left(own, result);
        } else {
            steps.recv(member, incoming);
            steps.reduce_left(incoming, result);
        }
    }
    steps
}

fn linear_nonblocking(comm: Comm, root: Member, data: Data) -> Schedule {
    let mut steps = Schedule::new();
    let (own, result) = (data.whole(Buffer::Send), data.whole(Buffer::Recv));
    if comm.me != root {
        steps.isend(root, own);
        steps.wait_all();
        return steps;
    }
    let incoming = |index: usize| Buffer::Scratch.at(data.bytes.saturating_mul(index as u64), data.bytes);
    steps.copy(own, result);
    for (index, member) in comm.others().enumerate() {
        steps.irecv(member, incoming(index));
    }
    steps.wait_all();
    for (index, _) in comm.others().enumerate() {
        steps.reduce_right(incoming(index), result);
    }
    steps
}

/// Reduces up a binomial tree. An operation that does not commute goes to member 0, which sends the result to the root.
fn binomial(
    comm: Comm,
    root: Member,
    data: Data,
    is_commutative: bool,
    tree: impl FnOnce(Comm, Member) -> Tree,
) -> Schedule {
    let mut steps = Schedule::new();
    let top = if is_commutative { root } else { 0 };
    let tree = tree(comm, top);
    let own = data.whole(Buffer::Send);
    let result = data.whole(if comm.me == root { Buffer::Recv } else { Buffer::Scratch });
    let incoming = Buffer::Scratch.at(data.bytes, data.bytes);
    one_by_one(&mut steps, &tree, own, result, incoming);
    if top != root {
        if comm.me == top {
            steps.send(root, result);
        } else if comm.me == root {
            steps.recv(top, result);
        }
    }
    steps
}

/// Reduces what one child after the other sends, and sends the result to the parent. Returns where it is.
pub(super) fn one_by_one(steps: &mut Schedule, tree: &Tree, own: Slice, result: Slice, incoming: Slice) -> Slice {
    let reduced = if tree.children.is_empty() { own } else { result };
    if !tree.children.is_empty() {
        steps.copy(own, result);
    }
    for &child in &tree.children {
        steps.recv(child, incoming);
        steps.reduce_right(incoming, result);
    }
    if let Some(parent) = tree.parent {
        steps.send(parent, reduced);
    }
    reduced
}

/// Segment by segment along a chain: each arrives, is reduced and is sent on before the next (`red_sched_chain`).
fn chain_in_rounds(tree: &Tree, data: Data, segment: u64) -> Schedule {
    /// Default length of a segment (`nbc_reduce_init`).
    const SEGMENT: u64 = 8_192;
    let mut steps = Schedule::new();
    let segments = data.segments(if segment == 0 { SEGMENT } else { segment });
    for index in 0..segments.count() {
        let own = segments.slice(Buffer::Send, index);
        let result = segments.slice(if tree.parent.is_none() { Buffer::Recv } else { Buffer::Scratch }, index);
        for &child in &tree.children {
            steps.recv(child, result);
            steps.reduce_left(own, result);
        }
        if let Some(parent) = tree.parent {
            steps.send(parent, if tree.children.is_empty() { own } else { result });
        }
    }
    steps
}

/// Segment by segment up a tree. Two buffers alternate: while one message is reduced, the next one arrives. A
/// commutative operation saves a copy: the first child's data arrives in the place of the result, and the member's own
/// data is added to it.
fn up(tree: &Tree, data: Data, segment: u64, result: Buffer, is_commutative: bool) -> Schedule {
    let mut steps = Schedule::new();
    let stride = data.segment_elements(segment);
    let segments = data.count().div_ceil(stride).max(1);
    let piece = |buffer: Buffer, index: u64| data.segment(buffer, index, stride);

    if tree.children.is_empty() {
        if let Some(parent) = tree.parent {
            for index in 0..segments {
                steps.send(parent, piece(Buffer::Send, index));
            }
        }
        return steps;
    }
    let longest = piece(Buffer::Scratch, 0).len.0;
    let incoming = |turn: u64, len: u64| {
        let behind_result = data.bytes.saturating_add((turn % 2).saturating_mul(longest));
        Buffer::Scratch.at(behind_result, len)
    };
    if !is_commutative {
        steps.copy(data.whole(Buffer::Send), data.whole(result));
    }
    // The end of the receive of one child's segment: the segment, and the data to reduce into its result.
    let complete = |steps: &mut Schedule, (index, operand): (u64, Slice), is_last_child: bool| {
        steps.wait(0);
        steps.reduce_left(operand, piece(result, index));
        if let Some(parent) = tree.parent.filter(|_| is_last_child) {
            steps.send(parent, piece(result, index));
        }
    };
    let mut arriving: Option<(u64, Slice)> = None;
    let mut turn = 0;
    for index in 0..segments {
        for (nth, &child) in tree.children.iter().enumerate() {
            let target = piece(result, index);
            let joins_own = nth == 0 && is_commutative;
            let landing = if joins_own { target } else { incoming(turn, target.len.0) };
            steps.irecv(child, landing);
            turn += 1;
            let operand = if joins_own { piece(Buffer::Send, index) } else { landing };
            if let Some(before) = arriving.replace((index, operand)) {
                complete(&mut steps, before, nth == 0);
            }
        }
    }
    if let Some(last) = arriving {
        complete(&mut steps, last, true);
    }
    steps
}
