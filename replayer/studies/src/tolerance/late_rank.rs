//! A program in which a rank begins late.

use std::path::PathBuf;

use titr_common::event::{Event, Rank};
use titr_common::trace::{EventSource, LocatedEvents, Trace, TraceError, Transformation};
use titr_common::units::Seconds;

/// The transformation of a trace that delays the first event of a rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateRank {
    /// The rank.
    pub rank: Rank,
    /// The time before its first event.
    pub delay: Seconds,
}

impl Transformation for LateRank {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        let Self { rank: late, delay } = *self;
        Ok(trace.map_sources(move |rank, source| Delayed { source, delay: (rank == late).then_some(delay) }))
    }
}

/// The events of a rank after a delay.
struct Delayed<S> {
    source: S,
    /// The delay that is still to come.
    delay: Option<Seconds>,
}

impl<S: EventSource> EventSource for Delayed<S> {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        let Some(delay) = self.delay.take() else { return self.source.read(events) };
        let mut first = LocatedEvents::default();
        let more = self.source.read(&mut first)?;
        for (number, located) in first.iter().enumerate() {
            if number == 0 {
                events.push(Event::Sleep(delay), located.location);
            }
            events.push(located.event.to_event(), located.location);
        }
        Ok(more)
    }

    fn path(&self) -> Option<PathBuf> {
        self.source.path()
    }

    fn torn(&self) -> Option<String> {
        self.source.torn()
    }
}
