//! Substitutes for impossible algorithms: for a size that is not a power of two, fewer elements than members, or a
//! non-commutative operation. The rules are Open MPI's where it has one (`coll_base_*.c`); MPICH falls back to its own
//! rules, whose choices are always possible.

use super::{Library, libnbc, mpich};
use crate::collectives::algorithms::{
    Algorithm, Allgather, Allgatherv, Allreduce, Alltoall, Barrier, Bcast, Choice, Reduce, ReduceScatter,
};
use crate::collectives::call::{Call, CallMode};
use crate::collectives::nodes::NodeMap;
use crate::event::CollectiveKind;

/// The choice itself where it is possible for the call, or else the library's substitute.
pub(super) fn possible(library: Library, choice: Choice, call: &Call) -> Choice {
    let is_libnbc = library.is_open_mpi() && call.mode == CallMode::Nonblocking;
    let choice = if is_libnbc { libnbc::possible(choice, call) } else { choice };
    let flat = Call { nodes: None, ..*call };
    let is_possible = |nodes: &NodeMap| {
        let is_even = nodes.is_even || matches!(call.kind, CollectiveKind::Barrier | CollectiveKind::Allreduce);
        (is_even || !choice.algorithm.is_han()) && (call.is_commutative || !call.kind.signature().reduces)
    };
    if choice.algorithm.knows_nodes() && !call.nodes.is_some_and(is_possible) {
        return library.choose(&flat);
    }
    // Recursive doubling of blocks works with any number of members, but these two refuse.
    let is_refused = !library.is_simgrid() && !call.size.is_power_of_two();
    let algorithm = match choice.algorithm {
        Algorithm::Barrier(Barrier::TwoProc) if call.size != 2 => Algorithm::Barrier(Barrier::RecursiveDoubling),
        Algorithm::Bcast(algorithm) => {
            return bcast(library, algorithm, choice, call);
        }
        Algorithm::Reduce(algorithm) => Algorithm::Reduce(reduce(algorithm, call)),
        Algorithm::Allreduce(algorithm) => Algorithm::Allreduce(allreduce(algorithm, call)),
        Algorithm::ReduceScatter(algorithm) => {
            Algorithm::ReduceScatter(reduce_scatter(algorithm, call, call.is_regular()))
        }
        // Blocks of one length can be put in place before a butterfly among a power of two.
        Algorithm::ReduceScatterBlock(ReduceScatter::Butterfly) if call.size.is_power_of_two() => {
            Algorithm::ReduceScatterBlock(ReduceScatter::Noncommutative)
        }
        Algorithm::ReduceScatterBlock(algorithm) => {
            Algorithm::ReduceScatterBlock(reduce_scatter(algorithm, call, true))
        }
        Algorithm::Allgather(algorithm) => Algorithm::Allgather(match algorithm {
            Allgather::RecursiveDoubling if is_refused => Allgather::Bruck,
            Allgather::NeighborExchange if call.size % 2 == 1 => Allgather::Ring,
            Allgather::TwoProc if call.size != 2 => Allgather::Ring,
            possible => possible,
        }),
        Algorithm::Allgatherv(algorithm) => Algorithm::Allgatherv(match algorithm {
            Allgatherv::RecursiveDoubling if is_refused => Allgatherv::Bruck,
            Allgatherv::NeighborExchange if call.size % 2 == 1 => Allgatherv::Ring,
            Allgatherv::TwoProc if call.size != 2 => Allgatherv::Ring,
            possible => possible,
        }),
        Algorithm::Alltoall(Alltoall::TwoProc) if call.size != 2 => Algorithm::Alltoall(Alltoall::Pairwise),
        possible => possible,
    };
    match library {
        Library::Mpich if algorithm != choice.algorithm => Choice::new(match call.mode {
            CallMode::Blocking => mpich::choose(&flat),
            CallMode::Nonblocking => mpich::choose_nonblocking(&flat),
        }),
        _ => Choice { algorithm, ..choice },
    }
}

/// The elements that Rabenseifner's algorithm needs: one for each member that takes part in the halving.
fn halving_members(call: &Call) -> u64 {
    1 << call.size.ilog2()
}

fn bcast(library: Library, algorithm: Bcast, choice: Choice, call: &Call) -> Choice {
    let data = call.vector();
    let halves = [data.count().div_ceil(2), data.count() / 2];
    let (replacement, fanout) = match algorithm {
        Bcast::ScatterAllgather | Bcast::ScatterAllgatherRing
            if library.is_open_mpi() && data.count() < u64::from(call.size) =>
        {
            (Bcast::Linear, choice.fanout)
        }
        Bcast::SplitBinary
            if halves.iter().any(|half| *half == 0 || choice.segment.0 > half.saturating_mul(data.element)) =>
        {
            (Bcast::Chain, 1)
        }
        possible => (possible, choice.fanout),
    };
    Choice { algorithm: Algorithm::Bcast(replacement), fanout, ..choice }
}

fn reduce(algorithm: Reduce, call: &Call) -> Reduce {
    let can_be_halved = call.size > 1 && call.vector().count() >= halving_members(call);
    match algorithm {
        Reduce::Linear | Reduce::InOrderBinary | Reduce::Binomial | Reduce::BinomialExchanged => algorithm,
        _ if !call.is_commutative => Reduce::Linear,
        Reduce::Rabenseifner if !can_be_halved => Reduce::Linear,
        Reduce::ReduceScatterGather if !can_be_halved => Reduce::Binomial,
        possible => possible,
    }
}

fn allreduce(algorithm: Allreduce, call: &Call) -> Allreduce {
    let count = call.vector().count();
    let can_be_halved = call.is_commutative && count >= halving_members(call);
    let can_go_around = call.is_commutative && count >= u64::from(call.size);
    match algorithm {
        Allreduce::Ring | Allreduce::SegmentedRing if !can_go_around => Allreduce::RecursiveDoubling,
        Allreduce::EqualRing if !can_go_around => Allreduce::NonOverlapping,
        Allreduce::RingFromNext if !call.is_commutative => Allreduce::RecursiveDoubling,
        Allreduce::Rabenseifner if !can_be_halved => Allreduce::Linear,
        Allreduce::ReduceScatterAllgather if !can_be_halved => Allreduce::RecursiveDoubling,
        possible => possible,
    }
}

fn reduce_scatter(algorithm: ReduceScatter, call: &Call, is_regular: bool) -> ReduceScatter {
    match algorithm {
        ReduceScatter::RecursiveHalving | ReduceScatter::Ring | ReduceScatter::Pairwise if !call.is_commutative => {
            ReduceScatter::NonOverlapping
        }
        ReduceScatter::Noncommutative if !is_regular || !call.size.is_power_of_two() => {
            ReduceScatter::RecursiveDoubling
        }
        possible => possible,
    }
}
