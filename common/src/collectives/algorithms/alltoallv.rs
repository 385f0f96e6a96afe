//! All-to-all exchanges of blocks of any lengths. Sources: Open MPI 4.1 `coll_base_alltoallv.c`,
//! `coll_basic_alltoallw.c`; MPICH 4.0 `alltoallv_intra_scattered.c`; SimGrid 3.32 `smpi_nbc_impl.cpp`. A member's
//! message to itself is a copy.

use super::algorithms;
use super::blocks::Blocks;
use super::comm::Comm;
use super::schedule::{Empty, Schedule};
use crate::collectives::step::{Buffer, Slice};

algorithms! {
    /// The algorithms of an all-to-all of blocks of any lengths.
    Alltoallv {
        /// Everyone exchanges with everyone at once.
        Linear = "linear" | "basic_linear",
        /// Exchanges one after the other: to the member *i* places on, from the one *i* places before.
        Pairwise = "pairwise",
        /// Everyone exchanges with everyone, 32 at once (MPICH).
        Scattered = "scattered",
    }
}

/// Number of concurrent exchanges in [`Alltoallv::Scattered`] (`MPIR_CVAR_ALLTOALL_THROTTLE`).
const AT_ONCE: u32 = 32;

/// The steps of an all-to-all of blocks of any lengths.
pub(in crate::collectives) fn alltoallv(
    algorithm: Alltoallv,
    comm: Comm,
    sends: &Blocks,
    recvs: &Blocks,
    empty: Empty,
) -> Schedule {
    match algorithm {
        Alltoallv::Linear => linear(comm, sends, recvs, empty),
        Alltoallv::Pairwise => pairwise(comm, sends, recvs, empty),
        Alltoallv::Scattered => scattered(comm, sends, recvs, empty),
    }
}

/// A member's message to itself, and room for those to and from the others.
pub(super) fn own_block(comm: Comm, sends: &Blocks, recvs: &Blocks, empty: Empty) -> Schedule {
    let mut steps = Schedule::with(empty);
    // A send to and a receive from each, and sometimes a wait.
    steps.reserve(comm.size.saturating_mul(2).saturating_add(comm.size / AT_ONCE));
    let (from, to) = (sends.block(Buffer::Send, comm.me), recvs.block(Buffer::Recv, comm.me));
    let len = from.len.min(to.len);
    steps.copy(Slice { len, ..from }, Slice { len, ..to });
    steps
}

fn linear(comm: Comm, sends: &Blocks, recvs: &Blocks, empty: Empty) -> Schedule {
    let mut steps = own_block(comm, sends, recvs, empty);
    for member in comm.others() {
        steps.irecv(member, recvs.block(Buffer::Recv, member));
    }
    for member in comm.others() {
        steps.isend(member, sends.block(Buffer::Send, member));
    }
    steps.wait_all();
    steps
}

fn pairwise(comm: Comm, sends: &Blocks, recvs: &Blocks, empty: Empty) -> Schedule {
    let mut steps = own_block(comm, sends, recvs, empty);
    for (to, from) in comm.others_after().zip(comm.others_before()) {
        steps.sendrecv(to, sends.block(Buffer::Send, to), from, recvs.block(Buffer::Recv, from));
    }
    steps
}

/// [`Alltoallv::Scattered`].
fn scattered(comm: Comm, sends: &Blocks, recvs: &Blocks, empty: Empty) -> Schedule {
    let mut steps = own_block(comm, sends, recvs, empty);
    for first in (0..comm.size).step_by(AT_ONCE as usize) {
        let distances = first.max(1)..first.saturating_add(AT_ONCE).min(comm.size);
        for member in distances.clone().map(|distance| comm.after(distance)) {
            steps.irecv(member, recvs.block(Buffer::Recv, member));
        }
        for member in distances.map(|distance| comm.before(distance)) {
            steps.isend(member, sends.block(Buffer::Send, member));
        }
        steps.wait_all();
    }
    steps
}
