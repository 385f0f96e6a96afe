//! All-to-all exchanges of blocks of equal length. Sources: Open MPI 4.1 `coll_base_alltoall.c`, `nbc_ialltoall.c`;
//! MPICH 4.0 `alltoall_intra_*.c`; Bruck et al., IEEE TPDS 8(11), 1997; Thakur et al., IJHPCA 19(1), 2005, section 4.3.
//! A member's message to itself is a copy.

use super::algorithms;
use super::alltoallv::{self, Alltoallv};
use super::blocks::Blocks;
use super::comm::{Comm, doubling};
use super::schedule::{Empty, Schedule};
use crate::collectives::step::Buffer;

algorithms! {
    /// The algorithms of an all-to-all.
    Alltoall {
        /// Everyone exchanges with everyone at once.
        Linear = "linear" | "basic_linear",
        /// Everyone exchanges with everyone at once, in the order of members (`libnbc`).
        LinearInOrder = "linear_in_order",
        /// Exchanges one after the other: to the member *i* places on, from the one *i* places before.
        Pairwise = "pairwise_shift",
        /// Exchanges as in the pairwise shift; where the size is a power of two, with the member whose rank differs by
        /// exclusive or with *i* (MPICH).
        PairwiseXor = "pairwise_xor",
        /// Blocks travel by the binary digits of their distance, many in one message.
        Bruck = "modified_bruck" | "bruck" | "brucks",
        /// Everyone exchanges with everyone, a limited number at once; by default there is no limit.
        LinearSync = "linear_sync",
        /// Two members exchange their blocks.
        TwoProc = "two_proc",
        /// Everyone exchanges with everyone, 32 at once (MPICH).
        Scattered = "scattered",
    }
}

/// The steps of an all-to-all.
pub(in crate::collectives) fn alltoall(algorithm: Alltoall, comm: Comm, block: u64) -> Schedule {
    let blocks = Blocks::Equal { count: comm.size, len: block };
    let by = |algorithm| alltoallv::alltoallv(algorithm, comm, &blocks, &blocks, Empty::Sent);
    match algorithm {
        Alltoall::Linear | Alltoall::LinearSync => linear(comm, &blocks),
        Alltoall::LinearInOrder => by(Alltoallv::Linear),
        Alltoall::PairwiseXor if comm.is_power_of_two() => pairwise_xor(comm, &blocks),
        Alltoall::Pairwise | Alltoall::TwoProc | Alltoall::PairwiseXor => by(Alltoallv::Pairwise),
        Alltoall::Bruck => bruck(comm, &blocks),
        Alltoall::Scattered => by(Alltoallv::Scattered),
    }
}

fn linear(comm: Comm, blocks: &Blocks) -> Schedule {
    let mut steps = alltoallv::own_block(comm, blocks, blocks, Empty::Sent);
    for member in comm.others_after() {
        steps.irecv(member, blocks.block(Buffer::Recv, member));
    }
    for member in comm.others_before() {
        steps.isend(member, blocks.block(Buffer::Send, member));
    }
    steps.wait_all();
    steps
}

fn pairwise_xor(comm: Comm, blocks: &Blocks) -> Schedule {
    let mut steps = alltoallv::own_block(comm, blocks, blocks, Empty::Sent);
    for peer in (1..comm.size).map(|distance| comm.me ^ distance) {
        steps.exchange(peer, blocks.block(Buffer::Send, peer), blocks.block(Buffer::Recv, peer));
    }
    steps
}

/// The blocks are first sorted by their distance. In the round for each binary digit, the blocks whose distance has
/// that digit travel that far; they form runs as long as the digit's value.
fn bruck(comm: Comm, blocks: &Blocks) -> Schedule {
    let mut steps = Schedule::new();
    let len = |count: u32| blocks.len(0).saturating_mul(u64::from(count));
    let rotated = |from: u32, to: u32| Buffer::Scratch.at(len(from), len(to - from));
    let packed = |from: u32, to: u32| Buffer::Scratch.at(len(from).saturating_add(len(comm.size)), len(to - from));

    let before_the_end = comm.size - comm.me;
    steps.copy(blocks.blocks(Buffer::Send, comm.me..comm.size), rotated(0, before_the_end));
    steps.copy(blocks.blocks(Buffer::Send, 0..comm.me), rotated(before_the_end, comm.size));
    for distance in doubling(comm.size) {
        let runs = (distance..comm.size)
            .step_by(2 * distance as usize)
            .map(|from| (from, (from + distance).min(comm.size)))
            .scan(0, |end, (from, to)| {
                let start = *end;
                *end += to - from;
                Some((rotated(from, to), (start, *end)))
            });
        let mut count = 0;
        for (blocks, (start, end)) in runs.clone() {
            steps.copy(blocks, packed(start, end));
            count = end;
        }
        let arrived = |start: u32, end: u32| packed(count + start, count + end);
        steps.sendrecv(comm.after(distance), packed(0, count), comm.before(distance), arrived(0, count));
        for (blocks, (start, end)) in runs {
            steps.copy(arrived(start, end), blocks);
        }
    }
    for distance in 0..comm.size {
        steps.copy(rotated(distance, distance + 1), blocks.block(Buffer::Recv, comm.before(distance)));
    }
    steps
}
