//! The events of one rank, read on demand.

use std::path::PathBuf;
use std::sync::Arc;

use super::error::TraceError;
use super::event_source::{EventOrigin, EventSource, SkipSupport};
use super::located::{LocatedEvents, Location};
use super::skipped::SkippedEvents;
use crate::event::Event;
use crate::event_buffer::EventRef;

/// The events of one rank of a trace in any format, one at a time or as they come.
pub struct RankStream {
    source: Box<dyn EventSource + Send>,
    origin: Option<Arc<dyn EventOrigin>>,
    /// The events that the source gave last, for readers who want one at a time; `given` of them are handed out.
    pending: LocatedEvents,
    given: usize,
    events: u64,
    ended: bool,
}

/// The end of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The stream ended with its end record, or as a file of a format that has none.
    Complete,
    /// The stream is incomplete, for the reason given.
    Torn(String),
}

impl RankStream {
    /// The stream of the events of `source`.
    #[must_use]
    pub fn new(source: Box<dyn EventSource + Send>) -> Self {
        Self { source, origin: None, pending: LocatedEvents::default(), given: 0, events: 0, ended: false }
    }

    /// This stream, whose events `origin` gives again.
    pub(super) fn of(self, origin: Arc<dyn EventOrigin>) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// The next event; `None` at the end, and from then on.
    pub fn next_event(&mut self) -> Result<Option<Event>, TraceError> {
        let next = self.peek()?.map(EventRef::to_event);
        self.given += usize::from(next.is_some());
        Ok(next)
    }

    /// The event that comes next, which stays the next one; `None` at the end.
    pub fn peek(&mut self) -> Result<Option<EventRef<'_>>, TraceError> {
        while self.given == self.pending.len() {
            if !self.read_pending()? {
                return Ok(None);
            }
        }
        Ok(self.pending.get(self.given))
    }

    /// Counts the next `most` events with letters, and everything before each of them, in `passed`, or as many as there
    /// are. Returns the number of threads seen: the largest thread number, plus one.
    pub fn pass(&mut self, passed: &mut SkippedEvents, most: u64) -> Result<u32, TraceError> {
        let until = passed.counts().letters.saturating_add(most);
        let mut threads = 1;
        while passed.counts().letters < until {
            if self.given < self.pending.len() {
                self.given += 1;
                threads = threads.max(1 + self.location().thread.0);
                self.pending.get(self.given - 1).into_iter().for_each(|event| passed.add(event));
                continue;
            }
            if self.ended {
                break;
            }
            let (before, left) = (passed.counts().events, until - passed.counts().letters);
            match self.source.pass(passed, usize::try_from(left).unwrap_or(usize::MAX))? {
                SkipSupport::SkippedEvents(thread) => threads = threads.max(1 + thread.0),
                SkipSupport::Ended => self.ended = true,
                SkipSupport::Impossible => {
                    self.read_pending()?;
                    continue;
                }
            }
            self.events += passed.counts().events - before;
        }
        Ok(threads)
    }

    /// Reads the next events to be handed out one at a time, if none are left; false at the end.
    fn read_pending(&mut self) -> Result<bool, TraceError> {
        let mut events = std::mem::take(&mut self.pending);
        events.clear();
        let read = self.read(&mut events);
        (self.pending, self.given) = (events, 0);
        read
    }

    /// The place of the event that [`next_event`](Self::next_event) gave last.
    pub fn location(&self) -> Location {
        self.pending.location(self.given.saturating_sub(1))
    }

    /// The number of events that were read.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The end of the stream; `None` before the stream has ended.
    pub fn ending(&self) -> Option<Ending> {
        self.ended.then(|| self.source.torn().map_or(Ending::Complete, Ending::Torn))
    }
}

impl EventSource for RankStream {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        if self.ended {
            return Ok(false);
        }
        let before = events.len();
        let more = self.source.read(events)?;
        self.events += (events.len() - before) as u64;
        self.ended = !more;
        Ok(more)
    }

    fn goes_round(&mut self, most: usize) -> bool {
        !self.ended && self.source.goes_round(most)
    }

    fn read_round(&mut self, events: &mut LocatedEvents, most: usize) -> Result<u64, TraceError> {
        if self.ended {
            return Ok(0);
        }
        let before = events.len();
        let further = self.source.read_round(events, most)?;
        self.events += (events.len() - before) as u64 * (1 + further);
        Ok(further)
    }

    fn origin(&self) -> Option<Arc<dyn EventOrigin>> {
        self.origin.clone()
    }

    fn path(&self) -> Option<PathBuf> {
        self.source.path()
    }

    fn torn(&self) -> Option<String> {
        self.source.torn()
    }
}
