//! Where each rank's next event comes from. A trace on disk, a synthetic pattern and either of them seen through a
//! hypothesis are all a [`Program`] for each rank; the ranks cannot tell them apart.

mod batch;
mod computation;
mod foresight;
mod look_ahead;
mod reader;

use std::path::PathBuf;
use std::thread;

use titr_common::event::{Event, Message, Rank, RequestId};
use titr_common::passage::{Moment, Passage};
use titr_common::trace::{Ending, RankStream, TraceError};

pub use computation::{Computation, Recomputed};
pub use foresight::Foresight;
use look_ahead::LookAhead;
pub use look_ahead::Match;
use reader::Reader;

/// The events of one rank, in order.
pub trait Program {
    /// Appends the next event, or the next few, to `events`; false at the end.
    ///
    /// # Errors
    /// Where the trace cannot be read.
    fn read(&mut self, events: &mut Passage) -> Result<bool, TraceError>;

    /// The file it is read from, where there is one.
    fn path(&self) -> Option<PathBuf> {
        None
    }

    /// The line there of what was read last.
    fn line(&self) -> Option<u64> {
        None
    }

    /// Why the end is not the program's end but that of what was recorded.
    fn torn(&self) -> Option<String> {
        None
    }
}

impl Program for RankStream {
    fn read(&mut self, events: &mut Passage) -> Result<bool, TraceError> {
        RankStream::read(self, events)
    }

    fn path(&self) -> Option<PathBuf> {
        Some(RankStream::path(self))
    }

    fn line(&self) -> Option<u64> {
        Some(RankStream::line(self))
    }

    fn torn(&self) -> Option<String> {
        match self.ending() {
            Some(Ending::Torn(reason)) => Some(reason.clone()),
            Some(Ending::Complete) | None => None,
        }
    }
}

impl Program for std::vec::IntoIter<Event> {
    fn read(&mut self, events: &mut Passage) -> Result<bool, TraceError> {
        let event = self.next();
        let more = event.is_some();
        event.into_iter().for_each(|event| events.push(event));
        Ok(more)
    }
}

/// Bytes of events in a batch of one rank, and in those of all ranks together if that is less.
const BATCH: usize = 16 << 10;
const BATCHES: usize = 8 << 20;

/// The programs of all ranks.
pub struct Workload<P>(Vec<LookAhead<P>>);

impl<P: Program> Workload<P> {
    /// One program for each rank.
    pub fn new(programs: Vec<P>) -> Self {
        Self(readers(programs).map(LookAhead::new).collect())
    }

    /// Likewise; another thread reads ahead, unless there is but one core.
    pub fn read_ahead(programs: Vec<P>) -> Self
    where
        P: Send + 'static,
    {
        if thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
            && let Ok(errands) = reader::thread()
        {
            return Self(readers(programs).map(|reader| LookAhead::new(reader.ahead(&errands))).collect());
        }
        Self::new(programs)
    }

    /// Size of the world.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.0.len()
    }

    /// The next event of `rank`, until it is [passed](Self::pass). It is never an [`Event::Seen`], whose messages
    /// [`take_messages`](Self::take_messages) has, nor an [`Event::Matched`]:
    /// [`matched`](Self::matched) says those earlier.
    ///
    /// # Errors
    /// Where the trace cannot be read.
    #[inline]
    pub fn front(&mut self, rank: Rank) -> Result<Option<Moment<'_>>, TraceError> {
        self.0[rank.0 as usize].front()
    }

    /// The messages that the next event of `rank`, a collective, was made of; `None` where the trace is not extended.
    #[must_use]
    pub fn take_messages(&mut self, rank: Rank) -> Option<Vec<Message>> {
        self.0[rank.0 as usize].take_messages()
    }

    /// `rank` goes on to the event after it.
    #[inline]
    pub fn pass(&mut self, rank: Rank) {
        self.0[rank.0 as usize].pass();
    }

    /// What became of the request that the next event of `rank` starts, if the trace says it within reach.
    ///
    /// # Errors
    /// Where the trace cannot be read.
    pub fn matched(&mut self, rank: Rank, request: RequestId) -> Result<Option<Match>, TraceError> {
        self.0[rank.0 as usize].matched(request)
    }

    /// The file and line of the event of `rank` that was given out last, where it has any.
    #[must_use]
    pub fn line(&self, rank: Rank) -> Option<(PathBuf, u64)> {
        self.0[rank.0 as usize].line()
    }

    /// Why the end of `rank`'s events is not the program's end.
    #[must_use]
    pub fn torn(&self, rank: Rank) -> Option<String> {
        self.0[rank.0 as usize].torn()
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
