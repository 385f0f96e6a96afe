//! One thread's program: its events one after another, each at its time. Most ranks have one thread.
//!
//! The threads of a rank share its requests and communicators, and whatever is sent to it. Each computes on a core of its
//! own. When one has to wait for what another does first, and when a new one begins, the [workload](crate::workload) says.

use titr_common::event::{Actor, Completion, Event, Rank, SendMode};
use titr_common::event_buffer::EventRef;
use titr_common::units::Seconds;

use super::call::Failure;
use super::error::{Place, ReplayError};
use super::exchange::Exchange;
use super::request::{RequestTable, Template};
use super::{Agent, Ranks, Timeline};
use crate::observe::{Activity, Observer};
use crate::workload::{Program, ThreadIndex};
use titr_common::time::Time;
use titr_platform::Mpi;

/// Where a thread is in its program.
pub(super) struct Thread {
    pub(super) rank: Rank,
    pub(super) timeline: Timeline,
    /// How many events it has begun.
    pub(super) events: u64,
    /// When the one it is at began.
    began: Time,
    /// Whether what it costs before others can see it is on the clock.
    paid: bool,
    /// How many of the requests that it starts are started.
    pub(super) started: usize,
    /// What it waits in.
    pub(super) waiting: Option<Activity>,
    pub(super) finished: bool,
}

impl Thread {
    /// One that begins at `now`.
    pub(super) fn new(rank: Rank, now: Time) -> Self {
        let timeline = Timeline { clock: now, awaited: 0 };
        Self { rank, timeline, events: 0, began: now, paid: false, started: 0, waiting: None, finished: false }
    }
}

impl<P: Program, O: Observer> Ranks<'_, P, O> {
    /// Carries out events of `thread` until one has to wait, or for a time that has not come.
    pub(super) fn run_thread(&mut self, thread: ThreadIndex) -> Result<(), ReplayError> {
        let at = thread.0 as usize;
        if let Some(activity) = self.threads[at].waiting.take() {
            self.account(thread, activity);
        }
        loop {
            let Some(moment) = self.workload.front(thread)? else {
                self.stop(thread);
                return Ok(());
            };
            let state = &mut self.threads[at];
            let rank = state.rank;
            if !state.paid {
                state.events += 1;
                state.began = state.timeline.clock;
                if thread == ThreadIndex::from(rank) {
                    self.observer.entered(rank, moment, state.began);
                }
                let span = match moment {
                    EventRef::Compute(work) => self.places[rank.0 as usize].speed.time_for(work),
                    EventRef::Event(&Event::Sleep(span)) if self.causality.is_timed() => span,
                    _ => overhead(moment, state, self.mpi, &self.exchange, &self.requests),
                };
                state.timeline.clock = state.timeline.clock + span;
                if let EventRef::Compute(_) | EventRef::Event(Event::Sleep(_)) = moment {
                    self.workload.pass(thread);
                    self.account(thread, Activity::Compute);
                    continue;
                }
                state.paid = true;
            }
            if state.timeline.clock > self.now {
                if state.timeline.clock == Time::NEVER {
                    return Err(ReplayError::EndOfTime);
                }
                self.agenda.set_alarm(state.timeline.clock, Agent::Thread(thread));
                return Ok(());
            }
            let carried_out = match moment {
                EventRef::Send(message) => self.blocking_send(thread, rank, SendMode::Standard, message),
                EventRef::Recv(message) => self.blocking_receive(thread, rank, message),
                EventRef::Compute(_) | EventRef::Event(_) => self.carry_out(thread),
            };
            let activity = match carried_out {
                Ok(Some(activity)) => activity,
                Ok(None) => continue,
                Err(Failure::Fault(fault)) => {
                    let (place, fault) = (Box::new(self.place(thread)), Box::new(fault));
                    return Err(ReplayError::Event { place, fault });
                }
                Err(Failure::Replay(error)) => return Err(error),
            };
            self.workload.pass(thread);
            let state = &mut self.threads[at];
            state.paid = false;
            if state.timeline.awaited > 0 {
                state.waiting = Some(activity);
                return Ok(());
            }
            self.account(thread, activity);
        }
    }

    /// There is no event that `thread` can begin: it is at its end, or waits for another thread of its rank.
    #[cold]
    fn stop(&mut self, thread: ThreadIndex) {
        let at = thread.0 as usize;
        let (rank, clock) = (self.threads[at].rank, self.threads[at].timeline.clock);
        self.threads[at].began = clock;
        if self.workload.is_waiting(thread) {
            self.threads[at].waiting = Some(Activity::Wait);
            return;
        }
        while let Some(sent) = self.exchange.left_behind(rank) {
            self.claim(Agent::Thread(thread), Some(sent));
        }
        if self.threads[at].timeline.awaited > 0 {
            self.threads[at].waiting = Some(Activity::Send);
            return;
        }
        self.threads[at].finished = true;
        self.finished += 1;
        if thread == ThreadIndex::from(rank) {
            self.observer.finished(rank, clock);
        }
    }

    /// Those go on that waited for another thread of their rank, or that are new.
    #[cold]
    pub(super) fn resume(&mut self) {
        for thread in std::mem::take(self.workload.woken()) {
            let rank = self.workload.actor(thread).rank;
            match self.threads.get_mut(thread.0 as usize) {
                Some(state) => state.timeline.clock = state.timeline.clock.max(self.now),
                None => self.threads.push(Thread::new(rank, self.now)),
            }
            self.agenda.ready(Agent::Thread(thread));
        }
    }

    /// Where nobody can go on, reads what it takes to wake one who does not know how.
    ///
    /// # Errors
    /// Where the trace cannot be read.
    pub fn read_on(&mut self) -> Result<bool, ReplayError> {
        self.workload.read_on()?;
        let any = !self.workload.woken().is_empty();
        self.resume();
        Ok(any)
    }

    /// The event that `thread` is at took until now.
    fn account(&mut self, thread: ThreadIndex, activity: Activity) {
        let state = &self.threads[thread.0 as usize];
        self.observer.spent(state.rank, activity, state.began, state.timeline.clock);
    }

    /// Where `thread` is in its trace.
    pub(super) fn place(&self, thread: ThreadIndex) -> Place {
        let Actor { rank, thread: number } = self.workload.actor(thread);
        // One that waits for its turn has not begun its event.
        let waits = self.workload.waits_for(thread).is_some();
        let (event, line) = (self.threads[thread.0 as usize].events + u64::from(waits), self.workload.line(thread));
        Place { rank, thread: number, event, line }
    }

    /// Puts what the next event of `thread` costs on its clock.
    pub(super) fn pay(&mut self, thread: ThreadIndex) -> Result<(), ReplayError> {
        if let Some(moment) = self.workload.front(thread)? {
            let state = &mut self.threads[thread.0 as usize];
            let cost = overhead(moment, state, self.mpi, &self.exchange, &self.requests);
            state.timeline.clock = state.timeline.clock + cost;
        }
        Ok(())
    }
}

/// What an event costs `thread` before others can see it: the software's part of a send.
#[inline]
fn overhead(moment: EventRef, thread: &Thread, mpi: &Mpi, exchange: &Exchange, requests: &[RequestTable]) -> Seconds {
    let blocking = |mode, bytes| {
        if mode == SendMode::Synchronous || exchange.is_eager(mode, bytes) {
            mpi.send_overhead.of(bytes)
        } else {
            Seconds(0.0)
        }
    };
    let template = |id| requests[thread.rank.0 as usize].template(id);
    match moment {
        EventRef::Send(message) => blocking(SendMode::Standard, message.bytes),
        EventRef::Event(Event::Send(mode, message, Completion::Blocking)) => blocking(*mode, message.bytes),
        EventRef::Event(Event::Send(_, message, Completion::Request(_)) | Event::Sendrecv(Some(message), _)) => {
            mpi.isend_overhead.of(message.bytes)
        }
        EventRef::Event(Event::Start(starting)) => match starting.get(thread.started).and_then(|&id| template(id)) {
            Some(Template::Send(_, message)) => mpi.isend_overhead.of(message.bytes),
            _ => Seconds(0.0),
        },
        _ => Seconds(0.0),
    }
}
