//! Barriers: empty messages only. Sources: Open MPI 4.1 `coll_base_barrier.c`; MPICH 4.0 `barrier_intra_*.c`; Hensgen,
//! Finkel, Manber: "Two algorithms for barrier synchronization", Int. J. Parallel Programming 17(1), 1988.

use super::algorithms;
use super::comm::{Comm, doubling};
use super::schedule::Schedule;
use crate::collectives::step::{Buffer, Slice};

algorithms! {
    /// The algorithms of a barrier.
    Barrier {
        /// All report to member 0, which answers each.
        Linear = "linear" | "basic_linear",
        /// All report to member 0, which sends all its answers before it waits for them (SimGrid `barrier-ompi.cpp`).
        PostedLinear = "posted_linear",
        /// A token goes around the ring twice.
        DoubleRing = "double_ring",
        /// Exchanges at distances 1, 2, 4, … within the largest power of two; the others stand by a partner.
        RecursiveDoubling = "recursive_doubling",
        /// Each round signals the member 1, 2, 4, … places on, whatever the size (Hensgen et al.).
        Dissemination = "dissemination" | "bruck",
        /// Two members send each other an empty message.
        TwoProc = "two_proc",
        /// Up and down a binomial tree.
        Tree = "tree",
        /// Within each node, among the first members of the nodes, and then a broadcast within each node (MPICH).
        Smp = "smp",
        /// Within each node, among the first members of the nodes, and once more within each node (Open MPI).
        Han = "han",
    }
}

const SIGNAL: Slice = Buffer::Scratch.first(0);

/// The steps of a barrier.
pub(in crate::collectives) fn barrier(algorithm: Barrier, comm: Comm) -> Schedule {
    match algorithm {
        _ if comm.size == 1 => Schedule::new(),
        Barrier::Linear => linear(comm, false),
        Barrier::PostedLinear => linear(comm, true),
        Barrier::DoubleRing => double_ring(comm),
        Barrier::RecursiveDoubling | Barrier::TwoProc => recursive_doubling(comm),
        Barrier::Dissemination => dissemination(comm),
        Barrier::Tree => tree(comm),
        Barrier::Smp | Barrier::Han => Schedule::new(), // `smp`, `han`
    }
}

/// Member 0 waits for each answer before it sends the next, unless all are `posted`.
fn linear(comm: Comm, posted: bool) -> Schedule {
    let mut steps = Schedule::new();
    if comm.me == 0 {
        for member in comm.others() {
            steps.irecv(member, SIGNAL);
        }
        steps.wait_all();
        for member in comm.others() {
            if posted {
                steps.isend(member, SIGNAL);
            } else {
                steps.send(member, SIGNAL);
            }
        }
        if posted {
            steps.wait_all();
        }
    } else {
        steps.send(0, SIGNAL);
        steps.recv(0, SIGNAL);
    }
    steps
}

fn double_ring(comm: Comm) -> Schedule {
    let mut steps = Schedule::new();
    let (left, right) = (comm.before(1), comm.after(1));
    for _round in 0..2 {
        if comm.me == 0 {
            steps.send(right, SIGNAL);
            steps.recv(left, SIGNAL);
        } else {
            steps.recv(left, SIGNAL);
            steps.send(right, SIGNAL);
        }
    }
    steps
}

fn recursive_doubling(comm: Comm) -> Schedule {
    let mut steps = Schedule::new();
    let inner = 1 << comm.size.ilog2();
    if comm.me >= inner {
        steps.exchange(comm.me - inner, SIGNAL, SIGNAL);
        return steps;
    }
    let stands_by_me = comm.me + inner;
    if stands_by_me < comm.size {
        steps.recv(stands_by_me, SIGNAL);
    }
    for distance in doubling(inner) {
        steps.exchange(comm.me ^ distance, SIGNAL, SIGNAL);
    }
    if stands_by_me < comm.size {
        steps.send(stands_by_me, SIGNAL);
    }
    steps
}

fn dissemination(comm: Comm) -> Schedule {
    let mut steps = Schedule::new();
    for distance in doubling(comm.size) {
        steps.sendrecv(comm.after(distance), SIGNAL, comm.before(distance), SIGNAL);
    }
    steps
}

fn tree(comm: Comm) -> Schedule {
    let mut steps = Schedule::new();
    let partners = doubling(comm.size)
        .filter(|&distance| comm.me & (distance - 1) == 0)
        .map(|distance| comm.me ^ distance)
        .filter(|&partner| partner < comm.size);
    for partner in partners.clone() {
        if partner > comm.me {
            steps.recv(partner, SIGNAL);
        } else {
            steps.send(partner, SIGNAL);
        }
    }
    for partner in partners.rev() {
        if partner > comm.me {
            steps.send(partner, SIGNAL);
        } else {
            steps.recv(partner, SIGNAL);
        }
    }
    steps
}
