//! Options for the page that shows a replay.

use std::path::{Path, PathBuf};

use clap::Args;
use titr_analyses::diff::ReplayedResult;
use titr_analyses::{ANALYSES, AnalysedResult};
use titr_common::input::{self, WRITTEN_BY_PROGRAM};
use titr_timeline::Series;

use super::Failure;
use super::program::EVERY_ITERATION;
use crate::page::{Origin, PageData, Recorder, write};

/// The analysis that has its own picture on the page.
const DRAWN: &str = "matrix";

/// The page that is asked for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Page")]
pub(super) struct PageArgs {
    /// Also writes one page to look at, as a file of HTML with everything in it: where the time goes, ranks, timeline,
    /// messages, links, and the findings of all analyses.
    #[arg(long = "report", value_name = "FILE", group = EVERY_ITERATION)]
    file: Option<PathBuf>,
    /// Compares on the page with this earlier result of --json.
    #[arg(long, value_name = "BEFORE.json", requires = "file")]
    compare: Option<PathBuf>,
}

impl PageArgs {
    /// Whether a page is asked for.
    pub(super) fn is_asked_for(&self) -> bool {
        self.file.is_some()
    }

    /// The file that is going to be written, if one is.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The result that the page compares with, if it compares.
    pub(super) fn compared(&self) -> Option<&Path> {
        self.compare.as_deref()
    }

    /// The analyses that are to be made where these were asked for: a page shows the findings of all.
    pub(super) fn analyses<'a>(&self, asked_for: &'a [String]) -> Vec<&'a str> {
        let mut names: Vec<&str> = asked_for.iter().map(String::as_str).collect();
        if self.is_asked_for() {
            let others = ANALYSES.iter().map(|kind| kind.name).filter(|name| *name != DRAWN);
            names.extend(others.filter(|name| !asked_for.iter().any(|asked| asked == name)));
        }
        names
    }

    /// Writes the page of what `recorder` has recorded.
    pub(super) fn write(
        &self,
        recorder: Recorder,
        result: &AnalysedResult,
        loads: &[Series],
        platform: &Path,
    ) -> Result<(), Failure> {
        let Some(path) = &self.file else { return Ok(()) };
        let comparison = match &self.compare {
            Some(before) => Some(ReplayedResult::read(before)?.to(&ReplayedResult::of(result))),
            None => None,
        };
        let origin = Origin {
            command: std::env::args().collect(),
            platform: platform.display().to_string(),
            platform_text: input::read_text(platform, WRITTEN_BY_PROGRAM)?,
        };
        let (overview, detail) = recorder.finish();
        let data = PageData::new(&origin, result, (&overview, &detail), loads, comparison.as_ref());
        Ok(write(&data, path)?)
    }
}
