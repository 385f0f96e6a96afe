//! The difference between two results of `titr-replay --json`: of a program and a changed one, or on two machines.

mod text;
mod waits;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use titr_common::format::counted;
use titr_common::input::{self, WRITTEN_BY_PROGRAM};
use titr_simulation::SimulationResult;

pub use text::summary;
use waits::WaitFindings;
pub use waits::{CauseChange, PlaceChange, ProgramPlace, WaitChanges};

/// The parts of a result that are compared.
#[derive(Clone, Debug, Deserialize)]
pub struct ReplayedResult {
    simulated_time: f64,
    /// The seconds of each rank by activity, and when the rank finished.
    per_rank: Vec<BTreeMap<String, f64>>,
    links: Vec<BusyLink>,
    #[serde(default)]
    analyses: Analyses,
}

/// The findings of the analyses that are compared.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Analyses {
    wait_states: Option<WaitFindings>,
}

/// A link of a result.
#[derive(Clone, Debug, Deserialize)]
struct BusyLink {
    name: String,
    bytes: u64,
    #[serde(rename = "use")]
    utilization: f64,
}

/// The entry of a rank's times that is no activity.
const FINISH: &str = "finish";

/// A number before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Change {
    /// The number in the first result.
    pub before: f64,
    /// The number in the second result.
    pub after: f64,
}

/// The gains and losses of one result against another. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The predicted time.
    pub simulated_time: Change,
    /// The time of each activity, in the mean over the ranks.
    pub activities: BTreeMap<String, Change>,
    /// The time of each rank by activity, and when it finished.
    pub per_rank: Vec<BTreeMap<String, Change>>,
    /// The links that are among the busiest of either result, in the order of the first and then of the second one.
    pub links: Vec<LinkChange>,
    /// The wait states, if both results have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitChanges>,
}

/// A link before and after; `None` where a result does not have it among its busiest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkChange {
    /// The name of the link.
    pub name: String,
    /// The link in the first result.
    pub before: Option<LinkShare>,
    /// The link in the second result.
    pub after: Option<LinkShare>,
}

/// The traffic over a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkShare {
    /// The payload.
    pub bytes: u64,
    /// The payload as a part of what the link could have carried.
    #[serde(rename = "use")]
    pub utilization: f64,
}

/// A reason why two results cannot be compared.
#[derive(Debug, Error)]
pub enum DiffError {
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A file holds no result.
    #[error("{}:{}:{}: this is no result of titr-replay --json: {error}", path.display(), error.line(), error.column())]
    NoResult {
        /// The file.
        path: PathBuf,
        /// The first thing that is wrong.
        error: serde_json::Error,
    },
    /// The results are of different programs.
    #[error(
        "one result is of {} and the other of {after}: their ranks do not correspond",
        counted(*before, "rank", "ranks")
    )]
    Ranks {
        /// The ranks of the first result.
        before: usize,
        /// The ranks of the second result.
        after: usize,
    },
}

impl ReplayedResult {
    /// Reads a result.
    ///
    /// # Errors
    /// If the file cannot be read, or holds no result.
    pub fn read(path: &Path) -> Result<Self, DiffError> {
        let text = input::read_text(path, WRITTEN_BY_PROGRAM)
            .map_err(|error| DiffError::Unreadable { path: path.to_owned(), error })?;
        serde_json::from_str(&text).map_err(|error| DiffError::NoResult { path: path.to_owned(), error })
    }

    /// The compared parts of a result that was not written yet.
    ///
    /// # Errors
    /// If the result cannot be serialised.
    pub fn of(result: &SimulationResult) -> serde_json::Result<Self> {
        serde_json::from_value(serde_json::to_value(result)?)
    }

    /// The difference to a result that came `after`.
    ///
    /// # Errors
    /// If the results are of different numbers of ranks.
    pub fn to(&self, after: &Self) -> Result<Difference, DiffError> {
        let (ranks, others) = (self.per_rank.len(), after.per_rank.len());
        if ranks != others {
            return Err(DiffError::Ranks { before: ranks, after: others });
        }
        let per_rank: Vec<_> =
            self.per_rank.iter().zip(&after.per_rank).map(|(one, other)| changes(one, other)).collect();
        let mut activities: BTreeMap<String, Change> = BTreeMap::new();
        for (activity, change) in per_rank.iter().flatten().filter(|(activity, _)| *activity != FINISH) {
            let sum = activities.entry(activity.clone()).or_default();
            sum.before += change.before / ranks as f64;
            sum.after += change.after / ranks as f64;
        }
        let simulated_time = Change { before: self.simulated_time, after: after.simulated_time };
        let both = self.analyses.wait_states.as_ref().zip(after.analyses.wait_states.as_ref());
        let waits = both.map(|(before, after)| before.to(after, ranks));
        Ok(Difference { simulated_time, activities, per_rank, links: links(&self.links, &after.links), waits })
    }
}

fn changes(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>) -> BTreeMap<String, Change> {
    let time = |times: &BTreeMap<String, f64>, name: &str| times.get(name).copied().unwrap_or(0.0);
    let change = |name: &String| (name.clone(), Change { before: time(before, name), after: time(after, name) });
    before.keys().chain(after.keys()).map(change).collect()
}

fn links(before: &[BusyLink], after: &[BusyLink]) -> Vec<LinkChange> {
    let find = |links: &[BusyLink], name: &str| {
        let found = links.iter().find(|link| link.name == name);
        found.map(|link| LinkShare { bytes: link.bytes, utilization: link.utilization })
    };
    let new = after.iter().filter(|link| find(before, &link.name).is_none());
    let change = |BusyLink { name, .. }: &BusyLink| LinkChange {
        name: name.clone(),
        before: find(before, name),
        after: find(after, name),
    };
    before.iter().chain(new).map(change).collect()
}

impl Change {
    /// How much more the second number is.
    #[must_use]
    pub fn gain(self) -> f64 {
        self.after - self.before
    }
}

impl Difference {
    /// The ranks and when they finish, those first whose finish changes most.
    #[must_use]
    pub fn finishes(&self) -> Vec<(usize, Change)> {
        let finish = |(rank, times): (usize, &BTreeMap<String, Change>)| Some((rank, *times.get(FINISH)?));
        let mut finishes: Vec<_> = self.per_rank.iter().enumerate().filter_map(finish).collect();
        // Stable: ranks that change as much stay in their order.
        finishes.sort_by(|(_, one), (_, other)| other.gain().abs().total_cmp(&one.gain().abs()));
        finishes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(times: &[(f64, f64)], links: &[(&str, u64)]) -> ReplayedResult {
        let rank = |&(compute, finish): &(f64, f64)| {
            BTreeMap::from([("compute".to_owned(), compute), (FINISH.to_owned(), finish)])
        };
        let link = |&(name, bytes): &(&str, u64)| BusyLink { name: name.to_owned(), bytes, utilization: 0.5 };
        let simulated_time = times.iter().map(|&(_, finish)| finish).fold(0.0, f64::max);
        let (per_rank, links) = (times.iter().map(rank).collect(), links.iter().map(link).collect());
        ReplayedResult { simulated_time, per_rank, links, analyses: Analyses::default() }
    }

    #[test]
    fn each_part_is_compared_with_its_counterpart() {
        let before = result(&[(1.0, 4.0), (3.0, 4.0)], &[("a", 10), ("b", 5)]);
        let after = result(&[(2.0, 3.0), (2.0, 3.5)], &[("c", 7), ("a", 4)]);
        let difference = before.to(&after).unwrap();
        assert_eq!(difference.simulated_time, Change { before: 4.0, after: 3.5 });
        assert_eq!(difference.activities["compute"], Change { before: 2.0, after: 2.0 });
        assert_eq!(difference.activities.len(), 1);
        assert_eq!(difference.per_rank[0]["compute"].gain(), 1.0);
        assert_eq!(difference.finishes().iter().map(|&(rank, _)| rank).collect::<Vec<_>>(), [0, 1]);
        let bytes = |share: &Option<LinkShare>| share.map(|share| share.bytes);
        let links: Vec<_> =
            difference.links.iter().map(|link| (&*link.name, bytes(&link.before), bytes(&link.after))).collect();
        assert_eq!(links, [("a", Some(10), Some(4)), ("b", Some(5), None), ("c", None, Some(7))]);
    }

    #[test]
    fn results_of_other_programs_are_refused() {
        let error = result(&[(1.0, 1.0)], &[]).to(&result(&[], &[])).unwrap_err();
        assert!(error.to_string().starts_with("one result is of 1 rank and the other of 0"));
    }
}
