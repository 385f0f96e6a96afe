//! Errors of conversions.

use std::io;
use std::path::PathBuf;

use thiserror::Error;
use titr_common::program::{Fault, Place};
use titr_common::trace::TraceError;

/// A conversion that could not be finished.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum ConvertError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("{place}: {fault}")]
    Event { place: Box<Place>, fault: Box<Fault> },
    #[error(
        "{path}: there is something in it already, and nothing is overwritten: name another directory, or remove it"
    )]
    Occupied { path: PathBuf },
    #[error(
        "the trace says nothing of time: record an extended one (TITRACE_MODE=extended), or draw simulated time with \
         titr-replay --platform FILE --paje FILE (or --perfetto FILE)"
    )]
    NoTimes,
    #[error("cannot write: {0}")]
    Drawing(io::Error),
    #[error("cannot write {path}: {error}")]
    Output { path: PathBuf, error: io::Error },
}
