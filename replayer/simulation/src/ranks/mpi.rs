//! The part of the simulated MPI library that all chapters of MPI share: requests, communicators, point-to-point messages,
//! and the clock.

use titr_common::event::{
    Actor, CommId, Completed, Completion, Incoming, MessageCompletion, Outgoing, Rank, RequestId, RequestKey, SendMode,
};
use titr_common::program::{Communicators, Context, Fault, Template};
use titr_common::time::Time;
use titr_common::units::Bytes;
use titr_network::topology::Inside;
use titr_network::{Connection, Network, Transfer, TransferId};
use titr_platform::Mpi as Parameters;
use titr_workload::Match;

use super::core::{TaskCore, TaskCores};
use super::ids::MessageId;
use super::operation::{Claim, CompletedWait, OperationKind};
use super::point_to_point::exchange::{Exchange, Outbound};
use super::point_to_point::protocol::{Causality, SendCost};
use super::point_to_point::{Envelope, Selector};
use super::scheduler::{Clock, Deferred, Scheduler, Task, Waiter};
use super::thread::Thread;
use super::warnings::Warnings;
use super::{Core, RequestTable};
use crate::observe::{Caller, Departure, Observer, OperationId, Work};

/// What the chapters of MPI share in a simulated library. Each of them owns the rest of its state.
pub(super) struct Mpi<O> {
    now: Time,
    causality: Causality,
    cores: Vec<Core>,
    /// Of each rank.
    requests: Vec<RequestTable>,
    pub(super) communicators: Communicators,
    pub(super) exchange: Exchange,
    pub(super) scheduler: Scheduler,
    pub(super) deferred: Deferred,
    pub(super) task_cores: TaskCores,
    pub(super) warnings: Warnings,
    pub(super) observer: O,
}

impl<O: Observer> Mpi<O> {
    /// A library for as many `ranks`, each on its core.
    pub(super) fn new(ranks: usize, cores: Vec<Core>, library: &Parameters, causality: Causality, observer: O) -> Self {
        Self {
            now: Time::ZERO,
            causality,
            requests: (0..ranks).map(|_| RequestTable::default()).collect(),
            communicators: Communicators::new(ranks),
            exchange: Exchange::new(&cores, library, causality),
            scheduler: Scheduler::default(),
            deferred: Deferred::new(ranks, library.progress),
            task_cores: TaskCores::default(),
            warnings: Warnings::default(),
            observer,
            cores,
        }
    }

    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// How much of the order of a program's messages is kept.
    pub(super) fn causality(&self) -> Causality {
        self.causality
    }

    pub(super) fn ranks(&self) -> usize {
        self.requests.len()
    }

    pub(super) fn core(&self, rank: Rank) -> &Core {
        &self.cores[rank.0 as usize]
    }

    /// Moves on to `now`, when no waiter is runnable.
    pub(super) fn reach(&mut self, now: Time) {
        self.now = now;
        self.observer.reached(now);
    }

    /// Tells observers that `waiter`, which waits for no operation, goes on.
    pub(super) fn release(&mut self, waiter: Waiter) {
        self.observer.released(self.now, waiter, None, Time::ZERO);
    }

    /// A wait is over of a waiter with this clock, which executes a task on `core` if it executes one. The waiter goes on
    /// if it waits for nothing else.
    #[inline]
    pub(super) fn wake(&mut self, completion: &CompletedWait, clock: &mut Clock, core: Option<TaskCore>) {
        let (now, waiter) = (self.now, completion.waiter);
        let overhead = completion.cost;
        if let Some(core) = core {
            clock.time = self.task_cores.free(core, clock.time.max(now));
        }
        let cost = clock.complete(now, overhead);
        if let Some(core) = core {
            self.task_cores.take(core, clock.time);
        }
        if completion.operation.is_some() {
            self.observer.released(now, waiter, completion.operation, cost);
        }
        if clock.awaited > 0 {
            return;
        }
        // A task and a partitioned message go on after the cost of the completion.
        let pays_first = core.is_some() || matches!(waiter, Waiter::Part(_));
        if pays_first && clock.time > now {
            self.scheduler.set_timer(clock.time, waiter);
        } else {
            self.scheduler.ready(waiter);
        }
    }

    /// Defers the departing messages that need the processor of a rank. `is_inside`: whether a rank is in a call of MPI.
    pub(super) fn hold_back(&mut self, is_inside: impl Fn(Rank) -> bool) {
        let Self { exchange, deferred, .. } = self;
        let mut leaving = std::mem::take(&mut exchange.outbox);
        leaving.retain(|&message| {
            let missing = exchange.missing(message, &is_inside);
            missing.inspect(|&rank| deferred.defer(rank, Task::Handshake(message))).is_none()
        });
        exchange.outbox = leaving;
    }

    /// The rank that a message waited for is in a call of MPI.
    pub(super) fn shake_hands(&mut self, message: MessageId) {
        self.exchange.shake_hands(message, self.now, &mut self.observer);
    }

    /// Hands departing messages to the network.
    pub(super) fn depart(&mut self, network: &mut (impl Network + ?Sized)) {
        let Self { now, exchange, cores, observer, .. } = self;
        let host = |rank: Rank| cores[rank.0 as usize].host;
        let core = |rank: Rank| cores[rank.0 as usize].number;
        exchange.await_answers(*now, |from, to| host(from) == host(to));
        let mut leaving = std::mem::take(&mut exchange.outbox);
        for id in leaving.drain(..) {
            exchange.leave(id, *now);
            let message = exchange.message(id);
            let (id, from, to, bytes) = (TransferId::from(id), message.envelope.source, message.to, message.bytes);
            let (in_collective, kind) = (message.envelope.context.is_collective(), message.kind(&exchange.protocol));
            observer.injected(*now, Departure { id, from, to, bytes, in_collective });
            let connection = Some(Connection { sender: from.0, receiver: to.0 });
            let inside = Inside { from: core(from), to: core(to), working_set: message.working_set };
            let transfer = Transfer { id, from: host(from), to: host(to), bytes, connection, stretch: 1.0, inside };
            if observer.queries_network() {
                observer.unloaded(id, network.unloaded(&transfer));
            }
            observer.carried(*now, transfer, kind);
            network.inject(*now, transfer);
        }
        exchange.outbox = leaving;
    }

    pub(super) fn deliver(&mut self, message: MessageId, network: &mut (impl Network + ?Sized)) {
        let transfer = TransferId::from(message);
        if self.observer.queries_network() {
            let met = network.met(transfer);
            if !met.is_empty() {
                self.observer.met(transfer, &met);
            }
        }
        self.observer.delivered(self.now, transfer);
        self.exchange.deliver(message, self.now, &mut self.observer);
    }

    pub(super) fn open(&mut self, kind: OperationKind) -> OperationId {
        self.exchange.operations.open(kind)
    }

    /// Completes an operation, and notifies its waiter.
    pub(super) fn complete(&mut self, operation: OperationId) {
        self.observer.completed(self.now, operation);
        self.exchange.operations.complete(operation);
    }

    /// A waiter with this clock waits until `operation` is complete, if it was not complete at once.
    #[inline]
    pub(super) fn wait(&mut self, waiter: Waiter, clock: &mut Clock, operation: Option<OperationId>) {
        self.exchange.wait_for(operation, waiter, clock, self.now, &mut self.observer);
    }

    /// A waiter waits for `operation` only, and goes on when the operation is complete and paid for; at once if it was
    /// complete at once.
    pub(super) fn follow(&mut self, waiter: Waiter, clock: &mut Clock, operation: Option<OperationId>) {
        *clock = Clock { time: self.now, awaited: 1 };
        match operation.map(|operation| self.exchange.operations.claim(operation, waiter)) {
            None => self.scheduler.ready(waiter),
            Some(Claim::Done(cost)) => {
                self.exchange.operations.completions.push(CompletedWait { waiter, operation, cost });
            }
            Some(Claim::Awaited) => {}
        }
    }

    /// Sends a message. Returns the operation to wait for if the send does not complete at once.
    #[inline]
    pub(super) fn send_message(&mut self, message: Outbound) -> Option<OperationId> {
        self.exchange.send(message, self.now, &mut self.observer)
    }

    /// Posts a receive with room for this many bytes. Returns the operation to wait for, if the replay has receives.
    #[inline]
    pub(super) fn post_receive(
        &mut self,
        receiver: Rank,
        wanted: (Selector, Option<Bytes>),
        caller: Caller,
    ) -> Option<OperationId> {
        self.exchange.receive(receiver, wanted, caller, self.now, &mut self.observer)
    }

    /// Sends a message without a receive, at once; `waiter` is notified of its arrival.
    pub(super) fn transfer(&mut self, message: (Rank, Envelope, Bytes), waiter: Waiter) {
        self.exchange.transfer(message, waiter, self.now, &mut self.observer);
    }

    /// `MPI_Send`.
    #[inline]
    pub(super) fn blocking_send(&mut self, thread: &mut Thread, message: Outgoing) -> Result<(), Fault> {
        let sent = self.start_send(thread.actor.rank, SendMode::Standard, message)?;
        let ends = (thread.actor.rank, message.to);
        self.charge_rest(thread, self.exchange.protocol.cost_of_send(SendMode::Standard, message.bytes, ends));
        self.wait_for(thread, sent);
        Ok(())
    }

    /// `MPI_Recv`.
    #[inline]
    pub(super) fn blocking_receive(&mut self, thread: &mut Thread, message: Incoming) -> Result<(), Fault> {
        let received = self.start_receive(thread.actor, message, None)?;
        self.wait_for(thread, received);
        Ok(())
    }

    /// `MPI_Send` and related functions, with the cancellation that the trace records later.
    #[inline]
    pub(super) fn send(
        &mut self,
        thread: &mut Thread,
        mode: SendMode,
        message: Outgoing,
        completion: MessageCompletion,
        recorded: Option<Match>,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        if let Completion::Persistent(id) = completion {
            return self.requests(rank).add_persistent(id, Template::Send(mode, message));
        }
        let sent = self.start_unless_cancelled(rank, mode, message, recorded)?;
        let ends = (rank, message.to);
        self.charge_rest(thread, self.exchange.protocol.cost_of_message(mode, message.bytes, ends, completion));
        let key = RequestKey { from: Some(rank), to: message.to, tag: Some(message.tag) };
        self.complete_message(thread, completion, key, sent)
    }

    /// `MPI_Recv` and related calls, with the match that the trace records later.
    #[inline]
    pub(super) fn receive(
        &mut self,
        thread: &mut Thread,
        message: Incoming,
        completion: MessageCompletion,
        recorded: Option<Match>,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        if let Completion::Persistent(id) = completion {
            return self.requests(rank).add_persistent(id, Template::Receive(message));
        }
        let received = self.start_receive(thread.actor, message, recorded)?;
        let key = RequestKey { from: message.from, to: rank, tag: message.tag };
        self.complete_message(thread, completion, key, received)
    }

    /// Lets the thread wait for a send or a receive, or another call by its request or, if that has no name, by this key.
    #[inline]
    fn complete_message(
        &mut self,
        thread: &mut Thread,
        completion: MessageCompletion,
        key: RequestKey,
        operation: Option<OperationId>,
    ) -> Result<(), Fault> {
        match completion {
            Completion::Blocking => self.wait_for(thread, operation),
            Completion::Request(Some(id)) => self.requests(thread.actor.rank).add(id, operation)?,
            Completion::Request(None) => self.requests(thread.actor.rank).add_keyed(key, operation),
            Completion::Persistent(_) => {}
        }
        Ok(())
    }

    pub(super) fn sendrecv(
        &mut self,
        thread: &mut Thread,
        outgoing: Option<Outgoing>,
        incoming: Option<Incoming>,
    ) -> Result<(), Fault> {
        let Actor { rank, .. } = thread.actor;
        // The receive comes first in Open MPI (`sendrecv.c`, `ompi_coll_base_sendrecv_actual`) and MPICH (`MPIC_Sendrecv`).
        let received = incoming.map(|message| self.start_receive(thread.actor, message, None)).transpose()?.flatten();
        let sent = outgoing.map(|message| self.start_send(rank, SendMode::Standard, message)).transpose()?.flatten();
        if let Some(message) = outgoing {
            self.charge_rest(thread, self.exchange.protocol.cost_of_isend(message.bytes, (rank, message.to)));
        }
        self.wait_for(thread, sent);
        self.wait_for(thread, received);
        Ok(())
    }

    pub(super) fn probe(&mut self, thread: &mut Thread, message: Incoming) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        let selector = self.selector(rank, message)?;
        if !self.exchange.probe(thread.waiter(), rank, selector) {
            thread.clock.awaited = 1;
        }
        Ok(())
    }

    /// `MPI_Buffer_detach`: until the buffered messages of the rank need their buffer no more.
    pub(super) fn await_buffered(&mut self, thread: &mut Thread) {
        for operation in self.exchange.buffered(thread.actor.rank) {
            self.wait_for(thread, Some(operation));
        }
    }

    /// A message of `thread` has left before the cost of its send was over.
    #[inline]
    pub(super) fn charge_rest(&mut self, thread: &mut Thread, cost: SendCost) {
        if cost.after.0 > 0.0 {
            let from = thread.clock.time;
            thread.clock.time = from + cost.after;
            self.observer.works(thread.waiter(), Work::Overhead, from, thread.clock.time);
        }
    }

    #[inline]
    fn start_send(&mut self, rank: Rank, mode: SendMode, message: Outgoing) -> Result<Option<OperationId>, Fault> {
        self.known(message.to)?;
        let context = self.context(rank, message.comm)?;
        let envelope = Envelope { context, source: rank, tag: message.tag };
        Ok(self.send_message(Outbound::new(message.to, envelope, message.bytes, mode)))
    }

    /// Starts a send, unless it was cancelled: its message must not come to another one's receive here.
    #[inline]
    pub(super) fn start_unless_cancelled(
        &mut self,
        rank: Rank,
        mode: SendMode,
        message: Outgoing,
        recorded: Option<Match>,
    ) -> Result<Option<OperationId>, Fault> {
        if recorded == Some(Match::Cancelled) { Ok(None) } else { self.start_send(rank, mode, message) }
    }

    /// Posts a receive. Recorded data completes what `message` leaves open. A cancelled receive is not posted: it might
    /// take another receive's message here.
    #[inline]
    pub(super) fn start_receive(
        &mut self,
        actor: Actor,
        message: Incoming,
        recorded: Option<Match>,
    ) -> Result<Option<OperationId>, Fault> {
        let mut selector = self.selector(actor.rank, message)?;
        if !self.causality.has_receives() {
            return Ok(None);
        }
        match recorded {
            Some(Match::Cancelled) => return Ok(None),
            Some(Match::With(source, tag)) => {
                self.known(source)?;
                selector = Selector { source: Some(source), tag: Some(tag), ..selector };
            }
            None if selector.is_wild() => self.warnings.open_wildcards += 1,
            None => {}
        }
        let wanted = (selector, Some(message.bytes));
        Ok(self.post_receive(actor.rank, wanted, Caller::Thread(actor)))
    }

    fn selector(&mut self, rank: Rank, message: Incoming) -> Result<Selector, Fault> {
        message.from.map_or(Ok(()), |from| self.known(from))?;
        Ok(Selector { context: self.context(rank, message.comm)?, source: message.from, tag: message.tag })
    }

    /// The context of the communicator that `rank` calls `comm`.
    #[inline]
    pub(super) fn context(&mut self, rank: Rank, comm: CommId) -> Result<Context, Fault> {
        let index = self.communicators.find(rank, comm)?;
        Ok(self.communicators.get(index).context)
    }

    pub(super) fn known(&self, peer: Rank) -> Result<(), Fault> {
        let ranks = self.requests.len();
        if (peer.0 as usize) < ranks { Ok(()) } else { Err(Fault::NoSuchRank { rank: peer, world: ranks }) }
    }

    #[inline]
    pub(super) fn wait_for(&mut self, thread: &mut Thread, operation: Option<OperationId>) {
        let from = thread.clock.time.max(self.now);
        self.wait(thread.waiter(), &mut thread.clock, operation);
        // The time that a completed operation took a task is taken from its core.
        if let Some(core) = thread.core
            && thread.clock.time > from
        {
            let cost = thread.clock.time.0 - from.0;
            thread.clock.time = Time(self.task_cores.free(core, from).0 + cost);
            self.task_cores.take(core, thread.clock.time);
        }
    }

    pub(super) fn requests(&mut self, rank: Rank) -> &mut RequestTable {
        &mut self.requests[rank.0 as usize]
    }

    #[inline]
    pub(super) fn all_requests(&self) -> &[RequestTable] {
        &self.requests
    }

    pub(super) fn free_request(&mut self, rank: Rank, id: RequestId) -> Result<(), Fault> {
        if let Some(operation) = self.requests(rank).free(id)? {
            self.exchange.operations.abandon(operation);
        }
        Ok(())
    }

    pub(super) fn cancel(&mut self, rank: Rank, id: RequestId) -> Result<(), Fault> {
        if let Some(operation) = self.requests(rank).activity(id)? {
            self.exchange.cancel(operation, self.now, &mut self.observer);
        }
        Ok(())
    }

    /// `MPI_Wait`, `MPI_Test` and related calls. For a call on all outstanding requests, `outstanding` lists them; `None`
    /// means all requests of the rank.
    pub(super) fn complete_requests(
        &mut self,
        thread: &mut Thread,
        completed: &Completed,
        outstanding: Option<&[RequestId]>,
    ) -> Result<(), Fault> {
        let table = self.requests(thread.actor.rank);
        match completed {
            &Completed::One(_, Some(id)) => {
                let operation = table.complete(id)?;
                self.wait_for(thread, operation);
            }
            Completed::One(key, None) => match table.complete_keyed(key) {
                Some(operation) => self.wait_for(thread, operation),
                // SimGrid accepts it as well.
                None => self.warnings.idle_waits += 1,
            },
            Completed::These(ids) => {
                let operations = ids.iter().map(|&id| table.complete(id)).filter_map(Result::transpose);
                let operations: Vec<_> = operations.collect::<Result<_, _>>()?;
                operations.into_iter().for_each(|operation| self.wait_for(thread, Some(operation)));
            }
            Completed::Outstanding(_) => {
                let operations = match outstanding {
                    None => table.complete_all(),
                    Some(asked) => table.complete_where(|id| asked.contains(&id)),
                };
                operations.into_iter().for_each(|operation| self.wait_for(thread, Some(operation)));
            }
        }
        Ok(())
    }
}
