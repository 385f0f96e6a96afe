//! Traces in the formats of other tools, and in titr's own.
//!
//! To add a format, write it in a module of this folder and name it in [`FORMATS`]. Formats of timelines are added in
//! [`timeline`](crate::timeline).

mod error;
mod function_name;
mod goal;
mod message_pairs;
mod otf2;
mod paraver;
mod rank_files;
pub mod simgrid;
pub mod ti;
mod timed_calls;

use std::path::{Path, PathBuf};

use titr_common::collectives::Selection;
use titr_common::trace::Trace;
use titr_common::units::Bytes;

pub use error::ConvertError;
pub(crate) use message_pairs::{Channel, MessagePairs};

/// A format that traces are converted to.
pub struct OutputFormat {
    /// The name of the format.
    pub name: &'static str,
    /// The use of the format, in a few words.
    pub about: &'static str,
    /// The files that are written for a place; none for a directory, which has to be new or empty.
    pub files: fn(&Path) -> Vec<PathBuf>,
    /// Writes a trace to a place: a directory that is new or empty, or a file.
    pub convert: fn(&Trace, &Rules, &Path) -> Result<ConversionNotes, ConvertError>,
}

/// All formats except timelines.
pub static FORMATS: &[OutputFormat] =
    &[simgrid::SIMGRID, ti::TI, goal::GOAL, goal::GOAL_BINARY, otf2::OTF2, paraver::PARAVER];

/// The translation of calls that a format cannot express.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The algorithms of collectives.
    pub collectives: Selection,
    /// Sends of fewer bytes complete at once.
    pub eager_threshold: Bytes,
}

/// The outcome of a conversion, for the user.
#[derive(Clone, Debug)]
pub struct ConversionNotes {
    /// A sentence on the written files.
    pub written: String,
    /// A sentence for each kind of difference from the trace.
    pub differences: Vec<String>,
}
