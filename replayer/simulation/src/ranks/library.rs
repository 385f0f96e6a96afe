//! The simulated MPI library: the effect of calls on requests, communicators, messages and collectives.

use titr_common::collectives::{CallMode, Selection};
use titr_common::event::{
    Actor, CommId, Completed, Completion, Incoming, MessageCompletion, Outgoing, Rank, RequestId, RequestKey, SendMode,
};
use titr_common::program::{Communicators, Context, Fault, Template};
use titr_common::time::Time;
use titr_workload::Match;

use super::collectives::Collectives;
use super::core::{TaskCore, TaskCores};
use super::files::Files;
use super::one_sided::windows::OneSided;
use super::partitioned::PartitionedMessages;
use super::point_to_point::exchange::{Exchange, Outbound};
use super::point_to_point::protocol::{Causality, SendCost};
use super::point_to_point::{Envelope, Selector};
use super::scheduler::{Clock, Deferred, Scheduler};
use super::thread::Thread;
use super::warnings::Warnings;
use super::{Core, RequestTable};
use crate::observe::{Activity, Caller, Observer, OperationId, Work};

/// The state of MPI in all ranks.
pub(super) struct Library<'a, O> {
    pub(super) now: Time,
    /// The algorithms of collectives.
    pub(super) algorithms: &'a Selection,
    pub(super) causality: Causality,
    /// Whether blocking collectives use the messages recorded in the trace.
    pub(super) recorded_collectives: bool,
    pub(super) cores: Vec<Core>,
    /// Of each rank.
    pub(super) requests: Vec<RequestTable>,
    pub(super) communicators: Communicators,
    pub(super) exchange: Exchange,
    pub(super) collectives: Collectives,
    pub(super) one_sided: OneSided<'a>,
    pub(super) files: Files,
    pub(super) deferred: Deferred,
    pub(super) partitioned: PartitionedMessages,
    pub(super) scheduler: Scheduler,
    pub(super) task_cores: TaskCores,
    pub(super) warnings: Warnings,
    pub(super) observer: O,
}

/// Point-to-point messages.
impl<O: Observer> Library<'_, O> {
    /// `MPI_Send`.
    #[inline]
    pub(super) fn blocking_send(&mut self, thread: &mut Thread, message: Outgoing) -> Result<(), Fault> {
        let sent = self.start_send(thread.actor.rank, SendMode::Standard, message)?;
        self.charge_rest(thread, self.exchange.protocol.cost_of_send(SendMode::Standard, message.bytes));
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
        let cost = match completion {
            Completion::Blocking => self.exchange.protocol.cost_of_send(mode, message.bytes),
            Completion::Request(_) | Completion::Persistent(_) => self.exchange.protocol.cost_of_isend(message.bytes),
        };
        self.charge_rest(thread, cost);
        match completion {
            Completion::Blocking => self.wait_for(thread, sent),
            Completion::Request(Some(id)) => self.requests(rank).add(id, sent)?,
            Completion::Request(None) => {
                let key = RequestKey { from: Some(rank), to: message.to, tag: Some(message.tag) };
                self.requests(rank).add_keyed(key, sent);
            }
            Completion::Persistent(_) => {}
        }
        Ok(())
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
        match completion {
            Completion::Blocking => self.wait_for(thread, received),
            Completion::Request(Some(id)) => self.requests(rank).add(id, received)?,
            Completion::Request(None) => {
                let key = RequestKey { from: message.from, to: rank, tag: message.tag };
                self.requests(rank).add_keyed(key, received);
            }
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
            self.charge_rest(thread, self.exchange.protocol.cost_of_isend(message.bytes));
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
    fn charge_rest(&mut self, thread: &mut Thread, cost: SendCost) {
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
        let message = Outbound { to: message.to, envelope, bytes: message.bytes, mode };
        Ok(self.exchange.send(message, self.now, &mut self.observer))
    }

    /// Starts a send, unless it was cancelled: its message must not come to another one's receive here.
    #[inline]
    fn start_unless_cancelled(
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
    fn start_receive(
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
        Ok(self.exchange.receive(actor.rank, wanted, Caller::Thread(actor), self.now, &mut self.observer))
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

    /// `thread` waits until `operation` is complete.
    #[inline]
    pub(super) fn wait_for(&mut self, thread: &mut Thread, operation: Option<OperationId>) {
        let before = thread.clock.time;
        self.exchange.wait_for(operation, thread.waiter(), &mut thread.clock, self.now, &mut self.observer);
        if let Some(core) = thread.core {
            self.completed_by_task(core, before, &mut thread.clock);
        }
    }
}

/// Requests.
impl<O: Observer> Library<'_, O> {
    pub(super) fn requests(&mut self, rank: Rank) -> &mut RequestTable {
        &mut self.requests[rank.0 as usize]
    }

    /// `MPI_Start`, with the outcome of a message that the trace records later.
    pub(super) fn start(
        &mut self,
        thread: &mut Thread,
        id: RequestId,
        recorded: Option<Match>,
    ) -> Result<Activity, Fault> {
        let rank = thread.actor.rank;
        let (operation, activity) = match self.requests(rank).template(id).cloned() {
            Some(Template::Send(mode, message)) => {
                let sent = self.start_unless_cancelled(rank, mode, message, recorded)?;
                self.charge_rest(thread, self.exchange.protocol.cost_of_isend(message.bytes));
                (sent, Activity::Send)
            }
            Some(Template::Receive(message)) => (self.start_receive(thread.actor, message, recorded)?, Activity::Recv),
            Some(Template::Collective(call, part)) => {
                let index = self.communicators.find(rank, call.comm)?;
                (
                    Some(self.start_collective(rank, index, &call, CallMode::Nonblocking, part, None)?),
                    Activity::Collective,
                )
            }
            Some(Template::Neighbor(call, part)) => {
                let index = self.communicators.find(rank, call.comm)?;
                (Some(self.start_neighborhood(rank, index, &call, part)?), Activity::Collective)
            }
            Some(Template::Partitioned(_)) => (self.start_partitioned(rank, id)?, Activity::Send),
            None => return Err(Fault::NotStartable(id)),
        };
        self.requests(rank).start(id, operation)?;
        Ok(activity)
    }

    pub(super) fn free_request(&mut self, rank: Rank, id: RequestId) -> Result<(), Fault> {
        if let Some(operation) = self.requests(rank).free(id)? {
            self.exchange.operations.abandon(operation);
        }
        self.free_partitioned(rank, id);
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
    pub(super) fn complete(
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

impl<O: Observer> Library<'_, O> {
    /// An operation was complete when a task asked for it, and the time that took its thread since `before` is taken from
    /// the core.
    pub(super) fn completed_by_task(&mut self, core: TaskCore, before: Time, clock: &mut Clock) {
        let from = before.max(self.now);
        if clock.time > from {
            let cost = clock.time.0 - from.0;
            clock.time = Time(self.task_cores.free(core, from).0 + cost);
            self.task_cores.take(core, clock.time);
        }
    }
}
