//! Where each rank's next event comes from. A trace on disk, a synthetic pattern and either of them seen through a
//! hypothesis are all a [`Program`] for each rank; the ranks cannot tell them apart.

mod look_ahead;

use std::path::PathBuf;

use titr_common::event::{Event, Rank, RequestId};
use titr_common::trace::{Ending, RankStream, TraceError};

use look_ahead::LookAhead;
pub use look_ahead::Match;

/// The events of one rank, in order.
pub trait Program {
    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// Where the trace cannot be read.
    fn next_event(&mut self) -> Result<Option<Event>, TraceError>;

    /// The file and the line of the event given out last, where there is one.
    fn line(&self) -> Option<(PathBuf, u64)> {
        None
    }

    /// Why the end is not the program's end but that of what was recorded.
    fn torn(&self) -> Option<String> {
        None
    }
}

impl Program for RankStream {
    fn next_event(&mut self) -> Result<Option<Event>, TraceError> {
        RankStream::next_event(self)
    }

    fn line(&self) -> Option<(PathBuf, u64)> {
        Some((self.path(), RankStream::line(self)))
    }

    fn torn(&self) -> Option<String> {
        match self.ending() {
            Some(Ending::Torn(reason)) => Some(reason.clone()),
            Some(Ending::Complete) | None => None,
        }
    }
}

impl Program for std::vec::IntoIter<Event> {
    fn next_event(&mut self) -> Result<Option<Event>, TraceError> {
        Ok(self.next())
    }
}

/// The programs of all ranks.
pub struct Workload<P>(Vec<LookAhead<P>>);

impl<P: Program> Workload<P> {
    /// One program for each rank.
    pub fn new(programs: impl IntoIterator<Item = P>) -> Self {
        Self(programs.into_iter().map(LookAhead::new).collect())
    }

    /// Size of the world.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.0.len()
    }

    /// The next event of `rank`, where it stands, until it is [passed](Self::pass). It is never an [`Event::Matched`]:
    /// [`matched`](Self::matched) says those earlier.
    ///
    /// # Errors
    /// Where the trace cannot be read.
    pub fn front(&mut self, rank: Rank) -> Result<Option<&mut Event>, TraceError> {
        self.0[rank.0 as usize].front()
    }

    /// `rank` goes on to the event after it.
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

    /// The file and line of the next event of `rank`, where they are known.
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

/// Programs that are lists of events: what tests and small tools replay.
impl Workload<std::vec::IntoIter<Event>> {
    /// One list for each rank.
    #[must_use]
    pub fn of_lists(lists: Vec<Vec<Event>>) -> Self {
        Self::new(lists.into_iter().map(Vec::into_iter))
    }
}
