//! One rank's events, read as they are asked for.

use std::path::PathBuf;

use super::error::TraceError;
use super::event_source::EventSource;
use crate::event::{Event, ThreadId};
use crate::event_buffer::{EventBuffer, EventRef};

/// The events of one rank of a trace in any format, one at a time or as they come.
pub struct RankStream {
    source: Box<dyn EventSource + Send>,
    /// What the source gave last, for readers who want one event at a time, and how many of them they have.
    pending: EventBuffer,
    given: usize,
    events: u64,
    ended: bool,
}

/// How a stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its end record, or as a file of a format that has none.
    Complete,
    /// Torn, for the reason said.
    Torn(String),
}

impl RankStream {
    /// The events of `source`.
    pub(super) fn new(source: Box<dyn EventSource + Send>) -> Self {
        Self { source, pending: EventBuffer::default(), given: 0, events: 0, ended: false }
    }

    /// The next event; `None` at the end, and from then on.
    ///
    /// # Errors
    /// Where the trace cannot be read.
    pub fn next_event(&mut self) -> Result<Option<Event>, TraceError> {
        if self.given == self.pending.len() {
            let mut events = std::mem::take(&mut self.pending);
            events.clear();
            let read = self.read(&mut events);
            (self.pending, self.given) = (events, 0);
            read?;
        }
        let event = self.pending.get(self.given).map(EventRef::to_event);
        self.given += usize::from(event.is_some());
        Ok(event)
    }

    /// How many events were read.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How the stream ended; `None` before it has.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        self.ended.then(|| self.source.torn().map_or(Ending::Complete, Ending::Torn))
    }
}

impl EventSource for RankStream {
    fn read(&mut self, events: &mut EventBuffer) -> Result<bool, TraceError> {
        if self.ended {
            return Ok(false);
        }
        let before = events.len();
        let more = self.source.read(events)?;
        self.events += (events.len() - before) as u64;
        self.ended = !more;
        Ok(more)
    }

    fn path(&self) -> Option<PathBuf> {
        self.source.path()
    }

    fn line(&self) -> Option<u64> {
        self.source.line()
    }

    fn thread(&self) -> ThreadId {
        self.source.thread()
    }

    fn torn(&self) -> Option<String> {
        self.source.torn()
    }
}
