//! What each call of a program does: one event, carried out at the time it takes place.

use std::rc::Rc;

use titr_common::event::{
    CommCall, CommId, Completed, Completion, Event, Group, Incoming, Outgoing, Partitioned, Rank, RequestId,
    RequestKey, SendMode,
};
use titr_common::event_buffer::EventRef;
use titr_common::program::{Fault, Template, agreement};
use titr_common::trace::TraceError;

use super::envelope::{Envelope, Selector};
use super::error::ReplayError;
use super::exchange::Outbound;
use super::operation::OperationId;
use super::program::ThreadIndex;
use super::{Agent, Ranks, Recorded};
use crate::observe::{Activity, Observer};
use crate::workload::Match;
use titr_common::trace::EventSource;

/// Why an event cannot be carried out.
pub(super) enum Failure {
    Fault(Fault),
    Replay(ReplayError),
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Self {
        Self::Replay(error)
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self::Replay(error.into())
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// Does what the next event of `thread` says, and claims what it has to wait for. `None`: there is more of it to do.
    pub(super) fn carry_out(&mut self, thread: ThreadIndex) -> Result<Option<Activity>, Failure> {
        let me = Agent::Thread(thread);
        let rank = self.threads[thread.0 as usize].rank;
        let at = rank.0 as usize;
        let Some(EventRef::Event(event)) = self.programs.front(thread, &self.requests)? else {
            return Ok(Some(Activity::Compute));
        };
        Ok(Some(match event {
            Event::Init
            | Event::Finalize
            | Event::Compute(_)
            | Event::Sleep(_)
            | Event::Matched(..)
            | Event::Annotation(_) => Activity::Compute,
            &Event::Send(mode, message, Completion::Blocking) => {
                return self.blocking_send(thread, rank, mode, message);
            }
            &Event::Recv(message, Completion::Blocking) => return self.blocking_receive(thread, rank, message),
            &Event::Sendrecv(outgoing, incoming) => {
                let sent = outgoing.map_or(Ok(None), |message| self.send(rank, SendMode::Standard, message))?;
                let received = incoming.map(|message| self.receive(rank, message, None)).transpose()?.flatten();
                self.claim(me, sent);
                self.claim(me, received);
                Activity::Recv
            }
            &Event::Send(mode, message, Completion::Request(request)) => {
                let sent = self.send(rank, mode, message)?;
                let requests = &mut self.requests[at];
                match request {
                    Some(id) => requests.add(id, sent)?,
                    None => {
                        let key = RequestKey { from: Some(rank), to: message.to, tag: Some(message.tag) };
                        requests.add_keyed(key, sent);
                    }
                }
                Activity::Send
            }
            &Event::Recv(message, Completion::Request(request)) => {
                let recorded = self.recorded(thread, message, request)?;
                let received = self.receive(rank, message, recorded)?;
                let requests = &mut self.requests[at];
                match request {
                    Some(id) => requests.add(id, received)?,
                    None => {
                        let key = RequestKey { from: message.from, to: rank, tag: message.tag };
                        requests.add_keyed(key, received);
                    }
                }
                Activity::Recv
            }
            &(Event::Probe(message) | Event::Iprobe(message, true)) => {
                let selector = self.selector(rank, message)?;
                if !self.exchange.probe(me, rank, selector) {
                    self.threads[thread.0 as usize].timeline.awaited = 1;
                }
                Activity::Recv
            }
            Event::Iprobe(_, false) => Activity::Recv,
            &Event::Send(mode, message, Completion::Persistent(id)) => {
                self.requests[at].add_persistent(id, Template::Send(mode, message))?;
                Activity::Send
            }
            &Event::Recv(message, Completion::Persistent(id)) => {
                self.requests[at].add_persistent(id, Template::Receive(message))?;
                Activity::Recv
            }
            Event::Start(requests) => {
                // One after another: each costs its overhead before it leaves.
                let state = &mut self.threads[thread.0 as usize];
                let Some(&id) = requests.get(state.started) else { return Ok(Some(Activity::Send)) };
                state.started += 1;
                let left = requests.len() - state.started;
                let activity = self.start(thread, rank, id)?;
                if left > 0 {
                    self.pay(thread)?;
                    return Ok(None);
                }
                self.threads[thread.0 as usize].started = 0;
                activity
            }
            &Event::RequestFree(id) => {
                if let Some(operation) = self.requests[at].free(id)? {
                    self.exchange.operations.abandon(operation);
                }
                Activity::Wait
            }
            &Event::Cancel(id) => {
                if let Some(operation) = self.requests[at].activity(id)? {
                    self.exchange.cancel(operation);
                }
                Activity::Wait
            }
            Event::Wait(_, requests) | Event::Test(_, Some(requests)) => {
                let table = &mut self.requests[at];
                match requests {
                    &Completed::One(_, Some(id)) => {
                        let operation = table.complete(id)?;
                        self.claim(me, operation);
                    }
                    Completed::One(key, None) => match table.complete_keyed(key) {
                        Some(operation) => self.claim(me, operation),
                        // SimGrid lets it pass, too.
                        None => self.warnings.idle_waits += 1,
                    },
                    Completed::These(ids) => {
                        let operations = ids.iter().map(|&id| table.complete(id)).filter_map(Result::transpose);
                        let operations: Vec<_> = operations.collect::<Result<_, _>>()?;
                        operations.into_iter().for_each(|operation| self.claim(me, Some(operation)));
                    }
                    Completed::Outstanding(_) => {
                        let operations = match self.programs.outstanding(thread) {
                            None => table.complete_all(),
                            Some(asked) => table.complete_where(|id| asked.contains(&id)),
                        };
                        operations.into_iter().for_each(|operation| self.claim(me, Some(operation)));
                    }
                }
                Activity::Wait
            }
            Event::Test(_, None) => Activity::Wait,
            Event::Collective(collective, Completion::Blocking) => {
                let collective = collective.clone();
                let recorded = self.programs.take_messages(thread)?.filter(|_| self.recorded >= Recorded::Blocking);
                self.warnings.redecomposed += u64::from(self.recorded > Recorded::None && recorded.is_none());
                let operation = self.start_collective(rank, &collective, recorded)?;
                self.claim(me, Some(operation));
                Activity::Collective
            }
            Event::Collective(collective, Completion::Request(id)) => {
                let (collective, id) = (collective.clone(), *id);
                let recorded = self.programs.take_messages(thread)?.filter(|_| self.recorded >= Recorded::All);
                self.warnings.redecomposed += u64::from(self.recorded > Recorded::None && recorded.is_none());
                let operation = self.start_collective(rank, &collective, recorded)?;
                self.requests[at].add(id, Some(operation))?;
                Activity::Collective
            }
            Event::Collective(collective, Completion::Persistent(id)) => {
                let (template, id) = (Template::Collective(Rc::new(collective.clone())), *id);
                self.requests[at].add_persistent(id, template)?;
                Activity::Collective
            }
            Event::Neighborhood(call, Completion::Blocking) => {
                let call = call.clone();
                let operation = self.start_neighborhood(rank, &call)?;
                self.claim(me, Some(operation));
                Activity::Collective
            }
            Event::Neighborhood(call, Completion::Request(id)) => {
                let (call, id) = (call.clone(), *id);
                let operation = self.start_neighborhood(rank, &call)?;
                self.requests[at].add(id, Some(operation))?;
                Activity::Collective
            }
            Event::Neighborhood(call, Completion::Persistent(id)) => {
                let (template, id) = (Template::Neighbor(Rc::new(call.clone())), *id);
                self.requests[at].add_persistent(id, template)?;
                Activity::Collective
            }
            &Event::Partitioned(
                Partitioned::SendInit(Outgoing { bytes, .. }, _, id)
                | Partitioned::RecvInit(Incoming { bytes, .. }, _, id),
            ) => {
                self.requests[at].add_persistent(id, Template::Partitioned(bytes))?;
                Activity::Send
            }
            Event::Partitioned(Partitioned::Ready(..)) => Activity::Send,
            Event::OneSided(event) => {
                self.warnings.skip_one_sided(event);
                event.request().map_or(Ok(()), |&id| self.requests[at].add(id, None))?;
                Activity::Wait
            }
            Event::File(event) => {
                self.warnings.skip_file(event);
                event.request().map_or(Ok(()), |&id| self.requests[at].add(id, None))?;
                Activity::Wait
            }
            Event::Other(other) => {
                self.warnings.skip_other(other);
                Activity::Wait
            }
            Event::CommCreate(call, parent, group) => {
                let (call, parent, group) = (*call, *parent, group.clone());
                let operation = self.create_communicator(rank, call, parent, group)?;
                self.claim(me, operation);
                Activity::Collective
            }
            &Event::CommFree(id) => {
                self.communicators.free(rank, id)?;
                Activity::Collective
            }
        }))
    }

    pub(super) fn blocking_send(
        &mut self,
        thread: ThreadIndex,
        rank: Rank,
        mode: SendMode,
        message: Outgoing,
    ) -> Result<Option<Activity>, Failure> {
        let sent = self.send(rank, mode, message)?;
        self.claim(Agent::Thread(thread), sent);
        Ok(Some(Activity::Send))
    }

    pub(super) fn blocking_receive(
        &mut self,
        thread: ThreadIndex,
        rank: Rank,
        message: Incoming,
    ) -> Result<Option<Activity>, Failure> {
        let received = self.receive(rank, message, None)?;
        self.claim(Agent::Thread(thread), received);
        Ok(Some(Activity::Recv))
    }

    #[inline]
    fn send(&mut self, rank: Rank, mode: SendMode, message: Outgoing) -> Result<Option<OperationId>, Fault> {
        self.known(message.to)?;
        let index = self.communicators.find(rank, message.comm)?;
        let context = self.communicators.get(index).context;
        let envelope = Envelope { context, source: rank, tag: message.tag };
        let message = Outbound { to: message.to, envelope, bytes: message.bytes, mode };
        Ok(self.exchange.send(message))
    }

    /// Posts a receive, of what is recorded that it got where `message` leaves that open. One that was cancelled
    /// is not posted: it might take another's message here.
    #[inline]
    fn receive(
        &mut self,
        rank: Rank,
        message: Incoming,
        recorded: Option<Match>,
    ) -> Result<Option<OperationId>, Fault> {
        let mut selector = self.selector(rank, message)?;
        if !self.causality.has_receives() {
            return Ok(None);
        }
        match recorded {
            Some(Match::Cancelled) => return Ok(None),
            Some(Match::With(source, tag)) => {
                self.known(source)?;
                selector = Selector { source: Some(source), tag: Some(tag), ..selector };
            }
            None if selector.source.is_none() || selector.tag.is_none() => self.warnings.open_wildcards += 1,
            None => {}
        }
        Ok(self.exchange.receive(rank, selector))
    }

    /// What the trace says later about a receive that it leaves open.
    fn recorded(
        &mut self,
        thread: ThreadIndex,
        message: Incoming,
        request: Option<RequestId>,
    ) -> Result<Option<Match>, Failure> {
        match request {
            Some(id) if message.is_open() => self.programs.matched(thread, id).map_err(Failure::from),
            _ => Ok(None),
        }
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

    /// Starts a persistent request.
    fn start(&mut self, thread: ThreadIndex, rank: Rank, id: RequestId) -> Result<Activity, Failure> {
        let at = rank.0 as usize;
        let (operation, activity) = match self.requests[at].template(id).cloned() {
            Some(Template::Send(mode, message)) => (self.send(rank, mode, message)?, Activity::Send),
            Some(Template::Receive(message)) => {
                let recorded = self.recorded(thread, message, Some(id))?;
                (self.receive(rank, message, recorded)?, Activity::Recv)
            }
            Some(Template::Collective(call)) => (Some(self.start_collective(rank, &call, None)?), Activity::Collective),
            Some(Template::Neighbor(call)) => (Some(self.start_neighborhood(rank, &call)?), Activity::Collective),
            Some(Template::Partitioned(bytes)) => {
                self.warnings.skip_partitioned(bytes);
                (None, Activity::Send)
            }
            None => return Err(Fault::NotStartable(id).into()),
        };
        self.requests[at].start(id, operation)?;
        Ok(activity)
    }

    /// Makes a communicator; what its members agree by.
    fn create_communicator(
        &mut self,
        rank: Rank,
        call: CommCall,
        parent: CommId,
        group: Option<Group>,
    ) -> Result<Option<OperationId>, Fault> {
        self.communicators.find(rank, parent)?;
        let agreement = agreement(call, parent, group.as_ref());
        group.map(|group| self.communicators.create(rank, &group)).transpose()?;
        let Some(agreement) = agreement else { return Ok(None) };
        let on = self.communicators.find(rank, agreement.comm)?;
        self.start_collective_on(rank, on, &agreement, None).map(Some)
    }
}
