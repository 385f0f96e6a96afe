//! The events of a rank whose threads call MPI, by thread.
//!
//! They stand in the trace in one order. They are *dealt* from it to a queue for each thread, as somebody asks for what is
//! next; a thread has to wait for its next event until those that it [comes after](super::order) are over. A thread whose
//! next event is far away in the trace, or that has none any more, is *idle*: it does not make the trace be read to its
//! end while others go on. So there are at most [`AHEAD`] events in the queues, unless all ranks wait and nobody can go
//! on before more is read: then as many as lie between two threads that need each other, or in a deadlock all.
//!
//! A trace does not say when a thread was made. It begins here when another one comes to the call before its first, or when
//! nobody else can go on: its first call may have taken longer than many of the others'.

use std::collections::VecDeque;
use std::path::PathBuf;

use rustc_hash::FxHashMap;
use titr_common::event::{Actor, Completed, Completion, Event, Message, Rank, RequestId, ThreadId};
use titr_common::event_buffer::EventRef;
use titr_common::trace::TraceError;

use super::look_ahead::{LookAhead, Match};
use super::order::{Order, Step};
use super::{Program, ThreadIndex};

/// How many events of a rank are dealt before those asked for.
pub(super) const AHEAD: usize = 1 << 12;

/// All threads of all ranks.
pub(super) struct Roster {
    ranks: usize,
    /// Those that are not the main one of their rank: which rank's, and which of its threads.
    further: Vec<(Actor, usize)>,
    /// Those that waited, or are new, and can go on.
    pub(super) woken: Vec<ThreadIndex>,
}

impl Roster {
    pub(super) fn new(ranks: usize) -> Self {
        Self { ranks, further: Vec::new(), woken: Vec::new() }
    }

    /// Who `thread` is, and which of its rank's threads.
    pub(super) fn find(&self, thread: ThreadIndex) -> (Actor, usize) {
        let main = || (Actor::from(Rank(thread.0)), 0);
        (thread.0 as usize).checked_sub(self.ranks).and_then(|at| self.further.get(at).copied()).unwrap_or_else(main)
    }

    fn enter(&mut self, actor: Actor, lane: usize) -> ThreadIndex {
        let index = ThreadIndex((self.ranks + self.further.len()) as u32);
        self.further.push((actor, lane));
        self.woken.push(index);
        index
    }
}

/// The threads of a rank.
pub(super) struct Threads<P> {
    rank: Rank,
    trace: LookAhead<P>,
    lanes: Vec<Lane>,
    order: Order,
    /// Whether what is known to be a persistent request receives from whoever sends.
    open: FxHashMap<RequestId, bool>,
    /// How many events are in the queues.
    dealt: usize,
    /// Whether there are no more.
    ended: bool,
}

/// One of them.
struct Lane {
    thread: ThreadId,
    index: ThreadIndex,
    due: VecDeque<Due>,
    /// How many of its events are over.
    over: u64,
    /// Whether it has passed the one that is at the front.
    passed: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    /// It has come to an event that comes after others.
    Waiting,
    /// No event of it is dealt.
    Idle,
    Ended,
}

/// An event that is dealt.
struct Due {
    event: Event,
    line: Option<u64>,
    after: Vec<Step>,
    /// What an extended trace says that it was made of.
    messages: Option<Vec<Message>>,
    /// If it asks after all requests that are outstanding: those that were in the order of the trace.
    asks: Vec<RequestId>,
    /// What the requests that it starts are matched with, if they leave that open.
    matches: Vec<(RequestId, Match)>,
}

impl<P: Program> Threads<P> {
    /// Of a rank of which this is left of its trace.
    pub(super) fn new(rank: Rank, trace: LookAhead<P>) -> Self {
        let main = Lane::new(ThreadId::MAIN, ThreadIndex::from(rank));
        let (order, open) = (Order::default(), FxHashMap::default());
        Self { rank, trace, lanes: vec![main], order, open, dealt: 0, ended: false }
    }

    /// Whether there is an event that the thread can begin; where it cannot yet, it will be woken.
    pub(super) fn settle(&mut self, lane: usize, roster: &mut Roster) -> Result<bool, TraceError> {
        while self.lanes[lane].due.is_empty() && self.dealt < AHEAD && self.deal(roster)? {}
        let state = self.state(lane, State::Ended);
        self.lanes[lane].state = state;
        Ok(state == State::Running)
    }

    /// The event that the thread is at.
    pub(super) fn given(&self, lane: usize) -> Option<EventRef<'_>> {
        let due = self.lanes[lane].due.front()?;
        Some(match &due.event {
            &Event::Compute(work) => EventRef::Compute(work),
            event => EventRef::Event(event),
        })
    }

    /// The messages that the event which the thread is at was made of.
    pub(super) fn take_messages(&mut self, lane: usize) -> Option<Vec<Message>> {
        self.lanes[lane].due.front_mut()?.messages.take()
    }

    /// The thread is done with beginning its event, and comes back when that is over.
    pub(super) fn pass(&mut self, lane: usize) {
        self.lanes[lane].passed = true;
    }

    pub(super) fn take_passed(&mut self, lane: usize) -> bool {
        std::mem::take(&mut self.lanes[lane].passed)
    }

    /// The event that the thread was at is over.
    pub(super) fn over(&mut self, lane: usize, roster: &mut Roster) -> Result<(), TraceError> {
        let here = &mut self.lanes[lane];
        self.dealt -= usize::from(here.due.pop_front().is_some());
        here.over += 1;
        for other in 0..self.lanes.len() {
            if self.lanes[other].state == State::Waiting {
                self.wake(other, roster);
            }
        }
        if self.lanes.iter().any(|lane| lane.state == State::Idle) {
            while self.dealt < AHEAD && self.deal(roster)? {}
        }
        Ok(())
    }

    /// Deals whatever it takes to wake somebody.
    pub(super) fn read_on(&mut self, roster: &mut Roster) -> Result<(), TraceError> {
        let before = roster.woken.len();
        let idle = self.lanes.iter().any(|lane| lane.state == State::Idle);
        while roster.woken.len() == before && (idle || self.dealt < AHEAD) && self.deal(roster)? {}
        Ok(())
    }

    /// Wakes a thread that waits, or is idle, if it can go on.
    fn wake(&mut self, lane: usize, roster: &mut Roster) {
        let state = self.state(lane, State::Running);
        self.lanes[lane].state = state;
        if state == State::Running {
            roster.woken.push(self.lanes[lane].index);
        }
    }

    /// What the thread can do; `at_end` if there is nothing left for it, which it is to find out by itself.
    fn state(&self, lane: usize, at_end: State) -> State {
        match self.lanes[lane].due.front() {
            None if self.ended => at_end,
            None => State::Idle,
            Some(due) if self.is_next(due) => State::Running,
            Some(_) => State::Waiting,
        }
    }

    fn is_next(&self, due: &Due) -> bool {
        due.after.iter().all(|step| self.lanes[step.lane].over >= step.number)
    }

    /// Deals the next event, and the first ones of threads that are new after it: that is where those begin. False at the
    /// end.
    fn deal(&mut self, roster: &mut Roster) -> Result<bool, TraceError> {
        let dealt = self.deal_one(roster)?;
        while dealt && self.is_new_next()? && self.deal_one(roster)? {}
        Ok(dealt)
    }

    /// Whether the next event is of a thread that has none yet.
    fn is_new_next(&mut self) -> Result<bool, TraceError> {
        Ok(self.trace.settle()? && self.lanes.iter().all(|lane| lane.thread != self.trace.thread()))
    }

    fn deal_one(&mut self, roster: &mut Roster) -> Result<bool, TraceError> {
        let Some(moment) = self.trace.front()? else {
            self.ended = true;
            for lane in 0..self.lanes.len() {
                if self.lanes[lane].state == State::Idle {
                    self.wake(lane, roster);
                }
            }
            return Ok(false);
        };
        let mut event = moment.to_event();
        let (line, lane) = (self.trace.line(), self.lane(self.trace.thread(), roster));
        let messages = self.trace.take_messages();
        let mut matches = Vec::new();
        for &id in self.left_open(&event) {
            if let Some(found) = self.trace.matched(id)? {
                matches.push((id, found));
            }
        }
        self.trace.pass();
        let mut asks = Vec::new();
        if let Event::Wait(_, Completed::Outstanding(_)) | Event::Test(_, Some(Completed::Outstanding(_))) = &event {
            asks = self.order.outstanding();
        }
        let after = self.order.take(lane, &mut event, &mut asks);
        matches.iter_mut().for_each(|(id, _)| *id = self.order.request(*id));
        self.lanes[lane].due.push_back(Due { event, line, after, messages, asks, matches });
        self.dealt += 1;
        if self.lanes[lane].state == State::Idle {
            self.wake(lane, roster);
        }
        Ok(true)
    }

    fn lane(&mut self, thread: ThreadId, roster: &mut Roster) -> usize {
        let found = self.lanes.iter().position(|lane| lane.thread == thread);
        found.unwrap_or_else(|| {
            let lane = self.lanes.len();
            let index = roster.enter(Actor { rank: self.rank, thread }, lane);
            self.lanes.push(Lane::new(thread, index));
            lane
        })
    }

    /// The requests that an event starts and that may leave open what they receive.
    fn left_open<'e>(&mut self, event: &'e Event) -> Vec<&'e RequestId> {
        if let Event::Recv(message, Completion::Request(Some(id))) = event
            && message.is_open()
        {
            return vec![id];
        }
        if let Event::Recv(message, Completion::Persistent(id)) = event {
            self.open.insert(*id, message.is_open());
        }
        if let Event::Send(_, _, Completion::Persistent(id))
        | Event::Collective(_, Completion::Persistent(id))
        | Event::Neighborhood(_, Completion::Persistent(id)) = event
        {
            self.open.insert(*id, false);
        }
        // What was set up before there were threads is not known.
        if let Event::Start(ids) = event {
            return ids.iter().filter(|id| self.open.get(id).copied().unwrap_or(true)).collect();
        }
        Vec::new()
    }

    /// The requests that the event which the thread is at means by all that are outstanding, and those that were made
    /// when there was one thread only.
    pub(super) fn asks(&self, lane: usize) -> &[RequestId] {
        self.lanes[lane].due.front().map_or(&[], |due| &due.asks)
    }

    /// What became of the request that the event which the thread is at starts.
    pub(super) fn matched(&self, lane: usize, request: RequestId) -> Option<Match> {
        let due = self.lanes[lane].due.front()?;
        due.matches.iter().find(|(id, _)| *id == request).map(|&(_, found)| found)
    }

    /// Whether the thread has no event as it waits for one.
    pub(super) fn is_waiting(&self, lane: usize) -> bool {
        self.lanes[lane].state != State::Ended
    }

    /// The other thread that has to come first, if the thread waits for one.
    pub(super) fn waits_for(&self, lane: usize) -> Option<ThreadId> {
        let due = self.lanes[lane].due.front()?;
        let step = due.after.iter().find(|step| self.lanes[step.lane].over < step.number)?;
        Some(self.lanes[step.lane].thread)
    }

    /// The file and the line of the event that the thread is at.
    pub(super) fn line(&self, lane: usize) -> Option<(PathBuf, u64)> {
        self.trace.path().cloned().zip(self.lanes[lane].due.front()?.line)
    }

    pub(super) fn torn(&self) -> Option<String> {
        self.trace.torn()
    }
}

impl Lane {
    fn new(thread: ThreadId, index: ThreadIndex) -> Self {
        Self { thread, index, due: VecDeque::new(), over: 0, passed: false, state: State::Running }
    }
}
