//! Traces on disk: a directory with one gzip stream per rank and a manifest, as titr writes it, or parts of one in several
//! directories, or all of it in one archive; and what SimGrid takes, an index of files or one file. [`Trace`] is any of them,
//! opened, or a trace of another tool whose [format](TraceFormat) is known.
//!
//! A stream is a series of gzip members, a member for each buffer that the tracer flushed, so that whatever ends the
//! program costs at most the last buffer: a reader takes every complete member and reports the torn tail. A stream that
//! is complete ends with `# end EVENTS`.

mod archive;
pub mod directory;
pub mod encounter;
mod ended;
mod error;
mod event_source;
mod format;
mod gather;
mod lines;
mod located;
pub mod manifest;
mod opened;
mod own_file;
mod part;
pub mod part_calls;
mod passed;
pub mod process_time;
pub mod rank_times;
mod rank_writer;
mod recorded_part;
mod section;
mod shared_file;
mod stream;
mod text_stream;
mod transformation;
mod worlds;
mod writer;

pub use archive::{ArchiveWriter, unfinished};
pub use error::TraceError;
pub use event_source::{EventSource, Passing};
pub use format::{Candidate, NATIVE, TraceFormat, open};
pub use gather::{Gathered, gather};
pub use located::{Located, LocatedEvents, Location};
pub use manifest::Manifest;
pub use opened::{RankSources, Trace, World};
pub use own_file::{OwnFile, Placement};
pub use passed::{Passed, has_letter};
pub use rank_writer::RankWriter;
pub use section::Section;
pub use stream::{Ending, RankStream};
pub use transformation::Transformation;
pub use worlds::with_worlds;
pub use writer::{FinishedStream, StreamWriter};
