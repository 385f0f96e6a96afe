//! Which algorithm MPICH 4.0 chooses: its generic selection (`maint/tuning/coll/mpir/generic.json`) for a communicator
//! without a hierarchy of nodes. An operation that commutes is taken for a predefined one.

use crate::collectives::algorithms::{
    Algorithm, Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Gather, Gatherv, Reduce,
    ReduceScatter, Scan, Scatter, Scatterv,
};
use crate::collectives::call::Call;
use crate::event::CollectiveOp;
use crate::units::Bytes;

/// What MPICH calls algorithms whose names here are others: by some it means other algorithms than Open MPI.
pub(super) const OWN_NAMES: &[(Algorithm, &str)] = &[
    (Algorithm::Bcast(Bcast::Binomial), "binomial"),
    (Algorithm::Reduce(Reduce::Binomial), "binomial"),
    (Algorithm::Alltoall(Alltoall::PairwiseXor), "pairwise"),
    (Algorithm::Allgatherv(Allgatherv::PipelinedRing), "ring"),
    (Algorithm::Gatherv(Gatherv::LinearNonblocking), "linear"),
    (Algorithm::Scatterv(Scatterv::LinearNonblocking), "linear"),
];

/// The algorithm for a call.
pub(super) fn choose(call: &Call) -> Algorithm {
    let size = call.size;
    let is_power_of_two = size.is_power_of_two();
    // Rabenseifner's algorithm needs a predefined operation, and an element for each member that takes part.
    let can_be_halved = |bytes: &Bytes| call.is_commutative && call.data(*bytes).count() >= 1 << size.ilog2();
    match call.op {
        CollectiveOp::Barrier => Algorithm::Barrier(Barrier::Dissemination),
        CollectiveOp::Bcast { bytes, .. } => Algorithm::Bcast(match bytes.0 {
            _ if size < 8 => Bcast::Binomial,
            ..=12_288 => Bcast::Binomial,
            ..=524_288 if is_power_of_two => Bcast::ScatterAllgather,
            _ => Bcast::ScatterAllgatherRing,
        }),
        CollectiveOp::Reduce { bytes, .. } => Algorithm::Reduce(match bytes.0 {
            2049.. if can_be_halved(bytes) => Reduce::ReduceScatterGather,
            _ => Reduce::Binomial,
        }),
        CollectiveOp::Allreduce { bytes, .. } => Algorithm::Allreduce(match bytes.0 {
            9.. if can_be_halved(bytes) => Allreduce::ReduceScatterAllgather,
            _ => Allreduce::RecursiveDoubling,
        }),
        CollectiveOp::Scan { .. } => Algorithm::Scan(Scan::RecursiveDoubling),
        CollectiveOp::Exscan { .. } => Algorithm::Exscan(Scan::RecursiveDoubling),
        CollectiveOp::ReduceScatter { counts, .. } => {
            let is_regular = counts.windows(2).all(|pair| pair[0] == pair[1]);
            let total = counts.iter().copied().sum();
            Algorithm::ReduceScatter(reduce_scatter(call, total, is_regular))
        }
        CollectiveOp::ReduceScatterBlock { bytes, .. } => {
            Algorithm::ReduceScatterBlock(reduce_scatter(call, bytes.times(u64::from(size)), true))
        }
        CollectiveOp::Gather { .. } => Algorithm::Gather(Gather::Binomial),
        CollectiveOp::Scatter { .. } => Algorithm::Scatter(Scatter::Binomial),
        CollectiveOp::Allgather { recv, .. } => Algorithm::Allgather(match recv.times(u64::from(size)).0 {
            ..524_288 if is_power_of_two => Allgather::RecursiveDoubling,
            ..81_920 => Allgather::Bruck,
            _ => Allgather::Ring,
        }),
        CollectiveOp::Alltoall { send, .. } => Algorithm::Alltoall(match send.0 {
            // The rules say fewer than 8 members, but where they are looked up for each call (`csel.c`), 8 pass too.
            ..=256 if size > 8 => Alltoall::Bruck,
            ..=32_768 => Alltoall::Scattered,
            _ => Alltoall::PairwiseXor,
        }),
        CollectiveOp::Gatherv { .. } => Algorithm::Gatherv(Gatherv::LinearNonblocking),
        CollectiveOp::Scatterv { .. } => Algorithm::Scatterv(Scatterv::LinearNonblocking),
        CollectiveOp::Allgatherv { recvs, .. } => {
            let total: Bytes = recvs.iter().copied().sum();
            Algorithm::Allgatherv(match total.0 {
                ..524_288 if is_power_of_two => Allgatherv::RecursiveDoubling,
                ..81_920 => Allgatherv::Bruck,
                _ => Allgatherv::PipelinedRing,
            })
        }
        CollectiveOp::Alltoallv { .. } => Algorithm::Alltoallv(Alltoallv::Scattered),
        CollectiveOp::Alltoallw { .. } => Algorithm::Alltoallw(Alltoallv::Scattered),
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
