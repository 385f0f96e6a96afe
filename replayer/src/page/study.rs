//! The page of a study: the time against each axis, main effects, and the Pareto front of time and cost.

use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::output::OutputFile;
use titr_studies::{Inputs, PointOutcome};

use super::{document, with_charts};

/// Parts of the script, in the order in which they build on each other.
pub(super) const SCRIPTS: [&str; 6] = with_charts(include_str!("assets/study.js"));

/// The data of the page of a study.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StudyPage<'a> {
    /// The version of titr.
    version: &'static str,
    /// The name of the study.
    study: String,
    /// The axes.
    axes: Vec<StudyAxis<'a>>,
    /// The points, in the order of the table of results.
    points: Vec<StudyPoint<'a>>,
    /// Whether each point has a report in `points/`.
    has_reports: bool,
}

/// An axis of a study.
#[derive(Debug, Serialize, JsonSchema)]
struct StudyAxis<'a> {
    /// The name of the axis.
    name: &'a str,
    /// The unit of all values; `None` if they are not numbers of one unit.
    unit: Option<&'static str>,
}

/// A point of a study.
#[derive(Debug, Serialize, JsonSchema)]
struct StudyPoint<'a> {
    /// The number of the point, from 1.
    number: usize,
    /// The values of the axes.
    settings: Vec<ShownSetting<'a>>,
    /// The outcome.
    outcome: &'a PointOutcome,
}

/// A value of an axis.
#[derive(Debug, Serialize, JsonSchema)]
struct ShownSetting<'a> {
    /// The value as it is written.
    shown: &'a str,
    /// The number in SI units; `None` if the value is no number.
    number: Option<f64>,
}

impl<'a> StudyPage<'a> {
    /// The page of a study with the outcomes of all points.
    #[must_use]
    pub(crate) fn new(name: &Path, inputs: &'a Inputs, outcomes: &'a [PointOutcome], has_reports: bool) -> Self {
        let axes: Vec<_> = inputs.study.varied().collect();
        let point = |(number, outcome): (usize, &'a PointOutcome)| {
            let settings = inputs.settings(number);
            let setting = |(axis, _): &(usize, _)| {
                settings.get(*axis).map(|setting| ShownSetting {
                    shown: &setting.shown,
                    number: setting.magnitude.map(|magnitude| magnitude.number),
                })
            };
            StudyPoint { number: number + 1, settings: axes.iter().filter_map(setting).collect(), outcome }
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            study: name.display().to_string(),
            points: outcomes.iter().enumerate().map(point).collect(),
            axes: axes.iter().map(|(_, axis)| StudyAxis { name: axis.key.name(), unit: axis.unit() }).collect(),
            has_reports,
        }
    }

    /// Writes the page.
    ///
    /// # Errors
    /// If the data cannot be serialised, or the file not be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        OutputFile::write(path, document(self, &SCRIPTS)?.as_bytes())
    }
}
