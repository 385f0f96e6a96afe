//! The difference between two results of `titr replay --json`: of a program and a changed version, or on two machines.

mod waits;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use titr_common::format::counted;
use titr_common::input::{self, WRITTEN_BY_PROGRAM};
use titr_common::units::{Bytes, Instructions, Seconds};
use titr_simulation::Efficiencies;
use titr_simulation::observe::Shares;
use titr_simulation::recording::Recording;
use titr_simulation::result::LinkUse;

use titr_analyses::{AnalysedResult, Findings};

pub(crate) use waits::{CauseChange, PlaceChange, WaitChanges};

/// The parts of a result that are compared.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ReplayedResult {
    pub(crate) simulated_time: Seconds,
    #[serde(default)]
    uncertainty: Option<f64>,
    #[serde(default)]
    pub(crate) recording: Option<Recording>,
    /// The ranks that wait for ever; with any, the simulated time is no prediction.
    #[serde(default)]
    pub(crate) waiting_ranks: u64,
    #[serde(default)]
    pub(crate) computed: Instructions,
    pub(crate) per_rank: Vec<Shares>,
    /// The efficiencies with the factors of communication, if the result has them.
    #[serde(default)]
    pub(crate) efficiencies: Option<Efficiencies>,
    links: Vec<LinkUse>,
    #[serde(default)]
    analyses: Findings,
}

/// A time before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Change {
    /// The number in the first result, in seconds.
    pub(crate) before: f64,
    /// The number in the second result, in seconds.
    pub(crate) after: f64,
}

/// The gains and losses of one result against another. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// The predicted time.
    pub(crate) simulated_time: Change,
    /// The number of ranks of each result.
    pub(crate) ranks: [usize; 2],
    /// What to know before the comparison, a sentence each: other programs, a difference within the spread.
    pub(crate) remarks: Vec<String>,
    /// The time of each activity: the mean over the ranks.
    pub(crate) activities: BTreeMap<&'static str, Change>,
    /// The parallel efficiency of POP and its two factors, `load balance` and `communication`, as fractions ([`Efficiencies`]).
    pub(crate) efficiencies: BTreeMap<&'static str, Change>,
    /// The time of each rank by activity, and when it finished; none if the results are of different numbers of ranks.
    pub(crate) per_rank: Vec<Shares<Change>>,
    /// The links that are among the busiest of either result: first those of the first result, in its order, then the
    /// others.
    pub(crate) links: Vec<LinkChange>,
    /// The wait states, if both results have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waits: Option<WaitChanges>,
}

/// A link before and after.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct LinkChange {
    /// The name of the link.
    pub(crate) name: String,
    /// The link in the first result; `None` if it is not among the busiest there.
    pub(crate) before: Option<LinkShare>,
    /// The link in the second result; `None` if it is not among the busiest there.
    pub(crate) after: Option<LinkShare>,
}

/// The traffic over a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct LinkShare {
    /// The payload.
    pub(crate) bytes: Bytes,
    /// The payload as a fraction of the link's capacity.
    #[serde(rename = "use")]
    pub(crate) utilization: f64,
}

/// A reason why two results cannot be compared.
#[derive(Debug, Error)]
pub(crate) enum DiffError {
    #[error("{}: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{}:{}:{}: this is no result of titr replay --json: {error}", path.display(), error.line(), error.column())]
    NoResult { path: PathBuf, error: serde_json::Error },
    #[error(
        "{}: this result is no prediction, because {} for ever: record the whole program",
        path.display(), counted(*waiting, "rank waits", "ranks wait")
    )]
    NoPrediction { path: PathBuf, waiting: u64 },
}

impl ReplayedResult {
    /// Reads a result.
    pub(crate) fn read(path: &Path) -> Result<Self, DiffError> {
        let text = input::read_text(path, WRITTEN_BY_PROGRAM)
            .map_err(|error| DiffError::Unreadable { path: path.to_owned(), error })?;
        serde_json::from_str(&text).map_err(|error| DiffError::NoResult { path: path.to_owned(), error })
    }

    /// Reads a result whose time is a prediction.
    pub(crate) fn read_prediction(path: &Path) -> Result<Self, DiffError> {
        let result = Self::read(path)?;
        match result.waiting_ranks {
            0 => Ok(result),
            waiting => Err(DiffError::NoPrediction { path: path.to_owned(), waiting }),
        }
    }

    /// The compared parts of a result.
    pub(crate) fn of(result: &AnalysedResult) -> Self {
        let AnalysedResult { simulated_time, uncertainty, recording, waiting_ranks, computed, .. } = result;
        let AnalysedResult { per_rank, efficiencies, links, analyses, .. } = result;
        Self {
            simulated_time: *simulated_time,
            uncertainty: *uncertainty,
            recording: recording.clone(),
            waiting_ranks: *waiting_ranks,
            computed: *computed,
            per_rank: per_rank.clone(),
            efficiencies: *efficiencies,
            links: links.clone(),
            analyses: analyses.clone().unwrap_or_default(),
        }
    }

    /// The difference to a result that came `after`. Results of different numbers of ranks are compared by the mean rank.
    pub(crate) fn to(&self, after: &Self) -> Difference {
        let ranks = [self, after].map(|result| result.per_rank.len());
        let change = |before: Seconds, after: Seconds| Change { before: before.0, after: after.0 };
        let both = self.per_rank.iter().zip(&after.per_rank).filter(|_| ranks[0] == ranks[1]);
        let per_rank: Vec<Shares<Change>> = both.map(|(one, other)| one.zip(other, change)).collect();
        let mut activities: BTreeMap<&'static str, Change> = BTreeMap::new();
        for (activity, seconds) in self.per_rank.iter().flat_map(Shares::activities) {
            activities.entry(activity).or_default().before += seconds.0 / ranks[0] as f64;
        }
        for (activity, seconds) in after.per_rank.iter().flat_map(Shares::activities) {
            activities.entry(activity).or_default().after += seconds.0 / ranks[1] as f64;
        }
        let efficiencies = self.efficiencies().into_iter().zip(after.efficiencies());
        let efficiencies = efficiencies.map(|((name, before), (_, after))| (name, Change { before, after })).collect();
        let both = self.analyses.wait_states.as_ref().zip(after.analyses.wait_states.as_ref());
        Difference {
            simulated_time: change(self.simulated_time, after.simulated_time),
            ranks,
            remarks: self.remarks(after),
            activities,
            efficiencies,
            per_rank,
            links: links(&self.links, &after.links),
            waits: both.map(|(before, after)| WaitChanges::between(before, after, ranks)),
        }
    }

    /// The efficiencies by their names; 0 if no rank computes.
    fn efficiencies(&self) -> [(&'static str, f64); 3] {
        let found = Efficiencies::of(&self.per_rank, self.simulated_time);
        let of = |part: fn(&Efficiencies) -> f64| found.as_ref().map_or(0.0, part);
        [
            ("parallel", of(|found| found.parallel)),
            ("load balance", of(|found| found.load_balance)),
            ("communication", of(|found| found.communication)),
        ]
    }

    /// What to know before the comparison with a result that came `after`.
    fn remarks(&self, after: &Self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let (Some(one), Some(other)) = (&self.recording, &after.recording)
            && one.program != other.program
            && !one.program.is_empty()
            && !other.program.is_empty()
        {
            remarks
                .push(format!("the results are of different programs: {}, and before {}", other.program, one.program));
        }
        let spread = |result: &Self| result.uncertainty.unwrap_or_default() * result.simulated_time.0;
        // Two standard deviations of a difference: 95 % of differences by chance are smaller.
        let by_chance = 2.0 * spread(self).hypot(spread(after));
        let gain = after.simulated_time.0 - self.simulated_time.0;
        if by_chance > 0.0 && gain.abs() <= by_chance {
            remarks.push("the difference is within the spread of the predictions: it may be chance".to_owned());
        }
        remarks
    }
}

fn links(before: &[LinkUse], after: &[LinkUse]) -> Vec<LinkChange> {
    let find = |links: &[LinkUse], name: &str| {
        let found = links.iter().find(|link| link.name == name);
        found.map(|link| LinkShare { bytes: link.bytes, utilization: link.utilization })
    };
    let new = after.iter().filter(|link| find(before, &link.name).is_none());
    let change = |LinkUse { name, .. }: &LinkUse| LinkChange {
        name: name.clone(),
        before: find(before, name),
        after: find(after, name),
    };
    before.iter().chain(new).map(change).collect()
}

impl Change {
    /// The increase from the first number to the second.
    pub(crate) fn gain(self) -> f64 {
        self.after - self.before
    }
}

impl Difference {
    /// The ranks and when they finish, those first whose finish changes most.
    pub(crate) fn finishes(&self) -> Vec<(usize, Change)> {
        let mut finishes: Vec<_> = self.per_rank.iter().map(|shares| shares.finish).enumerate().collect();
        // Stable: ranks that change as much stay in their order.
        finishes.sort_by(|(_, one), (_, other)| other.gain().abs().total_cmp(&one.gain().abs()));
        finishes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(times: &[(f64, f64)], links: &[(&str, u64)]) -> ReplayedResult {
        let rank = |&(compute, finish): &(f64, f64)| Shares {
            compute: Seconds(compute),
            finish: Seconds(finish),
            ..Shares::default()
        };
        let link = |&(name, bytes): &(&str, u64)| LinkUse {
            name: name.to_owned(),
            bytes: Bytes(bytes),
            messages: 1,
            utilization: 0.5,
            is_loopback: false,
        };
        let simulated_time = Seconds(times.iter().map(|&(_, finish)| finish).fold(0.0, f64::max));
        let (per_rank, links) = (times.iter().map(rank).collect(), links.iter().map(link).collect());
        let (uncertainty, recording) = (None, None);
        ReplayedResult {
            simulated_time,
            uncertainty,
            recording,
            waiting_ranks: 0,
            computed: Instructions::default(),
            per_rank,
            efficiencies: None,
            links,
            analyses: Findings::default(),
        }
    }

    #[test]
    fn each_part_is_compared_with_its_counterpart() {
        let before = result(&[(1.0, 4.0), (3.0, 4.0)], &[("a", 10), ("b", 5)]);
        let after = result(&[(2.0, 3.0), (2.0, 3.5)], &[("c", 7), ("a", 4)]);
        let difference = before.to(&after);
        assert_eq!(difference.simulated_time, Change { before: 4.0, after: 3.5 });
        assert_eq!(difference.activities["compute"], Change { before: 2.0, after: 2.0 });
        assert_eq!(difference.activities["send"], Change::default());
        assert_eq!(difference.per_rank[0].compute.gain(), 1.0);
        assert_eq!(difference.finishes().iter().map(|&(rank, _)| rank).collect::<Vec<_>>(), [0, 1]);
        let bytes = |share: &Option<LinkShare>| share.map(|share| share.bytes.0);
        let links: Vec<_> =
            difference.links.iter().map(|link| (&*link.name, bytes(&link.before), bytes(&link.after))).collect();
        assert_eq!(links, [("a", Some(10), Some(4)), ("b", Some(5), None), ("c", None, Some(7))]);
    }

    #[test]
    fn results_of_other_numbers_of_ranks_are_compared_by_the_mean_rank() {
        let difference = result(&[(1.0, 4.0), (3.0, 4.0)], &[]).to(&result(&[(1.0, 2.0)], &[]));
        assert_eq!((difference.ranks, difference.per_rank.len()), ([2, 1], 0));
        assert_eq!(difference.activities["compute"], Change { before: 2.0, after: 1.0 });
        assert_eq!(difference.efficiencies["parallel"], Change { before: 0.5, after: 0.5 });
        assert_eq!(difference.efficiencies["load balance"], Change { before: 2.0 / 3.0, after: 1.0 });
        assert_eq!(difference.efficiencies["communication"], Change { before: 0.75, after: 0.5 });
    }

    #[test]
    fn other_programs_and_differences_within_the_spread_are_remarked() {
        let of = |program: &str, time: f64, uncertainty: Option<f64>| {
            let recording = Some(Recording {
                program: program.to_owned(),
                mpi: String::new(),
                tool: None,
                date: None,
                ended: None,
                counted: "CPU time".to_owned(),
            });
            ReplayedResult { uncertainty, recording, ..result(&[(time, time)], &[]) }
        };
        let remarks = |one: &ReplayedResult, other: &ReplayedResult| one.to(other).remarks.len();
        assert_eq!(remarks(&of("a", 1.0, None), &of("a", 1.1, None)), 0);
        assert_eq!(remarks(&of("a", 1.0, Some(0.1)), &of("a", 1.1, None)), 1);
        assert_eq!(remarks(&of("a", 1.0, Some(0.01)), &of("b", 1.1, None)), 1);
    }
}
