//! Traces of liballprof, the tracer of the simulator LogGOPSim: a text file for each rank, `…rank-NN.txt`, gzipped or not.
//!
//! A line has the arguments of a call as C has them. What a call returns through an address is not in the trace.

mod calls;
mod communicators;
mod line;
mod rank;

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use titr_common::event::Rank;
use titr_common::trace::{Candidate, EventSource, Lines, Manifest, RankSources, Trace, TraceError, TraceFormat};

use self::calls::LiballprofCall;
use self::communicators::{LiballprofCommunicators, Step};
use self::line::LiballprofLine;
use self::rank::LiballprofRankSource;
use super::notes::NotesOfRanks;

/// Traces of liballprof.
pub(super) struct Liballprof;

impl TraceFormat for Liballprof {
    fn name(&self) -> &'static str {
        "liballprof"
    }

    fn recognises(&self, candidate: &Candidate) -> bool {
        match candidate.directory() {
            Some(directory) => {
                // A directory that cannot be read is left to the format that takes every directory.
                let found = ranks_in(directory).unwrap_or_default();
                found.first().is_some_and(|(_, path)| first_call(path).is_some_and(|line| is_call(&line)))
            }
            None => candidate.first_line().is_ok_and(|line| line.is_some_and(|line| is_call(&line))),
        }
    }

    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError> {
        let path = paths.first().copied().unwrap_or(Path::new(""));
        let files = files(path)?;
        let ranks = files.len() as u32;
        let steps = files.iter().map(|path| steps(path)).collect::<Result<_, _>>()?;
        let communicators = communicators::of_all(steps).map_err(|waiting| TraceError::Directory {
            path: path.into(),
            what: format!(
                "{} ranks call MPI_Comm_split, and others of the communicator do not: files are cut",
                waiting.len()
            ),
        })?;
        let manifest = Manifest::of_foreign(ranks, "liballprof", &creator(&files));
        let sources = LiballprofSources { files, communicators: Arc::new(communicators), notes: Arc::default() };
        Ok(Trace::new(ranks, sources).with_manifest(manifest))
    }
}

/// The ranks of a trace.
struct LiballprofSources {
    files: Vec<PathBuf>,
    communicators: Arc<LiballprofCommunicators>,
    notes: Arc<NotesOfRanks>,
}

impl RankSources for LiballprofSources {
    fn source(&self, rank: Rank, _partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let path = self.files.get(rank.0 as usize).map_or(Path::new(""), PathBuf::as_path);
        Ok(Box::new(LiballprofRankSource::new(Lines::open(path)?, rank, &self.communicators, &self.notes)))
    }

    fn untranslated(&self) -> Vec<String> {
        self.notes.sentences()
    }
}

/// What the calls of a file say about communicators.
fn steps(path: &Path) -> Result<VecDeque<Step>, TraceError> {
    let mut lines = Lines::open(path)?;
    let (mut steps, mut named) = (VecDeque::new(), FxHashSet::default());
    let mut last = None;
    while let Some(text) = lines.next()? {
        // A line that is wrong is reported by the reader of its rank.
        let Ok(Some(line)) = LiballprofLine::parse(text) else { continue };
        let Some(call) = LiballprofCall::of(&line) else { continue };
        if let Some(comm) = call.comm().filter(|&comm| last != Some(comm)) {
            last = Some(comm);
            if named.insert(comm) {
                steps.push_back(Step::Use(comm));
            }
        }
        if let LiballprofCall::MakeComm(make) = call {
            steps.push_back(Step::Make(make));
        }
    }
    Ok(steps)
}

/// Whether a line is a call: the function's name and times, with `:` between them.
fn is_call(line: &[u8]) -> bool {
    line.starts_with(b"MPI_") && line.contains(&b':')
}

/// The first line of a file that is no comment.
fn first_call(path: &Path) -> Option<Vec<u8>> {
    let mut lines = Lines::open(path).ok()?;
    while let Some(text) = lines.next().ok()? {
        if !text.trim_ascii().is_empty() && !text.starts_with(b"#") {
            return Some(text.to_vec());
        }
    }
    None
}

/// The name that the tracer gives itself in the first comment.
fn creator(files: &[PathBuf]) -> String {
    let first = files.first().and_then(|path| Lines::open(path).ok()?.next().ok()?.map(<[u8]>::to_vec));
    let first = first.filter(|line| line.starts_with(b"#")).unwrap_or_default();
    let text = String::from_utf8_lossy(&first);
    text.trim_start_matches('#').trim().trim_end_matches(" Output File").chars().take(80).collect()
}

fn files(path: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let error = |what| TraceError::Directory { path: path.into(), what };
    if !path.is_dir() {
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let beside = ranks_in(directory).unwrap_or_default();
        return match beside.as_slice() {
            [(0, only)] if only.file_name() == path.file_name() => Ok(vec![path.to_owned()]),
            _ => Err(error(format!(
                "one rank of {} of a trace of liballprof: give the directory of all its files, {}",
                beside.len().max(1),
                directory.display()
            ))),
        };
    }
    let found = ranks_in(path).map_err(TraceError::io(path))?;
    for (expected, (rank, file)) in (0..).zip(&found) {
        if *rank > expected {
            return Err(error(format!("the file of rank {expected} of a trace of liballprof is missing")));
        }
        if *rank < expected {
            return Err(error(format!(
                "two files of rank {rank} of a trace of liballprof, such as {}",
                file.display()
            )));
        }
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// The files of ranks in a directory, by rank.
fn ranks_in(directory: &Path) -> std::io::Result<Vec<(u32, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(rank) = rank_of(&name) {
            found.push((rank, path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The rank in the name of a file, `…rank-NN.txt` or `…rank-NN.txt.gz`.
fn rank_of(name: &str) -> Option<u32> {
    let name = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".txt")?;
    let (_, rank) = name.rsplit_once("rank-").filter(|_| !name.starts_with('.'))?;
    rank.parse().ok()
}
