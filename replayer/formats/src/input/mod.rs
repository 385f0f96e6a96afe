//! Trace formats for reading: titr's own, SimGrid's, and others.
//!
//! To add a format, implement [`TraceFormat`] in a file of this folder and name it in [`FOREIGN`].

mod chakra;
mod dumpi;
mod functions;
pub(crate) mod goal;
mod liballprof;
mod no_trace;
pub(crate) mod notes;
pub(crate) mod otf2;
pub(crate) mod paraver;
mod rank_events;
mod readings;
mod requests;

use std::path::Path;

use titr_common::trace::{self, NATIVE, Trace, TraceError, TraceFormat};

pub use readings::{READINGS, Readings, TraceReading};

/// Makes a format with the readings that the user has chosen.
type FormatReadAs = fn(&Readings) -> Box<dyn TraceFormat>;

/// Formats of other tools. They are asked before titr's own, which takes every directory and every text.
/// The last one recognises files that are no traces at all.
static FOREIGN: &[FormatReadAs] = &[
    |readings| Box::new(otf2::Otf2 { bytes: readings.otf2_bytes }),
    |readings| Box::new(dumpi::Dumpi { minus_one_is_nobody: readings.minus_one_is_nobody }),
    |_| Box::new(liballprof::Liballprof),
    |_| Box::new(paraver::Prv),
    |_| Box::new(goal::GoalText),
    |_| Box::new(goal::GoalBinary),
    |_| Box::new(chakra::Chakra),
    |_| Box::new(no_trace::NoTrace),
];

/// Opens a trace in any format: one file or directory, or the parts of one trace; and the traces of the worlds that its
/// ranks have spawned or connected to.
///
/// # Errors
/// If there is nothing at a path, or the trace cannot be opened.
pub fn open(paths: &[impl AsRef<Path>]) -> Result<Trace, TraceError> {
    open_read_as(paths, &Readings::default())
}

/// Opens a trace as [`open`] does, with the readings that were chosen.
///
/// # Errors
/// As [`open`].
pub fn open_read_as(paths: &[impl AsRef<Path>], readings: &Readings) -> Result<Trace, TraceError> {
    trace::with_worlds(paths, |paths| open_one_read_as(paths, readings))
}

/// Opens a trace in any format, and not the traces of other worlds.
///
/// # Errors
/// As [`open`].
pub fn open_one(paths: &[&Path]) -> Result<Trace, TraceError> {
    open_one_read_as(paths, &Readings::default())
}

/// Opens a trace as [`open_one`] does, with the readings that were chosen.
///
/// # Errors
/// As [`open`].
pub fn open_one_read_as(paths: &[&Path], readings: &Readings) -> Result<Trace, TraceError> {
    let foreign: Vec<Box<dyn TraceFormat>> = FOREIGN.iter().map(|format| format(readings)).collect();
    trace::open(paths, foreign.iter().map(|format| &**format).chain(NATIVE.iter().copied()))
}
