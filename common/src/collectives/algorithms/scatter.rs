//! Scatters from a root. Sources: Open MPI 4.1 `coll_base_scatter.c`, `coll_basic_scatterv.c`; MPICH 4.0
//! `scatter_intra_binomial.c`, `scatterv_allcomm_linear.c`; SimGrid 3.32 `smpi_nbc_impl.cpp`.

use super::algorithms;
use super::blocks::Blocks;
use super::comm::{Comm, doubling};
use super::schedule::{Empty, Schedule};
use crate::collectives::step::{Buffer, Member};

algorithms! {
    /// The algorithms of a scatter of blocks of one length.
    Scatter {
        /// The root sends to one member after the other.
        Linear = "linear" | "basic_linear",
        /// The root sends to all at once.
        LinearNonblocking = "linear_nb",
        /// Down a binomial tree.
        Binomial = "binomial",
        /// Among the members in the root's place of their nodes, and within each node (Open MPI).
        Han = "han",
    }
}

algorithms! {
    /// The algorithms of a scatter of blocks of any lengths.
    Scatterv {
        /// The root sends to one member after the other.
        Linear = "basic_linear",
        /// The root sends to all at once.
        LinearNonblocking = "linear_nb",
    }
}

/// The steps of a scatter of blocks of one length.
pub(in crate::collectives) fn scatter(algorithm: Scatter, comm: Comm, root: Member, block: u64) -> Schedule {
    let blocks = Blocks::Equal { count: comm.size, len: block };
    match algorithm {
        Scatter::Linear => scatterv(Scatterv::Linear, comm, root, block, &blocks, Empty::Sent),
        Scatter::LinearNonblocking => scatterv(Scatterv::LinearNonblocking, comm, root, block, &blocks, Empty::Sent),
        Scatter::Binomial => binomial(comm, root, &blocks),
        Scatter::Han => Schedule::new(), // `han`
    }
}

/// The steps of a scatter of blocks of any lengths; only the root knows them all.
pub(in crate::collectives) fn scatterv(
    algorithm: Scatterv,
    comm: Comm,
    root: Member,
    own: u64,
    blocks: &Blocks,
    empty: Empty,
) -> Schedule {
    let mut steps = Schedule::with(empty);
    if comm.me != root {
        steps.recv(root, Buffer::Recv.first(own));
        return steps;
    }
    let mine = blocks.block(Buffer::Send, comm.me);
    steps.copy(mine, Buffer::Recv.first(mine.len.0));
    for member in comm.others() {
        let theirs = blocks.block(Buffer::Send, member);
        match algorithm {
            Scatterv::Linear => steps.send(member, theirs),
            Scatterv::LinearNonblocking => steps.isend(member, theirs),
        }
    }
    if algorithm == Scatterv::LinearNonblocking {
        steps.wait_all();
    }
    steps
}

/// Each place gets the blocks of its subtree, a run of places counted from the root. Where the root is not member 0, it
/// first puts them in that order.
fn binomial(comm: Comm, root: Member, blocks: &Blocks) -> Schedule {
    let mut steps = Schedule::new();
    let place = comm.place(root);
    let block = blocks.len(0);
    let held = if comm.me == root && root == 0 { Buffer::Send } else { Buffer::Scratch };
    let span = |from: u32, to: u32| {
        let start = block.saturating_mul(u64::from(from - place));
        held.at(start, block.saturating_mul(u64::from(to - from)))
    };
    let own = Buffer::Recv.first(block);
    let subtree = match place {
        0 => comm.size,
        _ => place & place.wrapping_neg(),
    };
    let end = place.saturating_add(subtree).min(comm.size);
    let is_leaf = end == place + 1 && place > 0;

    if comm.me != root {
        let parent = comm.at_place(place & (place - 1), root);
        steps.recv(parent, if is_leaf { own } else { span(place, end) });
    } else if root > 0 {
        let before_the_end = comm.size - root;
        steps.copy(blocks.blocks(Buffer::Send, root..comm.size), span(0, before_the_end));
        steps.copy(blocks.blocks(Buffer::Send, 0..root), span(before_the_end, comm.size));
    }
    if !is_leaf {
        steps.copy(span(place, place + 1), own);
    }
    for distance in doubling(subtree).rev() {
        let from = place + distance;
        if from < comm.size {
            let to = from.saturating_add(distance).min(comm.size);
            steps.send(comm.at_place(from, root), span(from, to));
        }
    }
    steps
}
