//! Traces written by titr: a directory with one gzip stream per rank and a manifest, an archive of it, or several
//! directories and archives with the parts of one trace.

use std::path::{Path, PathBuf};

use super::{Candidate, TraceFormat};
use crate::event::Rank;
use crate::trace::archive;
use crate::trace::error::TraceError;
use crate::trace::event_source::EventSource;
use crate::trace::lines::Lines;
use crate::trace::located::LocatedEvents;
use crate::trace::opened::{RankSources, Trace};
use crate::trace::part::{Parts, Untraced, Whole};
use crate::trace::section::Section;
use crate::trace::text_stream::{Input, TextStream};

/// titr's own format. It accepts every directory, so that missing files are reported.
pub(super) struct Titr;

impl TraceFormat for Titr {
    fn name(&self) -> &'static str {
        "titr"
    }

    fn recognises(&self, candidate: &Candidate) -> bool {
        candidate.paths.len() != 1 || candidate.directory().is_some() || archive::is_header(&candidate.head)
    }

    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError> {
        let Whole { manifest, streams, untraced } = Parts::open(paths)?.traced()?;
        let mut files: Vec<Option<Section>> = Vec::new();
        for (entry, stream) in manifest.per_rank.iter().zip(streams) {
            files.resize(entry.rank as usize, None);
            files.push(Some(stream));
        }
        files.resize(manifest.ranks as usize, None);
        Ok(Trace::new(manifest.ranks, OneFileEach { files, untraced }).with_manifest(manifest))
    }
}

/// Maximum number of files of one trace that are kept open.
const MOST_OPEN: usize = 256;
/// Approximate maximum of the text of all streams in memory, or else the minimum that is read at a time from each.
const TEXTS: usize = 32 << 20;
const LEAST_TEXT: usize = 4 << 10;

/// Streams in a file, or a section of one, each. Ranks that ran without the tracer have none.
pub(super) struct OneFileEach {
    pub(super) files: Vec<Option<Section>>,
    pub(super) untraced: Option<Untraced>,
}

impl OneFileEach {
    fn of(&self, rank: Rank) -> Result<&Section, TraceError> {
        let absent = || TraceError::Directory { path: PathBuf::new(), what: format!("there is no rank {}", rank.0) };
        let file = self.files.get(rank.0 as usize).and_then(Option::as_ref);
        file.ok_or_else(|| self.untraced.as_ref().map_or_else(absent, Untraced::error))
    }

    fn opened(&self, file: &Section) -> Result<Section, TraceError> {
        if self.files.len() > MOST_OPEN { Ok(file.clone()) } else { file.kept_open() }
    }
}

impl RankSources for OneFileEach {
    fn source(&self, rank: Rank, partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let kept = (TEXTS / self.files.len().max(1)).max(LEAST_TEXT);
        let file = match self.of(rank) {
            Err(error) if partial => return Ok(Box::new(WithoutTracer(error))),
            file => file?,
        };
        let input = Input::Own(Lines::of(self.opened(file)?, kept));
        Ok(Box::new(TextStream::new(input, rank, self.files.len() as u32, partial)))
    }

    fn file(&self, rank: Rank) -> Result<Option<Section>, TraceError> {
        self.opened(self.of(rank)?).map(Some)
    }
}

/// The events of a rank that ran without the tracer: none.
struct WithoutTracer(TraceError);

impl EventSource for WithoutTracer {
    fn read(&mut self, _: &mut LocatedEvents) -> Result<bool, TraceError> {
        Ok(false)
    }

    fn torn(&self) -> Option<String> {
        Some(self.0.to_string())
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.0.place()?.0)
    }
}
