//! The times of several replays that differ by chance: their quantiles, and the groups that they fall into.

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::statistics::{mean, quantile};
use titr_common::units::Seconds;

use crate::observe::Shares;

/// The spread of a predicted time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PredictedSpread {
    /// The quantiles of the predicted time.
    #[serde(flatten)]
    pub time: Quantiles,
    /// The number of replays.
    pub runs: usize,
    /// The groups that the times fall into, from the shortest to the longest times; empty if they are one group.
    pub groups: Vec<RunGroup>,
    /// The quantiles of the time in each activity, as a mean over the ranks.
    pub activities: Vec<ActivitySpread>,
}

/// The middle of the times of several replays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Quantiles {
    /// The median.
    pub median: Seconds,
    /// The interval of the middle half of the times: its lower and its upper end.
    pub interval_50: [Seconds; 2],
    /// The interval of the middle 90 % of the times: its lower and its upper end.
    pub interval_90: [Seconds; 2],
}

/// Replays with similar times, which a gap separates from other times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunGroup {
    /// The number of replays in the group.
    pub runs: usize,
    /// The number of replays in the group as a fraction of all replays.
    pub share: f64,
    /// The median of the times of the group.
    pub median: Seconds,
    /// The shortest and the longest time of the group.
    pub interval: [Seconds; 2],
}

/// The spread of the time in an activity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ActivitySpread {
    /// The activity, as the summary names it.
    pub activity: &'static str,
    /// The quantiles of the time in the activity.
    #[serde(flatten)]
    pub time: Quantiles,
}

/// The times of one replay.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnTimes {
    /// The predicted time.
    pub time: Seconds,
    /// The mean time of the ranks in each row of the summary.
    pub rows: [(&'static str, Seconds); Shares::ROWS],
}

impl DrawnTimes {
    /// The times of a replay that predicts `time`.
    #[must_use]
    pub fn new(time: Seconds, per_rank: &[Shares]) -> Self {
        let rows: Vec<_> = per_rank.iter().map(|shares| shares.rows(time)).collect();
        let mut means = Shares::default().rows(Seconds(0.0));
        for (at, (_, row)) in means.iter_mut().enumerate() {
            *row = Seconds(mean(&rows.iter().map(|rows| rows[at].1.0).collect::<Vec<_>>()));
        }
        Self { time, rows: means }
    }

    /// The same with all times multiplied by a factor.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let scaled = |Seconds(time)| Seconds(time * factor);
        Self { time: scaled(self.time), rows: self.rows.map(|(activity, time)| (activity, scaled(time))) }
    }
}

impl PredictedSpread {
    /// The spread of the times of at least one replay.
    #[must_use]
    pub fn of(drawn: &[DrawnTimes]) -> Self {
        let times = sorted(drawn.iter().map(|drawn| drawn.time.0));
        let rows = Shares::default().rows(Seconds(0.0)).into_iter().enumerate();
        let activities = rows.map(|(at, (activity, _))| {
            let time = Quantiles::of(&sorted(drawn.iter().map(|drawn| drawn.rows[at].1.0)));
            ActivitySpread { activity, time }
        });
        let groups = groups(&times).into_iter().map(|group| RunGroup::of(group, times.len()));
        Self {
            time: Quantiles::of(&times),
            runs: times.len(),
            groups: groups.collect(),
            activities: activities.filter(|activity| activity.time.interval_90[1].0 > 0.0).collect(),
        }
    }

    /// Whether chance had a part in the times.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.time.interval_90[0] != self.time.interval_90[1]
    }
}

impl Quantiles {
    fn of(sorted: &[f64]) -> Self {
        let at = |part| Seconds(quantile(sorted, part));
        Self { median: at(0.5), interval_50: [at(0.25), at(0.75)], interval_90: [at(0.05), at(0.95)] }
    }
}

impl RunGroup {
    fn of(group: &[f64], all: usize) -> Self {
        let interval = [0.0, 1.0].map(|part| Seconds(quantile(group, part)));
        let share = group.len() as f64 / all as f64;
        Self { runs: group.len(), share, median: Seconds(quantile(group, 0.5)), interval }
    }
}

fn sorted(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers
}

/// The smallest group of replays, and the part of all replays that it has at least.
const LEAST: usize = 5;
const LEAST_SHARE: f64 = 0.05;

/// The largest number of groups.
const MOST: usize = 5;

/// The groups of sorted times: as many as there are gaps wider than the middle half of the groups on both sides. Empty if there is
/// only one group.
fn groups(times: &[f64]) -> Vec<&[f64]> {
    let least = LEAST.max((LEAST_SHARE * times.len() as f64).ceil() as usize);
    let mut ends: Vec<usize> = (least..(times.len() + 1).saturating_sub(least)).collect();
    let gap = |&end: &usize| times[end] - times[end - 1];
    ends.sort_by(|one, other| gap(other).total_cmp(&gap(one)));
    for number in (1..MOST).rev() {
        let mut chosen: Vec<usize> = ends.iter().take(number).copied().filter(|end| gap(end) > 0.0).collect();
        chosen.sort_unstable();
        let groups = split(times, &chosen);
        let middle = |group: &[f64]| quantile(group, 0.75) - quantile(group, 0.25);
        let is_separate = |(pair, end): (&[&[f64]], &usize)| pair.iter().all(|group| gap(end) > middle(group));
        let are_separate = groups.windows(2).zip(&chosen).all(is_separate);
        if groups.len() > 1 && groups.iter().all(|group| group.len() >= least) && are_separate {
            return groups;
        }
    }
    Vec::new()
}

/// The parts of `times` up to each of `ends`, and the rest.
fn split<'t>(times: &'t [f64], ends: &[usize]) -> Vec<&'t [f64]> {
    let starts = [0].into_iter().chain(ends.iter().copied());
    let ends = ends.iter().copied().chain([times.len()]);
    starts.zip(ends).map(|(start, end)| &times[start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(times: impl Iterator<Item = f64>) -> PredictedSpread {
        let drawn =
            |time| DrawnTimes::new(Seconds(time), &[Shares { compute: Seconds(time / 2.0), ..Shares::default() }]);
        PredictedSpread::of(&times.map(drawn).collect::<Vec<_>>())
    }

    #[test]
    fn quantiles_of_a_hundred_and_one_equal_steps_are_the_steps() {
        let found = spread((0..=100).rev().map(f64::from));
        let expected = Quantiles {
            median: Seconds(50.0),
            interval_50: [Seconds(25.0), Seconds(75.0)],
            interval_90: [Seconds(5.0), Seconds(95.0)],
        };
        assert_eq!((found.time, found.runs, found.groups), (expected, 101, Vec::new()));
        let [compute, done_early] = &found.activities[..] else { panic!("{:?}", found.activities) };
        assert_eq!((compute.activity, compute.time.median), ("compute", Seconds(25.0)));
        assert_eq!(done_early.activity, "done early");
    }

    #[test]
    fn times_with_a_wide_gap_between_them_are_groups() {
        let near = |middle: f64, number: u32| (0..number).map(move |step| middle + 0.01 * f64::from(step));
        let found = spread(near(1.0, 30).chain(near(3.0, 60)).chain(near(2.0, 10)));
        let shares: Vec<_> = found.groups.iter().map(|group| (group.runs, group.share, group.interval[0].0)).collect();
        assert_eq!(shares, [(30, 0.3, 1.0), (10, 0.1, 2.0), (60, 0.6, 3.0)]);
        let two = spread([7.0; 10].into_iter().chain([8.0; 10]));
        assert_eq!(two.groups.iter().map(|group| group.median.0).collect::<Vec<_>>(), [7.0, 8.0]);
    }

    #[test]
    fn outliers_and_equal_times_are_no_groups() {
        let few = (0..96).map(|step| 1.0 + 0.01 * f64::from(step)).chain([9.0; 4]);
        assert_eq!(spread(few).groups, []);
        let same = spread([7.0; 50].into_iter());
        assert!(same.groups.is_empty() && !same.differs());
    }
}
