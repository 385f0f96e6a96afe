//! The algorithms that Open MPI 1.3 to 4.0 choose (`coll_tuned_decision_fixed.c` of 4.0), by measurements of Pješivac-Grbović et
//! al. on up to 64 nodes; where 4.1 has tables.

use super::openmpi;
use crate::collectives::algorithms::{
    Algorithm, Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Choice, Gather, Reduce,
    ReduceScatter, Scatter,
};
use crate::collectives::call::Call;
use crate::event::CollectiveKind;
use crate::units::Bytes;

/// The algorithm for a call, with its parameters.
pub(super) fn choose(call: &Call) -> Choice {
    let (size, sent) = (call.size, call.send.each().0);
    let is_power_of_two = size.is_power_of_two();
    let cut = |algorithm, segment| Choice { segment: Bytes(segment), ..Choice::new(algorithm) };
    Choice::new(match call.kind {
        CollectiveKind::Barrier => Algorithm::Barrier(match size {
            2 => Barrier::TwoProc,
            _ if is_power_of_two => Barrier::RecursiveDoubling,
            _ => Barrier::Dissemination,
        }),
        CollectiveKind::Bcast => {
            let (algorithm, segment) = bcast(size, sent, call.vector().count());
            return cut(Algorithm::Bcast(algorithm), segment);
        }
        CollectiveKind::Reduce => {
            let (algorithm, segment) = reduce(call, sent);
            return cut(Algorithm::Reduce(algorithm), segment);
        }
        CollectiveKind::Allreduce => {
            const SEGMENT: u64 = 1 << 20;
            return match sent {
                ..10_000 => Choice::new(Algorithm::Allreduce(Allreduce::RecursiveDoubling)),
                _ if !call.is_commutative || call.vector().count() <= u64::from(size) => {
                    Choice::new(Algorithm::Allreduce(Allreduce::NonOverlapping))
                }
                _ if u64::from(size) * SEGMENT >= sent => Choice::new(Algorithm::Allreduce(Allreduce::Ring)),
                _ => cut(Algorithm::Allreduce(Allreduce::SegmentedRing), SEGMENT),
            };
        }
        CollectiveKind::ReduceScatter => Algorithm::ReduceScatter(match call.total().0 {
            _ if !call.is_commutative => ReduceScatter::NonOverlapping,
            ..=12_288 => ReduceScatter::RecursiveHalving,
            ..=262_144 if is_power_of_two => ReduceScatter::RecursiveHalving,
            total if f64::from(size) >= 0.0012 * total as f64 + 8.0 => ReduceScatter::RecursiveHalving,
            _ => ReduceScatter::Ring,
        }),
        CollectiveKind::ReduceScatterBlock => Algorithm::ReduceScatterBlock(ReduceScatter::NonOverlapping),
        CollectiveKind::Gather => {
            return match call.block().0 {
                92_161.. => cut(Algorithm::Gather(Gather::LinearSync), 32_768),
                6_001.. => cut(Algorithm::Gather(Gather::LinearSync), 1_024),
                block if size > 60 || (size > 10 && block < 1_024) => Choice::new(Algorithm::Gather(Gather::Binomial)),
                _ => Choice::new(Algorithm::Gather(Gather::Linear)),
            };
        }
        CollectiveKind::Scatter => Algorithm::Scatter(match call.block().0 {
            ..300 if size > 10 => Scatter::Binomial,
            _ => Scatter::Linear,
        }),
        CollectiveKind::Allgather => Algorithm::Allgather(match sent * u64::from(size) {
            _ if size == 2 => Allgather::TwoProc,
            ..50_000 if is_power_of_two => Allgather::RecursiveDoubling,
            ..50_000 => Allgather::Bruck,
            _ if size % 2 == 1 => Allgather::Ring,
            _ => Allgather::NeighborExchange,
        }),
        CollectiveKind::Allgatherv => Algorithm::Allgatherv(match call.total().0 {
            _ if size == 2 => Allgatherv::TwoProc,
            ..50_000 => Allgatherv::Bruck,
            _ if size % 2 == 1 => Allgatherv::Ring,
            _ => Allgatherv::NeighborExchange,
        }),
        CollectiveKind::Alltoall => Algorithm::Alltoall(match sent {
            _ if size == 2 => Alltoall::TwoProc,
            ..200 if size > 12 => Alltoall::Bruck,
            ..3_000 => Alltoall::Linear,
            _ => Alltoall::Pairwise,
        }),
        CollectiveKind::Alltoallv => Algorithm::Alltoallv(Alltoallv::Pairwise),
        _ => openmpi::choose(call),
    })
}

/// A broadcast, and the length of its segments.
fn bcast(size: u32, bytes: u64, count: u64) -> (Bcast, u64) {
    let (size, length) = (f64::from(size), bytes as f64);
    match bytes {
        _ if bytes < 2_048 || count <= 1 => (Bcast::BinomialDoubling, 0),
        ..370_728 => (Bcast::SplitBinary, 1 << 10),
        _ if size < 1.6134e-6 * length + 2.1102 => (Bcast::Pipeline, 128 << 10),
        _ if size < 13.0 => (Bcast::SplitBinary, 8 << 10),
        _ if size < 2.3679e-6 * length + 1.1787 => (Bcast::Pipeline, 64 << 10),
        _ if size < 3.2118e-6 * length + 8.7936 => (Bcast::Pipeline, 16 << 10),
        _ => (Bcast::Pipeline, 8 << 10),
    }
}

/// A reduction, and the length of its segments.
fn reduce(call: &Call, bytes: u64) -> (Reduce, u64) {
    let size = f64::from(call.size);
    let is_above = |per_kib: f64, constant: f64| size > per_kib / 1024.0 * bytes as f64 + constant;
    match bytes {
        ..2_048 if !call.is_commutative && call.size < 12 => (Reduce::Linear, 0),
        _ if !call.is_commutative => (Reduce::InOrderBinary, 0),
        ..512 if call.size < 8 => (Reduce::Linear, 0),
        ..20_480 if call.size < 8 => (Reduce::BinomialPipelined, 0),
        _ if bytes < 2_048 || call.vector().count() <= 1 => (Reduce::BinomialPipelined, 0),
        _ if is_above(0.6016, 1.3496) => (Reduce::BinomialPipelined, 1 << 10),
        _ if is_above(0.0410, 9.7128) => (Reduce::Pipeline, 1 << 10),
        _ if is_above(0.0422, 1.1614) => (Reduce::Binary, 32 << 10),
        _ if is_above(0.0033, 1.6761) => (Reduce::Pipeline, 32 << 10),
        _ => (Reduce::Pipeline, 64 << 10),
    }
}
