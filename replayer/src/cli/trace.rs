//! The trace that a command is given.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use titr_common::terminal::on_one_line;
use titr_common::trace::{Trace, TraceError};
use titr_formats::input::{self, READINGS, Readings};
use titr_platform::Platform;

/// The arguments that name a trace.
#[derive(Debug, Args)]
pub(super) struct TraceArgs {
    /// A trace: a directory, an archive, an index of SimGrid, or one text file. You can name several directories and
    /// archives: the parts of one trace, or the traces of several worlds of one program.
    #[arg(value_name = "TRACE", required = true, help_heading = None::<&str>)]
    places: Vec<PathBuf>,
    /// Chooses a reading of a trace of another tool, where the format leaves it open. The option can be given several times.
    #[arg(long = "reading", value_name = "READING", value_parser = readings())]
    readings: Vec<String>,
}

/// The readings that can be chosen.
fn readings() -> PossibleValuesParser {
    let values = READINGS.iter().map(|reading| PossibleValue::new(reading.name).help(reading.about));
    values.collect::<Vec<_>>().into()
}

impl TraceArgs {
    fn readings(&self) -> Readings {
        Readings::of(self.readings.iter().map(String::as_str))
    }

    /// The file of jobs that was named in place of a trace, if one was.
    pub(super) fn job_file(&self) -> Option<&Path> {
        match self.places.as_slice() {
            [only] if only.extension().is_some_and(|extension| extension == "toml") => Some(only),
            _ => None,
        }
    }

    /// The trace, and with it those of the worlds that its ranks have met.
    pub(super) fn open(&self) -> Result<Trace, TraceError> {
        self.refuse_platforms()?;
        input::open_read_as(&self.places, &self.readings())
    }

    /// As [`open`](Self::open). With `partial`, a torn trace ends where it is torn; a trace without any event remains
    /// an error.
    pub(super) fn open_partial(&self, partial: bool) -> Result<Trace, TraceError> {
        self.open()?.partial_unless_empty(partial)
    }

    /// The trace of one world, as it was written.
    pub(super) fn open_one(&self) -> Result<Trace, TraceError> {
        self.refuse_platforms()?;
        input::open_one_read_as(&self.places.iter().map(PathBuf::as_path).collect::<Vec<_>>(), &self.readings())
    }

    fn refuse_platforms(&self) -> Result<(), TraceError> {
        let is_platform = |place: &&PathBuf| Platform::is_line(&place.to_string_lossy()) && !place.exists();
        let what = "this is a platform, where a trace is expected: it stands after --platform".to_owned();
        self.places
            .iter()
            .find(is_platform)
            .map_or(Ok(()), |path| Err(TraceError::Directory { path: path.into(), what }))
    }
}

impl fmt::Display for TraceArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, place) in self.places.iter().enumerate() {
            let name = place.display().to_string();
            write!(f, "{}{}", if index > 0 { " " } else { "" }, on_one_line(&name))?;
        }
        Ok(())
    }
}
