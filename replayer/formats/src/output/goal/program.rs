//! The program of a rank as a graph.
//!
//! Calls follow each other: a call requires the end of a blocking one before it, and the beginning of a non-blocking one.
//! A wait is no operation: the call after it also requires the end of what was waited for. Each thread has calls and a core
//! of its own. A graph keeps its dependences.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use titr_common::event::{
    Completed, Completion, Event, Incoming, Outgoing, Rank, RequestKey, SendMode, Task, ThreadId,
};
use titr_common::trace::RankStream;

use super::graph::{Graph, Requirement};
use crate::input::goal::{ANY, GoalKind, GoalOperation};
use crate::output::ConvertError;
use crate::output::simgrid::ThreadBeginning;

/// The highest core, which LogGOPSim keeps in a byte.
const HIGHEST_CORE: u32 = u8::MAX as u32;

/// The state of a program.
#[derive(Default)]
struct Program {
    /// The requirements of the next call, and the thread that makes it.
    next: Vec<Requirement>,
    thread: ThreadId,
    /// The requirements of the next calls of other threads.
    others: FxHashMap<ThreadId, Vec<Requirement>>,
    /// The non-blocking operations that were not waited for, in order.
    open: FxHashMap<RequestKey, VecDeque<u32>>,
    /// Picoseconds of computation that were not written, as they are no whole nanosecond.
    rest: f64,
    /// The operation of each task of a graph; `None` if it has none.
    tasks: Vec<Option<u32>>,
    task: Option<Task>,
    instructions: u64,
}

/// Reads the events of a rank with these further threads into `graph`; returns the number of computations that are instructions.
pub(super) fn read(
    mut stream: RankStream,
    rank: Rank,
    threads: &[ThreadBeginning],
    graph: &mut Graph,
) -> Result<u64, ConvertError> {
    let mut program = Program::default();
    while let Some(event) = stream.next_event()? {
        program.switch(stream.location().thread);
        for begins in threads.iter().filter(|begins| begins.actions + 1 == stream.events()) {
            program.others.insert(begins.thread, program.next.clone());
        }
        program.event(rank, event, graph)?;
    }
    Ok(program.instructions)
}

impl Program {
    /// Goes on with the calls of another thread.
    fn switch(&mut self, thread: ThreadId) {
        if thread != self.thread {
            let next = self.others.remove(&thread).unwrap_or_default();
            self.others.insert(self.thread, std::mem::replace(&mut self.next, next));
            self.thread = thread;
        }
    }

    fn event(&mut self, rank: Rank, event: Event, graph: &mut Graph) -> Result<(), ConvertError> {
        match event {
            Event::Task(task) => {
                // The task before has no event.
                self.no_operation();
                self.task = Some(task);
            }
            Event::Init | Event::CommCreate(..) => self.no_operation(),
            Event::Finalize | Event::Mark(_) | Event::Annotation(_) | Event::Matched(..) => {}
            Event::Compute(work) => {
                self.instructions += 1;
                self.compute(work.0, graph);
            }
            Event::Sleep(time) => self.compute(time.0 * 1e9, graph),
            Event::Send(_, message, Completion::Blocking) => self.blocking(sent(message), graph),
            Event::Recv(message, Completion::Blocking) => self.blocking(received(message), graph),
            Event::Send(SendMode::Standard, message, Completion::Request(None)) => {
                let key = RequestKey { from: Some(rank), to: message.to, tag: Some(message.tag) };
                self.nonblocking(sent(message), key, graph);
            }
            Event::Recv(message, Completion::Request(None)) => {
                let key = RequestKey { from: message.from, to: rank, tag: message.tag };
                self.nonblocking(received(message), key, graph);
            }
            Event::Wait(_, Completed::One(key, None)) => {
                let operation = self.open.get_mut(&key).and_then(VecDeque::pop_front);
                operation.into_iter().for_each(|operation| self.wait(operation));
            }
            Event::Wait(_, Completed::Outstanding(_)) => {
                let mut all: Vec<u32> = self.open.drain().flat_map(|(_, operations)| operations).collect();
                all.sort_unstable();
                all.into_iter().for_each(|operation| self.wait(operation));
            }
            Event::Send(..)
            | Event::Recv(..)
            | Event::Sendrecv(..)
            | Event::Probe(_)
            | Event::Iprobe(..)
            | Event::Partitioned(_)
            | Event::Start(_)
            | Event::RequestFree(_)
            | Event::Cancel(_)
            | Event::Wait(..)
            | Event::Test(..)
            | Event::Collective(..)
            | Event::Neighborhood(..)
            | Event::OneSided(_)
            | Event::File(_)
            | Event::Other(_)
            | Event::CommFree(_) => {
                let what = format!("rank {}: a graph with '{}' cannot be written as GOAL", rank.0, event.word());
                return Err(ConvertError::Output(std::io::Error::other(what)));
            }
        }
        Ok(())
    }

    fn compute(&mut self, nanoseconds: f64, graph: &mut Graph) {
        let all = nanoseconds + self.rest;
        let whole = all.round().max(0.0);
        self.rest = if self.task.is_none() { all - whole } else { 0.0 };
        if whole > 0.0 || self.task.is_some() {
            self.blocking(GoalOperation::new(GoalKind::Compute, whole as u64), graph);
        }
    }

    fn blocking(&mut self, operation: GoalOperation, graph: &mut Graph) {
        if let Some(task) = self.task.take() {
            return self.task(operation, &task, graph);
        }
        let number = graph.add(self.on_core(operation), &self.next);
        self.next.clear();
        self.next.push(Requirement::Ended(number));
    }

    fn nonblocking(&mut self, operation: GoalOperation, key: RequestKey, graph: &mut Graph) {
        let number = graph.add(self.on_core(operation), &self.next);
        self.next.clear();
        self.next.push(Requirement::Begun(number));
        self.open.entry(key).or_default().push_back(number);
    }

    /// The operation on the core of its thread.
    fn on_core(&self, operation: GoalOperation) -> GoalOperation {
        GoalOperation { core: self.thread.0.min(HIGHEST_CORE), ..operation }
    }

    /// The next call requires the end of an operation.
    fn wait(&mut self, operation: u32) {
        match self.next.iter_mut().find(|next| **next == Requirement::Begun(operation)) {
            Some(begun) => *begun = Requirement::Ended(operation),
            None => self.next.push(Requirement::Ended(operation)),
        }
    }

    fn task(&mut self, operation: GoalOperation, task: &Task, graph: &mut Graph) {
        let number = self.tasks.len();
        let of = |back: u32| number.checked_sub(back as usize).and_then(|task| self.tasks.get(task).copied().flatten());
        let ended = task.ended.iter().filter_map(|&back| of(back)).map(Requirement::Ended);
        let begun = task.begun.iter().filter_map(|&back| of(back)).map(Requirement::Begun);
        let requirements: Vec<Requirement> = ended.chain(begun).collect();
        let core = task.core.min(HIGHEST_CORE);
        let number = graph.add(GoalOperation { core, ..operation }, &requirements);
        self.tasks.push(Some(number));
    }

    /// A task without an operation, such as `MPI_Init`, on which the first ones depend.
    fn no_operation(&mut self) {
        if self.task.take().is_some() {
            self.tasks.push(None);
        }
    }
}

fn sent(Outgoing { to, tag, bytes, .. }: Outgoing) -> GoalOperation {
    GoalOperation { peer: to.0, tag: tag.0.cast_unsigned(), ..GoalOperation::new(GoalKind::Send, bytes.0) }
}

fn received(Incoming { from, tag, bytes, .. }: Incoming) -> GoalOperation {
    let (peer, tag) = (from.map_or(ANY, |from| from.0), tag.map_or(ANY, |tag| tag.0.cast_unsigned()));
    GoalOperation { peer, tag, ..GoalOperation::new(GoalKind::Receive, bytes.0) }
}
