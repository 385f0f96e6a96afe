//! The events of a rank that is a graph of [tasks](Task), and the threads that execute them.
//!
//! A task begins as soon as the tasks that it depends on have ended or begun. A thread executes one task at a time; a
//! rank has as many threads as it ever had tasks in progress. An event without a task is executed by the main thread
//! when all events before it have ended, and before any event after it begins.
//!
//! The events of the trace are read on demand: while a task that has begun has dependents that were not read, as each
//! task says how many it has, or while no task is in progress. Which tasks a rank executes at a time therefore does not
//! depend on how far the trace is read, and memory is needed for the tasks that wait.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use smallvec::SmallVec;
use titr_common::event::{Actor, Event, Rank, Task, ThreadId};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{EventSource, TraceError};

use super::{Signal, ThreadTable, event_ref};
use crate::ranks::ids::ThreadIndex;
use titr_workload::Window;

/// The graph of a rank, as far as it is read and has not ended.
pub(super) struct TaskGraph {
    rank: Rank,
    tasks: VecDeque<TaskState>,
    first: u64,
    events: u64,
    /// Tasks that can begin and have no thread.
    ready: VecDeque<u64>,
    threads: Vec<TaskThread>,
    /// Threads without an event, and some that have got one since.
    idle: BinaryHeap<Reverse<usize>>,
    /// The number of tasks that were read and have not ended.
    open: usize,
    /// The number of tasks that have begun and have dependents that were not read.
    unmet: usize,
    /// An event without a task.
    alone: Option<Executed>,
    is_read: bool,
    /// Whether all threads know that there is nothing left.
    is_over: bool,
}

struct TaskState {
    /// The event, until a thread executes it. An empty task has none.
    event: Option<Executed>,
    phase: Phase,
    /// The number of tasks that it waits for.
    missing: usize,
    /// The number of its dependents that were not read.
    unread: u32,
    dependents: SmallVec<[Dependent; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    NotBegun,
    Begun,
    Ended,
}

/// A task that waits for another to reach a phase.
struct Dependent {
    task: u64,
    on: Phase,
}

pub(super) struct Executed {
    event: Event,
    pub(super) line: Option<u64>,
    /// Its number among the events of the rank, from 1.
    pub(super) number: u64,
    /// The number of its task, and the core that this takes.
    pub(super) task: Option<(u64, u32)>,
}

struct TaskThread {
    index: ThreadIndex,
    current: Option<Executed>,
    takes_place: bool,
    /// Whether it is in the list of idle threads.
    is_listed: bool,
}

impl TaskGraph {
    pub(super) fn new(rank: Rank) -> Self {
        let main = TaskThread { index: ThreadIndex::from(rank), current: None, takes_place: false, is_listed: true };
        Self {
            rank,
            tasks: VecDeque::new(),
            first: 0,
            events: 0,
            ready: VecDeque::new(),
            threads: vec![main],
            idle: BinaryHeap::from([Reverse(0)]),
            open: 0,
            unmet: 0,
            alone: None,
            is_read: false,
            is_over: false,
        }
    }

    /// The next event of a thread, whose last one is over.
    pub(super) fn front(
        &mut self,
        at: usize,
        window: &mut Window<impl EventSource>,
        table: &mut ThreadTable,
    ) -> Result<Option<EventRef<'_>>, TraceError> {
        if std::mem::take(&mut self.threads[at].takes_place)
            && let Some(Executed { task: Some((task, _)), .. }) = self.threads[at].current.take()
        {
            self.end(task);
        }
        self.go_on(at, window, table)?;
        Ok(self.current(at))
    }

    pub(super) fn current(&self, at: usize) -> Option<EventRef<'_>> {
        Some(event_ref(&self.threads[at].current.as_ref()?.event))
    }

    /// The current event of a thread takes place.
    pub(super) fn pass(&mut self, at: usize) {
        self.threads[at].takes_place = true;
    }

    /// The current task of a thread begins.
    pub(super) fn begin_task(
        &mut self,
        at: usize,
        window: &mut Window<impl EventSource>,
        table: &mut ThreadTable,
    ) -> Result<(), TraceError> {
        if let Some(Executed { task: Some((task, _)), .. }) = self.threads[at].current {
            self.begin(task);
            self.go_on(at, window, table)?;
        }
        Ok(())
    }

    /// The event that a thread executes, with what is known of it.
    pub(super) fn executed(&self, at: usize) -> Option<&Executed> {
        self.threads[at].current.as_ref()
    }

    /// Whether a thread has no event now, and may get one.
    pub(super) fn is_idle(&self, at: usize) -> bool {
        self.threads[at].current.is_none() && !self.is_over
    }

    /// Gives events to threads, and reads what is needed. The thread `at` asks itself, and needs no signal.
    fn go_on(
        &mut self,
        at: usize,
        window: &mut Window<impl EventSource>,
        table: &mut ThreadTable,
    ) -> Result<(), TraceError> {
        loop {
            while let Some(task) = self.ready.pop_front() {
                self.give(task, at, table);
            }
            if self.open == 0
                && let Some(alone) = self.alone.take()
            {
                self.execute(0, alone, at, table);
            }
            let is_alone = self.threads[0].current.as_ref().is_some_and(|current| current.task.is_none());
            let is_needed = self.open == 0 || self.unmet > 0;
            if is_alone || self.alone.is_some() || !is_needed || self.is_read {
                break;
            }
            self.read(window)?;
        }
        let thread = &mut self.threads[at];
        if thread.current.is_none() && !std::mem::replace(&mut thread.is_listed, true) {
            self.idle.push(Reverse(at));
        }
        if self.is_read && self.open == 0 && !self.is_over && self.threads.iter().all(|thread| thread.current.is_none())
        {
            self.is_over = true;
            let others = self.threads.iter().enumerate().filter(|&(other, _)| other != at);
            table.signals.extend(others.map(|(_, thread)| Signal::Runnable(thread.index)));
        }
        Ok(())
    }

    /// Gives a task that can begin to a thread without one: to the one that asks, if that has none.
    fn give(&mut self, number: u64, asks: usize, table: &mut ThreadTable) {
        let Some(event) = self.task(number).and_then(|task| task.event.take()) else {
            self.begin(number);
            return self.end(number);
        };
        let at = if self.threads[asks].current.is_none() { Some(asks) } else { self.idle_thread() };
        let at = at.unwrap_or_else(|| {
            let at = self.threads.len();
            let index = table.add(Actor { rank: self.rank, thread: ThreadId(at as u32) }, at);
            self.threads.push(TaskThread { index, current: None, takes_place: false, is_listed: false });
            at
        });
        self.execute(at, event, asks, table);
    }

    /// The first thread without an event.
    fn idle_thread(&mut self) -> Option<usize> {
        while let Some(Reverse(at)) = self.idle.pop() {
            self.threads[at].is_listed = false;
            if self.threads[at].current.is_none() {
                return Some(at);
            }
        }
        None
    }

    fn execute(&mut self, at: usize, event: Executed, asks: usize, table: &mut ThreadTable) {
        let thread = &mut self.threads[at];
        thread.current = Some(event);
        if at != asks {
            table.signals.push(Signal::Runnable(thread.index));
        }
    }

    /// Reads the next event of the trace, and the empty tasks before it.
    fn read(&mut self, window: &mut Window<impl EventSource>) -> Result<(), TraceError> {
        let Some(event) = window.front()?.map(EventRef::to_event) else {
            self.is_read = true;
            return Ok(());
        };
        let (line, mut task) = (window.line(), window.take_task());
        while window.has_task() {
            task.into_iter().for_each(|task| self.add(&task, None));
            task = window.take_task();
        }
        window.pass();
        self.events += 1;
        let number = self.events;
        match task {
            Some(task) => self.add(&task, Some((event, line, number))),
            None => self.alone = Some(Executed { event, line, number, task: None }),
        }
        Ok(())
    }

    fn add(&mut self, task: &Task, event: Option<(Event, Option<u64>, u64)>) {
        let number = self.first + self.tasks.len() as u64;
        let mut missing = 0;
        let ended = task.ended.iter().map(|&back| (back, Phase::Ended));
        let begun = task.begun.iter().map(|&back| (back, Phase::Begun));
        for (back, on) in ended.chain(begun) {
            // What is not here any more has ended.
            let Some(other) = number.checked_sub(u64::from(back)).and_then(|other| self.task(other)) else { continue };
            if other.phase < on {
                other.dependents.push(Dependent { task: number, on });
                missing += 1;
            }
            if other.unread > 0 {
                other.unread -= 1;
                let is_met = other.unread == 0 && other.phase >= Phase::Begun;
                self.unmet -= usize::from(is_met);
            }
        }
        let event = event.map(|(event, line, number_of_event)| Executed {
            event,
            line,
            number: number_of_event,
            task: Some((number, task.core)),
        });
        let (phase, unread) = (Phase::NotBegun, task.dependents);
        self.tasks.push_back(TaskState { event, phase, missing, unread, dependents: SmallVec::new() });
        self.open += 1;
        if missing == 0 {
            self.ready.push_back(number);
        }
        self.forget();
    }

    fn task(&mut self, number: u64) -> Option<&mut TaskState> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.tasks.get_mut(at)
    }

    fn begin(&mut self, number: u64) {
        let Some(task) = self.task(number) else { return };
        let is_unmet = task.unread > 0;
        self.unmet += usize::from(is_unmet);
        self.reach(number, Phase::Begun);
    }

    fn end(&mut self, number: u64) {
        self.reach(number, Phase::Ended);
        self.open -= 1;
        self.forget();
    }

    /// A task reaches a phase, for which others may wait.
    fn reach(&mut self, number: u64, phase: Phase) {
        let Some(task) = self.task(number) else { return };
        task.phase = phase;
        let mut dependents = std::mem::take(&mut task.dependents);
        dependents.retain(|dependent| {
            if dependent.on > phase {
                return true;
            }
            if let Some(task) = self.task(dependent.task) {
                task.missing -= 1;
                if task.missing == 0 {
                    self.ready.push_back(dependent.task);
                }
            }
            false
        });
        if let Some(task) = self.task(number) {
            task.dependents = dependents;
        }
    }

    /// Removes tasks that have ended and have no dependents to come.
    fn forget(&mut self) {
        while self.tasks.front().is_some_and(|task| task.phase == Phase::Ended && task.unread == 0) {
            self.tasks.pop_front();
            self.first += 1;
        }
    }
}
