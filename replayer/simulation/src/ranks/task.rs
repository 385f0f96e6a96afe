//! A thread that executes the tasks of a graph, one after another.
//!
//! A task that computes, or whose software takes time before others see its effects, waits for its core first. The tasks
//! of a core take it in the order in which they become ready. A receive is posted at once; the time that its completion
//! takes is taken from the core when the message is there.

use titr_common::event::{Activity, Event};
use titr_common::event_buffer::EventRef;
use titr_common::time::Time;
use titr_common::trace::EventSource;

use super::call::Failure;
use super::core::{TaskCore, TaskStage};
use super::ids::ThreadIndex;
use super::point_to_point::protocol::SendCost;
use super::thread::Waiting;
use super::{Ranks, ReplayError};
use crate::observe::{Observer, Waiter, Work};

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// Executes tasks until one has to wait.
    pub(super) fn run_tasks(&mut self, index: ThreadIndex) -> Result<(), ReplayError> {
        let at = index.0 as usize;
        match self.threads[at].waiting.take() {
            Some(Waiting::Call(activity)) => self.end_call(index, activity),
            // Another thread of the graph is no thread of the program.
            Some(Waiting::Turn) if self.threads[at].is_main() => self.account(index, Activity::Wait),
            Some(Waiting::Turn | Waiting::Part) | None => {}
        }
        loop {
            let thread = &self.threads[at];
            if thread.clock.time > self.mpi.now() {
                if thread.clock.time == Time::NEVER {
                    return Err(self.end_of_time(index));
                }
                self.mpi.scheduler.set_timer(thread.clock.time, thread.waiter());
                return Ok(());
            }
            match thread.stage {
                TaskStage::Next => {
                    if !self.take_task(index)? {
                        return self.stop(index);
                    }
                }
                TaskStage::Begins(cost) => self.begin_task(index, cost)?,
                TaskStage::Paid => {
                    if self.carry_out_task(index)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Takes the next task, and its core; false if there is none.
    fn take_task(&mut self, index: ThreadIndex) -> Result<bool, ReplayError> {
        let at = index.0 as usize;
        self.threads[at].core = None;
        let has_next = self.programs.front(index, self.mpi.all_requests())?.is_some();
        if self.programs.has_signals() {
            self.resume();
        }
        if !has_next {
            return Ok(false);
        }
        let core = self.programs.core(index);
        let Some(event) = self.programs.current(index) else { return Ok(false) };
        let mpi = &mut self.mpi;
        let thread = &mut self.threads[at];
        let rank = thread.actor.rank;
        thread.events += 1;
        thread.core = core.map(|core| TaskCore { rank, core });
        let takes_core = match event {
            EventRef::Recv(..) | EventRef::Event(Event::Recv(..) | Event::Collective(..)) => None,
            EventRef::Event(_) | EventRef::Compute(_) | EventRef::Send(..) => thread.core,
        };
        let start = takes_core.map_or(thread.clock.time, |core| mpi.task_cores.free(core, thread.clock.time));
        let cost: SendCost = match event {
            EventRef::Compute(work) => {
                thread.computed.0 += work.0;
                mpi.core(rank).time_for(work, start).into()
            }
            EventRef::Event(&Event::Sleep(time)) if mpi.causality().is_timed() => time.into(),
            EventRef::Event(_) | EventRef::Send(..) | EventRef::Recv(..) => self.chapters.overhead(mpi, event, thread),
        };
        if let Some(core) = takes_core {
            mpi.task_cores.take(core, start + cost.all());
        }
        thread.clock.time = start;
        thread.stage = TaskStage::Begins(Time((start + cost.before).0 - start.0));
        Ok(true)
    }

    /// The current task begins, and takes a time before others see its effects.
    fn begin_task(&mut self, index: ThreadIndex, cost: Time) -> Result<(), ReplayError> {
        self.programs.begin_task(index)?;
        if self.programs.has_signals() {
            self.resume();
        }
        let thread = &mut self.threads[index.0 as usize];
        thread.began = thread.clock.time;
        thread.clock.time = Time(thread.began.0 + cost.0);
        let (began, until) = (thread.began, thread.clock.time);
        let Some(event) = self.programs.current(index) else { return Ok(()) };
        if thread.is_main() {
            self.mpi.observer.event_began(thread.actor.rank, event, began);
        }
        let work = match event {
            EventRef::Compute(_) => Work::Compute,
            EventRef::Event(Event::Sleep(_)) => Work::Sleep,
            EventRef::Event(_) | EventRef::Send(..) | EventRef::Recv(..) => Work::Overhead,
        };
        let computes = work != Work::Overhead;
        thread.stage = if computes { TaskStage::Next } else { TaskStage::Paid };
        self.mpi.observer.works(Waiter::Thread(index), work, began, until);
        if computes {
            self.pass(index)?;
            self.account(index, Activity::Compute);
        }
        Ok(())
    }

    /// Makes the call of the current task; true if the thread has to wait.
    fn carry_out_task(&mut self, index: ThreadIndex) -> Result<bool, ReplayError> {
        let at = index.0 as usize;
        if self.mpi.deferred.is_due(self.threads[at].actor.rank)
            && let Err((thread, fault)) = self.chapters.go_on(&mut self.mpi, self.threads[at].actor.rank)
        {
            return Err(self.wrong(thread, fault));
        }
        let activity = match self.call(index) {
            Ok(Some(activity)) => activity,
            Ok(None) => {
                let waits = self.threads[at].clock.awaited > 0;
                if waits {
                    self.threads[at].waiting = Some(Waiting::Part);
                }
                return Ok(waits);
            }
            Err(Failure::Fault(fault)) => return Err(self.wrong(index, fault)),
            Err(Failure::Trace(error)) => return Err(error.into()),
        };
        self.pass(index)?;
        let thread = &mut self.threads[at];
        thread.stage = TaskStage::Next;
        if thread.clock.awaited > 0 {
            thread.waiting = Some(Waiting::Call(activity));
            return Ok(true);
        }
        self.end_call(index, activity);
        Ok(false)
    }
}
