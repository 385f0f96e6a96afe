//! The first time-independent format, of SimGrid up to 3.10: `p0 send p1 163840`.
//!
//! All events are in one file, or those of each rank in a file of its own, which an index names. Messages have no tags, and
//! requests no numbers: a wait is for the newest request. Volumes are numbers of elements; the events of a program whose
//! `init` has an argument are in doubles by default, and all others in bytes.

mod event;
mod rank;

use std::path::{Path, PathBuf};

use titr_common::event::Rank;
use titr_common::trace::{Candidate, EventSource, Lines, RankSources, Trace, TraceError, TraceFormat};

use self::event::rank_of;
use self::rank::FirstTiRankSource;

/// Number of ranks that a file may name regardless of its length: a larger one is damage.
const FEW_RANKS: u64 = 1 << 10;

/// Traces of the first format.
pub(super) struct FirstTi;

impl TraceFormat for FirstTi {
    fn name(&self) -> &'static str {
        "first-ti"
    }

    fn recognises(&self, candidate: &Candidate) -> bool {
        let (Some(path), Ok(Some(line))) = (candidate.file(), candidate.first_line()) else { return false };
        is_event(&line) || named(path, &line).is_some_and(|file| first_line(&file).is_some_and(|line| is_event(&line)))
    }

    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError> {
        let path = paths.first().copied().unwrap_or(Path::new(""));
        let files =
            if first_line(path).is_some_and(|line| is_event(&line)) { vec![path.to_owned()] } else { index(path)? };
        let ranks = match files.as_slice() {
            [one] => count_ranks(one)?,
            several => several.len() as u32,
        };
        Ok(Trace::new(ranks, FirstTiSources { files, ranks }))
    }
}

/// The ranks of a trace.
struct FirstTiSources {
    files: Vec<PathBuf>,
    ranks: u32,
}

impl RankSources for FirstTiSources {
    /// The ranks of one file read it separately, so that no line waits in memory.
    fn source(&self, rank: Rank, _partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let path = match self.files.as_slice() {
            [one] => one,
            several => several.get(rank.0 as usize).unwrap_or(&several[0]),
        };
        Ok(Box::new(FirstTiRankSource::new(Lines::open(path)?, rank, self.ranks, self.files.len() > 1)))
    }
}

/// Whether a line looks like an event: `p`, a rank, and a word.
fn is_event(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.next().and_then(rank_of).is_some() && words.next().is_some_and(|word| word[0].is_ascii_alphabetic())
}

/// The first line of a file that is neither blank nor a comment.
fn first_line(path: &Path) -> Option<Vec<u8>> {
    let mut lines = Lines::open(path).ok()?;
    while let Some(text) = lines.next().ok()? {
        if !text.trim_ascii().is_empty() && !text.starts_with(b"#") {
            return Some(text.to_vec());
        }
    }
    None
}

/// The file that a line of an index names, from here or beside the index.
fn named(index: &Path, line: &[u8]) -> Option<PathBuf> {
    let name = PathBuf::from(String::from_utf8_lossy(line).trim());
    let beside = index.parent().unwrap_or(Path::new("")).join(&name);
    [name, beside].into_iter().find(|candidate| candidate.is_file())
}

/// The files that an index names.
fn index(path: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let mut lines = Lines::open(path)?;
    let mut files = Vec::new();
    while let Some(text) = lines.next()? {
        if text.trim_ascii().is_empty() || text.starts_with(b"#") {
            continue;
        }
        let (file, name) = (named(path, text), String::from_utf8_lossy(text).trim().chars().take(100).collect());
        let missing = || TraceError::Index { path: path.into(), line: lines.line(), name };
        files.push(file.ok_or_else(missing)?);
    }
    Ok(files)
}

/// The number of ranks in a file: the largest rank, plus one.
fn count_ranks(path: &Path) -> Result<u32, TraceError> {
    let mut lines = Lines::open(path)?;
    let mut ranks = 0;
    while let Some(text) = lines.next()? {
        if let Some(rank) = text.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()).and_then(rank_of) {
            ranks = ranks.max(rank.0.saturating_add(1));
        }
    }
    if u64::from(ranks) > lines.line().max(FEW_RANKS) {
        let what = format!("rank {} in the first column of a trace of {} lines", ranks - 1, lines.line());
        return Err(TraceError::Directory { path: path.into(), what });
    }
    Ok(ranks)
}
