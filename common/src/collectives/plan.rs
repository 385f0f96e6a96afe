//! From a call to its steps: each algorithm gets what it needs to know, and those that are made of two collectives are
//! put together.

use super::algorithms::blocks::Blocks;
use super::algorithms::rabenseifner::{self, Variant};
use super::algorithms::scan::{Own, scan};
use super::algorithms::schedule::{Schedule, relocate};
use super::algorithms::{
    Algorithm, Allgather, Allgatherv, Allreduce, Bcast, Choice, Collective, Reduce, ReduceScatter, allgather,
    allreduce, alltoall, alltoallv, barrier, bcast, gather, reduce, reduce_scatter, scatter,
};
use super::call::Call;
use super::library::Library;
use super::selection::Selection;
use super::step::{Buffer, Slice};
use crate::event::{CollectiveOp, Rank};
use crate::units::{Bytes, Instructions};

/// The steps of a sound call.
pub(super) fn plan(selection: &Selection, call: &Call) -> Schedule {
    let library = selection.library;
    let choice = selection.choose(call);
    let (comm, root) = (call.comm(), call.root);
    let empty = library.empty_messages(Collective::of(call.op));
    let segment = choice.segment.0;
    match (choice.algorithm, call.op) {
        (Algorithm::Barrier(algorithm), _) => barrier::barrier(algorithm, comm),
        (Algorithm::Bcast(algorithm), CollectiveOp::Bcast { bytes, .. }) => {
            let mut data = call.data(*bytes);
            if matches!(algorithm, Bcast::ScatterAllgather | Bcast::ScatterAllgatherRing) {
                data.element = library.scatter_unit(data.element);
            }
            let mut steps = bcast::bcast(algorithm, comm, root, data, segment, choice.fanout);
            if let Some(rest) = bcast::left_over(algorithm, data, segment) {
                let op = CollectiveOp::Bcast { bytes: rest.len, root: Rank(0) };
                append_rest(&mut steps, selection, &Call { op: &op, ..*call }, rest);
            }
            steps
        }
        (Algorithm::Reduce(algorithm), CollectiveOp::Reduce { bytes, .. }) => {
            let data = call.data(*bytes);
            reduce::reduce(algorithm, comm, root, data, segment, choice.fanout, call.is_commutative)
        }
        (Algorithm::Allreduce(algorithm), CollectiveOp::Allreduce { bytes, .. }) => {
            plan_allreduce(selection, call, algorithm, *bytes, choice)
        }
        (Algorithm::Scan(algorithm), CollectiveOp::Scan { bytes, .. }) => {
            scan(algorithm, Own::Included, comm, call.data(*bytes))
        }
        (Algorithm::Exscan(algorithm), CollectiveOp::Exscan { bytes, .. }) => {
            scan(algorithm, Own::Excluded, comm, call.data(*bytes))
        }
        (Algorithm::ReduceScatter(algorithm), CollectiveOp::ReduceScatter { counts, .. }) => {
            plan_reduce_scatter(selection, call, algorithm, &call.blocks(counts))
        }
        (Algorithm::ReduceScatterBlock(algorithm), CollectiveOp::ReduceScatterBlock { bytes, .. }) => {
            plan_reduce_scatter(selection, call, algorithm, &call.equal_blocks(*bytes))
        }
        (Algorithm::Gather(algorithm), CollectiveOp::Gather { send, recv, .. }) => {
            gather::gather(algorithm, comm, root, call.data(call.block(*recv, *send)), segment)
        }
        (Algorithm::Scatter(algorithm), CollectiveOp::Scatter { send, recv, .. }) => {
            scatter::scatter(algorithm, comm, root, call.block(*send, *recv).0)
        }
        (Algorithm::Allgather(algorithm), CollectiveOp::Allgather { recv, .. }) => {
            plan_allgather(selection, call, algorithm, *recv)
        }
        (Algorithm::Alltoall(algorithm), CollectiveOp::Alltoall { recv, .. }) => {
            alltoall::alltoall(algorithm, comm, recv.0)
        }
        (Algorithm::Gatherv(algorithm), CollectiveOp::Gatherv { send, recvs, .. }) => {
            gather::gatherv(algorithm, comm, root, send.0, &call.blocks(recvs), empty)
        }
        (Algorithm::Scatterv(algorithm), CollectiveOp::Scatterv { sends, recv, .. }) => {
            scatter::scatterv(algorithm, comm, root, recv.0, &call.blocks(sends), empty)
        }
        (Algorithm::Allgatherv(algorithm), CollectiveOp::Allgatherv { recvs, .. }) => {
            plan_allgatherv(selection, call, algorithm, recvs)
        }
        (Algorithm::Alltoallv(algorithm), CollectiveOp::Alltoallv { sends, recvs })
        | (Algorithm::Alltoallw(algorithm), CollectiveOp::Alltoallw { sends, recvs }) => {
            alltoallv::alltoallv(algorithm, comm, &call.blocks(sends), &call.blocks(recvs), empty)
        }
        // `choose` answers with an algorithm of the collective that it is asked about.
        _ => Schedule::new(),
    }
}

fn plan_allreduce(selection: &Selection, call: &Call, algorithm: Allreduce, bytes: Bytes, choice: Choice) -> Schedule {
    let (comm, data) = (call.comm(), call.data(bytes));
    match algorithm {
        Allreduce::Linear => {
            let mut steps = reduce::reduce(Reduce::Linear, comm, 0, data, 0, 1, call.is_commutative);
            steps.append(bcast::bcast(Bcast::Linear, comm, 0, data, 0, 1));
            steps
        }
        Allreduce::NonOverlapping => {
            let mut steps = part(selection, call, &reduce_to_first(bytes));
            steps.append(part(selection, call, &bcast_from_first(bytes)));
            steps
        }
        Allreduce::RecursiveDoubling => allreduce::recursive_doubling(comm, data),
        Allreduce::Ring => allreduce::ring(comm, data, 1),
        Allreduce::SegmentedRing => allreduce::ring(comm, data, allreduce::phases(comm, data, choice.segment.0)),
        Allreduce::EqualRing => {
            let mut steps = allreduce::equal_ring(comm, data);
            if let Some(rest) = allreduce::left_over(comm, data) {
                let op = CollectiveOp::Allreduce { bytes: rest.len, work: Instructions(0.0) };
                append_rest(&mut steps, selection, &Call { op: &op, ..*call }, rest);
            }
            steps
        }
        Allreduce::Rabenseifner => rabenseifner::allreduce(Variant::Halves, comm, data),
        Allreduce::ReduceScatterAllgather => rabenseifner::allreduce(Variant::Blocks, comm, data),
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
        ReduceScatter::Noncommutative => reduce_scatter::noncommutative(comm, blocks),
    }
}

/// Member 0 keeps the whole result in its scratch space until it is scattered.
fn reduce_then_scatter(selection: &Selection, call: &Call, blocks: &Blocks) -> Schedule {
    let total = blocks.total();
    let reduce = part(selection, call, &reduce_to_first(Bytes(total)));
    let own = Bytes(blocks.len(call.me));
    let scatter = match (call.op, selection.library) {
        (CollectiveOp::ReduceScatterBlock { bytes, .. }, Library::Mpich | Library::OpenMpi) => {
            CollectiveOp::Scatter { send: *bytes, recv: *bytes, root: Rank(0) }
        }
        _ => CollectiveOp::Scatterv {
            sends: (0..call.size).map(|member| Bytes(blocks.len(member))).collect(),
            recv: own,
            root: Rank(0),
        },
    };
    let scatter = part(selection, call, &scatter);
    let behind_result = |slice: Slice| Buffer::Scratch.at(slice.offset.0.saturating_add(total), slice.len.0);
    let result = |slice: Slice| Buffer::Scratch.at(slice.offset.0, slice.len.0);

    let mut steps = Schedule::new();
    steps.extend(reduce.into_steps().into_iter().map(|step| {
        relocate(step, |slice| match slice.buffer {
            Buffer::Send => slice,
            Buffer::Recv => result(slice),
            Buffer::Scratch => behind_result(slice),
        })
    }));
    steps.extend(scatter.into_steps().into_iter().map(|step| {
        relocate(step, |slice| match slice.buffer {
            Buffer::Send => result(slice),
            Buffer::Recv => slice,
            Buffer::Scratch => behind_result(slice),
        })
    }));
    steps
}

fn plan_allgather(selection: &Selection, call: &Call, algorithm: Allgather, block: Bytes) -> Schedule {
    let (comm, blocks) = (call.comm(), call.equal_blocks(block));
    let mut steps = allgather::own_block(comm, &blocks);
    match algorithm {
        Allgather::Linear => {
            let gather = CollectiveOp::Gather { send: block, recv: block, root: Rank(0) };
            steps = part(selection, call, &gather);
            steps.append(part(selection, call, &bcast_from_first(Bytes(blocks.total()))));
        }
        Allgather::Bruck => steps = allgather::bruck(comm, &blocks),
        Allgather::RecursiveDoubling => {
            allgather::recursive_doubling(&mut steps, comm, 0, &blocks, Buffer::Recv);
        }
        Allgather::Ring | Allgather::TwoProc => allgather::ring(&mut steps, comm, 0, &blocks),
        Allgather::NeighborExchange => allgather::neighbor_exchange(&mut steps, comm, &blocks),
        Allgather::Spread => allgather::spread(&mut steps, comm, &blocks),
    }
    steps
}

fn plan_allgatherv(selection: &Selection, call: &Call, algorithm: Allgatherv, recvs: &[Bytes]) -> Schedule {
    let (comm, blocks) = (call.comm(), call.blocks(recvs));
    let mut steps = allgather::own_block(comm, &blocks);
    match algorithm {
        Allgatherv::Linear => {
            let gather =
                CollectiveOp::Gatherv { send: Bytes(blocks.len(comm.me)), recvs: recvs.to_vec(), root: Rank(0) };
            steps = part(selection, call, &gather);
            let whole = Bytes(blocks.total());
            // Open MPI broadcasts one element of a datatype that holds all blocks.
            let element = if selection.library.is_simgrid() { call.element } else { whole };
            let call = Call { element, ..*call };
            steps.append(part(selection, &call, &bcast_from_first(whole)));
        }
        Allgatherv::Bruck => steps = allgather::bruck(comm, &blocks),
        Allgatherv::RecursiveDoubling => {
            allgather::recursive_doubling(&mut steps, comm, 0, &blocks, Buffer::Recv);
        }
        Allgatherv::PipelinedRing => steps = allgather::pipelined_ring(comm, &blocks, call.data(Bytes(0)).element),
        Allgatherv::Ring | Allgatherv::TwoProc => allgather::ring(&mut steps, comm, 0, &blocks),
        Allgatherv::NeighborExchange => allgather::neighbor_exchange(&mut steps, comm, &blocks),
        Allgatherv::Spread => allgather::spread(&mut steps, comm, &blocks),
    }
    steps
}

/// The steps of a collective that is a part of the call, with member 0 as its root, as its own rules say.
fn part(selection: &Selection, call: &Call, op: &CollectiveOp) -> Schedule {
    plan(selection, &Call { op, root: 0, ..*call })
}

/// Goes on with the same collective on what an algorithm left of the vector, as its own rules say.
fn append_rest(steps: &mut Schedule, selection: &Selection, call: &Call, rest: Slice) {
    let behind = |slice: Slice| slice.buffer.at(rest.offset.0.saturating_add(slice.offset.0), slice.len.0);
    let planned = plan(selection, call).into_steps();
    steps.extend(planned.into_iter().map(|step| relocate(step, behind)));
}

fn reduce_to_first(bytes: Bytes) -> CollectiveOp {
    CollectiveOp::Reduce { bytes, work: Instructions(0.0), root: Rank(0) }
}

fn bcast_from_first(bytes: Bytes) -> CollectiveOp {
    CollectiveOp::Bcast { bytes, root: Rank(0) }
}
