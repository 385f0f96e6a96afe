//! The algorithms of SimGrid 3.32 for non-blocking collectives: they start everything at once (`smpi_nbc_impl.cpp`).
//! Its `ibarrier` starts even the answers of member 0 at once, so no member waits for another; here, the blocking
//! barrier is used.

use crate::collectives::algorithms::{
    Algorithm, Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Gather, Gatherv, Reduce,
    ReduceScatter, Scan, Scatter, Scatterv,
};
use crate::collectives::call::Call;
use crate::event::CollectiveKind;

pub(super) fn choose(call: &Call) -> Algorithm {
    match call.kind {
        CollectiveKind::Barrier => Algorithm::Barrier(Barrier::PostedLinear),
        CollectiveKind::Bcast => Algorithm::Bcast(Bcast::Linear),
        CollectiveKind::Reduce => Algorithm::Reduce(Reduce::LinearNonblocking),
        CollectiveKind::Allreduce => Algorithm::Allreduce(Allreduce::AllToAll),
        CollectiveKind::Scan => Algorithm::Scan(Scan::AllToAfter),
        CollectiveKind::Exscan => Algorithm::Exscan(Scan::AllToAfter),
        CollectiveKind::ReduceScatter => Algorithm::ReduceScatter(ReduceScatter::AllToAll),
        CollectiveKind::ReduceScatterBlock => Algorithm::ReduceScatterBlock(ReduceScatter::AllToAll),
        CollectiveKind::Gather => Algorithm::Gather(Gather::LinearNonblocking),
        CollectiveKind::Scatter => Algorithm::Scatter(Scatter::LinearNonblocking),
        CollectiveKind::Allgather => Algorithm::Allgather(Allgather::Spread),
        CollectiveKind::Alltoall => Algorithm::Alltoall(Alltoall::Linear),
        CollectiveKind::Gatherv => Algorithm::Gatherv(Gatherv::LinearNonblocking),
        CollectiveKind::Scatterv => Algorithm::Scatterv(Scatterv::LinearNonblocking),
        CollectiveKind::Allgatherv => Algorithm::Allgatherv(Allgatherv::Spread),
        CollectiveKind::Alltoallv => Algorithm::Alltoallv(Alltoallv::Linear),
        CollectiveKind::Alltoallw => Algorithm::Alltoallw(Alltoallv::Linear),
    }
}
