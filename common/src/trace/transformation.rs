//! Changes of traces that are applied as they are read: a scaled computation, a hypothesis.

use std::path::PathBuf;
use std::sync::Arc;

use super::error::TraceError;
use super::event_source::EventSource;
use super::located::{Located, LocatedEvents};
use super::opened::{RankSources, Trace};
use crate::event::Rank;

/// A change of a trace. [`Trace::map_events`] changes each rank independently; a change of all ranks together makes a
/// new [`Trace`].
pub trait Transformation {
    /// The changed trace, whose events are changed as they are read.
    ///
    /// # Errors
    /// If the trace lacks something that the change needs.
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError>;
}

impl Trace {
    /// This trace with the change that `change` returns for each rank. A changed rank has no file.
    #[must_use]
    pub fn map_events<C: ChangeEvents + Send + 'static>(
        self,
        change: impl Fn(Rank) -> C + Send + Sync + 'static,
    ) -> Self {
        self.map_sources(move |rank, source| Box::new(ChangedEvents::new(source, change(rank))))
    }

    /// This trace with another source around that of each rank. A changed rank has no file.
    #[must_use]
    pub fn map_sources(
        self,
        change: impl Fn(Rank, Box<dyn EventSource + Send>) -> Box<dyn EventSource + Send> + Send + Sync + 'static,
    ) -> Self {
        self.with_sources(|sources| Arc::new(ChangedSources { sources, change }))
    }
}

/// A change of the events of one rank, event after event. A closure may be one.
pub trait ChangeEvents {
    /// Appends the events that replace `located` to `changed`.
    fn change(&mut self, located: Located<'_>, changed: &mut LocatedEvents);

    /// Appends the events that were held back until the last one.
    fn finish(&mut self, _changed: &mut LocatedEvents) {}

    /// Whether equal events are always changed alike, so that equal rounds of a loop remain equal.
    fn keeps_rounds(&self) -> bool {
        false
    }
}

impl<F: FnMut(Located<'_>, &mut LocatedEvents)> ChangeEvents for F {
    fn change(&mut self, located: Located<'_>, changed: &mut LocatedEvents) {
        self(located, changed);
    }
}

/// The events of a source with a change.
pub struct ChangedEvents<C> {
    source: Box<dyn EventSource + Send>,
    change: C,
    /// The unchanged events, kept for reuse of the memory.
    read: LocatedEvents,
    is_ended: bool,
}

impl<C: ChangeEvents> ChangedEvents<C> {
    /// The events of `source` with `change`.
    pub fn new(source: Box<dyn EventSource + Send>, change: C) -> Self {
        Self { source, change, read: LocatedEvents::default(), is_ended: false }
    }

    fn change_read(&mut self, changed: &mut LocatedEvents) {
        self.read.iter().for_each(|located| self.change.change(located, changed));
    }
}

impl<C: ChangeEvents> EventSource for ChangedEvents<C> {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        if self.is_ended {
            return Ok(false);
        }
        self.read.clear();
        self.is_ended = !self.source.read(&mut self.read)?;
        let before = events.len();
        self.change_read(events);
        if self.is_ended {
            self.change.finish(events);
        }
        Ok(!self.is_ended || events.len() > before)
    }

    fn goes_round(&mut self, most: usize) -> bool {
        self.change.keeps_rounds() && self.source.goes_round(most)
    }

    fn read_round(&mut self, events: &mut LocatedEvents, most: usize) -> Result<u64, TraceError> {
        if !self.change.keeps_rounds() {
            return Ok(0);
        }
        self.read.clear();
        let rounds = self.source.read_round(&mut self.read, most)?;
        self.change_read(events);
        Ok(rounds)
    }

    fn path(&self) -> Option<PathBuf> {
        self.source.path()
    }

    fn torn(&self) -> Option<String> {
        self.source.torn()
    }
}

/// The sources of a trace, each with a change around it.
struct ChangedSources<F> {
    sources: Arc<dyn RankSources>,
    change: F,
}

impl<F> RankSources for ChangedSources<F>
where
    F: Fn(Rank, Box<dyn EventSource + Send>) -> Box<dyn EventSource + Send> + Send + Sync,
{
    fn source(&self, rank: Rank, partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        Ok((self.change)(rank, self.sources.source(rank, partial)?))
    }

    fn untranslated(&self) -> Vec<String> {
        self.sources.untranslated()
    }

    fn are_separate(&self) -> bool {
        self.sources.are_separate()
    }
}
