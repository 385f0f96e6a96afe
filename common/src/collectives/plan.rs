//! Maps a call to its steps: passes to each algorithm the arguments that it needs, and combines those that consist of
//! two collectives.

use super::algorithms::blocks::Blocks;
use super::algorithms::rabenseifner::{self, Variant};
use super::algorithms::scan::{Own, scan};
use super::algorithms::schedule::Schedule;
use super::algorithms::{
    Algorithm, Allgather, Allgatherv, Allreduce, Bcast, Choice, Reduce, ReduceScatter, allgather, allreduce, alltoall,
    alltoallv, barrier, bcast, gather, reduce, reduce_scatter, scatter,
};
use super::call::Call;
use super::han::han;
use super::library::Library;
use super::selection::Selection;
use super::smp::smp;
use super::step::{Buffer, Slice, Step};
use super::subcall::PartBuffers;
use crate::event::{CollectiveKind, Volumes};
use crate::units::Bytes;

impl Selection {
    /// The steps of a call; none if `me` or `root` is not a member.
    pub fn steps(&self, call: &Call) -> Vec<Step> {
        if !call.is_sound() || self.library.leaves_out_empty_call(call) {
            return Vec::new();
        }
        plan(self, call).into_steps()
    }
}

/// The steps of a sound call.
fn plan(selection: &Selection, call: &Call) -> Schedule {
    let library = selection.library;
    let choice = selection.choose(call);
    if let (true, Some(nodes)) = (choice.algorithm.knows_nodes(), call.nodes) {
        let plan = |part: &Call| plan(selection, part);
        return if choice.algorithm.is_han() {
            han(call, nodes, &plan)
        } else {
            smp(choice.algorithm, call, nodes, &plan)
        };
    }
    let (comm, root) = (call.comm(), call.root);
    let empty = library.empty_messages(call.mode, call.kind);
    let segment = choice.segment.0;
    let (sent, received) = (call.send.each().0, call.recv.each().0);
    match choice.algorithm {
        Algorithm::Barrier(algorithm) => barrier::barrier(algorithm, comm),
        Algorithm::Bcast(algorithm) => {
            let mut data = call.vector();
            if matches!(algorithm, Bcast::ScatterAllgather | Bcast::ScatterAllgatherRing) {
                data.element = library.scatter_unit(data.element);
            }
            let mut steps = bcast::bcast(algorithm, comm, root, data, segment, choice.fanout);
            if let Some(rest) = bcast::left_over(algorithm, data, segment) {
                append_rest(&mut steps, selection, call, rest);
            }
            steps
        }
        Algorithm::Reduce(algorithm) => {
            reduce::reduce(algorithm, comm, root, call.vector(), segment, choice.fanout, call.is_commutative)
        }
        Algorithm::Allreduce(algorithm) => plan_allreduce(selection, call, algorithm, choice),
        Algorithm::Scan(algorithm) => scan(algorithm, Own::Included, comm, call.vector()),
        Algorithm::Exscan(algorithm) => scan(algorithm, Own::Excluded, comm, call.vector()),
        Algorithm::ReduceScatter(algorithm) | Algorithm::ReduceScatterBlock(algorithm) => {
            plan_reduce_scatter(selection, call, algorithm, &call.shares())
        }
        Algorithm::Gather(algorithm) => gather::gather(algorithm, comm, root, call.data(call.block()), segment),
        Algorithm::Scatter(algorithm) => scatter::scatter(algorithm, comm, root, call.block().0),
        Algorithm::Allgather(algorithm) => plan_allgather(selection, call, algorithm),
        Algorithm::Alltoall(algorithm) => alltoall::alltoall(algorithm, comm, received),
        Algorithm::Gatherv(algorithm) => gather::gatherv(algorithm, comm, root, sent, &call.blocks(call.recv), empty),
        Algorithm::Scatterv(algorithm) => {
            scatter::scatterv(algorithm, comm, root, received, &call.blocks(call.send), empty)
        }
        Algorithm::Allgatherv(algorithm) => plan_allgatherv(selection, call, algorithm),
        Algorithm::Alltoallv(algorithm) | Algorithm::Alltoallw(algorithm) => {
            alltoallv::alltoallv(algorithm, comm, &call.blocks(call.send), &call.blocks(call.recv), empty)
        }
    }
}

fn plan_allreduce(selection: &Selection, call: &Call, algorithm: Allreduce, choice: Choice) -> Schedule {
    let (comm, data, bytes) = (call.comm(), call.vector(), call.send.each());
    match algorithm {
        Allreduce::Linear => {
            let mut steps = reduce::reduce(Reduce::Linear, comm, 0, data, 0, 1, call.is_commutative);
            steps.append(bcast::bcast(Bcast::Linear, comm, 0, data, 0, 1));
            steps
        }
        Allreduce::NonOverlapping => {
            let mut steps = reduce_to_first(selection, call, bytes);
            steps.append(bcast_from_first(selection, call, bytes));
            steps
        }
        Allreduce::RecursiveDoubling => allreduce::recursive_doubling(comm, data),
        Allreduce::Ring => allreduce::ring(comm, data, 1),
        Allreduce::SegmentedRing => allreduce::ring(comm, data, allreduce::phases(comm, data, choice.segment.0)),
        Allreduce::EqualRing => {
            let mut steps = allreduce::equal_ring(comm, data);
            if let Some(rest) = allreduce::left_over(comm, data) {
                append_rest(&mut steps, selection, call, rest);
            }
            steps
        }
        Allreduce::BinomialTrees => {
            let mut steps = reduce::reduce(Reduce::BinomialExchanged, comm, 0, data, 0, 1, call.is_commutative);
            // The result is in place at the root alone.
            steps.append(bcast::bcast(Bcast::BinomialExchanged, comm, 0, data, 0, 1));
            steps
        }
        Allreduce::RingFromNext => allreduce::ring_from_next(comm, data),
        Allreduce::AllToAll => allreduce::all_to_all(comm, data),
        Allreduce::Rabenseifner => rabenseifner::allreduce(Variant::Halves, comm, data),
        Allreduce::ReduceScatterAllgather => rabenseifner::allreduce(Variant::Blocks, comm, data),
        Allreduce::Smp | Allreduce::Han => Schedule::new(), // `smp`, `han`
    }
}

fn plan_reduce_scatter(selection: &Selection, call: &Call, algorithm: ReduceScatter, blocks: &Blocks) -> Schedule {
    let comm = call.comm();
    match algorithm {
        ReduceScatter::NonOverlapping => reduce_then_scatter(selection, call, blocks),
        ReduceScatter::RecursiveHalving => reduce_scatter::recursive_halving(comm, blocks),
        ReduceScatter::Ring => reduce_scatter::ring(comm, blocks),
        ReduceScatter::Butterfly => reduce_scatter::butterfly(comm, blocks),
        ReduceScatter::Pairwise => reduce_scatter::pairwise(comm, blocks),
        ReduceScatter::RecursiveDoubling => reduce_scatter::recursive_doubling(comm, blocks),
        ReduceScatter::BinomialLinear => reduce_scatter::binomial_linear(comm, blocks),
        ReduceScatter::AllToAll => reduce_scatter::all_to_all(comm, blocks),
        ReduceScatter::Noncommutative => reduce_scatter::noncommutative(comm, blocks),
    }
}

/// Member 0 keeps the whole result in its scratch space until it is scattered.
fn reduce_then_scatter(selection: &Selection, call: &Call, blocks: &Blocks) -> Schedule {
    let total = blocks.total();
    let reduce = reduce_to_first(selection, call, Bytes(total));
    let own = Bytes(blocks.len(call.me));
    let scatter = match (call.recv, selection.library) {
        (block @ Volumes::Each(_), Library::Mpich | Library::OpenMpi | Library::OpenMpi40 | Library::OpenMpi50) => {
            part(selection, call, CollectiveKind::Scatter, block, block)
        }
        _ => {
            let lens = (0..call.size).map(|member| Bytes(blocks.len(member))).collect();
            part(selection, call, CollectiveKind::Scatterv, &Volumes::PerMember(lens), &Volumes::Each(own))
        }
    };
    let mut steps = Schedule::new();
    let buffers = PartBuffers { recv: (Buffer::Scratch, 0), scratch: total, ..PartBuffers::OWN };
    steps.append_placed(reduce, |slice| buffers.place(slice));
    let buffers = PartBuffers { send: (Buffer::Scratch, 0), scratch: total, ..PartBuffers::OWN };
    steps.append_placed(scatter, |slice| buffers.place(slice));
    steps
}

fn plan_allgather(selection: &Selection, call: &Call, algorithm: Allgather) -> Schedule {
    let (comm, blocks) = (call.comm(), call.equal_blocks(call.recv.each()));
    let mut steps = allgather::own_block(comm, &blocks);
    match algorithm {
        Allgather::Linear => {
            steps = part(selection, call, CollectiveKind::Gather, call.recv, call.recv);
            steps.append(bcast_from_first(selection, call, Bytes(blocks.total())));
        }
        Allgather::Bruck => steps = allgather::bruck(comm, &blocks),
        Allgather::RecursiveDoubling => {
            allgather::recursive_doubling(&mut steps, comm, 0, &blocks, Buffer::Recv);
        }
        Allgather::Ring | Allgather::TwoProc => allgather::ring(&mut steps, comm, 0, &blocks),
        Allgather::NeighborExchange => allgather::neighbor_exchange(&mut steps, comm, &blocks),
        Allgather::Spread => allgather::spread(&mut steps, comm, &blocks),
        Allgather::Han => {} // `han`
    }
    steps
}

fn plan_allgatherv(selection: &Selection, call: &Call, algorithm: Allgatherv) -> Schedule {
    let (comm, blocks) = (call.comm(), call.blocks(call.recv));
    let mut steps = allgather::own_block(comm, &blocks);
    match algorithm {
        Allgatherv::Linear => {
            let own = Volumes::Each(Bytes(blocks.len(comm.me)));
            steps = part(selection, call, CollectiveKind::Gatherv, &own, call.recv);
            let whole = Bytes(blocks.total());
            // Open MPI broadcasts one element of a datatype that holds all blocks.
            let element = if selection.library.is_simgrid() { call.element } else { whole };
            let call = Call { element, ..*call };
            steps.append(bcast_from_first(selection, &call, whole));
        }
        Allgatherv::Bruck => steps = allgather::bruck(comm, &blocks),
        Allgatherv::RecursiveDoubling => {
            allgather::recursive_doubling(&mut steps, comm, 0, &blocks, Buffer::Recv);
        }
        Allgatherv::PipelinedRing => steps = allgather::pipelined_ring(comm, &blocks, call.data(Bytes(0)).element),
        Allgatherv::Ring | Allgatherv::TwoProc => allgather::ring(&mut steps, comm, 0, &blocks),
        Allgatherv::NeighborExchange => allgather::neighbor_exchange(&mut steps, comm, &blocks),
        Allgatherv::SpreadAround => allgather::spread_around(&mut steps, comm, &blocks),
        Allgatherv::Spread => allgather::spread(&mut steps, comm, &blocks),
    }
    steps
}

/// The steps of a collective that is a part of the call, with member 0 as its root, as its own rules say.
fn part(selection: &Selection, call: &Call, kind: CollectiveKind, send: &Volumes, recv: &Volumes) -> Schedule {
    plan(selection, &Call { kind, send, recv, root: 0, ..*call })
}

/// Continues with the same collective on the rest of the vector, by that algorithm's own rules.
fn append_rest(steps: &mut Schedule, selection: &Selection, call: &Call, rest: Slice) {
    let behind = |slice: Slice| slice.buffer.at(rest.offset.0.saturating_add(slice.offset.0), slice.len.0);
    steps.append_placed(plan(selection, &Call { send: &Volumes::Each(rest.len), ..*call }), behind);
}

fn reduce_to_first(selection: &Selection, call: &Call, bytes: Bytes) -> Schedule {
    part(selection, call, CollectiveKind::Reduce, &Volumes::Each(bytes), &Volumes::None)
}

fn bcast_from_first(selection: &Selection, call: &Call, bytes: Bytes) -> Schedule {
    part(selection, call, CollectiveKind::Bcast, &Volumes::Each(bytes), &Volumes::None)
}
