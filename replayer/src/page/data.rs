//! The object that a page is drawn from.

use serde::Serialize;
use titr_analyses::AnalysedResult;
use titr_analyses::diff::Difference;
use titr_formats::timeline::Series;
use titr_simulation::result::LinkUse;

use super::detail::ACTIVITY_NAMES;
use super::overview::{ActivityMap, PairMap};
use super::{Detail, Overview};

/// Where a result comes from.
#[derive(Clone, Debug, Serialize)]
pub struct Origin {
    /// The words of the command.
    pub command: Vec<String>,
    /// The path of the platform file.
    pub platform: String,
    /// The text of the platform file.
    pub platform_text: String,
}

/// Everything on a page.
#[derive(Serialize)]
pub struct PageData<'a> {
    version: &'static str,
    activities: [&'static str; 6],
    origin: &'a Origin,
    result: &'a AnalysedResult,
    links: &'a [LinkUse],
    /// The load of the busiest links over time: a name, and times in seconds with percentages.
    loads: Vec<(&'a str, Vec<(f64, f64)>)>,
    map: ActivityMap,
    matrix: PairMap,
    /// Whether states, and messages, are shown one by one.
    detailed: (bool, bool),
    detail: &'a Detail,
    comparison: Option<&'a Difference>,
}

impl<'a> PageData<'a> {
    /// The page of a result, with what a recorder found, the load of links over time, and what it is compared with.
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
            (series.name.as_str(), samples.collect())
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            activities: ACTIVITY_NAMES,
            origin,
            result,
            links: &result.all_links,
            loads: loads.iter().map(load).collect(),
            map: overview.activities(),
            matrix: overview.matrix(),
            detailed: detail.is_whole(),
            detail,
            comparison,
        }
    }
}
