//! Trace formats for reading: titr's own, SimGrid's, and others.
//!
//! To add a format, implement [`TraceFormat`] in a file of this folder and name it in [`FOREIGN`].

mod chakra;
pub(crate) mod dumpi;
mod first_ti;
mod goal;
mod liballprof;
mod no_trace;
pub(crate) mod notes;
pub(crate) mod otf2;
pub(crate) mod paraver;
mod rank_events;
mod requests;

use std::path::Path;

use titr_common::trace::{self, NATIVE, Trace, TraceError, TraceFormat};

/// Formats of other tools. They are asked before titr's own, which takes every directory and every text.
/// The last one recognises files that are no traces at all.
static FOREIGN: &[&dyn TraceFormat] = &[
    &otf2::Otf2,
    &dumpi::Dumpi,
    &liballprof::Liballprof,
    &first_ti::FirstTi,
    &paraver::Prv,
    &goal::GoalText,
    &goal::GoalBinary,
    &chakra::Chakra,
    &no_trace::NoTrace,
];

/// Opens a trace in any format: one file or directory, or the parts of one trace; and the traces of the worlds that its
/// ranks have spawned or connected to.
///
/// # Errors
/// If there is nothing at a path, or the trace cannot be opened.
pub fn open(paths: &[impl AsRef<Path>]) -> Result<Trace, TraceError> {
    trace::with_worlds(paths, open_one)
}

/// Opens a trace in any format, and not the traces of other worlds.
///
/// # Errors
/// As [`open`].
pub fn open_one(paths: &[&Path]) -> Result<Trace, TraceError> {
    trace::open(paths, FOREIGN.iter().chain(NATIVE).copied())
}
