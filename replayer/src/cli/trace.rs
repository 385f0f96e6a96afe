//! The trace that a command is given.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use titr_common::trace::{Source, TraceError};

/// Where the trace is.
#[derive(Debug, Args)]
pub(super) struct Trace {
    /// A trace directory, an archive of one, an index of SimGrid's, or one text file; or several directories and archives
    /// that each hold a part of one trace.
    #[arg(value_name = "TRACE", required = true)]
    places: Vec<PathBuf>,
}

impl Trace {
    pub(super) fn open(&self) -> Result<Source, TraceError> {
        Source::open_all(&self.places)
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, place) in self.places.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { " " } else { "" }, place.display())?;
        }
        Ok(())
    }
}
