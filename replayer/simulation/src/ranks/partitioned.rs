//! Partitioned messages (MPI 4.0 §4): persistent messages that leave with their last part.
//!
//! A send and a receive are matched when they are set up, by source, tag and communicator, in the order of the calls.
//! From then on they have a context of their own, in which the *n*-th start of the send meets the *n*-th start of the
//! receive. One message is sent when all parts are ready, as in MPICH's device ch4 (`src/mpid/ch4/src/mpidig_part.h`),
//! and every part has arrived with it. Setting up a message costs nothing.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashMap;
use slab::Slab;
use titr_common::event::{Partitioned, Rank, RequestId, SendMode, Tag};
use titr_common::program::{Context, Fault, Template};
use titr_common::units::{Bytes, Seconds};

use super::ids::{PartIndex, PartitionedSide};
use super::mpi::Mpi;
use super::operation::{CompletedWait, OperationKind};
use super::point_to_point::exchange::Outbound;
use super::point_to_point::protocol::Protocol;
use super::point_to_point::{Envelope, Selector};
use super::scheduler::{BackgroundWork, Waiter};
use super::thread::Thread;
use crate::observe::{Caller, Observer, OperationId};

#[derive(Default)]
pub(super) struct PartitionedMessages {
    pub(super) sides: Slab<PartitionedMessage>,
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

pub(super) struct PartitionedMessage {
    route: Route,
    side: PartitionedSide,
    /// The context in which the message meets its receive.
    context: Context,
    bytes: Bytes,
    parts: u32,
    /// The wait until the message is sent or received.
    pub(super) work: BackgroundWork,
    /// The operation of the current start, until it is complete.
    operation: Option<OperationId>,
    /// The parts of a send that are ready since its start.
    ready: BTreeSet<u32>,
    /// Threads that wait for a part of a receive.
    waiting: Vec<Waiter>,
    freed: bool,
}

impl PartitionedMessages {
    /// A call of partitioned communication; of one that marks parts as ready, the part that is next.
    pub(super) fn call(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        thread: &mut Thread,
        event: &Partitioned,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        match event {
            &Partitioned::SendInit(message, parts, id) => {
                mpi.known(message.to)?;
                let context = mpi.context(rank, message.comm)?;
                let route = Route { context, from: rank, to: message.to, tag: message.tag };
                self.set_up(mpi, (rank, id), route, PartitionedSide::Sender, (message.bytes, parts))?;
            }
            &Partitioned::RecvInit(message, parts, id) => {
                // Neither can be left open (MPI 4.0 §4.2.1).
                let (Some(from), Some(tag)) = (message.from, message.tag) else {
                    return Err(Fault::NotPartitioned(id));
                };
                mpi.known(from)?;
                let context = mpi.context(rank, message.comm)?;
                let route = Route { context, from, to: rank, tag };
                self.set_up(mpi, (rank, id), route, PartitionedSide::Receiver, (message.bytes, parts))?;
            }
            Partitioned::Ready(id, parts) => {
                if let Some(&part) = parts.get(thread.started as usize) {
                    self.mark_part(mpi, rank, *id, part)?;
                }
            }
            &Partitioned::Arrived(id, part) => self.await_part(thread, id, part)?,
        }
        Ok(())
    }

    /// A rank sets up a side, which matches the oldest other side of its route that has none.
    fn set_up(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        end: (Rank, RequestId),
        route: Route,
        side: PartitionedSide,
        (bytes, parts): (Bytes, u32),
    ) -> Result<(), Fault> {
        mpi.requests(end.0).add_persistent(end.1, Template::Partitioned(bytes))?;
        let unmatched = self.unmatched.entry(route).or_default();
        let context = match unmatched.pop_front_if(|(waiting, _)| *waiting != side) {
            Some((_, context)) => context,
            None => {
                let context = mpi.communicators.new_context();
                unmatched.push_back((side, context));
                context
            }
        };
        let work = BackgroundWork::new(end.0.into(), mpi.now());
        let (operation, ready, waiting, freed) = (None, BTreeSet::new(), Vec::new(), false);
        let side = PartitionedMessage { route, side, context, bytes, parts, work, operation, ready, waiting, freed };
        self.ends.insert(end, PartIndex(self.sides.insert(side) as u32));
        Ok(())
    }

    /// Starts a side of a partitioned message. Returns the operation to wait for.
    pub(super) fn start(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        rank: Rank,
        id: RequestId,
    ) -> Result<Option<OperationId>, Fault> {
        let index = self.find(rank, id)?;
        let side = self.get_mut(index);
        let (kind, Route { from, to, .. }, context) = (side.side, side.route, side.context);
        if kind == PartitionedSide::Receiver && !mpi.causality().has_receives() {
            return Ok(None);
        }
        let operation = mpi.open(OperationKind::Partitioned(index, kind));
        side.operation = Some(operation);
        side.ready.clear();
        match kind {
            PartitionedSide::Sender => self.send_if_ready(mpi, index),
            PartitionedSide::Receiver => {
                let selector = Selector { context, source: Some(from), tag: Some(Tag(0)) };
                let caller = Caller::Thread(to.into());
                let received = mpi.post_receive(to, (selector, None), caller);
                self.await_message(mpi, index, received);
            }
        }
        Ok(Some(operation))
    }

    /// A part of a send is ready.
    fn mark_part(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        rank: Rank,
        request: RequestId,
        part: u32,
    ) -> Result<(), Fault> {
        let index = self.find(rank, request)?;
        let side = self.get_mut(index);
        if side.side == PartitionedSide::Receiver || side.operation.is_none() {
            return Err(Fault::NotPartitioned(request));
        }
        if part >= side.parts || !side.ready.insert(part) {
            return Err(Fault::NoSuchPart { request, part, parts: side.parts });
        }
        self.send_if_ready(mpi, index);
        Ok(())
    }

    /// Sends the message, if all of its parts are ready.
    fn send_if_ready(&mut self, mpi: &mut Mpi<impl Observer>, index: PartIndex) {
        let &mut PartitionedMessage { route, context, bytes, parts, ref ready, .. } = self.get_mut(index);
        if ready.len() == parts as usize {
            let envelope = Envelope { context, source: route.from, tag: Tag(0) };
            let sent = mpi.send_message(Outbound::new(route.to, envelope, bytes, SendMode::Standard));
            self.await_message(mpi, index, sent);
        }
    }

    /// A side waits until its message is sent or received.
    fn await_message(&mut self, mpi: &mut Mpi<impl Observer>, index: PartIndex, operation: Option<OperationId>) {
        let (waiter, work) = (Waiter::Part(index), &mut self.get_mut(index).work);
        mpi.observer.began(mpi.now(), waiter, work.actor.rank);
        mpi.follow(waiter, &mut work.clock, operation);
    }

    /// The message of a side is sent or received, and the software's part of that is done.
    pub(super) fn advance(&mut self, mpi: &mut Mpi<impl Observer>, index: PartIndex) {
        mpi.observer.ended(Waiter::Part(index));
        let side = self.get_mut(index);
        for waiter in side.waiting.drain(..) {
            mpi.release(waiter);
            mpi.exchange.operations.completions.push(CompletedWait { waiter, operation: None, cost: Seconds(0.0) });
        }
        if let Some(operation) = side.operation.take() {
            mpi.complete(operation);
        }
        self.forget_if_over(index);
    }

    /// `thread` waits until a part of a receive has arrived.
    fn await_part(&mut self, thread: &mut Thread, request: RequestId, part: u32) -> Result<(), Fault> {
        let index = self.find(thread.actor.rank, request)?;
        let side = self.get_mut(index);
        if side.side == PartitionedSide::Sender || part >= side.parts {
            return Err(Fault::NoSuchPart { request, part, parts: side.parts });
        }
        // A receive that is not active has all its parts (MPI 4.0 §4.2.2).
        if side.operation.is_some() {
            side.waiting.push(thread.waiter());
            thread.clock.awaited += 1;
        }
        Ok(())
    }

    pub(super) fn free(&mut self, rank: Rank, id: RequestId) {
        if let Some(index) = self.ends.remove(&(rank, id)) {
            self.get_mut(index).freed = true;
            self.forget_if_over(index);
        }
    }

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
            Some(side) if side.ready.len() + 1 == side.parts as usize => {
                protocol.cost_of_isend(side.bytes, (side.route.from, side.route.to)).all()
            }
            Some(_) | None => Seconds(0.0),
        }
    }
}
