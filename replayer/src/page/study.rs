//! The page of a study: its machines ranked, time against price, and the time against each axis.

use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::{with_charts, write_page};
use crate::studies::{Inputs, PointOutcome, Ranking};

/// Parts of the script, in the order in which they build on each other.
pub(super) const SCRIPTS: [&str; 3] =
    with_charts(concat!(include_str!("assets/curves.js"), include_str!("assets/study.js")));

/// The data of the page of a study.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StudyPage<'a> {
    /// The version of titr.
    version: &'static str,
    /// The name of the study.
    study: String,
    /// The axes.
    axes: Vec<StudyAxis<'a>>,
    /// The machines, ranked.
    ranking: &'a Ranking,
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
    /// Whether all values are numbers of one unit.
    is_numeric: bool,
}

/// A point of a study.
#[derive(Debug, Serialize, JsonSchema)]
struct StudyPoint<'a> {
    /// The number of the point, from 1.
    number: usize,
    /// The values of the axes.
    settings: Vec<ShownSetting>,
    /// The outcome.
    outcome: &'a PointOutcome,
}

/// A value of an axis.
#[derive(Debug, Serialize, JsonSchema)]
struct ShownSetting {
    /// The value in few words.
    shown: String,
    /// The number in SI units; `None` if the value is no number.
    number: Option<f64>,
}

impl<'a> StudyPage<'a> {
    /// The page of a study with the outcomes of all points.
    pub(crate) fn new(
        name: &Path,
        inputs: &'a Inputs,
        (outcomes, ranking): (&'a [PointOutcome], &'a Ranking),
        has_reports: bool,
    ) -> Self {
        let axes: Vec<_> = inputs.study.varied().collect();
        let point = |(number, outcome): (usize, &'a PointOutcome)| {
            let settings = inputs.settings(number);
            let setting = |(axis, _): &(usize, _)| {
                settings.get(*axis).map(|setting| ShownSetting {
                    shown: inputs.value_name(number, *axis),
                    number: setting.magnitude.map(|magnitude| magnitude.number),
                })
            };
            StudyPoint { number: number + 1, settings: axes.iter().filter_map(setting).collect(), outcome }
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            study: name.display().to_string(),
            ranking,
            points: outcomes.iter().enumerate().map(point).collect(),
            axes: axes
                .iter()
                .map(|(_, axis)| StudyAxis { name: axis.key.name(), is_numeric: axis.unit().is_some() })
                .collect(),
            has_reports,
        }
    }

    /// Writes the page.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        write_page(self, &SCRIPTS, path)
    }
}
