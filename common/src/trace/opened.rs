//! An open trace, in any format.

use std::path::PathBuf;
use std::sync::Arc;

use super::encounter::Encounter;
use super::error::TraceError;
use super::event_source::{EventOrigin, EventSource};
use super::manifest::Manifest;
use super::section::Section;
use super::stream::RankStream;
use crate::event::Rank;

/// Access to the events of an opened trace's ranks.
pub trait RankSources: Send + Sync {
    /// The events of `rank`, from its first; of an incomplete stream those that there are, if that is `partial`.
    fn source(&self, rank: Rank, partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError>;

    /// The file of `rank` on disk; `None` if the rank has no file of its own.
    fn file(&self, rank: Rank) -> Result<Option<Section>, TraceError> {
        let _ = rank;
        Ok(None)
    }

    /// Parts of the trace without a counterpart in titr's events, found in reading so far: a sentence for each kind.
    fn untranslated(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether a rank can be read alone, without the lines of others, which would wait for their turn in memory.
    fn are_separate(&self) -> bool {
        true
    }

    /// The recorded events of the files, if the trace returns changed ones.
    fn as_recorded(&self) -> Option<Arc<dyn RankSources>> {
        None
    }
}

/// A trace, opened: how many ranks it has is known, and that their events are there.
#[derive(Clone)]
pub struct Trace {
    ranks: u32,
    sources: Arc<dyn RankSources>,
    manifest: Option<Arc<Manifest>>,
    partial: bool,
    worlds: Arc<[World]>,
}

/// A world of a program: the processes that were started together.
#[derive(Clone)]
pub struct World {
    /// The rank, of all worlds, that the world's rank 0 is.
    pub first: Rank,
    /// The directory or archive that the world's trace was read from, or the first of several.
    pub place: PathBuf,
    /// The trace of this world alone, in which its ranks have numbers from 0 on.
    pub trace: Trace,
}

impl World {
    /// The number of ranks.
    pub fn ranks(&self) -> u32 {
        self.trace.ranks()
    }

    pub(super) fn encounters(&self, rank: u32) -> &[Encounter] {
        let entry = self.trace.manifest().and_then(|manifest| manifest.of_rank(Rank(rank)));
        entry.map_or(&[], |entry| &entry.encounters)
    }

    pub(super) fn has_encounters(&self) -> bool {
        (0..self.ranks()).any(|rank| !self.encounters(rank).is_empty())
    }
}

impl Trace {
    /// A trace of `ranks` ranks, whose events `sources` has.
    pub fn new(ranks: u32, sources: impl RankSources + 'static) -> Self {
        Self { ranks, sources: Arc::new(sources), manifest: None, partial: false, worlds: Arc::new([]) }
    }

    /// This trace with other sources, made of those that there are.
    pub(super) fn with_sources(self, change: impl FnOnce(Arc<dyn RankSources>) -> Arc<dyn RankSources>) -> Self {
        Self { sources: change(self.sources), ..self }
    }

    /// Adds the description of how the trace was taken.
    #[must_use]
    pub fn with_manifest(self, manifest: Manifest) -> Self {
        Self { manifest: Some(Arc::new(manifest)), ..self }
    }

    /// Declares that the ranks are those of several worlds.
    pub(super) fn of_worlds(self, worlds: Arc<[World]>) -> Self {
        Self { worlds, ..self }
    }

    /// The worlds of the ranks, in order; none if all ranks are known to be of one world.
    pub fn worlds(&self) -> &[World] {
        &self.worlds
    }

    /// Accepts an incomplete trace, which would be an error otherwise.
    #[must_use]
    pub fn partial(self, partial: bool) -> Self {
        Self { partial, ..self }
    }

    /// Like [`partial`](Self::partial), but rejects an empty trace.
    ///
    /// # Errors
    /// If no rank has an event.
    pub fn partial_unless_empty(self, partial: bool) -> Result<Self, TraceError> {
        let this = self.partial(partial);
        // Errors are left to the reader of the rank.
        let has_event = |rank| {
            this.stream(Rank(rank)).and_then(|mut stream| stream.next_event()).map_or(true, |event| event.is_some())
        };
        if partial && !(0..this.ranks).any(has_event) {
            let path = this.source(Rank(0), partial)?.path().unwrap_or_default();
            return Err(TraceError::Nothing { path });
        }
        Ok(this)
    }

    /// Whether an incomplete trace is accepted.
    pub fn is_partial(&self) -> bool {
        self.partial
    }

    /// Size of the world.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The manifest of the trace, if there is one.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_deref()
    }

    /// Parts of a foreign trace without a counterpart in titr's events, found in reading so far: a sentence for each
    /// kind.
    pub fn untranslated(&self) -> Vec<String> {
        self.sources.untranslated()
    }

    /// This trace with the recorded events of its files.
    #[must_use]
    pub fn as_recorded(&self) -> Self {
        let sources = self.sources.as_recorded().unwrap_or_else(|| Arc::clone(&self.sources));
        Self { sources, ..self.clone() }
    }

    /// The source of the events of `rank`; of an incomplete stream those that there are, if that is `partial`.
    pub fn source(&self, rank: Rank, partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        self.sources.source(rank, partial)
    }

    /// The events of `rank`, from its first.
    pub fn stream(&self, rank: Rank) -> Result<RankStream, TraceError> {
        Ok(RankStream::new(self.sources.source(rank, self.partial)?).of(Arc::new(OneRank(self.clone(), rank))))
    }

    /// The events of all ranks.
    pub fn streams(&self) -> Result<Vec<RankStream>, TraceError> {
        (0..self.ranks).map(|rank| self.stream(Rank(rank))).collect()
    }

    /// The file of `rank` on disk; `None` if the rank has no file of its own.
    pub fn file_of(&self, rank: Rank) -> Result<Option<Section>, TraceError> {
        self.sources.file(rank)
    }
}

/// The events of one rank of a trace.
struct OneRank(Trace, Rank);

impl EventOrigin for OneRank {
    fn source(&self) -> Result<Box<dyn EventSource + Send>, TraceError> {
        self.0.source(self.1, self.0.partial)
    }
}
