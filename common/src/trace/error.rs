//! Errors of a trace: each has the file, the line if there is one, and advice.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::format::counted;
use crate::grammar::ParseError;

/// A trace that cannot be read.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum TraceError {
    #[error("{path}: {error}")]
    Io { path: PathBuf, error: io::Error },
    #[error("{path}:{line}:{}: {} (in '{text}')", error.column, error.what)]
    Line { path: PathBuf, line: u64, text: String, error: ParseError },
    #[error("{path}:{line}: the line is longer than {limit} bytes: this is no trace")]
    LongLine { path: PathBuf, line: u64, limit: usize },
    #[error("{path}: the trace is empty: the program was killed before its first flush, or this is another file")]
    Empty { path: PathBuf },
    #[error(
        "{path}: no rank has recorded anything: the program was killed before its first flush, and there is nothing for --partial to take"
    )]
    Nothing { path: PathBuf },
    #[error(
        "{path}: torn after line {line}: {reason}. The program was killed, or the disk was full; --partial takes what there is"
    )]
    Torn { path: PathBuf, line: u64, reason: String },
    #[error(
        "{path}:{line}: {} where the end record says {said}: lines are missing or were added",
        counted(*found, "event", "events")
    )]
    Count { path: PathBuf, line: u64, found: u64, said: u64 },
    #[error(
        "{path}:{line}: '{text}' follows the end record, after which nothing is read: delete it, or delete the end record"
    )]
    AfterEnd { path: PathBuf, line: u64, text: String },
    #[error(
        "{path}:{line}: '{text}' is an event in the first time-independent format (SimGrid up to 3.10), and titr reads that of \
         SimGrid 3.32 and later: 'RANK EVENT ...' with a tag and a size for each message"
    )]
    FirstFormat { path: PathBuf, line: u64, text: String },
    #[error("{path}:{line}: rank {found} in the stream of rank {expected}")]
    ForeignRank { path: PathBuf, line: u64, found: u32, expected: u32 },
    #[error("{path}:{line}:{column}: {what}")]
    Manifest { path: PathBuf, line: usize, column: usize, what: String },
    #[error("{path}: {what}")]
    Directory { path: PathBuf, what: String },
    /// A file of another tool that cannot be read; the place is a record, an event or a byte, in words.
    #[error("{path}: {place}: {what}")]
    Foreign { path: PathBuf, place: String, what: String },
    #[error("{path}: the archive is torn: {what}; gather it again from its parts")]
    Archive { path: PathBuf, what: String },
    #[error(
        "{path}: its checksum is {found:08x}, and its rank wrote {said:08x}: the file was changed or damaged since"
    )]
    Checksum { path: PathBuf, found: u32, said: u32 },
    #[error("{path}:{line}: there is no file '{name}' here or beside the index")]
    Index { path: PathBuf, line: u64, name: String },
    /// A transformation needs something that the trace does not have.
    #[error(transparent)]
    Change(Box<dyn std::error::Error + Send + Sync>),
}

impl TraceError {
    /// The error of reading the file at `path`.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { path, error }
    }

    /// The file at fault, and the line where one is, from 1; `None` if no single file is at fault.
    pub fn place(&self) -> Option<(PathBuf, Option<u64>)> {
        let (path, line) = match self {
            Self::Line { path, line, .. }
            | Self::LongLine { path, line, .. }
            | Self::Torn { path, line, .. }
            | Self::Count { path, line, .. }
            | Self::AfterEnd { path, line, .. }
            | Self::FirstFormat { path, line, .. }
            | Self::ForeignRank { path, line, .. }
            | Self::Index { path, line, .. } => (path, Some(*line)),
            Self::Manifest { path, line, .. } => (path, Some(*line as u64)),
            Self::Io { path, .. } | Self::Empty { path } | Self::Nothing { path } => (path, None),
            Self::Directory { path, .. } | Self::Foreign { path, .. } => (path, None),
            Self::Archive { path, .. } | Self::Checksum { path, .. } => (path, None),
            Self::Change(_) => return None,
        };
        Some((path.clone(), line))
    }
}
