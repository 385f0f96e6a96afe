//! Traces written by titr: a directory with one gzip stream per rank and a manifest, an archive of it, or several
//! directories and archives with the parts of one trace.

use std::path::{Path, PathBuf};

use super::{Candidate, TraceFormat};
use crate::event::Rank;
use crate::trace::archive;
use crate::trace::error::TraceError;
use crate::trace::event_source::EventSource;
use crate::trace::lines::Lines;
use crate::trace::opened::{RankSources, Trace};
use crate::trace::part::{Parts, Whole};
use crate::trace::section::Section;
use crate::trace::text_stream::{Input, TextStream};

/// titr's own format. It accepts every directory, so that missing files are reported.
pub(super) struct Titr;

impl TraceFormat for Titr {
    fn name(&self) -> &'static str {
        "titr"
    }

    fn recognises(&self, candidate: &Candidate) -> bool {
        candidate.paths().len() != 1 || candidate.directory().is_some() || archive::is_header(candidate.head())
    }

    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError> {
        let Whole { manifest, streams } = Parts::open(paths)?.whole()?;
        let ranks = manifest.ranks;
        Ok(Trace::new(ranks, OneFileEach(streams)).with_manifest(manifest))
    }
}

/// Maximum number of files of one trace that are kept open.
const MOST_OPEN: usize = 256;
/// Approximate maximum of the text of all streams in memory, or else the minimum that is read at a time from each.
const TEXTS: usize = 32 << 20;
const LEAST_TEXT: usize = 4 << 10;

/// Streams in a file, or a section of one, each.
pub(super) struct OneFileEach(pub(super) Vec<Section>);

impl OneFileEach {
    fn section(&self, rank: Rank) -> Result<Section, TraceError> {
        let absent = || TraceError::Directory { path: PathBuf::new(), what: format!("there is no rank {}", rank.0) };
        let file = self.0.get(rank.0 as usize).ok_or_else(absent)?;
        if self.0.len() > MOST_OPEN { Ok(file.clone()) } else { file.kept_open() }
    }
}

impl RankSources for OneFileEach {
    fn source(&self, rank: Rank, partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let input = Input::Own(Lines::of(self.section(rank)?, (TEXTS / self.0.len().max(1)).max(LEAST_TEXT))?);
        Ok(Box::new(TextStream::new(input, rank, self.0.len() as u32, partial)))
    }

    fn file(&self, rank: Rank) -> Result<Option<Section>, TraceError> {
        self.section(rank).map(Some)
    }
}
