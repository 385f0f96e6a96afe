//! The simulated MPI library: what a call does to requests, communicators, messages and collectives.

use std::rc::Rc;

use titr_common::collectives::{Call, Selection};
use titr_common::event::{
    Actor, Collective, CommCall, CommId, Completed, Completion, Group, Incoming, Message, MessageCompletion,
    Neighborhood, Outgoing, Partitioned, Rank, RequestId, RequestKey, SendMode,
};
use titr_common::program::{CommIndex, Communicators, Fault, Participation, Template, agreement, neighborhood_steps};
use titr_common::time::Time;
use titr_common::units::Instructions;

use super::causality::Causality;
use super::collective::{CollectiveEnvironment, CollectiveStart, Collectives};
use super::envelope::{Envelope, Selector};
use super::exchange::{Exchange, Outbound};
use super::files::Files;
use super::recorded::{self, Recorded};
use super::scheduler::Scheduler;
use super::thread::Thread;
use super::warnings::Warnings;
use super::windows::OneSided;
use super::{Core, RequestTable};
use crate::observe::{Activity, Caller, Observer, OperationId};
use titr_workload::Match;

/// The state of MPI in all ranks.
pub(super) struct Library<'a, O> {
    pub(super) now: Time,
    /// The algorithms of collectives.
    pub(super) algorithms: &'a Selection,
    pub(super) causality: Causality,
    /// Which collectives are the messages that the trace has of them.
    pub(super) recorded: Recorded,
    pub(super) cores: Vec<Core>,
    /// Of each rank.
    pub(super) requests: Vec<RequestTable>,
    pub(super) communicators: Communicators,
    pub(super) exchange: Exchange,
    pub(super) collectives: Collectives,
    pub(super) one_sided: OneSided<'a>,
    pub(super) files: Files,
    pub(super) scheduler: Scheduler,
    pub(super) warnings: Warnings,
    pub(super) observer: O,
}

/// Point-to-point messages.
impl<O: Observer> Library<'_, O> {
    /// `MPI_Send` and its kin.
    #[inline]
    pub(super) fn send(
        &mut self,
        thread: &mut Thread,
        mode: SendMode,
        message: Outgoing,
        completion: MessageCompletion,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        if let Completion::Persistent(id) = completion {
            return self.requests(rank).add_persistent(id, Template::Send(mode, message));
        }
        let sent = self.start_send(rank, mode, message)?;
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

    /// `MPI_Recv` and its kin; what the trace says later that the receive got.
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
        let sent = outgoing.map(|message| self.start_send(rank, SendMode::Standard, message)).transpose()?.flatten();
        let received = incoming.map(|message| self.start_receive(thread.actor, message, None)).transpose()?.flatten();
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

    #[inline]
    fn start_send(&mut self, rank: Rank, mode: SendMode, message: Outgoing) -> Result<Option<OperationId>, Fault> {
        self.known(message.to)?;
        let index = self.communicators.find(rank, message.comm)?;
        let context = self.communicators.get(index).context;
        let envelope = Envelope { context, source: rank, tag: message.tag };
        let message = Outbound { to: message.to, envelope, bytes: message.bytes, mode };
        Ok(self.exchange.send(message, self.now, &mut self.observer))
    }

    /// Posts a receive, of what is recorded that it got where `message` leaves that open. A receive that was cancelled
    /// is not posted: it might take another's message here.
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
        Ok(self.exchange.receive(actor.rank, selector, Caller::Thread(actor), self.now, &mut self.observer))
    }

    fn selector(&mut self, rank: Rank, message: Incoming) -> Result<Selector, Fault> {
        message.from.map_or(Ok(()), |from| self.known(from))?;
        let index = self.communicators.find(rank, message.comm)?;
        Ok(Selector { context: self.communicators.get(index).context, source: message.from, tag: message.tag })
    }

    fn known(&self, peer: Rank) -> Result<(), Fault> {
        let ranks = self.requests.len();
        if (peer.0 as usize) < ranks { Ok(()) } else { Err(Fault::NoSuchRank { rank: peer, world: ranks }) }
    }

    /// `thread` waits until `operation` is complete.
    #[inline]
    pub(super) fn wait_for(&mut self, thread: &mut Thread, operation: Option<OperationId>) {
        self.exchange.wait_for(operation, thread.waiter(), &mut thread.clock, self.now);
    }
}

/// Requests.
impl<O: Observer> Library<'_, O> {
    pub(super) fn requests(&mut self, rank: Rank) -> &mut RequestTable {
        &mut self.requests[rank.0 as usize]
    }

    /// `MPI_Start`; what the trace says later that a receive got.
    pub(super) fn start(&mut self, thread: &Thread, id: RequestId, recorded: Option<Match>) -> Result<Activity, Fault> {
        let rank = thread.actor.rank;
        let (operation, activity) = match self.requests(rank).template(id).cloned() {
            Some(Template::Send(mode, message)) => (self.start_send(rank, mode, message)?, Activity::Send),
            Some(Template::Receive(message)) => (self.start_receive(thread.actor, message, recorded)?, Activity::Recv),
            Some(Template::Collective(call, part)) => {
                let index = self.communicators.find(rank, call.comm)?;
                (Some(self.start_collective(rank, index, &call, part, None)?), Activity::Collective)
            }
            Some(Template::Neighbor(call, part)) => {
                let index = self.communicators.find(rank, call.comm)?;
                (Some(self.start_neighborhood(rank, index, &call, part)?), Activity::Collective)
            }
            Some(Template::Partitioned(bytes)) => {
                self.warnings.skip_partitioned(bytes);
                (None, Activity::Send)
            }
            None => return Err(Fault::NotStartable(id)),
        };
        self.requests(rank).start(id, operation)?;
        Ok(activity)
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

    /// `MPI_Wait` and `MPI_Test` and their kin. If they ask after all outstanding requests: which these are, unless all
    /// that there are.
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
                // SimGrid lets it pass, too.
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

    /// A partitioned message is set up, which is not simulated.
    pub(super) fn partitioned(&mut self, rank: Rank, event: &Partitioned) -> Result<(), Fault> {
        match event.sets_up() {
            Some((id, bytes)) => self.requests(rank).add_persistent(id, Template::Partitioned(bytes)),
            None => Ok(()),
        }
    }
}

/// Collectives and communicators.
impl<O: Observer> Library<'_, O> {
    /// A collective, which is the messages `recorded` or else those of its schedule.
    pub(super) fn collective(
        &mut self,
        thread: &mut Thread,
        call: &Collective,
        completion: Completion,
        recorded: Option<Vec<Message>>,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        let index = self.communicators.find(rank, call.comm)?;
        let members = &self.communicators.get(index).members;
        if members.is_inter() {
            return Err(Fault::InterCollective { word: call.kind.word(), on: members.describe() });
        }
        let part = self.communicators.enter(index, rank, call)?;
        if let Completion::Persistent(id) = completion {
            return self.requests(rank).add_persistent(id, Template::Collective(Rc::new(call.clone()), part));
        }
        self.warnings.redecomposed += u64::from(self.recorded > Recorded::None && recorded.is_none());
        let operation = self.start_collective(rank, index, call, part, recorded)?;
        self.complete_collective(thread, operation, completion)
    }

    pub(super) fn neighborhood(
        &mut self,
        thread: &mut Thread,
        call: &Neighborhood,
        completion: Completion,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        let index = self.communicators.find(rank, call.comm)?;
        let part = self.communicators.enter_neighborhood(index, rank, call.op.word())?;
        if let Completion::Persistent(id) = completion {
            return self.requests(rank).add_persistent(id, Template::Neighbor(Rc::new(call.clone()), part));
        }
        let operation = self.start_neighborhood(rank, index, call, part)?;
        self.complete_collective(thread, operation, completion)
    }

    /// Lets the thread wait for a collective, or another call by its request.
    fn complete_collective(
        &mut self,
        thread: &mut Thread,
        operation: OperationId,
        completion: Completion,
    ) -> Result<(), Fault> {
        match completion {
            Completion::Blocking => self.wait_for(thread, Some(operation)),
            Completion::Request(id) => self.requests(thread.actor.rank).add(id, Some(operation))?,
            Completion::Persistent(_) => {}
        }
        Ok(())
    }

    fn start_collective(
        &mut self,
        rank: Rank,
        index: CommIndex,
        call: &Collective,
        Participation { me, root, number }: Participation,
        recorded: Option<Vec<Message>>,
    ) -> Result<OperationId, Fault> {
        let communicator = self.communicators.get(index);
        let (context, members) = (communicator.context, Rc::clone(&communicator.members));
        let steps = match recorded {
            Some(messages) => recorded::steps(&messages, |rank| members.place(rank))
                .map_err(|rank| Fault::NotAMember { rank, on: members.describe() })?,
            None => self.algorithms.steps(&Call::of(call, me, members.len() as u32, root)),
        };
        let (word, work) = (call.kind.word(), call.work);
        let (collectives, mut environment) = self.collectives();
        Ok(collectives.start(CollectiveStart { rank, word, context, members, number, steps, work }, &mut environment))
    }

    /// Starts a collective that another call is made of, which has this `word`.
    pub(super) fn start_collective_as(
        &mut self,
        word: &'static str,
        rank: Rank,
        index: CommIndex,
        call: &Collective,
    ) -> Result<OperationId, Fault> {
        let Participation { me, root, number } = self.communicators.enter(index, rank, call)?;
        let communicator = self.communicators.get(index);
        let (context, members) = (communicator.context, Rc::clone(&communicator.members));
        let steps = self.algorithms.steps(&Call::of(call, me, members.len() as u32, root));
        let work = call.work;
        let (collectives, mut environment) = self.collectives();
        Ok(collectives.start(CollectiveStart { rank, word, context, members, number, steps, work }, &mut environment))
    }

    fn start_neighborhood(
        &mut self,
        rank: Rank,
        index: CommIndex,
        call: &Neighborhood,
        Participation { number, .. }: Participation,
    ) -> Result<OperationId, Fault> {
        let word = call.op.word();
        let communicator = self.communicators.get(index);
        let (context, members) = (communicator.context, Rc::clone(&communicator.members));
        let (steps, work) = (neighborhood_steps(call, &members)?, Instructions(0.0));
        let (collectives, mut environment) = self.collectives();
        Ok(collectives.start(CollectiveStart { rank, word, context, members, number, steps, work }, &mut environment))
    }

    /// The collectives, and what they need to go on.
    pub(super) fn collectives(&mut self) -> (&mut Collectives, CollectiveEnvironment<'_, O>) {
        let Self { now, collectives, exchange, scheduler, cores, observer, .. } = self;
        (collectives, CollectiveEnvironment { now: *now, exchange, scheduler, cores, observer })
    }

    /// Makes a communicator, over which or over whose parent its members agree.
    pub(super) fn create_communicator(
        &mut self,
        thread: &mut Thread,
        call: CommCall,
        parent: CommId,
        group: Option<&Group>,
    ) -> Result<(), Fault> {
        let rank = thread.actor.rank;
        self.communicators.find(rank, parent)?;
        group.map(|group| self.communicators.create(rank, call, parent, group)).transpose()?;
        if let Some(agreement) = agreement(call, parent, group) {
            let on = self.communicators.find(rank, agreement.comm)?;
            let part = self.communicators.enter(on, rank, &agreement)?;
            let operation = self.start_collective(rank, on, &agreement, part, None)?;
            self.wait_for(thread, Some(operation));
        }
        Ok(())
    }
}
