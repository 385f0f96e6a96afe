//! Reading a trace twice: once to learn what a change has to know of all ranks, once to change the events on their way.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use titr_common::event::{Event, Mark, Rank};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{EventSource, Located, LocatedEvents, Trace, TraceError};

use crate::position::Position;
use crate::selection::Selection;

/// How many names of regions a message lists.
const LISTED: usize = 20;

/// Reads all events, rank after rank, and shows each to `visit` with the place that its rank is at.
///
/// # Errors
/// Where the trace cannot be read, or has no such ranks or no such region.
pub fn survey(
    trace: &Trace,
    selection: &Arc<Selection>,
    mut visit: impl FnMut(&Position, Located<'_>) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    selection.fits(trace.ranks())?;
    let mut regions = BTreeSet::new();
    let mut events = LocatedEvents::default();
    for rank in (0..trace.ranks()).map(Rank) {
        let mut stream = trace.stream(rank)?;
        let mut position = Position::new(rank, selection);
        let mut more = true;
        while more {
            events.clear();
            more = stream.read(&mut events)?;
            for located in events.iter() {
                visit(&position, located)?;
                position.pass(located.event, located.location.thread);
                if let Some(name) = opened(located.event)
                    && (regions.len() < LISTED || is_named(selection, &name))
                {
                    regions.insert(name);
                }
            }
        }
    }
    match &selection.region {
        Some(region) if !regions.contains(region.get_ref()) => {
            let list = regions.into_iter().collect::<Vec<_>>().join(", ");
            let others = if list.is_empty() { "it marks none".to_owned() } else { format!("it marks {list}") };
            let message = format!("the program marks no region '{}': {others}", region.get_ref());
            Err(selection.source.mistake(&region.span(), message).into())
        }
        Some(_) | None => Ok(()),
    }
}

/// The name of the region that an event opens.
fn opened(event: EventRef<'_>) -> Option<String> {
    match event {
        EventRef::Event(Event::Mark(Mark::RegionBegin(name))) => Some(name.to_string()),
        EventRef::Event(Event::Mark(Mark::Control(level))) if *level > 0 => Some(level.to_string()),
        EventRef::Event(_) | EventRef::Compute(_) | EventRef::Send(_) | EventRef::Recv(_) => None,
    }
}

fn is_named(selection: &Selection, name: &str) -> bool {
    selection.region.as_ref().is_some_and(|region| region.get_ref() == name)
}

/// Changes the events of one rank, one after the other.
pub trait Rewrite: Send {
    /// Appends to `out` the events that stand for `event`, with the place that its rank is at before the event.
    fn rewrite(&mut self, position: &Position, event: Located<'_>, out: &mut LocatedEvents);

    /// Appends the events that are still held back. Called after the last event.
    fn finish(&mut self, out: &mut LocatedEvents) {
        let _ = out;
    }
}

/// The trace with the events of each rank changed by what `rewrite` makes for the rank.
pub fn rewritten<R: Rewrite + 'static>(
    trace: Trace,
    selection: &Arc<Selection>,
    rewrite: impl Fn(Rank) -> R + Send + Sync + 'static,
) -> Trace {
    let selection = Arc::clone(selection);
    trace.map_sources(move |rank, source| RewrittenSource {
        source,
        position: Position::new(rank, &selection),
        rewrite: rewrite(rank),
        read: LocatedEvents::default(),
        is_ended: false,
    })
}

/// A rank's events, changed.
struct RewrittenSource<S, R> {
    source: S,
    position: Position,
    rewrite: R,
    /// The buffer for events as the source gives them, kept to use its memory again.
    read: LocatedEvents,
    /// Whether the source has no more events.
    is_ended: bool,
}

impl<S: EventSource, R: Rewrite> EventSource for RewrittenSource<S, R> {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        if self.is_ended {
            return Ok(false);
        }
        self.read.clear();
        self.is_ended = !self.source.read(&mut self.read)?;
        let before = events.len();
        for located in self.read.iter() {
            self.rewrite.rewrite(&self.position, located, events);
            self.position.pass(located.event, located.location.thread);
        }
        if self.is_ended {
            self.rewrite.finish(events);
        }
        // Events never come with the end.
        Ok(!self.is_ended || events.len() > before)
    }

    fn path(&self) -> Option<PathBuf> {
        self.source.path()
    }

    fn torn(&self) -> Option<String> {
        self.source.torn()
    }
}
