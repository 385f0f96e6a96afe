//! Changes of traces that are applied as they are read: a scaled computation, a hypothesis.

use std::sync::Arc;

use super::error::TraceError;
use super::event_source::EventSource;
use super::opened::{RankSources, Trace};
use crate::event::Rank;

/// A change of a trace. [`Trace::map_sources`] changes each rank independently; a change of all ranks together makes a
/// new [`Trace`].
pub trait Transformation {
    /// The changed trace, whose events are changed as they are read.
    ///
    /// # Errors
    /// If the trace lacks something that the change needs.
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError>;
}

impl Trace {
    /// This trace with `change` around the events of each rank. A changed rank has no file.
    #[must_use]
    pub fn map_sources<F, S>(self, change: F) -> Self
    where
        F: Fn(Rank, Box<dyn EventSource + Send>) -> S + Send + Sync + 'static,
        S: EventSource + Send + 'static,
    {
        self.with_sources(|sources| Arc::new(ChangedSources { sources, change }))
    }
}

/// The sources of a trace, each with a change around it.
struct ChangedSources<F> {
    sources: Arc<dyn RankSources>,
    change: F,
}

impl<F, S> RankSources for ChangedSources<F>
where
    F: Fn(Rank, Box<dyn EventSource + Send>) -> S + Send + Sync,
    S: EventSource + Send + 'static,
{
    fn source(&self, rank: Rank, partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        Ok(Box::new((self.change)(rank, self.sources.source(rank, partial)?)))
    }

    fn untranslated(&self) -> Vec<String> {
        self.sources.untranslated()
    }
}
