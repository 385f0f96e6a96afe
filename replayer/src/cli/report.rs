//! Options for the forms that results are written in.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::program::EVERY_ITERATION;
use crate::report::{Results, csv};

/// The options of the forms.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(super) struct ReportArgs {
    /// Prints one JSON object instead of a summary.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Also writes tables as CSV files into this directory: the summary (also as text), ranks, links, channels and hops, or the
    /// points of a curve.
    #[arg(long, value_name = "DIRECTORY")]
    csv: Option<PathBuf>,
    /// Selects the form of the result on standard output [default: text].
    #[arg(long, value_name = "FORM")]
    format: Option<Printed>,
    /// Tries changes of the machine in further replays, and adds the one that saves most to the JSON object. A summary has it
    /// anyway, unless iterations are left out.
    #[arg(long, group = EVERY_ITERATION)]
    pub(super) suggest: bool,
    /// Prints neither a summary nor how far the replay is.
    #[arg(long, short)]
    pub(super) quiet: bool,
}

/// A form that is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Printed {
    Text,
    Json,
}

impl ReportArgs {
    /// Whether the summary for people is to be printed.
    pub(super) fn has_summary(&self) -> bool {
        !self.prints_json() && !self.quiet
    }

    /// Whether changes are to be tried.
    pub(super) fn suggests(&self) -> bool {
        self.suggest || self.has_summary()
    }

    fn prints_json(&self) -> bool {
        self.json || self.format == Some(Printed::Json)
    }

    /// The files that may be written.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.csv.iter().flat_map(|directory| csv::files(directory))
    }

    /// Writes `results` in all forms that are asked for, but the summary.
    pub(super) fn write(&self, results: Results, out: &mut impl Write) -> io::Result<()> {
        if let Some(directory) = &self.csv {
            csv::write(results, directory)?;
        }
        if self.prints_json() {
            super::print_json(&results, out)?;
        }
        Ok(())
    }
}
