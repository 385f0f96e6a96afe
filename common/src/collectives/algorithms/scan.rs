//! Prefix reductions, inclusive and exclusive. Sources: Open MPI 4.1 `coll_base_scan.c`, `coll_base_exscan.c`; MPICH
//! 4.0 `scan_intra_recursive_doubling.c`, `exscan_intra_recursive_doubling.c`; SimGrid 3.32 `smpi_coll.cpp`. All
//! preserve the order of ranks. Member 0 gets nothing from an exclusive one.

use super::algorithms;
use super::blocks::Data;
use super::comm::{Comm, doubling};
use super::schedule::Schedule;
use crate::collectives::step::Buffer;

algorithms! {
    /// The algorithms of a prefix reduction.
    Scan {
        /// From member to member.
        Linear = "linear" | "basic_linear",
        /// Everyone sends to all members after it.
        AllToAfter = "linear_nb",
        /// Groups of 1, 2, 4, … members exchange what they have reduced with the group beside them.
        RecursiveDoubling = "recursive_doubling",
    }
}

/// Whether a member's own data is part of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collectives) enum Own {
    Included,
    Excluded,
}

/// The steps of a prefix reduction.
pub(in crate::collectives) fn scan(algorithm: Scan, own: Own, comm: Comm, data: Data) -> Schedule {
    match algorithm {
        Scan::Linear => linear(own, comm, data),
        Scan::AllToAfter => all_to_after(own, comm, data),
        Scan::RecursiveDoubling => recursive_doubling(own, comm, data),
    }
}

fn linear(own: Own, comm: Comm, data: Data) -> Schedule {
    let mut steps = Schedule::new();
    let (mine, result) = (data.whole(Buffer::Send), data.whole(Buffer::Recv));
    let (is_first, is_last) = (comm.me == 0, comm.me + 1 == comm.size);
    let passed_on = match own {
        Own::Included => {
            steps.copy(mine, result);
            if !is_first {
                let incoming = data.whole(Buffer::Scratch);
                steps.recv(comm.me - 1, incoming);
                steps.reduce_left(incoming, result);
            }
            result
        }
        Own::Excluded if is_first => mine,
        Own::Excluded => {
            let sum = data.whole(Buffer::Scratch);
            steps.recv(comm.me - 1, result);
            if !is_last {
                steps.copy(mine, sum);
                steps.reduce_left(result, sum);
            }
            sum
        }
    };
    if !is_last {
        steps.send(comm.me + 1, passed_on);
    }
    steps
}

fn all_to_after(own: Own, comm: Comm, data: Data) -> Schedule {
    let mut steps = Schedule::new();
    let (mine, result) = (data.whole(Buffer::Send), data.whole(Buffer::Recv));
    let incoming = |member: u32| Buffer::Scratch.at(data.bytes.saturating_mul(u64::from(member)), data.bytes);
    for member in 0..comm.me {
        steps.irecv(member, incoming(member));
    }
    for member in comm.me + 1..comm.size {
        steps.isend(member, mine);
    }
    steps.wait_all();
    if own == Own::Included {
        steps.copy(mine, result);
    }
    for member in (0..comm.me).rev() {
        if own == Own::Excluded && member + 1 == comm.me {
            steps.copy(incoming(member), result);
        } else {
            steps.reduce_left(incoming(member), result);
        }
    }
    steps
}

fn recursive_doubling(own: Own, comm: Comm, data: Data) -> Schedule {
    let mut steps = Schedule::new();
    let (mine, result) = (data.whole(Buffer::Send), data.whole(Buffer::Recv));
    let group = data.whole(Buffer::Scratch); // What my group has reduced so far.
    let incoming = Buffer::Scratch.at(data.bytes, data.bytes);
    if own == Own::Included {
        steps.copy(mine, result);
    }
    steps.copy(mine, group);
    let mut has_result = own == Own::Included;
    for peer in doubling(comm.size).map(|distance| comm.me ^ distance) {
        if peer >= comm.size {
            continue;
        }
        steps.exchange(peer, group, incoming);
        steps.reduce_in_order(peer, comm.me, incoming, group);
        if peer < comm.me {
            if has_result {
                steps.reduce_left(incoming, result);
            } else {
                steps.copy(incoming, result);
                has_result = true;
            }
        }
    }
    steps
}
