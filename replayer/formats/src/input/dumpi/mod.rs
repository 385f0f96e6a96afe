//! Traces of DUMPI, the tracer of the simulator SST/macro: a binary file for each rank, `PREFIX-NNNN.bin`, and a text
//! about them, `PREFIX.meta`. The versions from 1.0 on are read.
//!
//! A record has the arguments of a call as C has them, and a rank's own numbers for communicators, datatypes and requests.
//! At the end of a file are tables: the sizes of datatypes, and how often each function was called.

mod bytes;
mod communicators;
mod datatypes;
mod file;
mod files;
mod functions;
mod rank;
mod records;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use titr_common::event::Rank;
use titr_common::trace::manifest::{Clock, Mode, RankEntry};
use titr_common::trace::{Candidate, EventSource, Manifest, RankSources, Trace, TraceError, TraceFormat};

use self::communicators::Made;
use self::file::DumpiRankFile;
use self::functions::DumpiFunction;
use self::rank::{DumpiRankSource, DumpiTables, ProcNullConvention};
use super::notes::NotesOfRanks;

/// Traces of DUMPI.
pub(super) struct Dumpi {
    /// Whether receives from -1 without a status are from `MPI_PROC_NULL`; `None`: if a rank sends to -1.
    pub minus_one_is_nobody: Option<bool>,
}

impl TraceFormat for Dumpi {
    fn name(&self) -> &'static str {
        "DUMPI"
    }

    fn recognises(&self, candidate: &Candidate) -> bool {
        match candidate.directory() {
            Some(directory) => files::are_in(directory),
            None => DumpiRankFile::begins_with(&candidate.head) || files::is_meta(candidate),
        }
    }

    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError> {
        let path = paths.first().copied().unwrap_or(Path::new(""));
        let paths = files::of(path)?;
        let mut files: Vec<DumpiRankFile> =
            paths.iter().map(|path| DumpiRankFile::open(path)).collect::<Result<_, _>>()?;
        take_sizes_of_others(&mut files);
        let made = communicators::of_all(&files)?;
        let ranks = files.len() as u32;
        let manifest = manifest(&files)?;
        let world = (0..ranks).map(Rank).collect();
        let files: Arc<[DumpiRankFile]> = files.into();
        let nobody = Arc::new(ProcNullConvention::new(&files, self.minus_one_is_nobody));
        let sources = DumpiSources { files, made, world, nobody, notes: Arc::default() };
        Ok(Trace::new(ranks, sources).with_manifest(manifest))
    }
}

/// The ranks of a trace.
struct DumpiSources {
    files: Arc<[DumpiRankFile]>,
    made: Vec<Arc<[Made]>>,
    world: Arc<[Rank]>,
    nobody: Arc<ProcNullConvention>,
    notes: Arc<NotesOfRanks>,
}

impl RankSources for DumpiSources {
    fn source(&self, rank: Rank, partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let at = rank.0 as usize;
        let (Some(file), Some(made)) = (self.files.get(at), self.made.get(at)) else {
            let what = format!("there is no rank {} in the trace", rank.0);
            return Err(TraceError::Directory { path: Path::new("").into(), what });
        };
        let shared = DumpiTables { nobody: Arc::clone(&self.nobody), notes: Arc::clone(&self.notes) };
        Ok(Box::new(DumpiRankSource::new(file, rank, &self.world, Arc::clone(made), shared, partial)?))
    }

    fn untranslated(&self) -> Vec<String> {
        let mut sentences = self.notes.sentences();
        if self.files.iter().any(|file| file.sizes.is_empty()) {
            let what = "the files have no sizes of datatypes: those of a 64-bit machine are taken";
            sentences.push(what.to_owned());
        }
        sentences
    }
}

/// Gives files that were cut, and so have no table of sizes, the sizes of predefined datatypes from a file that has one.
fn take_sizes_of_others(files: &mut [DumpiRankFile]) {
    let whole = files.iter().find(|file| !file.sizes.is_empty());
    let Some(sizes) =
        whole.map(|file| file.sizes.iter().copied().take(datatypes::PREDEFINED.len()).collect::<Vec<_>>())
    else {
        return;
    };
    files.iter_mut().filter(|file| file.is_cut).for_each(|file| file.sizes.clone_from(&sizes));
}

/// The description of a trace: the host of each rank, its clock, and the calls without an event.
fn manifest(files: &[DumpiRankFile]) -> Result<Manifest, TraceError> {
    let version = files
        .iter()
        .find(|file| !file.is_cut)
        .map_or([0; 3], |file| file.version)
        .map(|part| part.to_string())
        .join(".");
    let mut manifest = Manifest::of_foreign(files.len() as u32, "DUMPI", &format!("sst-dumpi {version}"));
    let mut first = None;
    for (file, entry) in files.iter().zip(&mut manifest.per_rank) {
        entry.host.clone_from(&file.host);
        count_calls(file, entry);
        let mut records = file.records()?;
        let record = match records.next() {
            Err(_) if file.is_cut => continue,
            record => record?,
        };
        let begin = record.and_then(|record| record.span).map(|span| span.begin.0);
        // The times of a rank count from its first call.
        match begin {
            Some(begin) => {
                let offset = begin as f64 - *first.get_or_insert(begin) as f64;
                entry.clock = Some(Clock { offset, drift: 0.0, uncertainty: 0.0 });
            }
            None => manifest.mode = Mode::Ti,
        }
    }
    Ok(manifest)
}

/// Fills in the calls of a rank that have no event.
fn count_calls(file: &DumpiRankFile, entry: &mut RankEntry) {
    let counted = |calls: &[u32], is_wanted: &dyn Fn(DumpiFunction) -> bool| -> BTreeMap<String, u64> {
        let counted = (0..DumpiFunction::ALL.0).map(DumpiFunction).zip(calls).filter(|&(_, &calls)| calls > 0);
        let wanted = counted.filter(|&(function, _)| is_wanted(function));
        wanted.map(|(function, &calls)| (function.name(), u64::from(calls))).collect()
    };
    entry.untraced = counted(&file.calls, &|function| !function.is_local() && !function.has_event());
    for (name, calls) in counted(&file.ignored, &DumpiFunction::communicates) {
        *entry.untraced.entry(name).or_default() += calls;
    }
    entry.local = counted(&file.calls, &|function| function.is_local());
}
