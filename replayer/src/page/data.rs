//! The data that a page is drawn from, as one object.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use titr_analyses::AnalysedResult;
use titr_analyses::diff::Difference;
use titr_simulation::result::LinkUse;
use titr_timeline::Series;

use super::detail::{ACTIVITY_NAMES, Detailed};
use super::overview::{ActivityMap, PairMap};
use super::units::Unit;
use super::{Detail, Overview};

/// The command and the platform file of a result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Origin {
    /// The words of the command line.
    pub command: Vec<String>,
    /// The path of the platform file.
    pub platform: String,
    /// The text of the platform file.
    pub platform_text: String,
}

/// The data of a page.
#[derive(Serialize, JsonSchema)]
pub struct PageData<'a> {
    /// The version of titr.
    version: &'static str,
    /// The names of the activities, by their numbers.
    activities: [&'static str; 6],
    /// The command and the platform file of the result.
    origin: &'a Origin,
    /// The result.
    result: &'a AnalysedResult,
    /// The units of the numbers in the findings of analyses, by their keys.
    units: BTreeMap<String, Unit>,
    /// All links that carried anything, busiest first.
    links: &'a [LinkUse],
    /// The load of the busiest links over time.
    loads: Vec<LinkLoad<'a>>,
    /// The shares of activities in cells of ranks and time.
    map: ActivityMap,
    /// The communication matrix.
    matrix: PairMap,
    /// Whether states and messages are shown one by one.
    detailed: Detailed,
    /// The states and messages that are shown one by one.
    detail: &'a Detail,
    /// The result compared with an earlier one; `None` if there is none.
    comparison: Option<&'a Difference>,
}

/// The load of a link over time.
#[derive(Serialize, JsonSchema)]
struct LinkLoad<'a> {
    /// The name of the link.
    name: &'a str,
    /// Pairs of a time in seconds and the load from that time on, in percent of the link's bandwidth.
    samples: Vec<(f64, f64)>,
}

impl<'a> PageData<'a> {
    /// The page of a result, with the recorder's findings, the load of links over time, and a result to compare with.
    #[must_use]
    pub fn new(
        origin: &'a Origin,
        result: &'a AnalysedResult,
        (overview, detail): (&Overview, &'a Detail),
        loads: &'a [Series],
        comparison: Option<&'a Difference>,
    ) -> Self {
        let load = |series: &'a Series| {
            let samples = series.samples.iter().map(|&(at, percent)| (at.seconds().0, (percent * 10.0).round() / 10.0));
            LinkLoad { name: &series.name, samples: samples.collect() }
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            activities: ACTIVITY_NAMES,
            origin,
            result,
            units: Unit::of_findings(),
            links: &result.all_links,
            loads: loads.iter().map(load).collect(),
            map: overview.activities(),
            matrix: overview.matrix(),
            detailed: detail.detailed(),
            detail,
            comparison,
        }
    }
}
