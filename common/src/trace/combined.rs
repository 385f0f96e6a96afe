//! The description, in a manifest, of a trace that is combined from recordings of several runs of one program.

use std::fmt::{self, Display, Formatter};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::relative_deviation;
use crate::units::Instructions;

/// The choice of one volume of computation among the volumes that several runs recorded at the same place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CombinedBy {
    /// The smallest volume, which disturbances by other processes increase least.
    #[default]
    Least,
    /// The median; of an even number of volumes, the lower of the two in the middle.
    Median,
}

/// The runs that a trace is combined from, and how much they differ in computation.
///
/// Each deviation is a relative standard deviation over the runs: the standard deviation of a sample, divided by the
/// mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Combined {
    /// The choice of each volume.
    pub by: CombinedBy,
    /// The number of runs.
    pub runs: u32,
    /// The deviation of a single volume: the mean over all volumes between two calls, weighted by volume.
    pub volume_deviation: f64,
    /// The deviation of the computation of the slowest rank, which is the rank that computes most in each run.
    pub slowest_rank_deviation: f64,
    /// The computation of each rank, in the order of ranks.
    pub per_rank: Vec<RepeatedComputation>,
}

/// The computation of one rank in each run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedComputation {
    /// The sum of the rank's volumes in each run, in the order of the runs.
    pub totals: Vec<Instructions>,
    /// The deviation of the sum.
    pub deviation: f64,
}

impl CombinedBy {
    /// All choices.
    pub const ALL: [Self; 2] = [Self::Least, Self::Median];

    /// The name of the choice on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Least => "least",
            Self::Median => "median",
        }
    }

    /// The chosen one of `volumes`, which are sorted for the choice; 0 if there are none.
    pub fn choose(self, volumes: &mut [f64]) -> f64 {
        volumes.sort_by(f64::total_cmp);
        let index = match self {
            Self::Least => 0,
            Self::Median => volumes.len().saturating_sub(1) / 2,
        };
        volumes.get(index).copied().unwrap_or_default()
    }
}

impl RepeatedComputation {
    /// The computation of a rank with these sums.
    #[must_use]
    pub fn new(totals: Vec<Instructions>) -> Self {
        let deviation = relative_deviation(&totals.iter().map(|total| total.0).collect::<Vec<_>>());
        Self { totals, deviation }
    }
}

impl Combined {
    /// The description of runs with this computation of each rank.
    #[must_use]
    pub fn new(by: CombinedBy, runs: u32, volume_deviation: f64, per_rank: Vec<RepeatedComputation>) -> Self {
        let of_run = |run: usize| per_rank.iter().filter_map(move |rank| Some(rank.totals.get(run)?.0));
        let slowest: Vec<f64> = (0..runs as usize).map(|run| of_run(run).fold(0.0, f64::max)).collect();
        Self { by, runs, volume_deviation, slowest_rank_deviation: relative_deviation(&slowest), per_rank }
    }
}

impl Display for Combined {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (runs, by, percent) = (self.runs, self.by.name(), 100.0 * self.slowest_rank_deviation);
        write!(f, "from {runs} runs by {by}; computation differs by {percent:.1} % between runs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_one_of_the_volumes() {
        let volumes = [40.0, 10.0, 30.0, 20.0];
        assert_eq!(CombinedBy::Least.choose(&mut volumes.clone()), 10.0);
        assert_eq!(CombinedBy::Median.choose(&mut volumes.clone()), 20.0);
        assert_eq!(CombinedBy::Median.choose(&mut volumes[..3].to_vec()), 30.0);
        assert_eq!(CombinedBy::Median.choose(&mut []), 0.0);
    }

    /// 90 and 110 deviate by √200 from their mean of 100. The slowest rank computes 300 in both runs.
    #[test]
    fn deviations_are_relative_to_the_mean() {
        let rank = |totals: [f64; 2]| RepeatedComputation::new(totals.map(Instructions).to_vec());
        let combined = Combined::new(CombinedBy::Least, 2, 0.0, vec![rank([90.0, 110.0]), rank([300.0, 300.0])]);
        assert!((combined.per_rank[0].deviation - 200f64.sqrt() / 100.0).abs() < 1e-12);
        assert_eq!((combined.per_rank[1].deviation, combined.slowest_rank_deviation), (0.0, 0.0));
        assert_eq!(rank([0.0, 0.0]).deviation, 0.0);
    }
}
