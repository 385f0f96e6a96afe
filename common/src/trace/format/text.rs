//! A single text file with the events of all ranks, gzipped or not.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Candidate, TraceFormat};
use crate::event::Rank;
use crate::trace::directory::is_of_one_rank;
use crate::trace::error::TraceError;
use crate::trace::event_source::EventSource;
use crate::trace::opened::{RankSources, Trace};
use crate::trace::shared_file::{SharedFile, count_ranks, leading_number};
use crate::trace::text_stream::{Input, TextStream};

/// Events of all ranks in one file.
pub(super) struct Text;

impl TraceFormat for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    /// Also accepts a file that cannot be read or has no line: opening it then gives the error.
    fn recognises(&self, candidate: &Candidate) -> bool {
        candidate.file().is_some()
            && match candidate.first_line() {
                Ok(line) => line.is_none_or(|line| is_event(&line)),
                Err(_) => true,
            }
    }

    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError> {
        let path = paths.first().copied().unwrap_or(Path::new(""));
        if let Some(directory) = is_of_one_rank(path) {
            let what = format!("the stream of one rank: give the directory of the trace, {}", directory.display());
            return Err(TraceError::Directory { path: path.into(), what });
        }
        let ranks = count_ranks(path)?;
        Ok(Trace::new(ranks, OneFileForAll { path: path.into(), ranks, reading: Mutex::default() }))
    }
}

/// Whether a line looks like an event: a rank, and a word after it.
fn is_event(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let mut fields = line.split(u8::is_ascii_whitespace);
    leading_number(line).is_some()
        && fields.next().is_some_and(|field| field.iter().all(u8::is_ascii_digit))
        && fields.next().is_some()
}

/// The ranks of one file.
struct OneFileForAll {
    path: PathBuf,
    ranks: u32,
    reading: Mutex<Option<Reading>>,
}

/// The current reading of the file, and the ranks that already have a source in it.
struct Reading {
    file: Arc<Mutex<SharedFile>>,
    taken: Vec<bool>,
}

impl RankSources for OneFileForAll {
    /// Ranks share one reading of the file; a second source for a rank starts another one.
    fn source(&self, rank: Rank, partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let at = rank.0 as usize;
        let current = match reading.take().filter(|current| !current.taken.get(at).is_some_and(|&taken| taken)) {
            Some(current) => current,
            None => {
                let file = SharedFile::open(&self.path, self.ranks)?;
                Reading { file, taken: vec![false; self.ranks as usize] }
            }
        };
        let current = reading.insert(current);
        if let Some(taken) = current.taken.get_mut(at) {
            *taken = true;
        }
        Ok(Box::new(TextStream::new(Input::Shared(Arc::clone(&current.file)), rank, self.ranks, partial)))
    }

    fn are_separate(&self) -> bool {
        false
    }
}
