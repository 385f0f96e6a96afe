//! Errors of conversions.

use std::io;

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
        "the trace says nothing of time: record an extended one (TITRACE_MODE=extended), or draw simulated time with \
         titr-replay --platform FILE --paje FILE (or --perfetto FILE)"
    )]
    NoTimes,
    /// Names the file.
    #[error("{0}")]
    Output(#[from] io::Error),
}
