//! The algorithms that Open MPI 4.1.4 chooses for non-blocking and persistent collectives: its component `libnbc`
//! (`ompi/mca/coll/libnbc/nbc_i*.c`, each in its function `nbc_*_init`). The messages of a round start together, and
//! the next round starts when all are complete (`NBC_Progress`).
//!
//! A trace does not record that a buffer is used in place. In that case, `libnbc` uses other algorithms for an
//! all-to-all, and binomial trees for any allreduce.

use crate::collectives::algorithms::{
    Algorithm, Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Choice, Gather, Gatherv, Reduce,
    ReduceScatter, Scan, Scatter, Scatterv,
};
use crate::collectives::call::Call;
use crate::event::CollectiveKind;
use crate::units::Bytes;

/// The names of algorithms in the parameters `coll_libnbc_*_algorithm`.
pub(super) const OWN_NAMES: &[(Algorithm, &str)] = &[
    (Algorithm::Bcast(Bcast::BinomialExchanged), "binomial"),
    (Algorithm::Bcast(Bcast::ChainExchanged), "chain"),
    (Algorithm::Reduce(Reduce::BinomialExchanged), "binomial"),
    (Algorithm::Reduce(Reduce::ChainExchanged), "chain"),
    (Algorithm::Allreduce(Allreduce::BinomialTrees), "binomial"),
    (Algorithm::Allreduce(Allreduce::RingFromNext), "ring"),
    (Algorithm::Allgather(Allgather::Spread), "linear"),
    (Algorithm::Allgatherv(Allgatherv::SpreadAround), "linear"),
    (Algorithm::Alltoall(Alltoall::LinearInOrder), "linear"),
    (Algorithm::Gather(Gather::LinearNonblocking), "linear"),
    (Algorithm::Gatherv(Gatherv::LinearNonblocking), "linear"),
    (Algorithm::Scatter(Scatter::LinearNonblocking), "linear"),
    (Algorithm::Scatterv(Scatterv::LinearNonblocking), "linear"),
    (Algorithm::ReduceScatter(ReduceScatter::BinomialLinear), "binomial"),
    (Algorithm::ReduceScatterBlock(ReduceScatter::BinomialLinear), "binomial"),
];

/// The algorithm for a call, with the length of its segments.
pub(super) fn choose(call: &Call) -> Choice {
    let (size, bytes) = (call.size, call.send.each().0);
    // An element for each member of the largest power of two.
    let can_be_halved = call.is_commutative && call.vector().count() >= 1 << size.ilog2();
    let cut = |algorithm, segment| Choice { segment: Bytes(segment), ..Choice::new(algorithm) };
    match call.kind {
        CollectiveKind::Barrier => Choice::new(Algorithm::Barrier(Barrier::Dissemination)),
        // By default the size of the message does not matter (`coll_libnbc_ibcast_skip_dt_decision`).
        CollectiveKind::Bcast => {
            Choice::new(Algorithm::Bcast(if size <= 4 { Bcast::Linear } else { Bcast::BinomialExchanged }))
        }
        CollectiveKind::Reduce => match bytes {
            _ if can_be_halved && size > 2 => Choice::new(Algorithm::Reduce(Reduce::Rabenseifner)),
            65_536.. if call.is_commutative && size <= 4 => cut(Algorithm::Reduce(Reduce::ChainExchanged), 8_192),
            _ => Choice::new(Algorithm::Reduce(Reduce::BinomialExchanged)),
        },
        CollectiveKind::Allreduce => Choice::new(Algorithm::Allreduce(match bytes {
            ..65_536 => Allreduce::BinomialTrees,
            _ if size < 4 || !call.is_commutative => Allreduce::BinomialTrees,
            _ if can_be_halved => Allreduce::Rabenseifner,
            _ => Allreduce::RingFromNext,
        })),
        CollectiveKind::Scan => Choice::new(Algorithm::Scan(Scan::Linear)),
        CollectiveKind::Exscan => Choice::new(Algorithm::Exscan(Scan::Linear)),
        CollectiveKind::ReduceScatter => Choice::new(Algorithm::ReduceScatter(ReduceScatter::BinomialLinear)),
        CollectiveKind::ReduceScatterBlock => Choice::new(Algorithm::ReduceScatterBlock(ReduceScatter::BinomialLinear)),
        CollectiveKind::Gather => Choice::new(Algorithm::Gather(Gather::LinearNonblocking)),
        CollectiveKind::Scatter => Choice::new(Algorithm::Scatter(Scatter::LinearNonblocking)),
        CollectiveKind::Allgather => Choice::new(Algorithm::Allgather(Allgather::Spread)),
        CollectiveKind::Alltoall => Choice::new(Algorithm::Alltoall(Alltoall::LinearInOrder)),
        CollectiveKind::Gatherv => Choice::new(Algorithm::Gatherv(Gatherv::LinearNonblocking)),
        CollectiveKind::Scatterv => Choice::new(Algorithm::Scatterv(Scatterv::LinearNonblocking)),
        CollectiveKind::Allgatherv => Choice::new(Algorithm::Allgatherv(Allgatherv::SpreadAround)),
        CollectiveKind::Alltoallv => Choice::new(Algorithm::Alltoallv(Alltoallv::Linear)),
        CollectiveKind::Alltoallw => Choice::new(Algorithm::Alltoallw(Alltoallv::Linear)),
    }
}

/// A choice, or `libnbc`'s substitute if that is impossible: the chain or the ring, unless the result would be wrong.
pub(super) fn possible(choice: Choice, call: &Call) -> Choice {
    let can_be_halved = call.is_commutative && call.vector().count() >= 1 << call.size.ilog2();
    let algorithm = match choice.algorithm {
        Algorithm::Reduce(Reduce::Rabenseifner) if !can_be_halved || call.size <= 2 => {
            Algorithm::Reduce(Reduce::ChainExchanged)
        }
        Algorithm::Allreduce(Allreduce::Rabenseifner) if !can_be_halved => {
            Algorithm::Allreduce(Allreduce::RingFromNext)
        }
        possible => possible,
    };
    let algorithm = match algorithm {
        Algorithm::Reduce(Reduce::ChainExchanged) if !call.is_commutative => {
            Algorithm::Reduce(Reduce::BinomialExchanged)
        }
        Algorithm::Allreduce(Allreduce::RingFromNext) if !call.is_commutative => {
            Algorithm::Allreduce(Allreduce::BinomialTrees)
        }
        possible => possible,
    };
    Choice { algorithm, ..choice }
}

/// Whether a call without any data is skipped; other calls send empty messages.
pub(super) fn leaves_out_empty(collective: CollectiveKind) -> bool {
    use CollectiveKind::{Allreduce, Bcast, Reduce, ReduceScatter, ReduceScatterBlock, Scan};
    matches!(collective, Bcast | Reduce | Allreduce | Scan | ReduceScatter | ReduceScatterBlock)
}
