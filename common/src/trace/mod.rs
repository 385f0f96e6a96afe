//! Traces on disk: titr's directory with one gzip stream per rank and a manifest, or parts of it in several
//! directories, or all of it in one archive; and SimGrid's index of files or single file. A [`Trace`] is an opened
//! trace of any of these kinds, or of another tool whose [format](TraceFormat) is known.
//!
//! A stream is a series of gzip members, one for each buffer that the tracer flushed, so that a crash of the program
//! costs at most the last buffer: a reader accepts every complete member and reports the incomplete tail. A complete
//! stream ends with `# end EVENTS`.

mod archive;
pub mod combined;
pub mod directory;
pub mod encounter;
mod ended;
mod error;
mod event_source;
mod format;
mod gather;
mod kept;
mod lines;
mod located;
pub mod manifest;
mod manifest_file;
mod opened;
mod own_file;
mod part;
pub mod process_time;
mod rank_writer;
mod recorded_part;
mod section;
mod shared_file;
mod skipped;
mod stream;
mod text_stream;
mod transformation;
mod worlds;
mod writer;

pub use archive::ArchiveWriter;
pub use error::TraceError;
pub use event_source::{EventOrigin, EventSource, SkipSupport};
pub use format::{Candidate, NATIVE, TraceFormat, open};
pub use gather::{Gathered, gather, name_call_sites};
pub use lines::Lines;
pub use located::{Located, LocatedEvents, Location};
pub use manifest::Manifest;
pub use opened::{RankSources, Trace, World};
pub use own_file::{OwnFile, Placement};
pub use rank_writer::RankWriter;
pub use section::Section;
pub use skipped::SkippedEvents;
pub use stream::{Ending, RankStream};
pub use transformation::{ChangeEvents, ChangedEvents, Transformation};
pub use worlds::{side_by_side, with_worlds};
pub use writer::{FinishedStream, StreamWriter};
