//! Broadcasts. Sources: Open MPI 4.1 `coll_base_bcast.c`, `nbc_ibcast.c`; MPICH 4.0 `bcast_intra_*.c`; SimGrid 3.32
//! `bcast-NTSL.cpp`, `bcast-NTSB.cpp`; Thakur, Rabenseifner, Gropp: "Optimization of Collective Communication
//! Operations in MPICH", IJHPCA 19(1), 2005, section 4.2.

use super::algorithms;
use super::allgather;
use super::blocks::{Blocks, Data, MOST_SEGMENTS};
use super::comm::{Comm, doubling};
use super::schedule::Schedule;
use super::tree::Tree;
use crate::collectives::step::{Buffer, Member, Slice};

algorithms! {
    /// The algorithms of a broadcast.
    Bcast {
        /// The root sends to everyone.
        Linear = "linear" | "basic_linear",
        /// Along several chains that hang from the root.
        Chain = "chain",
        /// Along one chain.
        Pipeline = "pipeline",
        /// Each half of the data goes down one side of a binary tree; then partners on either side swap halves.
        SplitBinary = "split_binary_tree" | "split_binary",
        /// Down a binary tree.
        Binary = "binary_tree" | "binary",
        /// Along one chain from member 0, all receives posted at once (SimGrid).
        PostedChain = "posted_chain" | "ntsl",
        /// Down a binary heap from member 0, all receives posted at once (SimGrid).
        PostedBinary = "posted_binary_tree" | "ntsb",
        /// Down a binomial tree, the farthest child first (MPICH).
        Binomial = "binomial_distance_halving",
        /// Down a binomial tree, the nearest child first (Open MPI).
        BinomialDoubling = "binomial_distance_doubling",
        /// Down a binomial tree, to all children at once, the farthest first (MPICH's `ibcast_intra_sched_binomial.c`).
        BinomialAtOnce = "binomial_at_once",
        /// Down a binomial tree in which the root has exchanged its number with member 0, to all children at once (`libnbc`).
        BinomialExchanged = "binomial_exchanged",
        /// Along a chain in which the root has exchanged its number with member 0, the next segment arriving while one is
        /// sent on (`libnbc`).
        ChainExchanged = "chain_exchanged",
        /// Down a 4-nomial tree.
        Knomial = "knomial",
        /// A binomial scatter, then a recursive-doubling allgather (van de Geijn).
        ScatterAllgather = "scatter_allgather" | "scatter_recursive_doubling_allgather",
        /// A binomial scatter, then a ring allgather.
        ScatterAllgatherRing = "scatter_allgather_ring" | "scatter_ring_allgather",
        /// From the root to the first member of its node, among the first members of the nodes, and within each node (MPICH).
        Smp = "smp",
        /// Within the root's node, among the first members of the nodes, and within each other node (MPICH).
        SmpFromRoot = "smp_from_root",
        /// Among the members in the root's place of their nodes, and within each node, segment by segment (Open MPI).
        Han = "han",
    }
}

/// Children per digit in [`Bcast::Knomial`] (`coll_tuned_bcast_algorithm_knomial_radix`).
const RADIX: u32 = 4;

/// The steps of a broadcast.
pub(in crate::collectives) fn bcast(
    algorithm: Bcast,
    comm: Comm,
    root: Member,
    data: Data,
    segment: u64,
    fanout: u32,
) -> Schedule {
    let whole = data.whole(Buffer::Recv);
    match algorithm {
        _ if comm.size == 1 => Schedule::new(),
        Bcast::Linear => linear(comm, root, whole),
        Bcast::Chain => down(&Tree::chain(comm, root, fanout), data, segment),
        Bcast::Pipeline => down(&Tree::chain(comm, root, 1), data, segment),
        Bcast::SplitBinary => split_binary(comm, root, data, segment),
        Bcast::Binary => down(&Tree::binary(comm, root), data, segment),
        Bcast::PostedChain => posted(&Tree::chain(comm, 0, 1), comm, root, data, segment),
        Bcast::PostedBinary => posted(&Tree::heap(comm), comm, root, data, segment),
        Bcast::Binomial => one_by_one(&farthest_first(comm, root), whole),
        Bcast::BinomialDoubling => down(&Tree::binomial_doubling(comm, root), data, segment),
        Bcast::BinomialAtOnce => at_once(&farthest_first(comm, root), whole),
        Bcast::BinomialExchanged => {
            at_once(&Tree::exchanged(comm, root, |comm| Tree::binomial_doubling(comm, 0)), whole)
        }
        Bcast::ChainExchanged => {
            chain_in_rounds(&Tree::exchanged(comm, root, |comm| Tree::chain(comm, 0, 1)), data, segment)
        }
        Bcast::Knomial => down(&Tree::knomial(comm, root, RADIX), data, segment),
        Bcast::Smp | Bcast::SmpFromRoot | Bcast::Han => Schedule::new(), // `smp`, `han`
        Bcast::ScatterAllgather => {
            let blocks = scattered(comm, data);
            let mut steps = scatter(comm, root, &blocks);
            allgather::recursive_doubling(&mut steps, comm, root, &blocks, Buffer::Recv);
            steps
        }
        Bcast::ScatterAllgatherRing => {
            let blocks = scattered(comm, data);
            let mut steps = scatter(comm, root, &blocks);
            allgather::ring(&mut steps, comm, root, &blocks);
            steps
        }
    }
}

fn linear(comm: Comm, root: Member, whole: Slice) -> Schedule {
    let mut steps = Schedule::new();
    if comm.me != root {
        steps.recv(root, whole);
        return steps;
    }
    for member in comm.others() {
        steps.isend(member, whole);
    }
    steps.wait_all();
    steps
}

fn farthest_first(comm: Comm, root: Member) -> Tree {
    let mut tree = Tree::binomial(comm, root);
    tree.children.reverse();
    tree
}

/// Everything from the parent, and then to one child after the other.
fn one_by_one(tree: &Tree, whole: Slice) -> Schedule {
    let mut steps = Schedule::new();
    if let Some(parent) = tree.parent {
        steps.recv(parent, whole);
    }
    for &child in &tree.children {
        steps.send(child, whole);
    }
    steps
}

/// Everything from the parent, and then to all children at once.
fn at_once(tree: &Tree, whole: Slice) -> Schedule {
    let mut steps = Schedule::new();
    if let Some(parent) = tree.parent {
        steps.recv(parent, whole);
    }
    for &child in &tree.children {
        steps.isend(child, whole);
    }
    if !tree.children.is_empty() {
        steps.wait_all();
    }
    steps
}

/// Segment by segment along a chain, in rounds: in each, a segment arrives and the one before it is sent on
/// (`bcast_sched_chain`).
fn chain_in_rounds(tree: &Tree, data: Data, segment: u64) -> Schedule {
    /// Default length of a segment (`nbc_bcast_init`).
    const SEGMENT: u64 = 16_384;
    let mut steps = Schedule::new();
    let segments = data.segments(if segment == 0 { SEGMENT } else { segment });
    let count = segments.count();
    for index in 0..=count {
        let next = tree.parent.filter(|_| index < count);
        if let Some(parent) = next {
            steps.irecv(parent, segments.slice(Buffer::Recv, index));
        }
        // The first member has each segment in its own round.
        let held =
            if tree.parent.is_some() { index.checked_sub(1) } else { Some(index).filter(|&index| index < count) };
        if let Some(held) = held {
            for &child in &tree.children {
                steps.isend(child, segments.slice(Buffer::Recv, held));
            }
        }
        steps.wait_all();
    }
    steps
}

/// Segment by segment down a tree. A member is ready for the next segment while it waits for one and forwards it.
fn down(tree: &Tree, data: Data, segment: u64) -> Schedule {
    let mut steps = Schedule::new();
    let stride = data.segment_elements(segment);
    let segments = data.count().div_ceil(stride).max(1);
    let piece = |index: u64| data.segment(Buffer::Recv, index, stride);
    if let Some(parent) = tree.parent {
        steps.irecv(parent, piece(0));
    }
    for index in 0..segments {
        let next = tree.parent.filter(|_| index + 1 < segments);
        if let Some(parent) = next {
            steps.irecv(parent, piece(index + 1));
        }
        if tree.parent.is_some() {
            steps.wait(0);
        }
        for &child in &tree.children {
            steps.isend(child, piece(index));
        }
        for _ in &tree.children {
            steps.wait(u32::from(next.is_some()));
        }
    }
    steps
}

/// Segment by segment down a tree whose top is member 0, which first gets everything from the root. A receiver posts
/// the receives of all segments before it waits for the first. The rest that does not fill a segment is [`left_over`].
fn posted(tree: &Tree, comm: Comm, root: Member, data: Data, segment: u64) -> Schedule {
    let mut steps = Schedule::new();
    if root != 0 && comm.me == root {
        steps.send(0, data.whole(Buffer::Recv));
    } else if root != 0 && comm.me == 0 {
        steps.recv(root, data.whole(Buffer::Recv));
    }
    let stride = posted_stride(data, segment);
    if stride >= data.count() {
        steps.append(one_by_one(tree, data.whole(Buffer::Recv)));
        return steps;
    }
    let pieces = (0..data.count() / stride).map(|index| data.segment(Buffer::Recv, index, stride));
    if let Some(parent) = tree.parent {
        for piece in pieces.clone() {
            steps.irecv(parent, piece);
        }
    }
    for piece in pieces {
        if tree.parent.is_some() {
            steps.wait(0);
        }
        for &child in &tree.children {
            steps.isend(child, piece);
        }
    }
    steps.wait_all();
    steps
}

fn posted_stride(data: Data, segment: u64) -> u64 {
    match segment {
        0 => data.count(),
        _ => (segment / data.element).max(1).max(data.count() / MOST_SEGMENTS),
    }
}

/// The rest that [`posted`] does not send as it does not fill a segment: it goes by another broadcast.
pub(in crate::collectives) fn left_over(algorithm: Bcast, data: Data, segment: u64) -> Option<Slice> {
    let stride = posted_stride(data, segment);
    let is_posted = matches!(algorithm, Bcast::PostedChain | Bcast::PostedBinary);
    if !is_posted || stride >= data.count() {
        return None;
    }
    let rest = data.elements(Buffer::Recv, data.count() / stride * stride..data.count());
    (rest.len.0 > 0).then_some(rest)
}

fn split_binary(comm: Comm, root: Member, data: Data, segment: u64) -> Schedule {
    let middle = data.count().div_ceil(2);
    let halves = [0..middle, middle..data.count()];
    let stride = match segment {
        0 => middle,
        _ => (segment / data.element).max(1).max(middle / MOST_SEGMENTS),
    };
    let piece = |half: &std::ops::Range<u64>, index: u64| {
        let start = (half.start + index * stride).min(half.end);
        data.elements(Buffer::Recv, start..start.saturating_add(stride).min(half.end))
    };
    let segments = |half: &std::ops::Range<u64>| (half.end - half.start).div_ceil(stride.max(1));
    let whole = |half: &std::ops::Range<u64>| data.elements(Buffer::Recv, half.clone());

    let mut steps = Schedule::new();
    let tree = Tree::binary(comm, root);
    let place = comm.place(root);
    let [left, right] = &halves;
    let (mine, other) = if place % 2 == 1 { (left, right) } else { (right, left) };
    match tree.parent {
        None => {
            for index in 0..segments(left) {
                for (half, &child) in halves.iter().zip(&tree.children) {
                    if index < segments(half) {
                        steps.send(child, piece(half, index));
                    }
                }
            }
        }
        Some(parent) if tree.children.is_empty() => {
            for index in 0..segments(mine) {
                steps.recv(parent, piece(mine, index));
            }
        }
        Some(parent) => {
            steps.irecv(parent, piece(mine, 0));
            for index in 0..segments(mine) {
                if index + 1 < segments(mine) {
                    steps.irecv(parent, piece(mine, index + 1));
                }
                steps.wait(0);
                for &child in &tree.children {
                    steps.send(child, piece(mine, index));
                }
            }
        }
    }
    // Places 1 and 2, 3 and 4, … swap; where the last place has no partner, the root gives it the other half.
    let last = comm.size - 1;
    match place {
        0 if last % 2 == 1 => steps.send(comm.at_place(last, root), whole(right)),
        0 => {}
        _ if place == last && last % 2 == 1 => steps.recv(root, whole(right)),
        _ if place % 2 == 1 => steps.exchange(comm.after(1), whole(mine), whole(other)),
        _ => steps.exchange(comm.before(1), whole(mine), whole(other)),
    }
    steps
}

/// A block for each place counted from the root.
fn scattered(comm: Comm, data: Data) -> Blocks {
    Blocks::Ceiling { count: comm.size, data }
}

/// Each place gets the blocks of its subtree in a binomial tree; empty ones are not sent.
fn scatter(comm: Comm, root: Member, blocks: &Blocks) -> Schedule {
    let mut steps = Schedule::new();
    let subtree =
        |place: u32, size: u32| blocks.blocks(Buffer::Recv, place..(place.saturating_add(size)).min(comm.size));
    let place = comm.place(root);
    let mut reach = doubling(comm.size);
    if place > 0 {
        let lowest = place & place.wrapping_neg();
        let mine = subtree(place, lowest);
        if mine.len.0 > 0 {
            steps.recv(comm.before(lowest), mine);
        }
        reach = doubling(lowest);
    }
    for distance in reach.rev().filter(|&distance| distance < comm.size - place) {
        let theirs = subtree(place + distance, distance);
        if theirs.len.0 > 0 {
            steps.send(comm.after(distance), theirs);
        }
    }
    steps
}
