//! Timelines in the formats of viewers, and the timelines of recorded time.
//!
//! To add a format, write it in a file of this folder and name it in [`FORMATS`].

mod csv;
mod paje;
mod perfetto;
mod protobuf;
pub mod recorded;

use std::io;
use std::path::{Path, PathBuf};

use titr_common::timeline::{Excerpted, Subject, TimelineWriter};

/// A format that viewers read.
pub struct TimelineFormat {
    /// The name of the format.
    pub name: &'static str,
    /// The programs that read the format.
    pub viewers: &'static str,
    /// Begins a file, or several with the same name except for the ending.
    begin: Begin,
    /// The files that are written for a path.
    files: fn(&Path) -> Vec<PathBuf>,
}

type Begin = fn(&Path, &Subject) -> io::Result<Box<dyn TimelineWriter>>;

impl TimelineFormat {
    /// The files that are written for `path`: this one, and those that belong beside it.
    #[must_use]
    pub fn files(&self, path: &Path) -> Vec<PathBuf> {
        (self.files)(path)
    }

    /// Begins a file at `path`, with no more in it than the excerpt.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn begin(&self, path: &Path, subject: &Subject) -> io::Result<Box<dyn TimelineWriter>> {
        let writer = (self.begin)(path, subject)?;
        Ok(if subject.excerpt.is_everything() { writer } else { Box::new(Excerpted::new(writer, subject)) })
    }
}

/// All formats of timelines.
pub static FORMATS: &[TimelineFormat] = &[paje::PAJE, perfetto::PERFETTO, csv::CSV];
