//! One thread's program: its events one after another, each at its time. Most ranks have one thread.
//!
//! The threads of a rank share its requests and communicators, and whatever is sent to it. Each computes on a core of its
//! own. [`program`](super::program) says when a thread begins and what it has to wait for in another.

use titr_common::event::{Actor, Completion, Event, Rank, SendMode};
use titr_common::event_buffer::EventRef;
use titr_common::program::{Place, Template};
use titr_common::units::Seconds;

use super::call::Failure;
use super::error::ReplayError;
use super::exchange::Exchange;
use super::program::{Signal, ThreadIndex};
use super::{Agent, Ranks, RequestTable, Timeline};
use crate::observe::{Activity, Observer};
use titr_common::time::Time;
use titr_common::trace::EventSource;
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
    pub(super) waiting: Option<Waiting>,
    pub(super) finished: bool,
    /// When its last call was over, or when it began.
    last_call_over: Time,
    /// When it may make its first call.
    first_call: Time,
}

/// What a thread waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// A call.
    Call(Activity),
    /// Its turn, before a call that comes after those of other threads.
    Turn,
}

impl Thread {
    /// A thread of `rank` that begins at time zero.
    pub(super) fn new(rank: Rank) -> Self {
        Self {
            rank,
            timeline: Timeline::default(),
            events: 0,
            began: Time::ZERO,
            paid: false,
            started: 0,
            waiting: None,
            finished: false,
            last_call_over: Time::ZERO,
            first_call: Time::ZERO,
        }
    }
}

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// Carries out events of `thread` until one has to wait, or for a time that has not come.
    pub(super) fn run_thread(&mut self, thread: ThreadIndex) -> Result<(), ReplayError> {
        let at = thread.0 as usize;
        match self.threads[at].waiting.take() {
            Some(Waiting::Call(activity)) => self.end_call(thread, activity),
            Some(Waiting::Turn) => self.account(thread, Activity::Wait),
            None => {}
        }
        loop {
            let Some(moment) = self.programs.front(thread, &self.requests)? else {
                self.stop(thread);
                return Ok(());
            };
            let state = &mut self.threads[at];
            let rank = state.rank;
            if !state.paid {
                state.events += 1;
                let is_call = !matches!(moment, EventRef::Compute(_) | EventRef::Event(Event::Sleep(_)));
                if is_call {
                    state.timeline.clock = state.timeline.clock.max(state.first_call);
                }
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
                if !is_call {
                    self.pass(thread)?;
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
            self.pass(thread)?;
            let state = &mut self.threads[at];
            state.paid = false;
            if state.timeline.awaited > 0 {
                state.waiting = Some(Waiting::Call(activity));
                return Ok(());
            }
            self.end_call(thread, activity);
        }
    }

    /// There is no event that `thread` can begin: it is at its end, or waits for another thread of its rank.
    #[cold]
    fn stop(&mut self, thread: ThreadIndex) {
        let at = thread.0 as usize;
        let (rank, clock) = (self.threads[at].rank, self.threads[at].timeline.clock);
        self.threads[at].began = clock;
        if self.programs.is_waiting(thread) {
            self.threads[at].waiting = Some(Waiting::Turn);
            return;
        }
        while let Some(sent) = self.exchange.left_behind(rank) {
            self.claim(Agent::Thread(thread), Some(sent));
        }
        if self.threads[at].timeline.awaited > 0 {
            self.threads[at].waiting = Some(Waiting::Call(Activity::Send));
            return;
        }
        self.threads[at].finished = true;
        self.finished += 1;
        if thread == ThreadIndex::from(rank) {
            self.observer.finished(rank, clock);
        }
    }

    /// The event of `thread` takes place, and others may begin.
    #[inline]
    fn pass(&mut self, thread: ThreadIndex) -> Result<(), ReplayError> {
        if self.programs.pass(thread, &self.requests)? {
            self.resume();
        }
        Ok(())
    }

    /// Lets the threads go on that waited for another thread of their rank, or that begin.
    #[cold]
    pub(super) fn resume(&mut self) {
        for signal in self.programs.take_signals() {
            let (Signal::Runnable(thread) | Signal::Begins { thread, .. }) = signal;
            for new in self.threads.len()..=thread.0 as usize {
                self.threads.push(Thread::new(self.programs.actor(ThreadIndex(new as u32)).rank));
            }
            match signal {
                Signal::Runnable(_) => {
                    let clock = &mut self.threads[thread.0 as usize].timeline.clock;
                    *clock = (*clock).max(self.now);
                }
                Signal::Begins { follows, .. } => {
                    let followed = &self.threads[follows.0 as usize];
                    let (begin, first_call) = (followed.last_call_over, followed.timeline.clock.max(self.now));
                    let state = &mut self.threads[thread.0 as usize];
                    (state.timeline.clock, state.last_call_over, state.first_call) = (begin, begin, first_call);
                }
            }
            self.agenda.ready(Agent::Thread(thread));
        }
    }

    /// Called when nothing can go on and no message travels. Lets threads begin that have not; returns whether there are any.
    ///
    /// # Errors
    /// Where the trace cannot be read.
    pub fn begin_threads(&mut self) -> Result<bool, ReplayError> {
        let begun = self.programs.bring_threads_forward(&self.requests)?;
        self.warnings.brought_forward += begun;
        self.resume();
        Ok(begun > 0)
    }

    /// The call that `thread` is in is over.
    fn end_call(&mut self, thread: ThreadIndex, activity: Activity) {
        let state = &mut self.threads[thread.0 as usize];
        state.last_call_over = state.timeline.clock;
        self.account(thread, activity);
    }

    /// The event that `thread` is at took until now.
    fn account(&mut self, thread: ThreadIndex, activity: Activity) {
        let state = &self.threads[thread.0 as usize];
        self.observer.spent(state.rank, activity, state.began, state.timeline.clock);
    }

    /// Where `thread` is in its trace.
    pub(super) fn place(&self, thread: ThreadIndex) -> Place {
        let Actor { rank, thread: number } = self.programs.actor(thread);
        // One that waits for its turn has not begun its event.
        let waits = self.programs.waits_for(thread).is_some();
        let (event, line) = (self.threads[thread.0 as usize].events + u64::from(waits), self.programs.line(thread));
        Place { rank, thread: number, event, line }
    }

    /// Puts what the next event of `thread` costs on its clock.
    pub(super) fn pay(&mut self, thread: ThreadIndex) -> Result<(), ReplayError> {
        if let Some(moment) = self.programs.front(thread, &self.requests)? {
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
