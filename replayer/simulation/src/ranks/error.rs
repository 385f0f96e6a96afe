//! The errors that keep a replay from finishing.

use thiserror::Error;
use titr_common::program::{Fault, Place};
use titr_common::trace::TraceError;

use super::deadlock::Deadlock;

/// A replay that could not be finished.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum ReplayError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("{place}: {fault}")]
    Event { place: Box<Place>, fault: Box<Fault> },
    #[error("{0}")]
    Deadlock(Box<Deadlock>),
    #[error("the trace has {ranks} ranks, and only {places} are placed on hosts")]
    Places { ranks: usize, places: usize },
    #[error("simulated time runs past 213 days: is a volume, a bandwidth or a speed wrong?")]
    EndOfTime,
}
