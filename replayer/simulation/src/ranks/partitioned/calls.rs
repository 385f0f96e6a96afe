//! Calls of partitioned communication: a message is set up, started, marked ready part by part, tested, and freed.

use std::collections::BTreeSet;

use titr_common::event::{Partitioned, Rank, RequestId, SendMode, Tag};
use titr_common::program::{Fault, Template};
use titr_common::time::Time;
use titr_common::units::Bytes;

use super::{PartitionedMessage, Route};
use crate::observe::{Caller, Observer, OperationId};
use crate::ranks::ids::{PartIndex, PartitionedSide};
use crate::ranks::library::Library;
use crate::ranks::operation::{Claim, Completion, OperationKind};
use crate::ranks::point_to_point::exchange::Outbound;
use crate::ranks::point_to_point::{Envelope, Selector};
use crate::ranks::scheduler::Waiter;
use crate::ranks::thread::Thread;

impl<O: Observer> Library<'_, O> {
    /// A call of partitioned communication; of one that marks parts as ready, the part that is next.
    pub(in crate::ranks) fn partitioned(&mut self, thread: &mut Thread, event: &Partitioned) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        match event {
            &Partitioned::SendInit(message, parts, id) => {
                self.known(message.to)?;
                let context = self.context(rank, message.comm)?;
                let route = Route { context, from: rank, to: message.to, tag: message.tag };
                self.set_up((rank, id), route, PartitionedSide::Sender, (message.bytes, parts))?;
            }
            &Partitioned::RecvInit(message, parts, id) => {
                // Neither can be left open (MPI 4.0 §4.2.1).
                let (Some(from), Some(tag)) = (message.from, message.tag) else {
                    return Err(Fault::NotPartitioned(id));
                };
                self.known(from)?;
                let context = self.context(rank, message.comm)?;
                let route = Route { context, from, to: rank, tag };
                self.set_up((rank, id), route, PartitionedSide::Receiver, (message.bytes, parts))?;
            }
            Partitioned::Ready(id, parts) => {
                if let Some(&part) = parts.get(thread.started as usize) {
                    self.mark_part(rank, *id, part)?;
                }
            }
            &Partitioned::Arrived(id, part) => self.await_part(thread, id, part)?,
        }
        Ok(())
    }

    /// A rank sets up a side, which matches the oldest other side of its route that has none.
    fn set_up(
        &mut self,
        end: (Rank, RequestId),
        route: Route,
        side: PartitionedSide,
        (bytes, parts): (Bytes, u32),
    ) -> Result<(), Fault> {
        self.requests(end.0).add_persistent(end.1, Template::Partitioned(bytes))?;
        let Self { partitioned, communicators, .. } = self;
        let unmatched = partitioned.unmatched.entry(route).or_default();
        let context = match unmatched.pop_front_if(|(waiting, _)| *waiting != side) {
            Some((_, context)) => context,
            None => {
                let context = communicators.new_context();
                unmatched.push_back((side, context));
                context
            }
        };
        let (operation, ready, waiting) = (None, BTreeSet::new(), Vec::new());
        let side = PartitionedMessage { route, side, context, bytes, parts, operation, ready, waiting, freed: false };
        partitioned.ends.insert(end, PartIndex(partitioned.sides.insert(side) as u32));
        Ok(())
    }

    /// Starts a side of a partitioned message. Returns the operation to wait for.
    pub(in crate::ranks) fn start_partitioned(
        &mut self,
        rank: Rank,
        id: RequestId,
    ) -> Result<Option<OperationId>, Fault> {
        let index = self.partitioned.find(rank, id)?;
        let side = self.partitioned.get_mut(index);
        let (kind, Route { from, to, .. }, context) = (side.side, side.route, side.context);
        if kind == PartitionedSide::Receiver && !self.causality.has_receives() {
            return Ok(None);
        }
        let operation = self.exchange.operations.open(OperationKind::Partitioned(index, kind));
        side.operation = Some(operation);
        side.ready.clear();
        match kind {
            PartitionedSide::Sender => self.send_if_ready(index),
            PartitionedSide::Receiver => {
                let selector = Selector { context, source: Some(from), tag: Some(Tag(0)) };
                let caller = Caller::Thread(to.into());
                let received = self.exchange.receive(to, (selector, None), caller, self.now, &mut self.observer);
                self.await_message(index, received);
            }
        }
        Ok(Some(operation))
    }

    /// A part of a send is ready.
    fn mark_part(&mut self, rank: Rank, request: RequestId, part: u32) -> Result<(), Fault> {
        let index = self.partitioned.find(rank, request)?;
        let side = self.partitioned.get_mut(index);
        if side.side == PartitionedSide::Receiver || side.operation.is_none() {
            return Err(Fault::NotPartitioned(request));
        }
        if part >= side.parts || !side.ready.insert(part) {
            return Err(Fault::NoSuchPart { request, part, parts: side.parts });
        }
        self.send_if_ready(index);
        Ok(())
    }

    /// Sends the message, if all of its parts are ready.
    fn send_if_ready(&mut self, index: PartIndex) {
        let &mut PartitionedMessage { route, context, bytes, parts, ref ready, .. } = self.partitioned.get_mut(index);
        if ready.len() == parts as usize {
            let envelope = Envelope { context, source: route.from, tag: Tag(0) };
            let outbound = Outbound { to: route.to, envelope, bytes, mode: SendMode::Standard };
            let sent = self.exchange.send(outbound, self.now, &mut self.observer);
            self.await_message(index, sent);
        }
    }

    /// A side waits until its message is sent or received.
    fn await_message(&mut self, index: PartIndex, operation: Option<OperationId>) {
        let waiter = Waiter::Part(index);
        self.observer.began(self.now, waiter, self.partitioned.rank(index));
        match operation.map(|operation| self.exchange.operations.claim(operation, waiter)) {
            None => self.scheduler.ready(waiter),
            Some(Claim::Done(eager)) => {
                self.exchange.operations.completions.push(Completion { waiter, operation, eager });
            }
            Some(Claim::Awaited) => {}
        }
    }

    /// The message of a side is sent or received, and the software's part of that is done.
    pub(in crate::ranks) fn advance_part(&mut self, index: PartIndex) {
        self.observer.ended(Waiter::Part(index));
        let side = self.partitioned.get_mut(index);
        for waiter in side.waiting.drain(..) {
            self.observer.released(self.now, waiter, None, Time::ZERO);
            self.exchange.operations.completions.push(Completion { waiter, operation: None, eager: None });
        }
        if let Some(operation) = side.operation.take() {
            self.observer.completed(self.now, operation);
            self.exchange.operations.complete(operation);
        }
        self.partitioned.forget_if_over(index);
    }

    /// `thread` waits until a part of a receive has arrived.
    fn await_part(&mut self, thread: &mut Thread, request: RequestId, part: u32) -> Result<(), Fault> {
        let index = self.partitioned.find(thread.actor.rank, request)?;
        let side = self.partitioned.get_mut(index);
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

    /// The request of a partitioned message is freed.
    pub(in crate::ranks) fn free_partitioned(&mut self, rank: Rank, id: RequestId) {
        if let Some(index) = self.partitioned.ends.remove(&(rank, id)) {
            self.partitioned.get_mut(index).freed = true;
            self.partitioned.forget_if_over(index);
        }
    }
}
