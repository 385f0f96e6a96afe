//! The algorithms that SimGrid 3.32 chooses with its selector `ompi`: Open MPI's decision rules (as of 4.1), but with
//! SimGrid's own algorithms of the same kind, with different segments and fan-outs, and with SimGrid's defaults for
//! collectives that the selector does not cover. The result is therefore neither Open MPI's choice nor SimGrid's
//! default (`smpi_openmpi_selector.cpp`, `reduce-ompi.cpp`, `bcast-*.cpp`).

use super::{openmpi, simgrid};
use crate::collectives::algorithms::{Algorithm, Allreduce, Barrier, Bcast, Choice, Reduce};
use crate::collectives::call::Call;
use crate::event::CollectiveKind;
use crate::units::Bytes;

/// Length of the segments of [`Allreduce::SegmentedRing`].
const SEGMENTED_RING: u64 = 1 << 20;

/// The algorithm for a call, with its parameters.
pub(super) fn choose(call: &Call) -> Choice {
    let cut = |algorithm, segment| Choice { segment: Bytes(segment), ..Choice::new(algorithm) };
    match openmpi::choose(call) {
        Algorithm::Barrier(Barrier::Linear) => Choice::new(Algorithm::Barrier(Barrier::PostedLinear)),
        Algorithm::Bcast(algorithm) => {
            let (algorithm, segment) = bcast(algorithm, call.size, call.send.each());
            cut(Algorithm::Bcast(algorithm), segment)
        }
        Algorithm::Reduce(algorithm) => {
            let (algorithm, segment) = reduce(algorithm, call);
            let fanout = if algorithm == Reduce::Chain { call.size / 2 } else { 1 };
            Choice { fanout, ..cut(Algorithm::Reduce(algorithm), segment) }
        }
        Algorithm::Allreduce(algorithm) => cut(Algorithm::Allreduce(allreduce(algorithm, call)), SEGMENTED_RING),
        Algorithm::Gather(algorithm) => {
            let is_long = call.block().0 > 92_160;
            cut(Algorithm::Gather(algorithm), if is_long { 32 << 10 } else { 1 << 10 })
        }
        Algorithm::Alltoall(algorithm) => Choice::new(Algorithm::Alltoall(simgrid::alltoall(algorithm))),
        own => match call.kind {
            CollectiveKind::Barrier
            | CollectiveKind::ReduceScatter
            | CollectiveKind::Scatter
            | CollectiveKind::Allgather
            | CollectiveKind::Allgatherv
            | CollectiveKind::Alltoallv => Choice::new(own),
            _ => Choice::new(simgrid::choose(call)),
        },
    }
}

fn bcast(openmpi: Bcast, size: u32, bytes: Bytes) -> (Bcast, u64) {
    /// Segment size of the pipelines that post all receives in advance.
    const POSTED: u64 = 8 << 10;
    match openmpi {
        Bcast::Linear => (Bcast::PostedChain, POSTED),
        Bcast::Binary => (Bcast::PostedBinary, POSTED),
        Bcast::BinomialDoubling => (Bcast::Binomial, 0),
        Bcast::Chain | Bcast::Pipeline => {
            let (size, bytes) = (f64::from(size), bytes.0 as f64);
            let segment = match () {
                () if size < 1.6134e-6 * bytes + 2.1102 => 128 << 10,
                () if size < 2.3679e-6 * bytes + 1.1787 => 64 << 10,
                () if size < 3.2118e-6 * bytes + 8.7936 => 16 << 10,
                () => 128 << 10,
            };
            (Bcast::Pipeline, segment)
        }
        Bcast::SplitBinary => (openmpi, if bytes.0 < 370_728 { 1 << 10 } else { 8 << 10 }),
        own => (own, 0),
    }
}

fn allreduce(openmpi: Allreduce, call: &Call) -> Allreduce {
    let data = call.vector();
    let round = data.segment_elements(SEGMENTED_RING).saturating_mul(u64::from(call.size));
    match openmpi {
        Allreduce::Linear => Allreduce::NonOverlapping,
        Allreduce::SegmentedRing if data.count() >= round => openmpi,
        Allreduce::Ring | Allreduce::SegmentedRing => Allreduce::EqualRing,
        Allreduce::Rabenseifner => Allreduce::ReduceScatterAllgather,
        own => own,
    }
}

fn reduce(openmpi: Reduce, call: &Call) -> (Reduce, u64) {
    let bytes = call.send.each();
    let (size, length) = (f64::from(call.size), bytes.0 as f64 / 1024.0);
    match openmpi {
        Reduce::Rabenseifner => (Reduce::Linear, 0),
        Reduce::Chain => (openmpi, 64 << 10),
        Reduce::Pipeline => (
            openmpi,
            match () {
                () if size > 0.0410 * length + 9.7128 => 1 << 10,
                () if size > 0.0033 * length + 1.6761 => 32 << 10,
                () => 64 << 10,
            },
        ),
        Reduce::Binary => (openmpi, 32 << 10),
        Reduce::BinomialPipelined => {
            let is_short = (call.size < 8 && bytes.0 < 20_480) || bytes.0 < 2_048 || call.vector().count() <= 1;
            (openmpi, if !is_short && size > 0.6016 * length + 1.3496 { 1 << 10 } else { 0 })
        }
        own => (own, 0),
    }
}
