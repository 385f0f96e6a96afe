//! Executes the calls of a program, each at its simulated time.

use thiserror::Error;
use titr_common::event::{Activity, CommCall, Completion, Event, MessageCompletion, Partitioned, SendMode};
use titr_common::event_buffer::EventRef;
use titr_common::program::{Fault, Template, agreements};
use titr_common::trace::{EventSource, TraceError};
use titr_workload::Match;

use super::Ranks;
use super::ids::ThreadIndex;
use super::program::Programs;
use crate::observe::Observer;

/// The reason why an event cannot be executed.
#[derive(Debug, Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error(transparent)]
    Trace(#[from] TraceError),
}

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// Executes the next event of a thread, which may make the thread wait. `None` if part of the event remains to be
    /// done.
    pub(super) fn call(&mut self, index: ThreadIndex) -> Result<Option<Activity>, Failure> {
        let Self { programs, threads, mpi, chapters, .. } = self;
        let thread = &mut threads[index.0 as usize];
        let rank = thread.actor.rank;
        // This changes the program, and so comes before the event is borrowed.
        let messages = if chapters.collectives.recorded
            && let Some(EventRef::Event(Event::Collective(_, Completion::Blocking))) = programs.current(index)
        {
            programs.take_messages(index)
        } else {
            None
        };
        let event = match programs.current(index) {
            Some(EventRef::Event(event)) => event,
            Some(EventRef::Send(message, completion)) => {
                let recorded = recorded(programs, index, completion, false)?;
                mpi.send(thread, SendMode::Standard, message, completion, recorded)?;
                return Ok(Some(Activity::Send));
            }
            Some(EventRef::Recv(message, completion)) => {
                let recorded = recorded(programs, index, completion, false)?;
                mpi.receive(thread, message.into(), completion, recorded)?;
                return Ok(Some(Activity::Recv));
            }
            Some(EventRef::Compute(_)) | None => return Ok(Some(Activity::Compute)),
        };
        let activity = event.activity().unwrap_or(Activity::Compute);
        match event {
            Event::Init | Event::Finalize | Event::Compute(_) | Event::Sleep(_) => {}
            Event::Mark(mark) => mpi.observer.mark_passed(index, mark),
            Event::Matched(..) | Event::Task(_) | Event::Annotation(_) => {}
            Event::Iprobe(_, false) | Event::Test(_, None) => mpi.warnings.polls += 1,
            &Event::Send(mode, message, completion) => {
                let recorded = recorded(programs, index, completion, false)?;
                mpi.send(thread, mode, message, completion, recorded)?;
            }
            &Event::Recv(message, completion) => {
                let recorded = recorded(programs, index, completion, message.is_open())?;
                mpi.receive(thread, message, completion, recorded)?;
            }
            &Event::Sendrecv(outgoing, incoming) => mpi.sendrecv(thread, outgoing, incoming)?,
            &(Event::Probe(message) | Event::Iprobe(message, true)) => mpi.probe(thread, message)?,
            Event::Start(_) => return self.start_next(index),
            &Event::RequestFree(id) => {
                mpi.free_request(rank, id)?;
                chapters.partitioned.free(rank, id);
            }
            &Event::Cancel(id) => mpi.cancel(rank, id)?,
            Event::Wait(_, completed) | Event::Test(_, Some(completed)) => {
                thread.tests = matches!(event, Event::Test(..));
                mpi.complete_requests(thread, completed, programs.outstanding(index))?;
            }
            Event::Collective(call, completion) => {
                chapters.collectives.call(mpi, thread, call, *completion, messages)?
            }
            Event::Neighborhood(call, completion) => {
                chapters.collectives.neighborhood(mpi, thread, call, *completion)?
            }
            Event::CommCreate(call, parent, group) => {
                chapters.collectives.create_communicator(mpi, thread, *call, *parent, group.as_ref())?;
                if let Some(group) = group
                    && (*call, thread.started, group.members.first()) == (CommCall::Spawn, 0, Some(&rank))
                {
                    mpi.warnings.spawned += group.remote.len() as u64;
                }
                // The members agree more than once where some of them begin with that.
                thread.started += 1;
                if group.is_some() && thread.started < agreements(*call) {
                    return Ok(None);
                }
                thread.started = 0;
            }
            &Event::CommFree(id) => mpi.communicators.free(rank, id)?,
            Event::Partitioned(event) => {
                chapters.partitioned.call(mpi, thread, event)?;
                // Parts leave one after another: each costs its overhead before it does.
                if let Partitioned::Ready(_, parts) = event {
                    thread.started += 1;
                    if (thread.started as usize) < parts.len() {
                        self.charge_overhead(index);
                        return Ok(None);
                    }
                    thread.started = 0;
                }
            }
            Event::OneSided(event) => chapters.one_sided.call(mpi, &mut chapters.collectives, thread, event)?,
            Event::File(event) => chapters.files.start(mpi, &mut chapters.collectives, thread, event)?,
            Event::Other(other) if other.awaits_buffered() => mpi.await_buffered(thread),
            Event::Other(other) => mpi.warnings.skip_other(other),
        }
        Ok(Some(activity))
    }

    /// Starts the next persistent request of an [`Event::Start`], one after another: each costs its overhead before it
    /// leaves.
    fn start_next(&mut self, index: ThreadIndex) -> Result<Option<Activity>, Failure> {
        let Self { programs, threads, mpi, chapters, .. } = self;
        let thread = &mut threads[index.0 as usize];
        let Some(EventRef::Event(Event::Start(ids))) = programs.current(index) else { return Ok(Some(Activity::Send)) };
        let Some(&id) = ids.get(thread.started as usize) else { return Ok(Some(Activity::Send)) };
        thread.started += 1;
        let is_last = thread.started as usize == ids.len();
        let recorded = match mpi.requests(thread.actor.rank).template(id) {
            Some(Template::Receive(message)) => programs.outcome(index, id, message.is_open())?,
            Some(Template::Send(..)) => programs.outcome(index, id, false)?,
            _ => None,
        };
        let activity = chapters.start(mpi, thread, id, recorded)?;
        if is_last {
            thread.started = 0;
            return Ok(Some(activity));
        }
        self.charge_overhead(index);
        Ok(None)
    }
}

/// Looks up the recorded match, if it `is_open`, or the cancellation of a message.
#[inline]
fn recorded(
    programs: &mut Programs<impl EventSource>,
    index: ThreadIndex,
    completion: MessageCompletion,
    is_open: bool,
) -> Result<Option<Match>, TraceError> {
    match completion {
        Completion::Request(Some(id)) => programs.outcome(index, id, is_open),
        Completion::Blocking | Completion::Request(None) | Completion::Persistent(_) => Ok(None),
    }
}
