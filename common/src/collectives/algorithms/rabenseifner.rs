//! Rabenseifner's algorithm: a reduce-scatter by recursive halving, in which partners at distances 1, 2, 4, … share the
//! work on ever smaller parts of the vector, followed by a gather of the parts at the root, or by an allgather
//! (Rabenseifner: "Optimization of Collective Reduction Operations", ICCS 2004, LNCS 3036; Thakur et al., IJHPCA 19(1),
//! 2005, section 4.5; Open MPI 4.1 `*_intra_redscat_*`; MPICH 4.0 `*_reduce_scatter_*`).
//!
//! The vector has at least as many elements as there are members in the halving.

use super::blocks::{Blocks, Data};
use super::comm::{Comm, Fold, Role, Survivor, doubling};
use super::schedule::Schedule;
use crate::collectives::step::{Buffer, Member, Slice};

/// A library's division of the vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collectives) enum Variant {
    /// Each part in halves; members that pair up beforehand share that work too (Open MPI).
    Halves,
    /// Into one block of nearly equal length for each member that takes part (MPICH).
    Blocks,
}

/// An exchange of the halving: I keep one part and give the other to my peer, which keeps it.
struct Halving {
    peer: u32,
    keep: Part,
    give: Part,
}

/// A part of the vector: its bytes from here to there.
#[derive(Clone, Copy)]
struct Part(u64, u64);

impl Part {
    fn within(self, buffer: Buffer) -> Slice {
        buffer.at(self.0, self.1 - self.0)
    }
}

/// The exchanges of the member with this rank among `size` (a power of two).
fn halvings(variant: Variant, rank: u32, size: u32, data: Data) -> Vec<Halving> {
    let blocks = Blocks::Balanced { count: size, data };
    // Unit: elements, or blocks.
    let (mut low, mut high) = match variant {
        Variant::Halves => (0, data.count()),
        Variant::Blocks => (0, u64::from(size)),
    };
    let bytes = |from: u64, to: u64| match variant {
        Variant::Halves => {
            let slice = data.elements(Buffer::Recv, from..to);
            Part(slice.offset.0, slice.offset.0 + slice.len.0)
        }
        Variant::Blocks => Part(blocks.start(from as u32), blocks.start(to as u32)),
    };
    doubling(size)
        .map(|distance| {
            let peer = rank ^ distance;
            let middle = low + (high - low) / 2;
            let (lower, upper) = (bytes(low, middle), bytes(middle, high));
            if rank < peer {
                high = middle;
                Halving { peer, keep: lower, give: upper }
            } else {
                low = middle;
                Halving { peer, keep: upper, give: lower }
            }
        })
        .collect()
}

/// A reduction to a root.
pub(in crate::collectives) fn reduce(variant: Variant, comm: Comm, root: Member, data: Data) -> Schedule {
    let mut steps = Schedule::new();
    let fold = Fold::new(comm.size, Survivor::Even);
    let result = if comm.me == root { Buffer::Recv } else { Buffer::Scratch };
    let mut rank = reduce_scatter(&mut steps, variant, comm, fold, data, result);

    // A root that gave its data away takes the place of rank 0.
    let root_rank = match fold.role(root) {
        Role::Alone(rank) | Role::Takes(_, rank) => rank,
        Role::Gives(_) => 0,
    };
    let is_replaced = matches!(fold.role(root), Role::Gives(_));
    let first = fold.member(0);
    if is_replaced && (comm.me == root || comm.me == first) {
        let part =
            halvings(variant, 0, fold.size, data).last().map_or(data.whole(result), |last| last.keep.within(result));
        if comm.me == root {
            steps.recv(first, part);
            rank = Some(0);
        } else {
            steps.send(root, part);
            rank = None;
        }
    }
    let Some(rank) = rank else {
        return steps;
    };
    for halving in halvings(variant, rank, fold.size, data).iter().rev() {
        let distance = rank ^ halving.peer;
        let peer = if is_replaced && halving.peer == 0 { root } else { fold.member(halving.peer) };
        if halving.peer / distance == root_rank / distance {
            steps.send(peer, halving.keep.within(result));
            break;
        }
        steps.recv(peer, halving.give.within(result));
    }
    steps
}

/// A reduction to all.
pub(in crate::collectives) fn allreduce(variant: Variant, comm: Comm, data: Data) -> Schedule {
    let mut steps = Schedule::new();
    let survivor = match variant {
        Variant::Halves => Survivor::Even,
        Variant::Blocks => Survivor::Odd,
    };
    let fold = Fold::new(comm.size, survivor);
    let result = Buffer::Recv;
    if let Some(rank) = reduce_scatter(&mut steps, variant, comm, fold, data, result) {
        for halving in halvings(variant, rank, fold.size, data).iter().rev() {
            let peer = fold.member(halving.peer);
            steps.exchange(peer, halving.keep.within(result), halving.give.within(result));
        }
    }
    match fold.role(comm.me) {
        Role::Gives(partner) => steps.recv(partner, data.whole(result)),
        Role::Takes(partner, _) => steps.send(partner, data.whole(result)),
        Role::Alone(_) => {}
    }
    steps
}

/// The first phase; gives my rank among those who hold a part of the result then.
fn reduce_scatter(
    steps: &mut Schedule,
    variant: Variant,
    comm: Comm,
    fold: Fold,
    data: Data,
    result: Buffer,
) -> Option<u32> {
    // The scratch space may hold the result; received data is behind it.
    let incoming = |slice: Slice| Buffer::Scratch.at(slice.offset.0.saturating_add(data.bytes), slice.len.0);
    let whole = data.whole(result);
    steps.copy(data.whole(Buffer::Send), whole);

    let middle = data.count() / 2;
    let left = data.elements(result, 0..middle);
    let right = data.elements(result, middle..data.count());
    let rank = match (fold.role(comm.me), variant) {
        (Role::Alone(rank), _) => rank,
        (Role::Gives(partner), Variant::Halves) => {
            // I reduce the right half, which my partner, at my left, gets back.
            steps.exchange(partner, left, incoming(right));
            steps.reduce_in_order(partner, comm.me, incoming(right), right);
            steps.send(partner, right);
            return None;
        }
        (Role::Takes(partner, rank), Variant::Halves) => {
            steps.exchange(partner, right, incoming(left));
            steps.reduce_in_order(partner, comm.me, incoming(left), left);
            steps.recv(partner, right);
            rank
        }
        (Role::Gives(partner), Variant::Blocks) => {
            steps.send(partner, whole);
            return None;
        }
        (Role::Takes(partner, rank), Variant::Blocks) => {
            steps.recv(partner, incoming(whole));
            steps.reduce_in_order(partner, comm.me, incoming(whole), whole);
            rank
        }
    };
    for halving in halvings(variant, rank, fold.size, data) {
        let keep = halving.keep.within(result);
        steps.exchange(fold.member(halving.peer), halving.give.within(result), incoming(keep));
        steps.reduce_in_order(halving.peer, rank, incoming(keep), keep);
    }
    Some(rank)
}
