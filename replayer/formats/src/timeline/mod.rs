//! Timelines in the formats of viewers, and the timelines of recorded time.
//!
//! To add a format, write it in a file of this folder and name it in [`FORMATS`].

mod csv;
mod paje;
mod perfetto;
mod protobuf;
pub mod recorded;

use std::path::Path;
use std::{fmt, io};

use titr_common::time::Time;
use titr_common::timeline::{Excerpted, Subject, TimelineWriter};

/// A format that viewers read.
pub struct TimelineFormat {
    /// The name of the format.
    pub name: &'static str,
    /// The programs that read the format.
    pub viewers: &'static str,
    /// Begins a file.
    begin: Begin,
}

type Begin = fn(&Path, &Subject) -> io::Result<Box<dyn TimelineWriter>>;

impl TimelineFormat {
    /// Begins a file at `path`, with no more in it than the excerpt.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn begin(&self, path: &Path, subject: &Subject) -> io::Result<Box<dyn TimelineWriter>> {
        let writer = (self.begin)(path, subject)?;
        Ok(if subject.excerpt.is_everything() { writer } else { Box::new(Excerpted::new(writer, subject)) })
    }
}

/// Whole picoseconds, shown in seconds.
struct Decimal(Time);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Time(picoseconds) = self.0;
        write!(f, "{}.{:012}", picoseconds / 1_000_000_000_000, picoseconds % 1_000_000_000_000)
    }
}

/// All formats of timelines.
pub static FORMATS: &[TimelineFormat] = &[paje::PAJE, perfetto::PERFETTO, csv::CSV];
