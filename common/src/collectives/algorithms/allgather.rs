//! Allgather algorithms. Sources: Open MPI 4.1 `coll_base_allgather.c`, `coll_base_allgatherv.c`, `nbc_iallgatherv.c`;
//! MPICH 4.0 `allgather_intra_*.c`, `allgatherv_intra_*.c`; SimGrid 3.32 `smpi_nbc_impl.cpp`; Bruck et al.: "Efficient
//! Algorithms for All-to-All Communications in Multiport Message-Passing Systems", IEEE TPDS 8(11), 1997; Chen et al.:
//! "Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast Ethernet", HPC-Asia 2005
//! (neighbour exchange).

use super::algorithms;
use super::blocks::{Blocks, MOST_SEGMENTS};
use super::comm::{Comm, doubling};
use super::schedule::{Empty, Schedule};
use crate::collectives::step::{Buffer, Member};

algorithms! {
    /// The algorithms of an allgather of blocks of one length.
    Allgather {
        /// A gather at member 0, then a broadcast, each as its own rules say.
        Linear = "linear" | "gather_bcast",
        /// Each round fetches what the member 1, 2, 4, … places on has, whatever the size.
        Bruck = "bruck" | "brucks",
        /// Groups of 1, 2, 4, … members exchange all they have.
        RecursiveDoubling = "recursive_doubling",
        /// Blocks go around the ring.
        Ring = "ring",
        /// Pairs exchange with the pair to the left and the pair to the right by turns.
        NeighborExchange = "neighbor" | "neighbor_exchange",
        /// Two members exchange their blocks.
        TwoProc = "two_proc",
        /// Everyone sends to everyone (SimGrid).
        Spread = "spreading_simple",
        /// Within each node to its first member, among these, and within each node (Open MPI).
        Han = "han",
    }
}

algorithms! {
    /// The algorithms of an allgather of blocks of any lengths.
    Allgatherv {
        /// A gather at member 0, then a broadcast, each as its own rules say.
        Linear = "linear" | "gatherv_bcast",
        /// Each round fetches what the member 1, 2, 4, … places on has, whatever the size.
        Bruck = "bruck" | "brucks",
        /// Groups of 1, 2, 4, … members exchange all they have.
        RecursiveDoubling = "recursive_doubling",
        /// Blocks go around the ring.
        Ring = "ring_blocks",
        /// Blocks go around the ring in chunks of at most 32 KiB (MPICH).
        PipelinedRing = "ring_chunks",
        /// Pairs exchange with the pair to the left and the pair to the right by turns.
        NeighborExchange = "neighbor" | "neighbor_exchange",
        /// Two members exchange their blocks.
        TwoProc = "two_proc",
        /// Everyone sends to everyone (SimGrid).
        Spread = "spreading_simple",
        /// Everyone sends to everyone, the next member first (`libnbc`).
        SpreadAround = "spreading_around",
    }
}

/// Puts a member's own block where the result will be.
pub(in crate::collectives) fn own_block(comm: Comm, blocks: &Blocks) -> Schedule {
    let mut steps = Schedule::new();
    let own = blocks.block(Buffer::Recv, comm.me);
    steps.copy(Buffer::Send.first(own.len.0), own);
    steps
}

/// [`Allgather::Bruck`]: blocks are collected in the order that begins with my own.
pub(in crate::collectives) fn bruck(comm: Comm, blocks: &Blocks) -> Schedule {
    let mut steps = Schedule::new();
    let first = |count: u32| Buffer::Scratch.first(blocks.len_around(comm.me, count));
    steps.copy(Buffer::Send.first(blocks.len(comm.me)), first(1));
    for distance in doubling(comm.size) {
        let count = distance.min(comm.size - distance);
        let from = comm.after(distance);
        let landing = Buffer::Scratch.at(first(distance).len.0, blocks.len_around(from, count));
        steps.sendrecv(comm.before(distance), first(count), from, landing);
    }
    let tail = blocks.blocks(Buffer::Recv, comm.me..comm.size);
    let head = blocks.blocks(Buffer::Recv, 0..comm.me);
    steps.copy(Buffer::Scratch.first(tail.len.0), tail);
    steps.copy(Buffer::Scratch.at(tail.len.0, head.len.0), head);
    steps
}

/// [`Allgather::RecursiveDoubling`] of blocks in `buffer` that are numbered from `root`. If the size is not a power of
/// two, some members of a group may have no partner; those with a partner forward what they got, by recursive halving.
pub(in crate::collectives) fn recursive_doubling(
    steps: &mut Schedule,
    comm: Comm,
    root: Member,
    blocks: &Blocks,
    buffer: Buffer,
) {
    let place = comm.place(root);
    let group = |member: u32, size: u32| {
        let first = member & !(size - 1);
        blocks.blocks(buffer, first..first.saturating_add(size).min(comm.size))
    };
    for distance in doubling(comm.size) {
        let peer = place ^ distance;
        if peer < comm.size {
            steps.exchange(comm.at_place(peer, root), group(place, distance), group(peer, distance));
        }
        let beside = peer & !(distance - 1);
        if beside < comm.size && comm.size < beside.saturating_add(distance) {
            pass_on(comm.size - beside, place, distance, |to_or_from, is_mine| {
                let member = comm.at_place(to_or_from, root);
                if is_mine {
                    steps.send(member, group(beside, distance));
                } else {
                    steps.recv(member, group(beside, distance));
                }
            });
        }
    }
}

/// In a group of `size` members, the first `served` have data that the others need: the messages by which they forward
/// it, from the view of `place`. `transfer` gets the other's place, and whether to send.
pub(in crate::collectives) fn pass_on(served: u32, place: u32, size: u32, mut transfer: impl FnMut(u32, bool)) {
    for distance in doubling(size).rev() {
        let peer = place ^ distance;
        let limit = (place & !(2 * distance - 1)) + served;
        if peer > place && place < limit && peer >= limit {
            transfer(peer, true);
        } else if peer < place && peer < limit && place >= limit {
            transfer(peer, false);
        }
    }
}

/// [`Allgather::Ring`] of blocks that belong to places counted from `root`.
pub(in crate::collectives) fn ring(steps: &mut Schedule, comm: Comm, root: Member, blocks: &Blocks) {
    let place = Comm { me: comm.place(root), size: comm.size };
    for round in 0..comm.size - 1 {
        let mine = blocks.block(Buffer::Recv, place.before(round));
        let next = blocks.block(Buffer::Recv, place.before(round + 1));
        steps.sendrecv(comm.after(1), mine, comm.before(1), next);
    }
}

/// Length of a chunk in [`Allgatherv::PipelinedRing`] (`MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE`).
const CHUNK: u64 = 32_768;

/// [`Allgatherv::PipelinedRing`]: sending and receiving traverse the blocks independently, one chunk of each per round.
/// An empty block takes a round, but no message.
pub(in crate::collectives) fn pipelined_ring(comm: Comm, blocks: &Blocks, element: u64) -> Schedule {
    let mut steps = Schedule::with(Empty::Skipped);
    steps.append(own_block(comm, blocks));
    let chunk = (CHUNK / element * element).max(element).max(blocks.total() / MOST_SEGMENTS);
    // All chunks of the blocks from `first` on, backwards around the ring.
    let chunks = |first: Member| {
        let ring = Comm { me: first, ..comm };
        (0..comm.size - 1).flat_map(move |round| {
            let block = blocks.block(Buffer::Recv, ring.before(round));
            (0..block.len.0.div_ceil(chunk).max(1)).map(move |index| {
                let start = index * chunk;
                Buffer::Recv.at(block.offset.0 + start, chunk.min(block.len.0 - start))
            })
        })
    };
    let nothing = Buffer::Recv.first(0);
    let (mut outgoing, mut incoming) = (chunks(comm.me), chunks(comm.before(1)));
    loop {
        let (send, recv) = (outgoing.next(), incoming.next());
        if send.is_none() && recv.is_none() {
            return steps;
        }
        steps.sendrecv(comm.after(1), send.unwrap_or(nothing), comm.before(1), recv.unwrap_or(nothing));
    }
}

/// [`Allgather::NeighborExchange`] among an even number of members: after the first exchange each pair (2*i*, 2*i*+1)
/// has two blocks; then each member forwards its latest pair of blocks, alternately to both sides.
pub(in crate::collectives) fn neighbor_exchange(steps: &mut Schedule, comm: Comm, blocks: &Blocks) {
    let pair = |first: Member| blocks.blocks(Buffer::Recv, first..first + 2);
    let is_even = comm.me.is_multiple_of(2);
    let (partner, neighbor) = match is_even {
        true => (comm.after(1), comm.before(1)),
        false => (comm.before(1), comm.after(1)),
    };
    let own = |member: Member| blocks.block(Buffer::Recv, member);
    steps.exchange(partner, own(comm.me), own(partner));

    let mine = Comm { me: comm.me & !1, ..comm };
    let mut latest = mine.me;
    for round in 1..comm.size / 2 {
        // The pairs arrive in the order of their distance from mine, from either side by turns.
        let distance = 2 * round.div_ceil(2);
        let goes_left = (round % 2 == 1) == is_even;
        let next = if goes_left { mine.before(distance) } else { mine.after(distance) };
        let peer = if round % 2 == 1 { neighbor } else { partner };
        steps.exchange(peer, pair(latest), pair(next));
        latest = next;
    }
}

/// [`Allgather::Spread`].
pub(in crate::collectives) fn spread(steps: &mut Schedule, comm: Comm, blocks: &Blocks) {
    let own = Buffer::Send.first(blocks.len(comm.me));
    for member in comm.others() {
        steps.isend(member, own);
        steps.irecv(member, blocks.block(Buffer::Recv, member));
    }
    steps.wait_all();
}

/// [`Allgatherv::SpreadAround`].
pub(in crate::collectives) fn spread_around(steps: &mut Schedule, comm: Comm, blocks: &Blocks) {
    let own = Buffer::Send.first(blocks.len(comm.me));
    for (to, from) in comm.others_after().zip(comm.others_before()) {
        steps.irecv(from, blocks.block(Buffer::Recv, from));
        steps.isend(to, own);
    }
    steps.wait_all();
}
