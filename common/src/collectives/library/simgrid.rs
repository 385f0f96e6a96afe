//! Which algorithm SimGrid 3.32 chooses by default (`smpi_default_selector.cpp`, `smpi_openmpi_selector.cpp`,
//! `smpi_mpich_selector.cpp`, `smpi_nbc_impl.cpp`).

use super::openmpi;
use crate::collectives::algorithms::{
    Algorithm, Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Gather, Gatherv, Reduce,
    ReduceScatter, Scan, Scatter, Scatterv,
};
use crate::collectives::call::Call;
use crate::event::CollectiveOp;

/// What SimGrid calls algorithms whose names here are others.
pub(super) const OWN_NAMES: &[(Algorithm, &str)] = &[
    (Algorithm::Bcast(Bcast::Binomial), "binomial_tree"),
    (Algorithm::Reduce(Reduce::Binomial), "binomial"),
    (Algorithm::Alltoall(Alltoall::PairwiseXor), "pair"),
    (Algorithm::Alltoall(Alltoall::Pairwise), "ring"),
    (Algorithm::Allgatherv(Allgatherv::Ring), "ring"),
    (Algorithm::Gatherv(Gatherv::LinearNonblocking), "linear"),
    (Algorithm::Scatterv(Scatterv::LinearNonblocking), "linear"),
];

/// The algorithm for a call.
pub(super) fn choose(call: &Call) -> Algorithm {
    match call.op {
        CollectiveOp::Barrier => Algorithm::Barrier(Barrier::Linear),
        CollectiveOp::Bcast { .. } => Algorithm::Bcast(Bcast::Binomial),
        CollectiveOp::Reduce { .. } if call.is_commutative => Algorithm::Reduce(Reduce::LinearNonblocking),
        CollectiveOp::Reduce { .. } => Algorithm::Reduce(Reduce::Linear),
        CollectiveOp::Allreduce { .. } => Algorithm::Allreduce(Allreduce::NonOverlapping),
        CollectiveOp::Scan { .. } => Algorithm::Scan(Scan::AllToAfter),
        CollectiveOp::Exscan { .. } => Algorithm::Exscan(Scan::AllToAfter),
        CollectiveOp::ReduceScatter { counts, .. } => {
            let is_regular = counts.windows(2).all(|pair| pair[0] == pair[1]);
            // The limit is one of elements, not of bytes.
            let total = counts.iter().map(|&count| call.data(count).count()).fold(0, u64::saturating_add);
            Algorithm::ReduceScatter(match total {
                _ if is_regular => ReduceScatter::NonOverlapping,
                524_289.. if call.is_commutative => ReduceScatter::Pairwise,
                _ => ReduceScatter::RecursiveDoubling,
            })
        }
        CollectiveOp::ReduceScatterBlock { .. } => Algorithm::ReduceScatterBlock(ReduceScatter::NonOverlapping),
        CollectiveOp::Gather { .. } => Algorithm::Gather(Gather::LinearNonblocking),
        CollectiveOp::Scatter { .. } => Algorithm::Scatter(Scatter::LinearNonblocking),
        CollectiveOp::Allgather { .. } => Algorithm::Allgather(Allgather::Spread),
        CollectiveOp::Alltoall { send, .. } => Algorithm::Alltoall(alltoall(openmpi::alltoall(call.size, *send))),
        CollectiveOp::Gatherv { .. } => Algorithm::Gatherv(Gatherv::LinearNonblocking),
        CollectiveOp::Scatterv { .. } => Algorithm::Scatterv(Scatterv::LinearNonblocking),
        CollectiveOp::Allgatherv { .. } => Algorithm::Allgatherv(Allgatherv::Spread),
        CollectiveOp::Alltoallv { .. } => Algorithm::Alltoallv(Alltoallv::Linear),
        CollectiveOp::Alltoallw { .. } => Algorithm::Alltoallw(Alltoallv::Linear),
    }
}

/// What SimGrid has in the place of Open MPI's.
pub(super) fn alltoall(openmpi: Alltoall) -> Alltoall {
    match openmpi {
        Alltoall::Pairwise => Alltoall::PairwiseXor,
        Alltoall::LinearSync | Alltoall::TwoProc => Alltoall::Linear,
        other => other,
    }
}
