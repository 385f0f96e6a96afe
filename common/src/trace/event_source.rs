//! Sources of the events of one rank.

use std::path::PathBuf;
use std::sync::Arc;

use super::{LocatedEvents, Location, SkippedEvents, TraceError};
use crate::event::{Event, ThreadId};

/// The events of one rank, in order: a stream of a trace, a synthetic pattern, or either of them changed on the way.
pub trait EventSource {
    /// Appends the next event, or the next few, to `events`, each with its place; false at the end.
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError>;

    /// Whether a round of a loop comes next, of at most `most` events, whose further rounds equal it. Most sources cannot tell.
    fn goes_round(&mut self, most: usize) -> bool {
        let _ = most;
        false
    }

    /// Appends the next round if the source [goes round](Self::goes_round), and passes over the further ones. Returns their
    /// number, or else 0.
    fn read_round(&mut self, events: &mut LocatedEvents, most: usize) -> Result<u64, TraceError> {
        let _ = (events, most);
        Ok(0)
    }

    /// Counts the next few events in `passed` instead of returning them: at most `most` events with letters, and
    /// nothing between the last of these and the next event. Most sources do not support this.
    fn pass(&mut self, passed: &mut SkippedEvents, most: usize) -> Result<SkipSupport, TraceError> {
        let _ = (passed, most);
        Ok(SkipSupport::Impossible)
    }

    /// The origin of the events, which gives them again; `None` if they can be read only once.
    fn origin(&self) -> Option<Arc<dyn EventOrigin>> {
        None
    }

    /// The file that the events are read from, where there is one.
    fn path(&self) -> Option<PathBuf> {
        None
    }

    /// The reason why the trace ends before the program did; `None` if it does not.
    fn torn(&self) -> Option<String> {
        None
    }
}

/// The origin of a rank's events, such as a file.
pub trait EventOrigin: Send + Sync {
    /// The events, from the first one on.
    fn source(&self) -> Result<Box<dyn EventSource + Send>, TraceError>;
}

/// The outcome of an attempt to pass over events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipSupport {
    /// The source has to be read.
    Impossible,
    /// Events of this thread were passed.
    SkippedEvents(ThreadId),
    /// There are no more events.
    Ended,
}

/// A list of events, all of the main thread.
impl EventSource for std::vec::IntoIter<Event> {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        let event = self.next();
        let more = event.is_some();
        event.into_iter().for_each(|event| events.push(event, Location::default()));
        Ok(more)
    }
}
