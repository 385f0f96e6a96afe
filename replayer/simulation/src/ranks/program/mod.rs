//! The programs of all ranks: the next event of each of their threads.
//!
//! Most ranks have one thread, whose events are those of the rank's [window](Window). A rank with several has a
//! [queue](queues) for each of them.
//!
//! # Threads
//! A trace has the calls of a rank's threads in the order in which they returned. It does not show forks, joins and
//! locks outside MPI, so a thread that waited in one seems to be early. Each thread executes its own events in order,
//! on a core of its own. The interleaving of the threads is not replayed: on another machine, they return in another
//! order. These rules hold:
//!
//! * **Order**: a call comes after the calls whose effects it uses ([`order`]).
//! * **Beginning**: a thread *follows* the thread of the event before its own first event in the trace. A trace does
//!   not record when a thread was created; this is the earliest possible time. A thread therefore begins when the call
//!   before that event ends: its computation before its first call overlaps with the computation of the thread it
//!   follows. Its first call is made no earlier than that event, so first calls are made in the order of the trace.
//! * **Standstill**: a first call can take so long that calls which returned before it depend on it. When no rank is
//!   runnable and no message travels, the next thread of each rank begins at that time. The replay searches for it in a
//!   limited number of further events ([`queues::STANDSTILL_REACH`]).
//!
//! # Graphs
//! A rank whose events have [tasks](titr_common::event::Task) is a graph. Its events begin when the events that they
//! depend on have ended or begun; threads execute them, as many as are in progress at a time ([`graph`]).
//!
//! None of this depends on the size of the batches in which events are read, or on how far ahead they are read.

mod graph;
mod order;
mod queues;

use std::path::PathBuf;

use titr_common::event::{Actor, Event, Message, Rank, RequestId, ThreadId};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{EventSource, TraceError};

use super::RequestTable;
use super::ids::ThreadIndex;
use graph::TaskGraph;
use queues::ThreadQueues;
use titr_workload::{Match, Window, Workload};

/// A runnable thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// The events that it waited for are over.
    Runnable(ThreadIndex),
    /// The thread begins, as the event of the thread that it follows takes place.
    Begins { thread: ThreadIndex, follows: ThreadIndex },
}

pub(super) struct Programs<S> {
    ranks: Vec<Program<S>>,
    table: ThreadTable,
}

struct Program<S> {
    window: Window<S>,
    /// The events of a rank with several threads. The window's next event belongs to the main thread while there is
    /// only one thread.
    queues: Option<Box<ThreadEvents>>,
}

/// The events of the threads of a rank.
enum ThreadEvents {
    /// Each thread has its own events.
    Threads(ThreadQueues),
    /// Threads execute the tasks of a graph.
    Graph(TaskGraph),
}

/// All threads of all ranks.
struct ThreadTable {
    ranks: usize,
    /// The threads other than main threads, each with its index among the threads of its rank.
    others: Vec<(Actor, usize)>,
    signals: Vec<Signal>,
}

impl ThreadTable {
    fn find(&self, thread: ThreadIndex) -> (Actor, usize) {
        let other = (thread.0 as usize).checked_sub(self.ranks).and_then(|at| self.others.get(at).copied());
        other.unwrap_or_else(|| (Actor::from(Rank(thread.0)), 0))
    }

    fn add(&mut self, actor: Actor, at: usize) -> ThreadIndex {
        let index = ThreadIndex((self.ranks + self.others.len()) as u32);
        self.others.push((actor, at));
        index
    }
}

/// An event in a queue, as one in a window is: computation apart.
fn event_ref(event: &Event) -> EventRef<'_> {
    if let Event::Compute(work) = *event { EventRef::Compute(work) } else { EventRef::Event(event) }
}

impl<S: EventSource> Programs<S> {
    pub(super) fn new(workload: Workload<S>) -> Self {
        let table = ThreadTable { ranks: workload.windows.len(), others: Vec::new(), signals: Vec::new() };
        let windows = workload.windows.into_iter();
        Self { ranks: windows.map(|window| Program { window, queues: None }).collect(), table }
    }

    /// The rank and the number of a thread.
    pub(super) fn actor(&self, thread: ThreadIndex) -> Actor {
        self.table.find(thread).0
    }

    /// The next event of `thread`, until it is [passed](Self::pass). `None`: there is none, or it
    /// [waits](Self::is_waiting). `requests` are the rank's requests, needed when the rank turns out to have several
    /// threads.
    // Not inlined, its result would go through memory at every event: 40 instructions of some 900.
    #[inline(always)]
    pub(super) fn front(
        &mut self,
        thread: ThreadIndex,
        requests: &[RequestTable],
    ) -> Result<Option<EventRef<'_>>, TraceError> {
        let at = thread.0 as usize;
        let is_here = |program: &Program<S>| program.queues.is_none() && program.window.has_next();
        if self.ranks.get(at).is_some_and(is_here) {
            return Ok(self.ranks[at].window.give());
        }
        self.find_front(thread, requests)
    }

    /// The next event where it takes more than a look.
    #[cold]
    fn find_front(
        &mut self,
        thread: ThreadIndex,
        requests: &[RequestTable],
    ) -> Result<Option<EventRef<'_>>, TraceError> {
        let (Actor { rank, .. }, at) = self.table.find(thread);
        let Program { window, queues } = &mut self.ranks[rank.0 as usize];
        if queues.is_none() {
            if !window.settle()? {
                return Ok(None);
            }
            if window.has_task() {
                // The thread asks again, as one that executes tasks.
                *queues = Some(Box::new(ThreadEvents::Graph(TaskGraph::new(rank))));
                self.table.signals.push(Signal::Runnable(thread));
                return Ok(None);
            }
            if window.thread() == ThreadId::MAIN {
                return Ok(window.give());
            }
        }
        let requests = &requests[rank.0 as usize];
        let threads = || Box::new(ThreadEvents::Threads(ThreadQueues::new(rank, None, requests)));
        match &mut **queues.get_or_insert_with(threads) {
            ThreadEvents::Threads(queues) => queues.front(at, window, &mut self.table),
            ThreadEvents::Graph(graph) => graph.front(at, window, &mut self.table),
        }
    }

    /// The next events of a main thread that were read, if it is the only thread of its rank.
    #[inline]
    pub(super) fn upcoming(&self, main: ThreadIndex) -> impl Iterator<Item = EventRef<'_>> {
        let program = self.ranks.get(main.0 as usize).filter(|program| program.queues.is_none());
        program.into_iter().flat_map(|program| program.window.upcoming())
    }

    /// The event of `thread` that [`front`](Self::front) gave last, before it is passed.
    #[inline]
    pub(super) fn current(&self, thread: ThreadIndex) -> Option<EventRef<'_>> {
        match self.ranks.get(thread.0 as usize) {
            Some(Program { window, queues: None }) => window.current(),
            _ => match self.queues(thread)? {
                (ThreadEvents::Threads(queues), at) => queues.current(at),
                (ThreadEvents::Graph(graph), at) => graph.current(at),
            },
        }
    }

    /// The next event of `thread` takes place; true if there are [signals](Self::take_signals).
    #[inline]
    pub(super) fn pass(&mut self, thread: ThreadIndex, requests: &[RequestTable]) -> Result<bool, TraceError> {
        match self.ranks.get_mut(thread.0 as usize) {
            Some(Program { window, queues: None }) => {
                if window.pass() {
                    self.meet_thread(Rank(thread.0), requests)?;
                    return Ok(true);
                }
                Ok(false)
            }
            _ => self.pass_in_queue(thread),
        }
    }

    #[cold]
    fn pass_in_queue(&mut self, thread: ThreadIndex) -> Result<bool, TraceError> {
        let (Actor { rank, .. }, at) = self.table.find(thread);
        let Program { window, queues } = &mut self.ranks[rank.0 as usize];
        match queues.as_deref_mut() {
            Some(ThreadEvents::Threads(queues)) => queues.pass(at, window, &mut self.table)?,
            Some(ThreadEvents::Graph(graph)) => graph.pass(at),
            None => {}
        }
        Ok(!self.table.signals.is_empty())
    }

    /// The event after that which takes place in the only thread of `rank` is the first of another.
    #[cold]
    fn meet_thread(&mut self, rank: Rank, requests: &[RequestTable]) -> Result<(), TraceError> {
        let Program { window, queues } = &mut self.ranks[rank.0 as usize];
        let current = window.given();
        let mut several = ThreadQueues::new(rank, current, &requests[rank.0 as usize]);
        several.dispatch(window, &mut self.table)?;
        *queues = Some(Box::new(ThreadEvents::Threads(several)));
        Ok(())
    }

    /// Called when no thread is runnable: starts the next thread of each rank that has not begun. Returns their number.
    pub(super) fn bring_threads_forward(&mut self, requests: &[RequestTable]) -> Result<u64, TraceError> {
        let mut begun = 0;
        for (rank, Program { window, queues }) in (0..).zip(&mut self.ranks) {
            if queues.is_none() && window.finds_other_thread(queues::STANDSTILL_REACH) {
                let several = ThreadQueues::new(Rank(rank), window.given(), &requests[rank as usize]);
                *queues = Some(Box::new(ThreadEvents::Threads(several)));
            }
            if let Some(ThreadEvents::Threads(queues)) = queues.as_deref_mut() {
                begun += u64::from(queues.bring_forward(window, &mut self.table)?);
            }
        }
        Ok(begun)
    }

    /// The threads that have become runnable since the last call.
    pub(super) fn take_signals(&mut self) -> Vec<Signal> {
        std::mem::take(&mut self.table.signals)
    }

    /// Whether there are runnable threads.
    #[inline]
    pub(super) fn has_signals(&self) -> bool {
        !self.table.signals.is_empty()
    }

    /// The messages that the next event of `thread`, a collective, was made of; `None` if the trace does not tell.
    pub(super) fn take_messages(&mut self, thread: ThreadIndex) -> Option<Vec<Message>> {
        let (Actor { rank, .. }, at) = self.table.find(thread);
        let Program { window, queues } = &mut self.ranks[rank.0 as usize];
        match queues.as_deref_mut() {
            Some(ThreadEvents::Threads(queues)) => queues.take_messages(at),
            Some(ThreadEvents::Graph(_)) => None,
            None => window.take_messages(),
        }
    }

    /// The match, if it `is_open`, or the cancellation of `request`, which the next event of `thread` starts; `None` if the
    /// trace does not tell.
    pub(super) fn outcome(
        &mut self,
        thread: ThreadIndex,
        request: RequestId,
        is_open: bool,
    ) -> Result<Option<Match>, TraceError> {
        let (Actor { rank, .. }, at) = self.table.find(thread);
        let Program { window, queues } = &mut self.ranks[rank.0 as usize];
        match queues.as_deref() {
            Some(ThreadEvents::Threads(queues)) => Ok(queues.outcome(at, request)),
            Some(ThreadEvents::Graph(_)) => Ok(None),
            None => window.outcome(request, is_open),
        }
    }

    /// If the next event of `thread` tests or waits for all outstanding requests, and the rank has several threads:
    /// those requests.
    pub(super) fn outstanding(&self, thread: ThreadIndex) -> Option<&[RequestId]> {
        self.threads(thread).map(|(queues, at)| queues.outstanding(at))
    }

    /// Whether `thread` has a next event that has to wait for events of other threads of its rank.
    pub(super) fn is_waiting(&self, thread: ThreadIndex) -> bool {
        match self.queues(thread) {
            Some((ThreadEvents::Threads(queues), at)) => queues.is_waiting(at),
            Some((ThreadEvents::Graph(graph), at)) => graph.is_idle(at),
            None => false,
        }
    }

    /// The thread of the same rank that `thread` waits for.
    pub(super) fn waits_for(&self, thread: ThreadIndex) -> Option<ThreadId> {
        self.threads(thread).and_then(|(queues, at)| queues.waits_for(at))
    }

    /// The file and line of the event of `thread` that was given out last, where it has any.
    pub(super) fn line(&self, thread: ThreadIndex) -> Option<(PathBuf, u64)> {
        let window = &self.ranks.get(self.actor(thread).rank.0 as usize)?.window;
        match self.queues(thread) {
            Some((ThreadEvents::Threads(queues), at)) => window.path().cloned().zip(queues.line(at)),
            Some((ThreadEvents::Graph(graph), at)) => window.path().cloned().zip(graph.executed(at)?.line),
            None => window.place(),
        }
    }

    /// Why the trace of `rank` ends before the program did, if it does.
    pub(super) fn torn(&self, rank: Rank) -> Option<String> {
        self.ranks[rank.0 as usize].window.torn()
    }

    /// The threads of the rank of `thread`, where there are several, and its place among them.
    fn queues(&self, thread: ThreadIndex) -> Option<(&ThreadEvents, usize)> {
        let (Actor { rank, .. }, at) = self.table.find(thread);
        Some((self.ranks[rank.0 as usize].queues.as_deref()?, at))
    }

    /// As [`queues`](Self::queues), if each thread has its own events.
    fn threads(&self, thread: ThreadIndex) -> Option<(&ThreadQueues, usize)> {
        match self.queues(thread)? {
            (ThreadEvents::Threads(queues), at) => Some((queues, at)),
            (ThreadEvents::Graph(_), _) => None,
        }
    }

    /// As [`queues`](Self::queues), if threads execute the tasks of a graph.
    fn graph(&self, thread: ThreadIndex) -> Option<(&TaskGraph, usize)> {
        match self.queues(thread)? {
            (ThreadEvents::Graph(graph), at) => Some((graph, at)),
            (ThreadEvents::Threads(_), _) => None,
        }
    }

    /// Whether `thread` executes the tasks of a graph.
    #[inline]
    pub(super) fn is_of_graph(&self, thread: ThreadIndex) -> bool {
        let is_plain = |program: &Program<S>| program.queues.is_none();
        !self.ranks.get(thread.0 as usize).is_some_and(is_plain) && self.graph(thread).is_some()
    }

    /// The number, from 1, of the event of a graph that `thread` executes; `None` if it executes none.
    pub(super) fn number_in_graph(&self, thread: ThreadIndex) -> Option<u64> {
        self.graph(thread).and_then(|(graph, at)| Some(graph.executed(at)?.number))
    }

    /// The core that the current task of `thread` takes; `None` if it has none.
    pub(super) fn core(&self, thread: ThreadIndex) -> Option<u32> {
        self.graph(thread).and_then(|(graph, at)| Some(graph.executed(at)?.task?.1))
    }

    /// The current task of `thread` begins; others may begin that depend on its beginning.
    pub(super) fn begin_task(&mut self, thread: ThreadIndex) -> Result<(), TraceError> {
        let (Actor { rank, .. }, at) = self.table.find(thread);
        let Program { window, queues } = &mut self.ranks[rank.0 as usize];
        match queues.as_deref_mut() {
            Some(ThreadEvents::Graph(graph)) => graph.begin_task(at, window, &mut self.table),
            Some(ThreadEvents::Threads(_)) | None => Ok(()),
        }
    }
}
