//! The trace that a command is given.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use titr_common::trace::{Trace, TraceError};
use titr_formats::input;

/// Where the trace is.
#[derive(Debug, Args)]
pub(super) struct TraceArgs {
    /// A trace directory, an archive of one, an index of SimGrid's, or one text file; or several directories and archives
    /// that each hold a part of one trace.
    #[arg(value_name = "TRACE", required = true)]
    places: Vec<PathBuf>,
}

impl TraceArgs {
    pub(super) fn open(&self) -> Result<Trace, TraceError> {
        input::open(&self.places)
    }
}

impl fmt::Display for TraceArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, place) in self.places.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { " " } else { "" }, place.display())?;
        }
        Ok(())
    }
}
