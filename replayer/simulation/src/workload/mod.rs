//! Where each rank's next event comes from. A trace on disk, a synthetic pattern and either of them seen through a
//! hypothesis are all a [`Program`] for each rank; the ranks cannot tell them apart.

mod batch;
mod computation;
mod foresight;
mod look_ahead;
mod order;
mod reader;
mod threads;

use std::path::PathBuf;
use std::thread;

use titr_common::event::{Actor, Event, Message, Rank, RequestId, ThreadId};
use titr_common::event_buffer::EventRef;
use titr_common::trace::TraceError;

pub use titr_common::trace::EventSource as Program;

pub use computation::{Computation, Recomputed};
pub use foresight::Foresight;
use look_ahead::LookAhead;
pub use look_ahead::Match;
pub(crate) use order::is_older;
use reader::Reader;
use threads::{Roster, Threads};

/// Bytes of events in a batch of one rank, and in those of all ranks together if that is less.
const BATCH: usize = 16 << 10;
const BATCHES: usize = 8 << 20;

/// A thread of the simulated program: number *n* is the main thread of rank *n*, and those of the ranks that have more
/// follow in the order in which they appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadIndex(pub u32);

impl From<Rank> for ThreadIndex {
    fn from(rank: Rank) -> Self {
        Self(rank.0)
    }
}

/// The programs of all ranks.
pub struct Workload<P> {
    /// Of each rank, as long as there is one thread; in the end that is nothing of those that have several.
    alone: Vec<LookAhead<P>>,
    /// Of those that have several.
    together: Vec<Option<Box<Threads<P>>>>,
    roster: Roster,
}

impl<P: Program> Workload<P> {
    /// One program for each rank.
    pub fn new(programs: Vec<P>) -> Self {
        Self::of(readers(programs).map(LookAhead::new).collect())
    }

    /// Likewise; all threads of a rank are one, with the events of all in the order of the trace.
    pub fn merged(programs: Vec<P>) -> Self {
        Self::of(readers(programs).map(|reader| LookAhead::new(reader).mixed()).collect())
    }

    /// One program for each rank; another thread reads ahead, unless there is but one core.
    pub fn read_ahead(programs: Vec<P>) -> Self
    where
        P: Send + 'static,
    {
        if thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
            && let Ok(errands) = reader::thread()
        {
            return Self::of(readers(programs).map(|reader| LookAhead::new(reader.ahead(&errands))).collect());
        }
        Self::new(programs)
    }

    fn of(alone: Vec<LookAhead<P>>) -> Self {
        let together = alone.iter().map(|_| None).collect();
        let roster = Roster::new(alone.len());
        Self { alone, together, roster }
    }

    /// Size of the world.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.alone.len()
    }

    /// Who `thread` is.
    #[must_use]
    pub fn actor(&self, thread: ThreadIndex) -> Actor {
        self.roster.find(thread).0
    }

    /// The next event of `thread`, until it is [passed](Self::pass). It is never an [`Event::Annotation`], whose messages
    /// [`take_messages`](Self::take_messages) has, nor an [`Event::Matched`]: [`matched`](Self::matched) says those
    /// earlier. `None`: there is none, or it [waits](Self::is_waiting).
    ///
    /// # Errors
    /// Where the trace cannot be read.
    #[inline]
    pub fn front(&mut self, thread: ThreadIndex) -> Result<Option<EventRef<'_>>, TraceError> {
        let at = thread.0 as usize;
        if self.alone.get(at).is_some_and(LookAhead::has_next) {
            return Ok(self.alone[at].give());
        }
        self.find_front(thread)
    }

    /// Where it takes more than a look.
    #[cold]
    fn find_front(&mut self, thread: ThreadIndex) -> Result<Option<EventRef<'_>>, TraceError> {
        if let Some(alone) = self.alone.get_mut(thread.0 as usize)
            && alone.settle()?
        {
            return Ok(self.alone[thread.0 as usize].give());
        }
        let (Actor { rank, .. }, lane) = self.roster.find(thread);
        let at = rank.0 as usize;
        self.share(rank);
        let Some(threads) = &mut self.together[at] else { return Ok(None) };
        let passed = if lane == 0 { self.alone[at].take_passed() > 0 } else { threads.take_passed(lane) };
        if passed {
            threads.over(lane, &mut self.roster)?;
        }
        Ok(if threads.settle(lane, &mut self.roster)? { threads.given(lane) } else { None })
    }

    /// `thread` goes on to the event after it.
    #[inline]
    pub fn pass(&mut self, thread: ThreadIndex) {
        match self.alone.get_mut(thread.0 as usize) {
            Some(alone) => alone.pass(),
            None => self.pass_in_several(thread),
        }
    }

    #[cold]
    fn pass_in_several(&mut self, thread: ThreadIndex) {
        let (Actor { rank, .. }, lane) = self.roster.find(thread);
        if let Some(threads) = &mut self.together[rank.0 as usize] {
            threads.pass(lane);
        }
    }

    /// The messages that the next event of `thread`, a collective, was made of; `None` where the trace is not extended.
    #[must_use]
    pub fn take_messages(&mut self, thread: ThreadIndex) -> Option<Vec<Message>> {
        let (Actor { rank, .. }, lane) = self.roster.find(thread);
        match &mut self.together[rank.0 as usize] {
            Some(threads) => threads.take_messages(lane),
            None => self.alone[rank.0 as usize].take_messages(),
        }
    }

    /// Whether `thread` has an event, and has to wait for what other threads of its rank do before.
    #[must_use]
    pub fn is_waiting(&self, thread: ThreadIndex) -> bool {
        self.several(thread).is_some_and(|(threads, lane)| threads.is_waiting(lane))
    }

    /// The thread of the same rank that `thread` waits for.
    #[must_use]
    pub fn waits_for(&self, thread: ThreadIndex) -> Option<ThreadId> {
        self.several(thread).and_then(|(threads, lane)| threads.waits_for(lane))
    }

    /// Threads that are new, or that waited and can go on.
    #[inline]
    pub fn woken(&mut self) -> &mut Vec<ThreadIndex> {
        &mut self.roster.woken
    }

    /// Nobody can go on: reads what it takes to wake somebody who waits for a next event, if there is anybody.
    ///
    /// # Errors
    /// Where the trace cannot be read.
    pub fn read_on(&mut self) -> Result<(), TraceError> {
        for at in 0..self.together.len() {
            if self.alone[at].finds_threads(threads::AHEAD) {
                self.share(Rank(at as u32));
            }
        }
        self.together.iter_mut().flatten().try_for_each(|threads| threads.read_on(&mut self.roster))
    }

    /// From here on the events of `rank` are those of several threads, if its own program has stopped at some.
    fn share(&mut self, rank: Rank) {
        let at = rank.0 as usize;
        if let Some(trace) = self.alone[at].take_mixed() {
            self.together[at] = Some(Box::new(Threads::new(rank, trace)));
        }
    }

    /// What became of the request that the next event of `thread` starts, if the trace says it within reach.
    ///
    /// # Errors
    /// Where the trace cannot be read.
    pub fn matched(&mut self, thread: ThreadIndex, request: RequestId) -> Result<Option<Match>, TraceError> {
        match self.several(thread) {
            Some((threads, lane)) => Ok(threads.matched(lane, request)),
            None => self.alone[thread.0 as usize].matched(request),
        }
    }

    /// If the next event of `thread` asks after all requests that are outstanding, and the rank has several threads: which
    /// it means of those that were made since it has.
    #[must_use]
    pub fn asks(&self, thread: ThreadIndex) -> Option<&[RequestId]> {
        self.several(thread).map(|(threads, lane)| threads.asks(lane))
    }

    /// The file and line of the event of `thread` that was given out last, where it has any.
    #[must_use]
    pub fn line(&self, thread: ThreadIndex) -> Option<(PathBuf, u64)> {
        match self.several(thread) {
            Some((threads, lane)) => threads.line(lane),
            None => {
                let alone = self.alone.get(thread.0 as usize)?;
                alone.path().cloned().zip(alone.line())
            }
        }
    }

    /// Why the end of `rank`'s events is not the program's end.
    #[must_use]
    pub fn torn(&self, rank: Rank) -> Option<String> {
        match &self.together[rank.0 as usize] {
            Some(threads) => threads.torn(),
            None => self.alone[rank.0 as usize].torn(),
        }
    }

    /// The threads of its rank, where there are several, and which of them it is.
    fn several(&self, thread: ThreadIndex) -> Option<(&Threads<P>, usize)> {
        let (Actor { rank, .. }, lane) = self.roster.find(thread);
        Some((self.together[rank.0 as usize].as_deref()?, lane))
    }
}

/// With batches as large as memory allows: together, 2 × [`BATCHES`] at most.
fn readers<P: Program>(programs: Vec<P>) -> impl Iterator<Item = Reader<P>> {
    let size = BATCH.min(BATCHES / programs.len().max(1));
    programs.into_iter().map(move |program| Reader::new(program, size))
}

/// Programs that are lists of events: what tests and small tools replay.
impl Workload<std::vec::IntoIter<Event>> {
    /// One list for each rank.
    #[must_use]
    pub fn of_lists(lists: Vec<Vec<Event>>) -> Self {
        Self::new(lists.into_iter().map(Vec::into_iter).collect())
    }
}
