//! Partitioned messages (MPI 4.0 §4): persistent messages that leave with their last part.
//!
//! A send and a receive are matched when they are set up, by source, tag and communicator, in the order of the calls.
//! From then on they have a context of their own, in which the *n*-th start of the send meets the *n*-th start of the
//! receive. One message is sent when all parts are ready, as in MPICH's device ch4 (`src/mpid/ch4/src/mpidig_part.h`),
//! and every part has arrived with it. Setting up a message costs nothing.

use rustc_hash::FxHashMap;
use slab::Slab;
use std::collections::{BTreeSet, VecDeque};
mod calls;

use super::ids::{PartIndex, PartitionedSide};
use super::point_to_point::protocol::Protocol;
use super::scheduler::Waiter;
use crate::observe::OperationId;
use titr_common::event::{Rank, RequestId, Tag};
use titr_common::program::{Context, Fault};
use titr_common::units::{Bytes, Seconds};

#[derive(Default)]
pub(super) struct PartitionedMessages {
    sides: Slab<PartitionedMessage>,
    /// The side that a request of a rank is.
    ends: FxHashMap<(Rank, RequestId), PartIndex>,
    /// The contexts of sides whose other side is not set up, in order.
    unmatched: FxHashMap<Route, VecDeque<(PartitionedSide, Context)>>,
}

/// What a send and a receive match by when they are set up (MPI 4.0 §4.2.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Route {
    context: Context,
    from: Rank,
    to: Rank,
    tag: Tag,
}

/// A partitioned send or receive.
struct PartitionedMessage {
    route: Route,
    side: PartitionedSide,
    /// The context in which the message meets its receive.
    context: Context,
    bytes: Bytes,
    parts: u32,
    /// The operation of the current start, until it is complete.
    operation: Option<OperationId>,
    /// The parts of a send that are ready since its start.
    ready: BTreeSet<u32>,
    /// Threads that wait for a part of a receive.
    waiting: Vec<Waiter>,
    freed: bool,
}

impl PartitionedMessages {
    fn find(&self, rank: Rank, request: RequestId) -> Result<PartIndex, Fault> {
        self.ends.get(&(rank, request)).copied().ok_or(Fault::NotPartitioned(request))
    }

    fn get_mut(&mut self, index: PartIndex) -> &mut PartitionedMessage {
        &mut self.sides[index.0 as usize]
    }

    fn forget_if_over(&mut self, index: PartIndex) {
        let side = self.get_mut(index);
        if side.freed && side.operation.is_none() {
            self.sides.remove(index.0 as usize);
        }
    }

    /// The rank that has a side.
    pub(super) fn rank(&self, index: PartIndex) -> Rank {
        let PartitionedMessage { route, side, .. } = &self.sides[index.0 as usize];
        match side {
            PartitionedSide::Sender => route.from,
            PartitionedSide::Receiver => route.to,
        }
    }

    /// A side of a partitioned message in words, and the rank at its other side.
    pub(super) fn describe(&self, index: PartIndex) -> (String, Rank) {
        let &PartitionedMessage { route: Route { from, to, tag, .. }, side, .. } = &self.sides[index.0 as usize];
        match side {
            PartitionedSide::Sender => (format!("a partitioned send to rank {} with tag {}", to.0, tag.0), to),
            PartitionedSide::Receiver => {
                (format!("a partitioned receive from rank {} with tag {}", from.0, tag.0), from)
            }
        }
    }

    /// The threads that wait for a part to arrive, each with the receive.
    pub(super) fn awaited_parts(&self) -> impl Iterator<Item = (Waiter, PartIndex)> {
        self.sides
            .iter()
            .flat_map(|(index, side)| side.waiting.iter().map(move |&waiter| (waiter, PartIndex(index as u32))))
    }

    /// The time that a rank spends to mark a part as ready: the cost of the message if it is the last part.
    pub(super) fn cost_of_ready(&self, rank: Rank, request: RequestId, protocol: &Protocol) -> Seconds {
        match self.find(rank, request).ok().map(|index| &self.sides[index.0 as usize]) {
            Some(side) if side.ready.len() + 1 == side.parts as usize => protocol.cost_of_isend(side.bytes).all(),
            Some(_) | None => Seconds(0.0),
        }
    }
}
