//! The algorithms that MPICH chooses, from 3.4 to 4.3: its generic selection (`maint/tuning/coll/mpir/generic.json`), and before it that of
//! its default device (`maint/tuning/coll/ch4/generic.json`). A commutative operation is assumed to be predefined.
//!
//! Where members share nodes (`MPIR_Comm_is_parent_comm`, which `MPIR_Comm_create_subcomms` decides), the device composes
//! collectives of those of each node and of the nodes' first members: `MPIDI_Barrier_intra_composition_alpha`,
//! `MPIDI_Bcast_intra_composition_alpha` ([`Bcast::Smp`]) and `_beta` ([`Bcast::SmpFromRoot`]),
//! `MPIDI_Reduce_intra_composition_beta` ([`Reduce::Smp`]) and `_alpha` ([`Reduce::SmpToFirst`]), and
//! `MPIDI_Allreduce_intra_composition_alpha`. Non-blocking calls do the same in `MPIR_Ibcast_intra_sched_smp` and
//! `MPIR_Ireduce_intra_sched_smp` only. Within a node, the messages are those of builds that leave shared
//! memory to UCX, and not those of `release_gather`.

use crate::collectives::algorithms::{
    Algorithm, Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Gather, Gatherv, Reduce,
    ReduceScatter, Scan, Scatter, Scatterv,
};
use crate::collectives::call::Call;
use crate::event::CollectiveKind;
use crate::units::Bytes;

/// MPICH's names for algorithms that are called otherwise here: by some it means other algorithms than Open MPI.
pub(super) const OWN_NAMES: &[(Algorithm, &str)] = &[
    (Algorithm::Bcast(Bcast::Binomial), "binomial"),
    (Algorithm::Reduce(Reduce::Binomial), "binomial"),
    (Algorithm::Alltoall(Alltoall::PairwiseXor), "pairwise"),
    (Algorithm::Allgatherv(Allgatherv::PipelinedRing), "ring"),
    (Algorithm::Gatherv(Gatherv::LinearNonblocking), "linear"),
    (Algorithm::Scatterv(Scatterv::LinearNonblocking), "linear"),
];

/// MPICH's names for the algorithms of collectives that do not block.
pub(super) const NONBLOCKING_NAMES: &[(Algorithm, &str)] = &[
    (Algorithm::Bcast(Bcast::BinomialAtOnce), "binomial"),
    (Algorithm::Reduce(Reduce::Binomial), "binomial"),
    (Algorithm::Alltoall(Alltoall::PairwiseXor), "pairwise"),
    (Algorithm::Alltoall(Alltoall::Scattered), "permuted_sendrecv"),
    (Algorithm::Allgatherv(Allgatherv::PipelinedRing), "ring"),
    (Algorithm::Gatherv(Gatherv::LinearNonblocking), "linear"),
    (Algorithm::Scatterv(Scatterv::LinearNonblocking), "linear"),
    (Algorithm::Alltoallv(Alltoallv::Scattered), "blocked"),
    (Algorithm::Alltoallw(Alltoallv::Scattered), "blocked"),
];

/// The algorithm for a non-blocking or persistent call: one of those in `src/mpi/coll/i*/i*_intra_sched_*.c`, which
/// wait (`MPIR_Sched_barrier`) where the blocking ones do, except for the broadcast along a binomial tree.
pub(super) fn choose_nonblocking(call: &Call) -> Algorithm {
    let (size, sent) = (call.size, call.send.each());
    let is_power_of_two = size.is_power_of_two();
    match call.kind {
        CollectiveKind::Reduce if call.nodes.is_some() && call.is_commutative => Algorithm::Reduce(Reduce::Smp),
        CollectiveKind::Bcast => Algorithm::Bcast(match sent.0 {
            _ if call.nodes.is_some() => Bcast::Smp,
            _ if size < 8 => Bcast::BinomialAtOnce,
            ..12_288 => Bcast::BinomialAtOnce,
            ..524_288 if is_power_of_two => Bcast::ScatterAllgather,
            _ => Bcast::ScatterAllgatherRing,
        }),
        CollectiveKind::Allreduce => Algorithm::Allreduce(match sent.0 {
            2049.. if call.is_commutative && call.vector().count() >= 1 << size.ilog2() => {
                Allreduce::ReduceScatterAllgather
            }
            _ => Allreduce::RecursiveDoubling,
        }),
        CollectiveKind::Alltoall => Algorithm::Alltoall(match sent.0 {
            // As in `choose`, 8 members count as fewer than 8.
            ..=2_048 if size > 8 => Alltoall::Bruck,
            ..=32_768 => Alltoall::Scattered,
            _ => Alltoall::PairwiseXor,
        }),
        _ => choose(&Call { nodes: None, ..*call }),
    }
}

/// Whether a non-blocking call without any data is skipped; other calls send empty messages.
pub(super) fn leaves_out_empty(collective: CollectiveKind) -> bool {
    matches!(collective, CollectiveKind::Allgatherv | CollectiveKind::ReduceScatter)
}

pub(super) fn choose(call: &Call) -> Algorithm {
    let size = call.size;
    let is_power_of_two = size.is_power_of_two();
    let (has_nodes, reduces_on_nodes) = (call.nodes.is_some(), call.nodes.is_some() && call.is_commutative);
    // Rabenseifner's algorithm needs a predefined operation, and an element for each member that takes part.
    let can_be_halved = || call.is_commutative && call.vector().count() >= 1 << size.ilog2();
    let (sent, received) = (call.send.each(), call.recv.each());
    match call.kind {
        CollectiveKind::Barrier => Algorithm::Barrier(if has_nodes { Barrier::Smp } else { Barrier::Dissemination }),
        CollectiveKind::Bcast => Algorithm::Bcast(match sent.0 {
            bytes if has_nodes && (size < 8 || bytes < 12_288) => Bcast::Smp,
            ..524_288 if has_nodes && is_power_of_two => Bcast::SmpFromRoot,
            _ if size < 8 => Bcast::Binomial,
            ..=12_288 => Bcast::Binomial,
            ..=524_288 if is_power_of_two => Bcast::ScatterAllgather,
            _ => Bcast::ScatterAllgatherRing,
        }),
        CollectiveKind::Reduce => Algorithm::Reduce(match sent.0 {
            ..=2048 if reduces_on_nodes => Reduce::Smp,
            _ if reduces_on_nodes => Reduce::SmpToFirst,
            2049.. if can_be_halved() => Reduce::ReduceScatterGather,
            _ => Reduce::Binomial,
        }),
        CollectiveKind::Allreduce => Algorithm::Allreduce(match sent.0 {
            _ if reduces_on_nodes => Allreduce::Smp,
            9.. if can_be_halved() => Allreduce::ReduceScatterAllgather,
            _ => Allreduce::RecursiveDoubling,
        }),
        CollectiveKind::Scan => Algorithm::Scan(Scan::RecursiveDoubling),
        CollectiveKind::Exscan => Algorithm::Exscan(Scan::RecursiveDoubling),
        CollectiveKind::ReduceScatter => {
            Algorithm::ReduceScatter(reduce_scatter(call, call.total(), call.is_regular()))
        }
        CollectiveKind::ReduceScatterBlock => {
            Algorithm::ReduceScatterBlock(reduce_scatter(call, received.times(u64::from(size)), true))
        }
        CollectiveKind::Gather => Algorithm::Gather(Gather::Binomial),
        CollectiveKind::Scatter => Algorithm::Scatter(Scatter::Binomial),
        CollectiveKind::Allgather => Algorithm::Allgather(match received.times(u64::from(size)).0 {
            ..524_288 if is_power_of_two => Allgather::RecursiveDoubling,
            ..81_920 => Allgather::Bruck,
            _ => Allgather::Ring,
        }),
        CollectiveKind::Alltoall => Algorithm::Alltoall(match sent.0 {
            // The rules say fewer than 8 members, but where they are looked up for each call (`csel.c`), 8 pass too.
            ..=256 if size > 8 => Alltoall::Bruck,
            ..=32_768 => Alltoall::Scattered,
            _ => Alltoall::PairwiseXor,
        }),
        CollectiveKind::Gatherv => Algorithm::Gatherv(Gatherv::LinearNonblocking),
        CollectiveKind::Scatterv => Algorithm::Scatterv(Scatterv::LinearNonblocking),
        CollectiveKind::Allgatherv => Algorithm::Allgatherv(match call.total().0 {
            ..524_288 if is_power_of_two => Allgatherv::RecursiveDoubling,
            ..81_920 => Allgatherv::Bruck,
            _ => Allgatherv::PipelinedRing,
        }),
        CollectiveKind::Alltoallv => Algorithm::Alltoallv(Alltoallv::Scattered),
        CollectiveKind::Alltoallw => Algorithm::Alltoallw(Alltoallv::Scattered),
    }
}

fn reduce_scatter(call: &Call, total: Bytes, is_regular: bool) -> ReduceScatter {
    match total.0 {
        ..524_288 if call.is_commutative => ReduceScatter::RecursiveHalving,
        _ if call.is_commutative => ReduceScatter::Pairwise,
        _ if is_regular && call.size.is_power_of_two() => ReduceScatter::Noncommutative,
        _ => ReduceScatter::RecursiveDoubling,
    }
}
