//! Errors that abort a replay.

use thiserror::Error;
use titr_common::format::counted;
use titr_common::program::{Fault, Place};
use titr_common::trace::TraceError;
use titr_network::Unreachable;

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
    #[error("the trace has {}, and only {places} are placed on hosts", counted(*ranks, "rank", "ranks"))]
    Places { ranks: usize, places: usize },
    #[error("{place}: {}", Unreachable::EndOfTime)]
    EndOfTime { place: Box<Place> },
    #[error(transparent)]
    Unreachable(Unreachable),
}
