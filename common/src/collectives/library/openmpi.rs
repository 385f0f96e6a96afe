//! Which algorithm Open MPI 4.1.4 chooses: the fixed decision rules of its `tuned` component, and `basic` for what `tuned`
//! leaves to it (`coll_tuned_module.c`).

use super::openmpi_tables as tables;
use crate::collectives::algorithms::{
    Algorithm, Allgatherv, Alltoall, Alltoallv, Barrier, Bcast, Gatherv, Reduce, ReduceScatter, Scan, Scatterv,
};
use crate::collectives::call::Call;
use crate::event::CollectiveOp;
use crate::units::Bytes;

/// What Open MPI calls algorithms whose names here are others: by some it means other algorithms than MPICH.
pub(super) const OWN_NAMES: &[(Algorithm, &str)] = &[
    (Algorithm::Bcast(Bcast::BinomialDoubling), "binomial"),
    (Algorithm::Reduce(Reduce::BinomialPipelined), "binomial"),
    (Algorithm::Alltoall(Alltoall::Pairwise), "pairwise"),
    (Algorithm::Allgatherv(Allgatherv::Ring), "ring"),
    (Algorithm::Barrier(Barrier::Dissemination), "bruck"),
    (Algorithm::Gatherv(Gatherv::Linear), "linear"),
    (Algorithm::Scatterv(Scatterv::Linear), "linear"),
];

/// The algorithm for a call.
pub(super) fn choose(call: &Call) -> Algorithm {
    let size = call.size;
    match call.op {
        CollectiveOp::Barrier => Algorithm::Barrier(tables::BARRIER.look_up(size, 0)),
        CollectiveOp::Bcast { bytes, .. } => Algorithm::Bcast(tables::BCAST.look_up(size, bytes.0)),
        CollectiveOp::Reduce { bytes, .. } => Algorithm::Reduce(if call.is_commutative {
            tables::REDUCE.look_up(size, bytes.0)
        } else {
            tables::REDUCE_IN_ORDER.look_up(size, bytes.0)
        }),
        CollectiveOp::Allreduce { bytes, .. } => Algorithm::Allreduce(if call.is_commutative {
            tables::ALLREDUCE.look_up(size, bytes.0)
        } else {
            tables::ALLREDUCE_IN_ORDER.look_up(size, bytes.0)
        }),
        CollectiveOp::Scan { .. } => Algorithm::Scan(Scan::Linear),
        CollectiveOp::Exscan { .. } => Algorithm::Exscan(Scan::Linear),
        CollectiveOp::ReduceScatter { counts, .. } => {
            let total: Bytes = counts.iter().copied().sum();
            Algorithm::ReduceScatter(if call.is_commutative {
                tables::REDUCE_SCATTER.look_up(size, total.0)
            } else {
                ReduceScatter::NonOverlapping
            })
        }
        CollectiveOp::ReduceScatterBlock { bytes, .. } => Algorithm::ReduceScatterBlock(if call.is_commutative {
            tables::REDUCE_SCATTER_BLOCK.look_up(size, bytes.0)
        } else {
            ReduceScatter::NonOverlapping
        }),
        CollectiveOp::Gather { send, recv, .. } => {
            Algorithm::Gather(tables::GATHER.look_up(size, call.block(*recv, *send).0))
        }
        CollectiveOp::Scatter { send, recv, .. } => {
            Algorithm::Scatter(tables::SCATTER.look_up(size, call.block(*send, *recv).0))
        }
        CollectiveOp::Allgather { send, .. } => Algorithm::Allgather(tables::ALLGATHER.look_up(size, send.0)),
        CollectiveOp::Alltoall { send, .. } => Algorithm::Alltoall(alltoall(size, *send)),
        CollectiveOp::Gatherv { .. } => Algorithm::Gatherv(Gatherv::Linear),
        CollectiveOp::Scatterv { .. } => Algorithm::Scatterv(Scatterv::Linear),
        CollectiveOp::Allgatherv { recvs, .. } => {
            let total: Bytes = recvs.iter().copied().sum();
            Algorithm::Allgatherv(tables::ALLGATHERV.look_up(size, total.0 / u64::from(size)))
        }
        CollectiveOp::Alltoallv { .. } => Algorithm::Alltoallv(tables::ALLTOALLV.look_up(size, 0)),
        CollectiveOp::Alltoallw { .. } => Algorithm::Alltoallw(Alltoallv::Linear),
    }
}

/// The algorithm for an all-to-all of blocks of this length, which SimGrid adopted.
pub(super) fn alltoall(size: u32, block: Bytes) -> Alltoall {
    tables::ALLTOALL.look_up(size, block.0)
}
