//! Reasons why runs cannot be combined.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::PathBuf;

use thiserror::Error;
use titr_common::event::{Actor, Event, Rank};
use titr_common::grammar::write_event;
use titr_common::trace::TraceError;

/// Runs that could not be combined.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum CombineError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("one run has nothing to be combined with: name two recordings of one program, or more")]
    TooFew,
    #[error(
        "{}: an extended trace holds the times of one run: convert each run with `titr convert --to ti` first",
        path.display()
    )]
    Extended { path: PathBuf },
    #[error(
        "the runs differ in the number of ranks, which is {1} in {0} and {3} in {2}: record all runs with the same number",
        paths.0.display(), ranks.0, paths.1.display(), ranks.1
    )]
    Ranks { paths: (PathBuf, PathBuf), ranks: (u32, u32) },
    #[error(
        "rank {} counts computation with {} in {}, and with {} in {}: record all runs with one counter, by \
         TITRACE_COUNTER",
        rank.0, counters.0, paths.0.display(), counters.1, paths.1.display()
    )]
    Counters { rank: Rank, paths: (PathBuf, PathBuf), counters: (String, String) },
    #[error(
        "the runs differ in communication: {}, and {}: combine only runs of one program with the same input",
        .0.0, .0.1
    )]
    Communication(Box<(RecordedCall, RecordedCall)>),
    /// Names the file.
    #[error("{0}")]
    Output(#[from] io::Error),
}

/// The place of a call in a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCall {
    /// The file of the rank, or the name of the trace.
    pub path: PathBuf,
    /// The line in the file.
    pub line: Option<u64>,
    /// The rank and its thread.
    pub actor: Actor,
    /// The call; `None` at the end of the recording.
    pub event: Option<Event>,
}

impl Display for RecordedCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        let Some(event) = &self.event else { return write!(f, ": rank {} ends", self.actor.rank.0) };
        let mut text = Vec::new();
        write_event(&mut text, self.actor, event);
        write!(f, ": `{}`", String::from_utf8_lossy(&text).trim_end())
    }
}
