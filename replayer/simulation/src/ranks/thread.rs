//! The program of one thread: its events in order, each at its time. Most ranks have one thread.
//!
//! The threads of a rank share its requests and communicators, and receive its messages. Each computes on a core of its
//! own. [`program`](super::program) decides when a thread begins and which events of other threads it has to wait for.

use titr_common::event::{Activity, Actor, Completion, Event};
use titr_common::event_buffer::EventRef;
use titr_common::program::{Fault, Place};
use titr_common::time::Time;
use titr_common::trace::EventSource;
use titr_common::units::{Instructions, Seconds};
use titr_network::Unreachable;

use super::call::Failure;
use super::core::{TaskCore, TaskStage};
use super::ids::ThreadIndex;
use super::program::Signal;
use super::scheduler::{Clock, Waiter};
use super::{Ranks, ReplayError};
use crate::observe::{Observer, Work};

/// The place of a thread in its program.
pub(super) struct Thread {
    pub(super) index: ThreadIndex,
    pub(super) actor: Actor,
    pub(super) clock: Clock,
    /// The number of events that the thread has begun.
    pub(super) events: u64,
    /// The volume of computation that the thread has begun.
    pub(super) computed: Instructions,
    /// The start of the thread's current event.
    pub(super) began: Time,
    /// The end of its last call, or its own beginning.
    last_call_over: Time,
    /// The earliest time of its first call.
    first_call: Time,
    /// The number of parts of its call that have begun, such as requests that it starts.
    pub(super) started: u32,
    /// Whether the clock includes the time that the event takes before its effects are visible.
    paid: bool,
    pub(super) waiting: Option<Waiting>,
    /// Whether the call that the thread waits in was a test in the traced run.
    pub(super) tests: bool,
    pub(super) finished: bool,
    /// The core that the thread's current task takes.
    pub(super) core: Option<TaskCore>,
    pub(super) stage: TaskStage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    Call(Activity),
    /// A part of a call, which has further parts.
    Part,
    /// Its turn, before a call that depends on calls of other threads.
    Turn,
}

impl Thread {
    /// A thread that begins at time zero.
    pub(super) fn new(index: ThreadIndex, actor: Actor) -> Self {
        Self {
            index,
            actor,
            clock: Clock::default(),
            events: 0,
            computed: Instructions::default(),
            began: Time::ZERO,
            last_call_over: Time::ZERO,
            first_call: Time::ZERO,
            started: 0,
            paid: false,
            waiting: None,
            tests: false,
            finished: false,
            core: None,
            stage: TaskStage::Next,
        }
    }

    /// Puts the beginning of the thread, which has done nothing yet, at `time`.
    pub(super) fn start_at(&mut self, time: Time) {
        (self.clock.time, self.began, self.last_call_over) = (time, time, time);
    }

    pub(super) fn waiter(&self) -> Waiter {
        Waiter::Thread(self.index)
    }

    /// Whether the thread waits in a call of MPI, or is at its end.
    pub(super) fn is_inside_mpi(&self) -> bool {
        self.finished || matches!(self.waiting, Some(Waiting::Call(_) | Waiting::Part))
    }

    pub(super) fn is_main(&self) -> bool {
        self.index == ThreadIndex::from(self.actor.rank)
    }
}

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// Carries out events of a thread until one has to wait, or for a time that has not come.
    pub(super) fn run_thread(&mut self, index: ThreadIndex) -> Result<(), ReplayError> {
        if self.programs.is_of_graph(index) {
            return self.run_tasks(index);
        }
        let at = index.0 as usize;
        match self.threads[at].waiting.take() {
            Some(Waiting::Call(activity)) => self.end_call(index, activity),
            Some(Waiting::Turn) => self.account(index, Activity::Wait),
            Some(Waiting::Part) | None => {}
        }
        loop {
            let Some(event) = self.programs.front(index, self.mpi.all_requests())? else {
                return self.stop(index);
            };
            let thread = &mut self.threads[at];
            if !thread.paid {
                thread.events += 1;
                let core = self.mpi.core(thread.actor.rank);
                let computing = match event {
                    EventRef::Compute(work) => {
                        thread.computed.0 += work.0;
                        Some(core.time_for(work, thread.clock.time))
                    }
                    EventRef::Event(&Event::Sleep(time)) if self.mpi.causality().is_timed() => Some(time),
                    EventRef::Event(Event::Sleep(_)) => Some(Seconds(0.0)),
                    EventRef::Send(..) | EventRef::Recv(..) | EventRef::Event(_) => None,
                };
                if computing.is_none() {
                    thread.clock.time = thread.clock.time.max(thread.first_call);
                }
                thread.began = thread.clock.time;
                if thread.is_main() {
                    self.mpi.observer.event_began(thread.actor.rank, event, thread.began);
                }
                if let Some(time) = computing {
                    thread.clock.time = thread.began + time;
                    if thread.clock.time == Time::NEVER {
                        return Err(self.end_of_time(index));
                    }
                    let thread = &self.threads[at];
                    let work = if matches!(event, EventRef::Compute(_)) { Work::Compute } else { Work::Sleep };
                    self.mpi.observer.works(Waiter::Thread(index), work, thread.began, thread.clock.time);
                    self.pass(index)?;
                    self.account(index, Activity::Compute);
                    continue;
                }
                let mpi = &mut self.mpi;
                let cost = self.chapters.overhead(mpi, event, thread);
                thread.clock.time = thread.began + cost.before;
                mpi.observer.works(Waiter::Thread(index), Work::Overhead, thread.began, thread.clock.time);
                thread.paid = true;
            }
            if thread.clock.time > self.mpi.now() {
                if thread.clock.time == Time::NEVER {
                    return Err(self.end_of_time(index));
                }
                self.mpi.scheduler.set_timer(thread.clock.time, Waiter::Thread(index));
                return Ok(());
            }
            if self.mpi.deferred.is_due(thread.actor.rank)
                && let Err((thread, fault)) = self.chapters.go_on(&mut self.mpi, thread.actor.rank)
            {
                return Err(self.wrong(thread, fault));
            }
            let carried_out = match event {
                EventRef::Send(message, Completion::Blocking) => {
                    let sent = self.mpi.blocking_send(&mut self.threads[at], message);
                    sent.map(|()| Some(Activity::Send)).map_err(Failure::Fault)
                }
                EventRef::Recv(message, Completion::Blocking) => {
                    let received = self.mpi.blocking_receive(&mut self.threads[at], message.into());
                    received.map(|()| Some(Activity::Recv)).map_err(Failure::Fault)
                }
                EventRef::Event(_) | EventRef::Compute(_) | EventRef::Send(..) | EventRef::Recv(..) => self.call(index),
            };
            let activity = match carried_out {
                Ok(Some(activity)) => activity,
                Ok(None) if self.threads[at].clock.awaited > 0 => {
                    self.threads[at].waiting = Some(Waiting::Part);
                    return Ok(());
                }
                Ok(None) => continue,
                Err(Failure::Fault(fault)) => return Err(self.wrong(index, fault)),
                Err(Failure::Trace(error)) => return Err(error.into()),
            };
            self.pass(index)?;
            let thread = &mut self.threads[at];
            thread.paid = false;
            if thread.clock.awaited > 0 {
                thread.waiting = Some(Waiting::Call(activity));
                return Ok(());
            }
            self.end_call(index, activity);
        }
    }

    /// There is no event that a thread can begin: it is at its end, or waits for another thread of its rank.
    #[cold]
    pub(super) fn stop(&mut self, index: ThreadIndex) -> Result<(), ReplayError> {
        let Self { programs, threads, mpi, chapters, finished, starts, .. } = self;
        let at = index.0 as usize;
        let thread = &mut threads[at];
        thread.began = thread.clock.time;
        if programs.is_waiting(index) {
            thread.waiting = Some(Waiting::Turn);
            return Ok(());
        }
        while let Some(sent) = mpi.exchange.left_behind(thread.actor.rank) {
            mpi.wait_for(thread, Some(sent));
        }
        if thread.clock.awaited > 0 {
            thread.waiting = Some(Waiting::Call(Activity::Send));
            return Ok(());
        }
        // Others may need this rank to be in a call, and an ended rank counts as in a call.
        let may_be_needed = chapters.one_sided.has_windows() || mpi.deferred.is_by_calls();
        let may_be_needed = may_be_needed || starts.is_awaited(thread.actor.rank);
        if thread.clock.time > mpi.now() && may_be_needed {
            mpi.scheduler.set_timer(thread.clock.time, Waiter::Thread(index));
            return Ok(());
        }
        thread.finished = true;
        *finished += 1;
        if thread.is_main() {
            mpi.observer.finished(thread.actor.rank, thread.clock.time);
        }
        if mpi.deferred.is_due(thread.actor.rank) {
            let gone_on = chapters.go_on(mpi, thread.actor.rank);
            gone_on.map_err(|(thread, fault)| self.wrong(thread, fault))?;
        }
        let rank = self.threads[at].actor.rank;
        for job in self.starts.finish_thread(rank) {
            self.start_job(job, self.mpi.now());
        }
        Ok(())
    }

    /// The event of a thread takes place, and others may begin.
    #[inline]
    pub(super) fn pass(&mut self, index: ThreadIndex) -> Result<(), ReplayError> {
        if self.programs.pass(index, self.mpi.all_requests())? {
            self.resume();
        }
        Ok(())
    }

    /// Makes the threads runnable that waited for another thread of their rank, or that begin.
    #[cold]
    pub(super) fn resume(&mut self) {
        let now = self.mpi.now();
        for signal in self.programs.take_signals() {
            let (Signal::Runnable(index) | Signal::Begins { thread: index, .. }) = signal;
            for new in (self.threads.len() as u32..=index.0).map(ThreadIndex) {
                let actor = self.programs.actor(new);
                self.starts.add_thread(actor.rank);
                self.threads.push(Thread::new(new, actor));
            }
            match signal {
                Signal::Runnable(_) => {
                    let time = &mut self.threads[index.0 as usize].clock.time;
                    *time = (*time).max(now);
                    self.mpi.release(Waiter::Thread(index));
                }
                Signal::Begins { follows, .. } => {
                    let followed = &self.threads[follows.0 as usize];
                    let (begin, first_call) = (followed.last_call_over, followed.clock.time.max(now));
                    let thread = &mut self.threads[index.0 as usize];
                    (thread.clock.time, thread.last_call_over, thread.first_call) = (begin, begin, first_call);
                    let (waiter, rank) = (Waiter::Thread(index), thread.actor.rank);
                    self.mpi.observer.thread_began(begin, waiter, rank, Waiter::Thread(follows));
                }
            }
            self.mpi.scheduler.ready(Waiter::Thread(index));
        }
    }

    /// Called when no waiter is runnable and no message travels. Starts threads that have not begun; returns whether
    /// there are any.
    pub(crate) fn begin_threads(&mut self) -> Result<bool, ReplayError> {
        let begun = self.programs.bring_threads_forward(self.mpi.all_requests())?;
        self.mpi.warnings.brought_forward += begun;
        self.resume();
        Ok(begun > 0)
    }

    /// The call that a thread is in is over.
    pub(super) fn end_call(&mut self, index: ThreadIndex, activity: Activity) {
        let thread = &mut self.threads[index.0 as usize];
        thread.last_call_over = thread.clock.time;
        thread.tests = false;
        self.account(index, activity);
    }

    /// The event that a thread is at took until now.
    pub(super) fn account(&mut self, index: ThreadIndex, activity: Activity) {
        let thread = &self.threads[index.0 as usize];
        self.mpi.observer.active(thread.actor.rank, activity, thread.began, thread.clock.time);
    }

    /// The place of a thread in its trace.
    pub(super) fn place(&self, index: ThreadIndex) -> Place {
        let Actor { rank, thread } = self.programs.actor(index);
        // A thread that waits for its turn has not begun its event.
        let waits = self.programs.waits_for(index).is_some();
        let (event, line) = (self.threads[index.0 as usize].events + u64::from(waits), self.programs.line(index));
        let event = self.programs.number_in_graph(index).unwrap_or(event);
        Place { rank, thread, event, line }
    }

    /// An error at the thread's current event.
    pub(super) fn wrong(&self, index: ThreadIndex, fault: Fault) -> ReplayError {
        ReplayError::Event { place: Box::new(self.place(index)), fault: Box::new(fault) }
    }

    /// The error of a thread whose current event ends after the end of simulated time.
    pub(super) fn end_of_time(&self, index: ThreadIndex) -> ReplayError {
        ReplayError::EndOfTime { place: Box::new(self.place(index)) }
    }

    /// The error of a message that can never arrive, when nothing else happens any more: at a thread that waits for it.
    pub(crate) fn unreachable(&self, why: Unreachable) -> ReplayError {
        let waits =
            (0..).map(ThreadIndex).zip(&self.threads).find(|(_, thread)| thread.is_inside_mpi() && !thread.finished);
        match (why, waits) {
            (Unreachable::EndOfTime, Some((index, _))) => self.end_of_time(index),
            (why, _) => ReplayError::Unreachable(why),
        }
    }

    /// Puts the time that the next start of a thread takes on its clock.
    pub(super) fn charge_overhead(&mut self, index: ThreadIndex) {
        if let Some(event) = self.programs.current(index) {
            let thread = &mut self.threads[index.0 as usize];
            let cost = self.chapters.overhead(&self.mpi, event, thread);
            let from = thread.clock.time;
            thread.clock.time = from + cost.before;
            self.mpi.observer.works(Waiter::Thread(index), Work::Overhead, from, thread.clock.time);
        }
    }
}
