//! The algorithms that Open MPI 4.1.4 chooses: the fixed decision rules of its `tuned` component, and `basic` for the
//! collectives that `tuned` leaves to it (`coll_tuned_module.c`).

use super::openmpi_tables as tables;
use crate::collectives::algorithms::{
    Algorithm, Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Gather, Gatherv, Reduce,
    ReduceScatter, Scan, Scatter, Scatterv,
};
use crate::collectives::call::Call;
use crate::event::CollectiveKind;
use crate::units::Bytes;

/// Open MPI's names for algorithms that are called otherwise here: by some it means other algorithms than MPICH.
pub(super) const OWN_NAMES: &[(Algorithm, &str)] = &[
    (Algorithm::Bcast(Bcast::BinomialDoubling), "binomial"),
    (Algorithm::Reduce(Reduce::BinomialPipelined), "binomial"),
    (Algorithm::Alltoall(Alltoall::Pairwise), "pairwise"),
    (Algorithm::Allgatherv(Allgatherv::Ring), "ring"),
    (Algorithm::Barrier(Barrier::Dissemination), "bruck"),
    (Algorithm::Gatherv(Gatherv::Linear), "linear"),
    (Algorithm::Scatterv(Scatterv::Linear), "linear"),
];

/// The algorithm for a call of Open MPI 5.0, whose component `han` comes before `tuned` where members share nodes.
pub(super) fn choose_by_nodes(call: &Call) -> Algorithm {
    match call.kind {
        _ if call.nodes.is_none() => choose(call),
        CollectiveKind::Barrier => Algorithm::Barrier(Barrier::Han),
        CollectiveKind::Bcast => Algorithm::Bcast(Bcast::Han),
        CollectiveKind::Reduce => Algorithm::Reduce(Reduce::Han),
        CollectiveKind::Allreduce => Algorithm::Allreduce(Allreduce::Han),
        CollectiveKind::Gather => Algorithm::Gather(Gather::Han),
        CollectiveKind::Scatter => Algorithm::Scatter(Scatter::Han),
        CollectiveKind::Allgather => Algorithm::Allgather(Allgather::Han),
        _ => choose(call),
    }
}

pub(super) fn choose(call: &Call) -> Algorithm {
    let (size, sent, received) = (call.size, call.send.each(), call.recv.each());
    match call.kind {
        CollectiveKind::Barrier => Algorithm::Barrier(tables::BARRIER.look_up(size, 0)),
        CollectiveKind::Bcast => Algorithm::Bcast(tables::BCAST.look_up(size, sent.0)),
        CollectiveKind::Reduce => Algorithm::Reduce(if call.is_commutative {
            tables::REDUCE.look_up(size, sent.0)
        } else {
            tables::REDUCE_IN_ORDER.look_up(size, sent.0)
        }),
        CollectiveKind::Allreduce => Algorithm::Allreduce(if call.is_commutative {
            tables::ALLREDUCE.look_up(size, sent.0)
        } else {
            tables::ALLREDUCE_IN_ORDER.look_up(size, sent.0)
        }),
        CollectiveKind::Scan => Algorithm::Scan(Scan::Linear),
        CollectiveKind::Exscan => Algorithm::Exscan(Scan::Linear),
        CollectiveKind::ReduceScatter => Algorithm::ReduceScatter(if call.is_commutative {
            tables::REDUCE_SCATTER.look_up(size, call.total().0)
        } else {
            ReduceScatter::NonOverlapping
        }),
        CollectiveKind::ReduceScatterBlock => Algorithm::ReduceScatterBlock(if call.is_commutative {
            tables::REDUCE_SCATTER_BLOCK.look_up(size, received.0)
        } else {
            ReduceScatter::NonOverlapping
        }),
        CollectiveKind::Gather => Algorithm::Gather(tables::GATHER.look_up(size, call.block().0)),
        CollectiveKind::Scatter => Algorithm::Scatter(tables::SCATTER.look_up(size, call.block().0)),
        CollectiveKind::Allgather => Algorithm::Allgather(tables::ALLGATHER.look_up(size, sent.0)),
        CollectiveKind::Alltoall => Algorithm::Alltoall(alltoall(size, sent)),
        CollectiveKind::Gatherv => Algorithm::Gatherv(Gatherv::Linear),
        CollectiveKind::Scatterv => Algorithm::Scatterv(Scatterv::Linear),
        CollectiveKind::Allgatherv => {
            Algorithm::Allgatherv(tables::ALLGATHERV.look_up(size, call.total().0 / u64::from(size)))
        }
        CollectiveKind::Alltoallv => Algorithm::Alltoallv(tables::ALLTOALLV.look_up(size, 0)),
        CollectiveKind::Alltoallw => Algorithm::Alltoallw(Alltoallv::Linear),
    }
}

/// The algorithm for an all-to-all of blocks of this length, which SimGrid adopted.
pub(super) fn alltoall(size: u32, block: Bytes) -> Alltoall {
    tables::ALLTOALL.look_up(size, block.0)
}
