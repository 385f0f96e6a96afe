//! Errors of network traces: each has the file, the line if there is one, and advice.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use titr_document::Mistake;

/// A network trace that cannot be read, or that is invalid.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum NetworkTraceError {
    #[error("{path}: {error}")]
    Io { path: PathBuf, error: io::Error },
    #[error("{path}:{line}: {what}")]
    Line { path: PathBuf, line: u64, what: String },
    #[error("{path}: torn after line {line}: {reason}. Record the trace again")]
    Torn { path: PathBuf, line: u64, reason: String },
    /// Rules that are wrong.
    #[error(transparent)]
    Rules(#[from] Mistake),
    /// Messages that do not fit together.
    #[error("{path}: {what}")]
    Messages { path: PathBuf, what: String },
}

impl NetworkTraceError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { path, error }
    }
}
