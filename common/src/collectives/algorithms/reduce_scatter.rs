//! Reduce-scatter: each member gets its block of the result. Sources: Open MPI 4.1 `coll_base_reduce_scatter.c`,
//! `coll_base_reduce_scatter_block.c`; MPICH 4.0 `reduce_scatter_intra_*.c`; Thakur, Rabenseifner, Gropp, IJHPCA 19(1),
//! 2005, section 4.4; Träff: "An Improved Algorithm for (Non-commutative) Reduce-Scatter with an Application",
//! EuroPVM/MPI 2005, LNCS 3666 (butterfly).
//!
//! Recursive halving, ring and pairwise require a commutative operation; the others preserve the order of ranks.

use super::algorithms;
use super::allgather::pass_on;
use super::blocks::Blocks;
use super::comm::{Comm, Fold, Role, Survivor, doubling, mirror};
use super::reduce;
use super::schedule::{Empty, Schedule};
use super::tree::Tree;
use crate::collectives::step::{Buffer, Member, Slice};

algorithms! {
    /// The algorithms of a reduce-scatter.
    ReduceScatter {
        /// A reduction to member 0, then a scatter, each as its own rules say.
        NonOverlapping = "non_overlapping" | "nonoverlapping" | "basic_linear" | "reduce_scatter",
        /// Partners at distances …, 4, 2, 1 share the work on ever smaller parts of the vector.
        RecursiveHalving = "recursive_halving",
        /// Each block goes once around the ring and is reduced on its way.
        Ring = "ring",
        /// Partners at distances 1, 2, 4, … share the work; the blocks end at the wrong members and change places.
        Butterfly = "butterfly",
        /// Each member gets its block from all others, one after the other.
        Pairwise = "pairwise",
        /// Groups of 1, 2, 4, … members exchange what they have reduced for the others.
        RecursiveDoubling = "recursive_doubling",
        /// A reduction up a binomial tree to member 0, which then sends to all at once (`libnbc`).
        BinomialLinear = "binomial_linear",
        /// Each member gets its block from all others at once (SimGrid's `ireduce_scatter`).
        AllToAll = "all_to_all",
        /// The butterfly among a power of two, with blocks put beforehand where they will end at the right member.
        Noncommutative = "noncommutative",
    }
}

/// Two copies of the vector: the member's partial result, followed by received data.
fn reduced(slice: Slice) -> Slice {
    Slice { buffer: Buffer::Scratch, ..slice }
}

fn incoming(slice: Slice, blocks: &Blocks) -> Slice {
    Buffer::Scratch.at(slice.offset.0.saturating_add(blocks.total()), slice.len.0)
}

fn whole(blocks: &Blocks) -> Slice {
    Buffer::Scratch.first(blocks.total())
}

fn own_result(comm: Comm, blocks: &Blocks) -> Slice {
    Buffer::Recv.first(blocks.len(comm.me))
}

/// Gives a member's data away or takes a partner's, before the remaining members go on with `all`. Returns the member's rank
/// among the remaining members; `None` if it has given its data away, to the next member.
pub(in crate::collectives) fn fold_in(
    steps: &mut Schedule,
    comm: Comm,
    fold: Fold,
    all: Slice,
    incoming: Slice,
) -> Option<u32> {
    match fold.role(comm.me) {
        Role::Alone(rank) => {
            steps.copy(Buffer::Send.first(all.len.0), all);
            Some(rank)
        }
        Role::Takes(partner, rank) => {
            steps.copy(Buffer::Send.first(all.len.0), all);
            steps.recv(partner, incoming);
            steps.reduce_left(incoming, all);
            Some(rank)
        }
        Role::Gives(partner) => {
            steps.send(partner, Buffer::Send.first(all.len.0));
            None
        }
    }
}

/// The blocks of a range of ranks of the folded communicator.
fn folded(blocks: &Blocks, fold: Fold, from: u32, to: u32) -> Slice {
    blocks.blocks(Buffer::Scratch, fold.first_member(from)..fold.first_member(to))
}

/// [`ReduceScatter::RecursiveHalving`]; parts of no bytes are not exchanged.
pub(in crate::collectives) fn recursive_halving(comm: Comm, blocks: &Blocks) -> Schedule {
    let mut steps = Schedule::with(Empty::Skipped);
    let fold = Fold::new(comm.size, Survivor::Odd);
    let (own, all) = (blocks.block(Buffer::Scratch, comm.me), whole(blocks));
    let Some(rank) = fold_in(&mut steps, comm, fold, all, incoming(all, blocks)) else {
        steps.recv(comm.me + 1, own_result(comm, blocks));
        return steps;
    };
    for distance in doubling(fold.size).rev() {
        let peer = rank ^ distance;
        let run = |member: u32| {
            let first = member & !(distance - 1);
            folded(blocks, fold, first, first + distance)
        };
        let keep = run(rank);
        steps.exchange(fold.member(peer), run(peer), incoming(keep, blocks));
        steps.reduce_in_order(peer, rank, incoming(keep, blocks), reduced(keep));
    }
    steps.copy(own, own_result(comm, blocks));
    if let Role::Takes(partner, _) = fold.role(comm.me) {
        steps.send(partner, blocks.block(Buffer::Scratch, partner));
    }
    steps
}

/// [`ReduceScatter::Ring`].
pub(in crate::collectives) fn ring(comm: Comm, blocks: &Blocks) -> Schedule {
    let mut steps = Schedule::new();
    let longest = (0..comm.size).map(|block| blocks.len(block)).max().unwrap_or_default();
    let block = |round: u32| blocks.block(Buffer::Scratch, comm.before(round + 1));
    let landing = |round: u32| {
        let start = blocks.total().saturating_add(u64::from(round % 2).saturating_mul(longest));
        Buffer::Scratch.at(start, block(round).len.0)
    };
    let all = whole(blocks);
    steps.copy(Buffer::Send.first(all.len.0), all);
    if comm.size > 1 {
        around(&mut steps, comm, block, landing);
    }
    steps.copy(blocks.block(Buffer::Scratch, comm.me), own_result(comm, blocks));
    steps
}

/// Sends a block around the ring in each round, and reduces the one that lands. While a block is reduced, the next arrives.
pub(in crate::collectives) fn around(
    steps: &mut Schedule,
    comm: Comm,
    block: impl Fn(u32) -> Slice,
    landing: impl Fn(u32) -> Slice,
) {
    let (left, right) = (comm.before(1), comm.after(1));
    steps.irecv(left, landing(1));
    steps.send(right, block(0));
    for round in 1..comm.size {
        if round + 1 < comm.size {
            steps.irecv(left, landing(round + 1));
        }
        steps.wait(0);
        steps.reduce_left(landing(round), block(round));
        if round + 1 < comm.size {
            steps.send(right, block(round));
        }
    }
}

/// [`ReduceScatter::Butterfly`].
pub(in crate::collectives) fn butterfly(comm: Comm, blocks: &Blocks) -> Schedule {
    let mut steps = Schedule::new();
    let fold = Fold::new(comm.size, Survivor::Odd);
    let (result, all) = (own_result(comm, blocks), whole(blocks));
    let Some(rank) = fold_in(&mut steps, comm, fold, all, incoming(all, blocks)) else {
        // The rank that reduces my block is the mirror image of my partner's.
        let holder = mirror(comm.me / 2, fold.size);
        steps.recv(fold.member(holder), result);
        return steps;
    };
    let (mut from, mut to) = (0, fold.size);
    for distance in doubling(fold.size) {
        let peer = rank ^ distance;
        let middle = from + (to - from) / 2;
        let (lower, upper) = (folded(blocks, fold, from, middle), folded(blocks, fold, middle, to));
        let (keep, give) = if rank < peer { (lower, upper) } else { (upper, lower) };
        if rank < peer {
            to = middle;
        } else {
            from = middle;
        }
        steps.exchange(fold.member(peer), give, incoming(keep, blocks));
        steps.reduce_in_order(peer, rank, incoming(keep, blocks), reduced(keep));
    }
    // This member holds the data of this rank, and of the partner that it represents.
    let owner = mirror(rank, fold.size);
    let member = fold.member(owner);
    if let Role::Takes(partner, _) = fold.role(member) {
        steps.send(partner, blocks.block(Buffer::Scratch, partner));
    }
    let theirs = blocks.block(Buffer::Scratch, member);
    if owner == rank {
        steps.copy(theirs, result);
    } else {
        steps.exchange(member, theirs, result);
    }
    steps
}

/// [`ReduceScatter::Pairwise`].
pub(in crate::collectives) fn pairwise(comm: Comm, blocks: &Blocks) -> Schedule {
    let mut steps = Schedule::new();
    let result = own_result(comm, blocks);
    let arrived = Buffer::Scratch.first(result.len.0);
    steps.copy(blocks.block(Buffer::Send, comm.me), result);
    for (to, from) in comm.others_after().zip(comm.others_before()) {
        steps.sendrecv(to, blocks.block(Buffer::Send, to), from, arrived);
        steps.reduce_left(arrived, result);
    }
    steps
}

/// [`ReduceScatter::RecursiveDoubling`]: a message is all but the blocks of the sender's group, so it has two runs.
pub(in crate::collectives) fn recursive_doubling(comm: Comm, blocks: &Blocks) -> Schedule {
    let mut steps = Schedule::new();
    let all = whole(blocks);
    let total = all.len.0;
    steps.copy(Buffer::Send.first(total), all);
    let group = |member: u32, size: u32| {
        let first = member & !(size - 1);
        (first, first.saturating_add(size).min(comm.size))
    };
    for distance in doubling(comm.size) {
        let peer = comm.me ^ distance;
        let runs_without = |(first, end): (u32, u32)| {
            [blocks.blocks(Buffer::Scratch, 0..first), blocks.blocks(Buffer::Scratch, end.min(comm.size)..comm.size)]
        };
        let beside = group(peer, distance);
        if beside.0 >= comm.size {
            continue;
        }
        let (outgoing, arriving) = (runs_without(group(comm.me, distance)), runs_without(beside));
        // Messages are packed behind the vector, and received data behind them.
        let message = |runs: [Slice; 2], copy: u64| {
            let start = total.saturating_mul(copy);
            let middle = start.saturating_add(runs[0].len.0);
            let packed = [Buffer::Scratch.at(start, runs[0].len.0), Buffer::Scratch.at(middle, runs[1].len.0)];
            (Buffer::Scratch.at(start, runs[0].len.0.saturating_add(runs[1].len.0)), packed)
        };
        let ((sent, packed), (arrived, unpacked)) = (message(outgoing, 1), message(arriving, 2));
        let mut has_arrived = false;
        if peer < comm.size {
            for (run, packed) in outgoing.into_iter().zip(packed) {
                steps.copy(run, packed);
            }
            steps.exchange(peer, sent, arrived);
            has_arrived = true;
        }
        if comm.size < beside.0.saturating_add(distance) {
            pass_on(comm.size - beside.0, comm.me, distance, |member, is_mine| {
                if is_mine {
                    steps.send(member, arrived);
                } else {
                    steps.recv(member, arrived);
                    has_arrived = true;
                }
            });
        }
        if has_arrived {
            for (run, unpacked) in arriving.into_iter().zip(unpacked) {
                steps.reduce_in_order(peer, comm.me, unpacked, run);
            }
        }
    }
    steps.copy(blocks.block(Buffer::Scratch, comm.me), own_result(comm, blocks));
    steps
}

/// [`ReduceScatter::Noncommutative`] of blocks of one length among a power of two.
pub(in crate::collectives) fn noncommutative(comm: Comm, blocks: &Blocks) -> Schedule {
    let mut steps = Schedule::new();
    for block in 0..comm.size {
        let place = blocks.block(Buffer::Scratch, mirror(block, comm.size));
        steps.copy(blocks.block(Buffer::Send, block), place);
    }
    let (mut from, mut to) = (0, comm.size);
    for distance in doubling(comm.size) {
        let peer = comm.me ^ distance;
        let middle = from + (to - from) / 2;
        let (lower, upper) = (from..middle, middle..to);
        let (keep, give) = if comm.me < peer { (lower, upper) } else { (upper, lower) };
        let kept = blocks.blocks(Buffer::Scratch, keep.clone());
        steps.exchange(peer, blocks.blocks(Buffer::Scratch, give), incoming(kept, blocks));
        steps.reduce_in_order(peer, comm.me, incoming(kept, blocks), kept);
        (from, to) = (keep.start, keep.end);
    }
    steps.copy(blocks.block(Buffer::Scratch, from), own_result(comm, blocks));
    steps
}

/// [`ReduceScatter::BinomialLinear`] (`nbc_reduce_scatter_init`).
pub(in crate::collectives) fn binomial_linear(comm: Comm, blocks: &Blocks) -> Schedule {
    let mut steps = Schedule::new();
    let tree = Tree::binomial(comm, 0);
    let (own, all) = (Buffer::Send.first(blocks.total()), whole(blocks));
    let reduced = reduce::one_by_one(&mut steps, &tree, own, all, incoming(all, blocks));
    match tree.parent {
        Some(_) => steps.recv(0, own_result(comm, blocks)),
        None => {
            for member in comm.others() {
                steps.isend(member, blocks.block(Buffer::Scratch, member));
            }
            if comm.size > 1 {
                steps.wait_all();
            }
            let first = own_result(comm, blocks);
            steps.copy(Slice { buffer: reduced.buffer, ..first }, first);
        }
    }
    steps
}

/// [`ReduceScatter::AllToAll`].
pub(in crate::collectives) fn all_to_all(comm: Comm, blocks: &Blocks) -> Schedule {
    from_all(comm, |member| blocks.block(Buffer::Send, member), own_result(comm, blocks))
}

/// Everyone sends each other member a part, and reduces all parts that it gets in the order of ranks.
pub(in crate::collectives) fn from_all(comm: Comm, part: impl Fn(Member) -> Slice, result: Slice) -> Schedule {
    let mut steps = Schedule::new();
    let arrived = |member: u32| Buffer::Scratch.at(result.len.0.saturating_mul(u64::from(member)), result.len.0);
    for member in comm.others() {
        steps.isend(member, part(member));
        steps.irecv(member, arrived(member));
    }
    steps.wait_all();
    steps.copy(part(comm.me), result);
    for member in (0..comm.me).rev() {
        steps.reduce_left(arrived(member), result);
    }
    for member in comm.me + 1..comm.size {
        steps.reduce_right(arrived(member), result);
    }
    steps
}
