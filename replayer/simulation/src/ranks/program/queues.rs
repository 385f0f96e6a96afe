//! The events of a rank that has several threads, in a queue for each thread.
//!
//! When a thread asks for its next event, the events before it in the trace, however many there are, are dispatched to
//! the queues of their threads. When a thread gets an event therefore depends on the trace alone, at the price of
//! storing the pending events of other threads.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use titr_common::event::{Actor, Completed, Completion, Event, Message, Rank, RequestId, ThreadId};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{EventSource, TraceError};

use super::order::{Order, Step};
use super::{Signal, ThreadTable, event_ref};
use crate::ranks::RequestTable;
use crate::ranks::ids::ThreadIndex;
use titr_workload::{Match, Window};

/// Number of further events that are read at a standstill to find a thread that could begin.
pub(super) const STANDSTILL_REACH: usize = 1 << 12;

/// The threads of a rank, each with its events.
pub(super) struct ThreadQueues {
    rank: Rank,
    threads: Vec<ThreadQueue>,
    places: FxHashMap<ThreadId, usize>,
    /// A place before which all threads have begun.
    begun: usize,
    order: Order,
    /// Whether a known persistent request receives from any source.
    open: FxHashMap<RequestId, bool>,
    /// The thread of the event that was dispatched last.
    last: usize,
}

struct ThreadQueue {
    thread: ThreadId,
    index: ThreadIndex,
    /// The thread of the event before its first one.
    follows: usize,
    events: VecDeque<QueuedEvent>,
    /// The number of its events that are over.
    over: u64,
    /// Whether the first event in the queue takes place: the thread has begun it, and may be waiting in it.
    takes_place: bool,
    state: ThreadState,
    /// Threads that wait for an event of this one.
    awaited_by: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThreadState {
    /// The thread begins once the thread that it follows is far enough, or at a standstill.
    NotBegun,
    Running,
    /// Its next event comes after others that are not over.
    Waiting,
    Ended,
}

struct QueuedEvent {
    event: Event,
    line: Option<u64>,
    /// The events of other threads of the rank that have to be over before this event begins.
    after: Vec<Step>,
    /// How many of these, from the first on, are known to be over.
    over: usize,
    details: Option<Box<Details>>,
}

/// The properties of an event that most events do without.
#[derive(Default)]
struct Details {
    /// The messages that an extended trace says it was made of.
    messages: Option<Vec<Message>>,
    /// The requests, in the order of the trace, that were outstanding for an event that tests or waits for all of them.
    outstanding: Vec<RequestId>,
    /// The match or cancellation of each request that the event starts with source or tag open, where the trace tells.
    outcomes: Vec<(RequestId, Match)>,
    /// The threads that begin when it takes place.
    followers: Vec<usize>,
}

impl ThreadQueues {
    /// The threads of a rank that has had one so far, and has these `requests`; the event, with its line, that its only
    /// thread is in, if it is in any.
    pub(super) fn new(rank: Rank, current: Option<(Event, Option<u64>)>, requests: &RequestTable) -> Self {
        let mut order = Order::new(requests.open());
        let mut main = ThreadQueue::new(ThreadId::MAIN, ThreadIndex::from(rank), 0);
        main.state = ThreadState::Running;
        if let Some((event, line)) = current {
            order.take_current(&event);
            main.takes_place = true;
            main.events.push_back(QueuedEvent { event, line, after: Vec::new(), over: 0, details: None });
        }
        let places = [(ThreadId::MAIN, 0)].into_iter().collect();
        Self { rank, threads: vec![main], places, begun: 0, order, open: FxHashMap::default(), last: 0 }
    }

    /// The next event of a thread, if it can begin that.
    pub(super) fn front(
        &mut self,
        at: usize,
        window: &mut Window<impl EventSource>,
        table: &mut ThreadTable,
    ) -> Result<Option<EventRef<'_>>, TraceError> {
        if std::mem::take(&mut self.threads[at].takes_place) {
            self.end_event(at, table);
        }
        while self.threads[at].events.is_empty() && self.dispatch(window, table)? {}
        let (was, awaited) = (self.threads[at].state, self.awaited(at));
        let state = match awaited {
            _ if self.threads[at].events.is_empty() => ThreadState::Ended,
            None => ThreadState::Running,
            Some(_) => ThreadState::Waiting,
        };
        if let Some(awaited) = awaited
            && was != ThreadState::Waiting
        {
            self.threads[awaited].awaited_by.push(at);
        }
        self.threads[at].state = state;
        Ok(if state == ThreadState::Running { self.current(at) } else { None })
    }

    pub(super) fn current(&self, at: usize) -> Option<EventRef<'_>> {
        Some(event_ref(&self.threads[at].events.front()?.event))
    }

    /// The next event of a thread takes place.
    pub(super) fn pass(
        &mut self,
        at: usize,
        window: &mut Window<impl EventSource>,
        table: &mut ThreadTable,
    ) -> Result<(), TraceError> {
        let thread = &mut self.threads[at];
        thread.takes_place = true;
        let is_last = self.last == at && thread.events.len() == 1;
        let details = thread.events.front_mut().and_then(|event| event.details.as_mut());
        let followers = details.map_or_else(Vec::new, |details| std::mem::take(&mut details.followers));
        followers.into_iter().for_each(|follower| self.begin(follower, table));
        if is_last {
            // The event after it may be the first of a thread.
            self.dispatch(window, table)?;
        }
        Ok(())
    }

    /// Starts the next unstarted thread; returns whether there was one.
    pub(super) fn bring_forward(
        &mut self,
        window: &mut Window<impl EventSource>,
        table: &mut ThreadTable,
    ) -> Result<bool, TraceError> {
        for _ in 0..STANDSTILL_REACH {
            let others = self.threads[self.begun..].iter();
            let next = others.take_while(|thread| thread.state != ThreadState::NotBegun).count();
            self.begun += next;
            if self.begun < self.threads.len() {
                self.begin(self.begun, table);
                return Ok(true);
            }
            if !self.dispatch(window, table)? {
                break;
            }
        }
        Ok(false)
    }

    fn begin(&mut self, at: usize, table: &mut ThreadTable) {
        let follows = self.threads[self.threads[at].follows].index;
        let thread = &mut self.threads[at];
        if thread.state == ThreadState::NotBegun {
            thread.state = ThreadState::Running;
            table.signals.push(Signal::Begins { thread: thread.index, follows });
        }
    }

    /// The event that a thread was at is over.
    fn end_event(&mut self, at: usize, table: &mut ThreadTable) {
        self.threads[at].events.pop_front();
        self.threads[at].over += 1;
        let mut waiting = std::mem::take(&mut self.threads[at].awaited_by);
        waiting.sort_unstable();
        for other in waiting {
            if self.threads[other].state != ThreadState::Waiting {
                continue;
            }
            match self.awaited(other) {
                Some(awaited) => self.threads[awaited].awaited_by.push(other),
                None => {
                    self.threads[other].state = ThreadState::Running;
                    table.signals.push(Signal::Runnable(self.threads[other].index));
                }
            }
        }
    }

    /// The first thread that has to come first, of those that the next event of a thread comes after.
    fn awaited(&mut self, at: usize) -> Option<usize> {
        let event = self.threads[at].events.front()?;
        let is_over = |step: &&Step| self.threads[step.thread].over >= step.number;
        let over = event.over + event.after[event.over..].iter().take_while(is_over).count();
        let awaited = event.after.get(over).map(|step| step.thread);
        self.threads[at].events.front_mut().into_iter().for_each(|event| event.over = over);
        awaited
    }

    /// Appends the next event of the trace to the queue of its thread; false at the end.
    pub(super) fn dispatch(
        &mut self,
        window: &mut Window<impl EventSource>,
        table: &mut ThreadTable,
    ) -> Result<bool, TraceError> {
        let Some(moment) = window.front()? else { return Ok(false) };
        let mut event = moment.to_event();
        if window.has_task() {
            let place = window.line().map_or_else(|| "an event".to_owned(), |line| format!("line {line}"));
            let what = format!("rank {} has threads and a graph of tasks: a rank has one or the other", self.rank.0);
            return Err(TraceError::Foreign { path: window.path().cloned().unwrap_or_default(), place, what });
        }
        let mut details = Details::default();
        if let Event::Collective(..) = event {
            details.messages = window.take_messages();
        }
        self.note_persistent(&event);
        for &id in event.starts() {
            if let Some(found) = window.outcome(id, self.is_open(&event, id))? {
                details.outcomes.push((id, found));
            }
        }
        if let Event::Wait(_, Completed::Outstanding(_)) | Event::Test(_, Some(Completed::Outstanding(_))) = event {
            details.outstanding = self.order.outstanding();
        }
        let (line, at) = (window.line(), self.thread(window.thread(), table));
        window.pass();
        let after = self.order.take(at, &mut event, &mut details.outstanding);
        details.outcomes.iter_mut().for_each(|(id, _)| *id = self.order.request(*id));
        let details = (!details.is_empty()).then(|| Box::new(details));
        self.threads[at].events.push_back(QueuedEvent { event, line, after, over: 0, details });
        self.last = at;
        Ok(true)
    }

    /// The place of `thread` here; a new one begins with the event that was dispatched last.
    fn thread(&mut self, thread: ThreadId, table: &mut ThreadTable) -> usize {
        let new = self.threads.len();
        let known = *self.places.entry(thread).or_insert(new);
        if known < new {
            return known;
        }
        let index = table.add(Actor { rank: self.rank, thread }, new);
        self.threads.push(ThreadQueue::new(thread, index, self.last));
        let followed = &mut self.threads[self.last];
        let takes_place = followed.takes_place && followed.events.len() == 1;
        match followed.events.back_mut() {
            Some(last) if !takes_place => last.details.get_or_insert_default().followers.push(new),
            _ => self.begin(new, table),
        }
        new
    }

    /// Whether an event leaves the match of a request that it starts open. Requests set up before there were several threads
    /// are unknown.
    fn is_open(&self, event: &Event, id: RequestId) -> bool {
        if let Event::Recv(message, _) = event {
            return message.is_open();
        }
        matches!(event, Event::Start(_)) && self.open.get(&id).copied().unwrap_or(true)
    }

    fn note_persistent(&mut self, event: &Event) {
        if let Event::Recv(message, Completion::Persistent(id)) = event {
            self.open.insert(*id, message.is_open());
        }
        if let Event::Send(_, _, Completion::Persistent(id))
        | Event::Collective(_, Completion::Persistent(id))
        | Event::Neighborhood(_, Completion::Persistent(id)) = event
        {
            self.open.insert(*id, false);
        }
    }

    fn details(&self, at: usize) -> Option<&Details> {
        self.threads[at].events.front()?.details.as_deref()
    }

    /// The messages that the event which a thread is at was made of.
    pub(super) fn take_messages(&mut self, at: usize) -> Option<Vec<Message>> {
        self.threads[at].events.front_mut()?.details.as_mut()?.messages.take()
    }

    /// The requests that the event which a thread is at means by all that are outstanding.
    pub(super) fn outstanding(&self, at: usize) -> &[RequestId] {
        self.details(at).map_or(&[], |details| &details.outstanding)
    }

    /// The match or cancellation of `request`, which a thread's current event starts; `None` if the trace is silent.
    pub(super) fn outcome(&self, at: usize, request: RequestId) -> Option<Match> {
        let outcomes = &self.details(at)?.outcomes;
        outcomes.iter().find(|(id, _)| *id == request).map(|&(_, found)| found)
    }

    /// Whether a thread has a next event that comes after unfinished events.
    pub(super) fn is_waiting(&self, at: usize) -> bool {
        self.threads[at].state == ThreadState::Waiting
    }

    /// The other thread that has to come first, if a thread waits for one.
    pub(super) fn waits_for(&self, at: usize) -> Option<ThreadId> {
        let event = self.threads[at].events.front()?;
        let step = event.after.iter().find(|step| self.threads[step.thread].over < step.number)?;
        Some(self.threads[step.thread].thread)
    }

    /// The line of the event that a thread is at.
    pub(super) fn line(&self, at: usize) -> Option<u64> {
        self.threads[at].events.front()?.line
    }
}

impl ThreadQueue {
    fn new(thread: ThreadId, index: ThreadIndex, follows: usize) -> Self {
        let (events, state) = (VecDeque::new(), ThreadState::NotBegun);
        Self { thread, index, follows, events, over: 0, takes_place: false, state, awaited_by: Vec::new() }
    }
}

impl Details {
    fn is_empty(&self) -> bool {
        let Self { messages, outstanding, outcomes, followers } = self;
        messages.is_none() && outstanding.is_empty() && outcomes.is_empty() && followers.is_empty()
    }
}
