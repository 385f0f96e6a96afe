//! The algorithms that SimGrid 3.32 chooses by default (`smpi_default_selector.cpp`, `smpi_openmpi_selector.cpp`,
//! `smpi_mpich_selector.cpp`, `smpi_nbc_impl.cpp`).

use super::openmpi;
use crate::collectives::algorithms::{
    Algorithm, Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Gather, Gatherv, Reduce,
    ReduceScatter, Scan, Scatter, Scatterv,
};
use crate::collectives::call::Call;
use crate::event::CollectiveKind;

/// SimGrid's names for algorithms that are called otherwise here.
pub(super) const OWN_NAMES: &[(Algorithm, &str)] = &[
    (Algorithm::Bcast(Bcast::Binomial), "binomial_tree"),
    (Algorithm::Reduce(Reduce::Binomial), "binomial"),
    (Algorithm::Alltoall(Alltoall::PairwiseXor), "pair"),
    (Algorithm::Alltoall(Alltoall::Pairwise), "ring"),
    (Algorithm::Allgatherv(Allgatherv::Ring), "ring"),
    (Algorithm::Gatherv(Gatherv::LinearNonblocking), "linear"),
    (Algorithm::Scatterv(Scatterv::LinearNonblocking), "linear"),
];

/// The algorithm for a blocking call.
pub(super) fn choose(call: &Call) -> Algorithm {
    match call.kind {
        CollectiveKind::Barrier => Algorithm::Barrier(Barrier::PostedLinear),
        CollectiveKind::Bcast => Algorithm::Bcast(Bcast::Binomial),
        CollectiveKind::Reduce if call.is_commutative => Algorithm::Reduce(Reduce::LinearNonblocking),
        CollectiveKind::Reduce => Algorithm::Reduce(Reduce::Linear),
        CollectiveKind::Allreduce => Algorithm::Allreduce(Allreduce::NonOverlapping),
        CollectiveKind::Scan => Algorithm::Scan(Scan::AllToAfter),
        CollectiveKind::Exscan => Algorithm::Exscan(Scan::AllToAfter),
        CollectiveKind::ReduceScatter => {
            // The limit is one of elements, not of bytes.
            let total =
                call.recv.per_member().iter().map(|&count| call.data(count).count()).fold(0, u64::saturating_add);
            Algorithm::ReduceScatter(match total {
                _ if call.is_regular() => ReduceScatter::NonOverlapping,
                524_289.. if call.is_commutative => ReduceScatter::Pairwise,
                _ => ReduceScatter::RecursiveDoubling,
            })
        }
        CollectiveKind::ReduceScatterBlock => Algorithm::ReduceScatterBlock(ReduceScatter::NonOverlapping),
        CollectiveKind::Gather => Algorithm::Gather(Gather::LinearNonblocking),
        CollectiveKind::Scatter => Algorithm::Scatter(Scatter::LinearNonblocking),
        CollectiveKind::Allgather => Algorithm::Allgather(Allgather::Spread),
        CollectiveKind::Alltoall => Algorithm::Alltoall(alltoall(openmpi::alltoall(call.size, call.send.each()))),
        CollectiveKind::Gatherv => Algorithm::Gatherv(Gatherv::LinearNonblocking),
        CollectiveKind::Scatterv => Algorithm::Scatterv(Scatterv::LinearNonblocking),
        CollectiveKind::Allgatherv => Algorithm::Allgatherv(Allgatherv::Spread),
        CollectiveKind::Alltoallv => Algorithm::Alltoallv(Alltoallv::Linear),
        CollectiveKind::Alltoallw => Algorithm::Alltoallw(Alltoallv::Linear),
    }
}

/// The algorithm for a non-blocking call. Reductions start everything at once, too. `ibarrier` starts even the answers of
/// member 0 at once, so no member waits for another; here, the blocking barrier is used.
pub(super) fn choose_nonblocking(call: &Call) -> Algorithm {
    match call.kind {
        CollectiveKind::Bcast => Algorithm::Bcast(Bcast::Linear),
        CollectiveKind::Reduce => Algorithm::Reduce(Reduce::LinearNonblocking),
        CollectiveKind::Allreduce => Algorithm::Allreduce(Allreduce::AllToAll),
        CollectiveKind::ReduceScatter => Algorithm::ReduceScatter(ReduceScatter::AllToAll),
        CollectiveKind::ReduceScatterBlock => Algorithm::ReduceScatterBlock(ReduceScatter::AllToAll),
        CollectiveKind::Alltoall => Algorithm::Alltoall(Alltoall::Linear),
        _ => choose(call),
    }
}

/// The all-to-all that SimGrid has in the place of Open MPI's.
pub(super) fn alltoall(openmpi: Alltoall) -> Alltoall {
    match openmpi {
        Alltoall::Pairwise => Alltoall::PairwiseXor,
        Alltoall::LinearSync | Alltoall::TwoProc => Alltoall::Linear,
        other => other,
    }
}
