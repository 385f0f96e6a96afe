//! Traces for Paraver, which Extrae records: a text `.prv` with the events of all tasks in the order of time, gzipped or not,
//! and beside it a `.pcf` with the names of values.
//!
//! A line of a message has both ends, and stands where the message was sent. A rank reads the whole file and passes over the
//! lines of others. Its calls wait in memory until the lines of their messages have come.

mod collectives;
mod line;
pub(crate) mod names;
mod rank;
mod survey;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use titr_common::event::Rank;
use titr_common::trace::manifest::{Clock, Counter};
use titr_common::trace::{Candidate, EventSource, Lines, Manifest, RankSources, Trace, TraceError, TraceFormat};

use self::line::Header;
use self::rank::PrvRankSource;
use self::survey::PrvSurvey;
use super::notes::NotesOfRanks;

/// Traces for Paraver.
pub(crate) struct Prv;

impl TraceFormat for Prv {
    fn name(&self) -> &'static str {
        "Paraver"
    }

    fn recognises(&self, candidate: &Candidate) -> bool {
        let file = match candidate.directory() {
            Some(directory) => only_trace(directory),
            None => candidate.file().map(Path::to_owned),
        };
        let first = file.and_then(|path| Lines::open(&path).ok()?.next().ok()?.map(Header::is));
        first.unwrap_or(false)
    }

    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError> {
        let given = paths.first().copied().unwrap_or(Path::new(""));
        let path = if given.is_dir() { only_trace(given).unwrap_or_default() } else { given.to_owned() };
        let survey = PrvSurvey::of(&path)?;
        let ranks = survey.header.tasks;
        let manifest = manifest(&survey);
        let sources = PrvSources { path, survey: Arc::new(survey), notes: Arc::default() };
        Ok(Trace::new(ranks, sources).with_manifest(manifest))
    }
}

/// The description of a trace: the times of a rank count from its first call.
fn manifest(survey: &PrvSurvey) -> Manifest {
    let mut manifest = Manifest::of_foreign(survey.header.tasks, "Paraver", "Extrae");
    let first = survey.began.iter().flatten().next().copied().unwrap_or(0);
    for (entry, began) in manifest.per_rank.iter_mut().zip(&survey.began) {
        let offset = began.map_or(0.0, |began| (began as f64 - first as f64) * survey.header.unit as f64);
        entry.clock = Some(Clock { offset, drift: 0.0, uncertainty: 0.0 });
        if survey.counts_instructions {
            entry.counter = Counter::exact("papi");
        }
    }
    manifest
}

/// The ranks of a trace.
struct PrvSources {
    path: PathBuf,
    survey: Arc<PrvSurvey>,
    notes: Arc<NotesOfRanks>,
}

impl RankSources for PrvSources {
    fn source(&self, rank: Rank, _partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        Ok(Box::new(PrvRankSource::new(Lines::open(&self.path)?, rank, &self.survey, &self.notes)))
    }

    fn untranslated(&self) -> Vec<String> {
        self.notes.sentences()
    }
}

fn only_trace(directory: &Path) -> Option<PathBuf> {
    let names = fs::read_dir(directory).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_trace = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        !name.starts_with('.') && (name.ends_with(".prv") || name.ends_with(".prv.gz"))
    };
    let mut traces = names.filter(is_trace);
    traces.next().filter(|_| traces.next().is_none())
}
