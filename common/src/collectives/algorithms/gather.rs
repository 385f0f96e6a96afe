//! Gather algorithms. Sources: Open MPI 4.1 `coll_base_gather.c`, `coll_basic_gatherv.c`; MPICH 4.0
//! `gather_intra_binomial.c`, `gatherv_allcomm_linear.c`; SimGrid 3.32 `smpi_nbc_impl.cpp`.

use super::algorithms;
use super::blocks::{Blocks, Data};
use super::comm::{Comm, doubling};
use super::schedule::{Empty, Schedule};
use crate::collectives::step::{Buffer, Member};

algorithms! {
    /// The algorithms of a gather of blocks of one length.
    Gather {
        /// The root receives from one member after the other.
        Linear = "linear" | "basic_linear",
        /// The root receives from all at once.
        LinearNonblocking = "linear_nb",
        /// The root asks each member for its first segment, and the rest follows.
        LinearSync = "linear_sync",
        /// Up a binomial tree.
        Binomial = "binomial",
        /// Within each node, and among the members in the root's place of their nodes (Open MPI).
        Han = "han",
    }
}

algorithms! {
    /// The algorithms of a gather of blocks of any lengths.
    Gatherv {
        /// The root receives from one member after the other.
        Linear = "basic_linear",
        /// The root receives from all at once.
        LinearNonblocking = "linear_nb",
    }
}

/// The steps of a gather of blocks of one length.
pub(in crate::collectives) fn gather(
    algorithm: Gather,
    comm: Comm,
    root: Member,
    block: Data,
    segment: u64,
) -> Schedule {
    let blocks = Blocks::Equal { count: comm.size, len: block.bytes };
    match algorithm {
        Gather::Linear => gatherv(Gatherv::Linear, comm, root, block.bytes, &blocks, Empty::Sent),
        Gather::LinearNonblocking => gatherv(Gatherv::LinearNonblocking, comm, root, block.bytes, &blocks, Empty::Sent),
        Gather::LinearSync => linear_sync(comm, root, block, segment),
        Gather::Binomial => binomial(comm, root, &blocks),
        Gather::Han => Schedule::new(), // `han`
    }
}

/// The steps of a gather of blocks of any lengths; only the root knows them all.
pub(in crate::collectives) fn gatherv(
    algorithm: Gatherv,
    comm: Comm,
    root: Member,
    own: u64,
    blocks: &Blocks,
    empty: Empty,
) -> Schedule {
    let mut steps = Schedule::with(empty);
    if comm.me != root {
        match algorithm {
            Gatherv::Linear => steps.send(root, Buffer::Send.first(own)),
            Gatherv::LinearNonblocking => {
                steps.isend(root, Buffer::Send.first(own));
                steps.wait_all();
            }
        }
        return steps;
    }
    let result = blocks.block(Buffer::Recv, comm.me);
    steps.copy(Buffer::Send.first(result.len.0), result);
    for member in comm.others() {
        let theirs = blocks.block(Buffer::Recv, member);
        match algorithm {
            Gatherv::Linear => steps.recv(member, theirs),
            Gatherv::LinearNonblocking => steps.irecv(member, theirs),
        }
    }
    if algorithm == Gatherv::LinearNonblocking {
        steps.wait_all();
    }
    steps
}

fn linear_sync(comm: Comm, root: Member, block: Data, segment: u64) -> Schedule {
    let mut steps = Schedule::new();
    let go_ahead = Buffer::Scratch.first(0);
    let first = block.elements(Buffer::Send, 0..block.segment_elements(segment)).len.0;
    let rest = block.bytes - first;
    if comm.me != root {
        steps.recv(root, go_ahead);
        steps.send(root, Buffer::Send.first(first));
        steps.send(root, Buffer::Send.at(first, rest));
        return steps;
    }
    let start = |member: Member| block.bytes.saturating_mul(u64::from(member));
    for (already_pending, member) in comm.others().enumerate() {
        steps.irecv(member, Buffer::Recv.at(start(member), first));
        steps.send(member, go_ahead);
        steps.irecv(member, Buffer::Recv.at(start(member).saturating_add(first), rest));
        steps.wait(already_pending as u32);
    }
    steps.copy(block.whole(Buffer::Send), Buffer::Recv.at(start(comm.me), block.bytes));
    steps.wait_all();
    steps
}

/// A subtree is a run of places counted from the root, so its blocks are gathered side by side in that order; at the root
/// they end where they belong.
fn binomial(comm: Comm, root: Member, blocks: &Blocks) -> Schedule {
    let mut steps = Schedule::new();
    let place = comm.place(root);
    let block = blocks.len(0);
    let span = |from: u32, to: u32| {
        let start = block.saturating_mul(u64::from(from - place));
        Buffer::Scratch.at(start, block.saturating_mul(u64::from(to - from)))
    };
    let own = Buffer::Send.first(block);
    let children: Vec<(u32, u32)> = doubling(comm.size)
        .take_while(|&distance| place & distance == 0)
        .map(|distance| (place + distance, (place + distance).saturating_add(distance).min(comm.size)))
        .filter(|&(from, to)| from < to)
        .collect();
    let end = children.last().map_or(place + 1, |&(_, to)| to);

    if comm.me == root {
        steps.copy(own, blocks.block(Buffer::Recv, root));
    } else if !children.is_empty() {
        steps.copy(own, span(place, place + 1));
    }
    for (from, to) in children {
        let first = comm.at_place(from, root);
        let wraps = first + (to - from) > comm.size;
        let landing = if comm.me == root && !wraps {
            blocks.blocks(Buffer::Recv, first..first + (to - from))
        } else {
            span(from, to)
        };
        steps.recv(first, landing);
        if comm.me == root && wraps {
            let before_the_end = comm.size - first;
            steps.copy(span(from, from + before_the_end), blocks.blocks(Buffer::Recv, first..comm.size));
            steps.copy(span(from + before_the_end, to), blocks.blocks(Buffer::Recv, 0..to - from - before_the_end));
        }
    }
    if comm.me != root {
        let parent = comm.at_place(place & (place - 1), root);
        steps.send(parent, if end == place + 1 { own } else { span(place, end) });
    }
    steps
}
