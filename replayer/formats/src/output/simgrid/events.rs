//! Translates the events of a trace, in order, to SimGrid's actions.

use thiserror::Error;
use titr_common::event::{
    CommCall, CommId, Completed, Completion, Event, Group, Quantifier, Rank, RequestId, RequestKey, SendMode, ThreadId,
};
use titr_common::event_buffer::EventRef;
use titr_common::program::{CommIndex, Fault, Place, Template, agreement, agreements};
use titr_common::trace::{EventSource, TraceError};
use titr_common::units::Bytes;
use titr_workload::Match;

use super::request_storage::RequestState;
use super::translation::{Operation, OperationId, RankState, ThreadBeginning, Translation};
use super::{Collectives, INDEX, Written};
use crate::output::{ConvertError, add_request, set_up};

/// The reason why an event cannot be translated.
#[derive(Debug, Error)]
#[error(transparent)]
pub(super) enum Failure {
    Fault(#[from] Fault),
    Trace(#[from] TraceError),
}

impl<S: EventSource> Translation<'_, S> {
    /// Translates up to `turn` events of `rank`; false at its end.
    pub(super) fn advance(&mut self, rank: Rank, turn: usize) -> Result<bool, ConvertError> {
        for _ in 0..turn {
            let Some(event) = self.workload.rank(rank).front()?.map(EventRef::to_event) else { return Ok(false) };
            while self.workload.rank(rank).take_task().is_some() {
                self.differences.tasks += 1;
            }
            let thread = self.workload.rank(rank).thread();
            let state = self.state(rank);
            state.events += 1;
            state.thread = thread;
            if thread != ThreadId::MAIN && state.threads.iter().all(|known| known.thread != thread) {
                state.threads.push(ThreadBeginning { thread, actions: state.begun });
            }
            let actions = state.actions;
            let translated = match self.collectives {
                Collectives::Kept => self.event_of_one_thread(rank, event),
                Collectives::AsMessages => self.event(rank, event),
            };
            match translated {
                Ok(()) => {}
                Err(Failure::Trace(error)) => return Err(error.into()),
                Err(Failure::Fault(fault)) => {
                    let (event, line) = (self.state(rank).events, self.workload.rank(rank).place());
                    let place = Place { rank, thread, event, line };
                    return Err(ConvertError::Event { place: Box::new(place), fault: Box::new(fault) });
                }
            }
            let state = self.state(rank);
            if state.actions > actions {
                state.begun = actions;
            }
            self.workload.rank(rank).pass();
            self.files.relieve(rank)?;
        }
        Ok(true)
    }

    /// Translates an event where the threads of a rank become one: before an event of another thread, a call that blocks only
    /// begins, and it is waited for before the next event of its own thread.
    fn event_of_one_thread(&mut self, rank: Rank, event: Event) -> Result<(), Failure> {
        let thread = self.state(rank).thread;
        if let Some(owed) = self.state(rank).owed.remove(&thread) {
            self.complete(rank, owed);
        }
        self.differences.threads += u64::from(thread != ThreadId::MAIN);
        if !self.workload.rank(rank).finds_other_thread(2) {
            return self.event(rank, event);
        }
        let owed = if let Event::Send(mode, message, Completion::Blocking) = event {
            self.isend(rank, mode, message, None)?.into_iter().collect()
        } else if let Event::Recv(message, Completion::Blocking) = event {
            self.irecv(rank, message, None)?.into_iter().collect()
        } else if let Event::Sendrecv(outgoing, incoming) = event {
            let sent = outgoing.map(|message| self.isend(rank, SendMode::Standard, message, None)).transpose()?;
            let received = incoming.map(|message| self.irecv(rank, message, None)).transpose()?;
            sent.into_iter().chain(received).flatten().collect()
        } else if let Event::Wait(_, requests) | Event::Test(_, Some(requests)) = event {
            self.asked(rank, requests)?
        } else {
            return self.event(rank, event);
        };
        self.state(rank).owed.insert(thread, owed);
        Ok(())
    }

    fn event(&mut self, rank: Rank, event: Event) -> Result<(), Failure> {
        if let Some((id, template)) = set_up(rank, &event, &mut self.communicators)? {
            return Ok(self.state(rank).requests.add_persistent(id, template)?);
        }
        match event {
            Event::Init | Event::Matched(..) | Event::Mark(_) | Event::Task(_) | Event::Annotation(_) => {}
            // There may be something to be said before.
            Event::Finalize => self.state(rank).finalized = true,
            Event::Compute(_) | Event::Sleep(_) => self.emit(rank, &event),
            Event::Send(mode, message, Completion::Blocking) => self.send(rank, mode, message)?,
            Event::Recv(message, Completion::Blocking) => self.receive(rank, message)?,
            Event::Sendrecv(outgoing, incoming) => self.sendrecv(rank, outgoing, incoming)?,
            Event::Send(mode, message, Completion::Request(request)) => {
                let recorded = self.recorded(rank, false, request)?;
                let sent = self.isend(rank, mode, message, recorded)?;
                let key = RequestKey { from: Some(rank), to: message.to, tag: Some(message.tag) };
                add_request(&mut self.state(rank).requests, request, key, sent)?;
            }
            Event::Recv(message, Completion::Request(request)) => {
                let recorded = self.recorded(rank, message.is_open(), request)?;
                let received = self.irecv(rank, message, recorded)?;
                let key = RequestKey { from: message.from, to: rank, tag: message.tag };
                add_request(&mut self.state(rank).requests, request, key, received)?;
            }
            Event::Probe(_) | Event::Iprobe(_, true) => self.differences.probes += 1,
            Event::Iprobe(_, false) | Event::Test(_, None) => {}
            Event::Send(.., Completion::Persistent(_)) | Event::Recv(_, Completion::Persistent(_)) => {}
            Event::Collective(_, Completion::Persistent(_)) | Event::Neighborhood(_, Completion::Persistent(_)) => {}
            Event::Partitioned(_) => {}
            Event::Start(ids) => ids.into_iter().try_for_each(|id| self.start(rank, id))?,
            Event::RequestFree(id) => self.free(rank, id)?,
            Event::Cancel(id) => self.cancel(rank, id)?,
            Event::Wait(_, requests) | Event::Test(_, Some(requests)) => {
                let operations = self.asked(rank, requests)?;
                self.complete(rank, operations);
            }
            Event::Collective(call, Completion::Blocking) => {
                if let Some(index) = self.within(rank, call.comm)? {
                    self.collective(rank, index, call)?;
                }
            }
            Event::Collective(call, Completion::Request(id)) => {
                let started = match self.within(rank, call.comm)? {
                    Some(index) => {
                        let part = self.communicators.begin(index, rank, &call)?;
                        Some(self.start_collective(rank, index, &part, &call))
                    }
                    None => None,
                };
                self.state(rank).requests.add(id, started)?;
            }
            Event::Neighborhood(call, Completion::Blocking) => self.neighborhood(rank, &call)?,
            Event::Neighborhood(call, Completion::Request(id)) => {
                let index = self.communicators.find(rank, call.comm)?;
                let part = self.communicators.begin_neighborhood(index, rank)?;
                let started = self.start_neighborhood(rank, index, &part, &call)?;
                self.state(rank).requests.add(id, Some(started))?;
            }
            Event::Other(call) if call.awaits_buffered() => {
                let buffered = std::mem::take(&mut self.state(rank).buffered);
                self.wait(rank, &buffered);
            }
            Event::OneSided(_) | Event::File(_) | Event::Other(_) => {
                self.differences.skipped += 1;
                let requests = &mut self.state(rank).requests;
                event.starts().iter().try_for_each(|&id| requests.add(id, None))?;
            }
            Event::CommCreate(call, parent, group) => self.create(rank, call, parent, group)?,
            Event::CommFree(id) => self.communicators.free(rank, id)?,
        }
        Ok(())
    }

    /// The communicator of a collective, if there is a schedule for it.
    fn within(&mut self, rank: Rank, comm: CommId) -> Result<Option<CommIndex>, Fault> {
        let index = self.communicators.find(rank, comm)?;
        let inter = self.communicators.get(index).members.is_inter();
        self.differences.inter += u64::from(inter);
        Ok((!inter).then_some(index))
    }

    /// The outcome that the trace tells later of a message, whose match `is_open` before.
    fn recorded(&mut self, rank: Rank, is_open: bool, request: Option<RequestId>) -> Result<Option<Match>, Failure> {
        match request {
            Some(id) => Ok(self.workload.rank(rank).outcome(id, is_open)?),
            None => Ok(None),
        }
    }

    fn start(&mut self, rank: Rank, id: RequestId) -> Result<(), Failure> {
        let operation = match self.state(rank).requests.template(id).cloned() {
            Some(Template::Send(mode, message)) => {
                let recorded = self.recorded(rank, false, Some(id))?;
                self.isend(rank, mode, message, recorded)?
            }
            Some(Template::Receive(message)) => {
                let recorded = self.recorded(rank, message.is_open(), Some(id))?;
                self.irecv(rank, message, recorded)?
            }
            Some(Template::Collective(call, part)) => {
                self.within(rank, call.comm)?.map(|index| self.start_collective(rank, index, &part, &call))
            }
            Some(Template::Neighbor(call, part)) => {
                let index = self.communicators.find(rank, call.comm)?;
                Some(self.start_neighborhood(rank, index, &part, &call)?)
            }
            Some(Template::Partitioned(_)) => {
                self.differences.skipped += 1;
                None
            }
            None => return Err(Fault::NotStartable(id).into()),
        };
        Ok(self.state(rank).requests.start(id, operation)?)
    }

    /// Frees a request: its operation continues, and SimGrid waits for it at the end.
    fn free(&mut self, rank: Rank, id: RequestId) -> Result<(), Fault> {
        let RankState { requests, operations, .. } = self.state(rank);
        if let Some(operation) = requests.free(id)?
            && let Some(Operation::Message(_)) = operations.get(operation.0 as usize)
        {
            operations.remove(operation.0 as usize);
        }
        Ok(())
    }

    fn cancel(&mut self, rank: Rank, id: RequestId) -> Result<(), Fault> {
        let RankState { requests, operations, storage, .. } = self.state(rank);
        let Some(operation) = requests.activity(id)? else { return Ok(()) };
        let Some(operation) = operations.get_mut(operation.0 as usize) else { return Ok(()) };
        if let Operation::Message(posted) = *operation {
            match storage.cancel(posted) {
                Some(RequestState::Cancelled) => *operation = Operation::Over,
                Some(RequestState::Send | RequestState::EagerSend) => self.differences.cancelled_sends += 1,
                Some(RequestState::Receive | RequestState::Matched) | None => {}
            }
        }
        Ok(())
    }

    /// The operations whose requests a wait or a test completed.
    fn asked(&mut self, rank: Rank, completed: Completed) -> Result<Vec<OperationId>, Fault> {
        let table = &mut self.state(rank).requests;
        match completed {
            Completed::One(_, Some(id)) => Ok(table.complete(id)?.into_iter().collect()),
            Completed::One(key, None) => {
                let found = table.complete_keyed(&key);
                self.differences.idle += u64::from(found.is_none());
                Ok(found.flatten().into_iter().collect())
            }
            Completed::These(ids) => {
                ids.into_iter().map(|id| table.complete(id)).filter_map(Result::transpose).collect()
            }
            Completed::Outstanding(_) => Ok(table.complete_all()),
        }
    }

    /// Makes a communicator; its members agree as titr simulates it.
    fn create(&mut self, rank: Rank, call: CommCall, parent: CommId, group: Option<Group>) -> Result<(), Fault> {
        self.communicators.find(rank, parent)?;
        let agreement = agreement(call, parent, group.as_ref());
        group.map(|group| self.communicators.create(rank, call, parent, &group)).transpose()?;
        let Some(agreement) = agreement else { return Ok(()) };
        let on = self.communicators.find(rank, agreement.comm)?;
        for _ in 1..agreements(call) {
            self.collective(rank, on, agreement.clone())?;
        }
        self.collective(rank, on, agreement)
    }

    /// Completes everything that the traces leave open, and writes the rest.
    pub(super) fn finish(mut self, ranks: &[Rank]) -> Result<Written, ConvertError> {
        for &rank in ranks {
            let state = self.state(rank);
            state.thread = ThreadId::MAIN;
            let owed = std::mem::take(&mut state.owed).into_values().flatten().collect();
            self.complete(rank, owed);
            self.finish_collectives(rank);
        }
        for &rank in ranks {
            for left in self.state(rank).storage.receives_left() {
                if self.unpaired.get(&left).is_some_and(|&sends| sends < 0) {
                    self.differences.unanswered += 1;
                    self.emit_send(left.from, rank, left.tag, Bytes(0));
                }
            }
        }
        for &rank in ranks {
            if !self.state(rank).storage.is_empty() {
                self.emit(rank, &Event::Wait(Quantifier::All, Completed::Outstanding(None)));
            }
            if self.state(rank).finalized {
                self.emit(rank, &Event::Finalize);
            }
        }
        let Self { mut workload, ranks: states, files, differences, actions, .. } = self;
        let torn = ranks.iter().filter_map(|&rank| workload.rank(rank).torn()).collect();
        let events = states.iter().map(|state| state.events).sum();
        let threads = states.into_iter().map(|state| state.threads).collect();
        Ok(Written { index: files.finish(INDEX)?, events, actions, threads, differences, torn })
    }
}
