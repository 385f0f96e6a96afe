//! Computation as a function of the grid.
//!
//! The computation before the calls of a rule is summed over all these calls, which averages noise. It follows the scaling of all
//! computation of the program unless it clearly has its own.

use titr_common::event::Rank;

use crate::grid::Grid;
use crate::group::Group;
use crate::recording::Recording;
use crate::scaling::{Sample, Scaling};

/// The largest error with which a rule's computation follows that of the program.
const ACCEPTED: f64 = 0.15;

/// The share of a rank's computation from which on its scaling has to be known.
const NEGLIGIBLE: f64 = 0.01;

/// The computation before the calls of each rule of a group.
pub(crate) struct WorkSums {
    /// For each recording the ranks whose roles both it and the largest recording have: in it, and in the largest.
    common: Vec<(Vec<Rank>, Vec<Rank>)>,
    /// For each rule and each recording the mean computation of a rank: in it, and in the largest.
    sums: Vec<Vec<(Mean, Mean)>>,
}

/// The mean computation before the calls of a rule.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    calls: f64,
}

impl Mean {
    fn add(&mut self, work: f64) {
        self.sum += work;
        self.calls += 1.0;
    }

    fn value(self) -> f64 {
        if self.calls > 0.0 { self.sum / self.calls } else { 0.0 }
    }
}

impl WorkSums {
    pub(crate) fn new(group: &Group, grids: &[Grid]) -> Self {
        let largest = group.ranks.last().map_or(&[][..], Vec::as_slice);
        let Some(largest_grid) = grids.last() else { return Self { common: Vec::new(), sums: Vec::new() } };
        let common = group.ranks.iter().zip(grids).map(|(ranks, grid)| {
            let both = |rank: &Rank, own: &Grid, there: &[Rank], other: &Grid| {
                there.iter().any(|&rank_there| other.role(rank_there) == own.role(*rank))
            };
            let here = ranks.iter().copied().filter(|rank| both(rank, grid, largest, largest_grid)).collect();
            let there = largest.iter().copied().filter(|rank| both(rank, largest_grid, ranks, grid)).collect();
            (here, there)
        });
        Self { common: common.collect(), sums: Vec::new() }
    }

    /// Adds the computation before a call of a rule; the steps of a recording are the stages of the call.
    pub(crate) fn add(&mut self, rule: usize, number: usize, recording: &Recording, steps: &[usize]) {
        let recordings = self.common.len();
        if self.sums.len() <= rule {
            self.sums.resize(rule + 1, vec![(Mean::default(), Mean::default()); recordings]);
        }
        let mean = |ranks: &[Rank]| {
            let of_rank = |rank: &Rank| {
                let works = steps.iter().map(|&step| recording.ranks[rank.0 as usize][step].work);
                works.sum::<f64>() / steps.len().max(1) as f64
            };
            ranks.iter().map(of_rank).sum::<f64>() / ranks.len().max(1) as f64
        };
        if number + 1 < recordings {
            let work = mean(&self.common[number].0);
            self.sums[rule][number].0.add(work);
        } else {
            for other in 0..recordings {
                let work = mean(&self.common[other].1);
                self.sums[rule][other].1.add(work);
            }
        }
    }

    /// Whether a rule has more than a negligible share of the computation in the largest recording.
    pub(crate) fn matters(&self, rule: usize) -> bool {
        let in_largest = |sums: &Vec<(Mean, Mean)>| sums.last().map_or(0.0, |(_, largest)| largest.sum);
        let all: f64 = self.sums.iter().map(in_largest).sum();
        self.sums.get(rule).is_some_and(|sums| in_largest(sums) > NEGLIGIBLE * all)
    }

    /// The scalings that explain all computation of a program equally well, at least one.
    pub(crate) fn total(recordings: &[Recording], grids: &[Grid]) -> Vec<Scaling> {
        let mean = |recording: &Recording| {
            let works = recording.ranks.iter().flatten().map(|step| step.work).chain(recording.tails.iter().copied());
            works.sum::<f64>() / recording.ranks.len().max(1) as f64
        };
        let (Some(largest), Some(grid)) = (recordings.last(), grids.last()) else {
            return vec![Scaling::CONSTANT];
        };
        let largest = mean(largest);
        let sample = |(recording, grid)| Sample { grid, volume: mean(recording), largest };
        let samples: Vec<Sample<'_>> = recordings.iter().zip(grids).map(sample).collect();
        Scaling::fitted(&samples, grid).scalings
    }

    /// The scalings of each rule that explain its computation equally well, at least one. Calls `residual` with the difference
    /// between recorded and fitted computation, and the recorded.
    pub(crate) fn scalings(
        &self,
        total: &[Scaling],
        grids: &[Grid],
        residual: &mut impl FnMut(f64, f64),
    ) -> Vec<Vec<Scaling>> {
        let Some((largest, others)) = grids.split_last() else { return Vec::new() };
        let of_rule = |sums: &Vec<(Mean, Mean)>| {
            let common = sums.iter().zip(others).zip(&self.common).filter(|((sums, _), _)| sums.0.calls > 0.0);
            let samples: Vec<(Sample<'_>, f64)> = common
                .map(|(((here, there), grid), (ranks, _))| {
                    let sample = Sample { grid, volume: here.value(), largest: there.value() };
                    (sample, here.calls * ranks.len() as f64)
                })
                .collect();
            let difference = |scaling: Scaling, sample: &Sample<'_>| {
                (sample.largest * scaling.factor(largest, sample.grid) - sample.volume).abs()
            };
            let is_near =
                |total| samples.iter().all(|(sample, _)| difference(total, sample) <= ACCEPTED * sample.volume);
            let samples_only: Vec<Sample<'_>> = samples.iter().map(|(sample, _)| *sample).collect();
            let follows = total.first().is_some_and(|&total| is_near(total));
            let scalings = if follows { total.to_vec() } else { Scaling::fitted(&samples_only, largest).scalings };
            for (sample, calls) in &samples {
                let difference = scalings.first().map_or(0.0, |&scaling| difference(scaling, sample));
                residual(difference * calls, sample.volume * calls);
            }
            scalings
        };
        self.sums.iter().map(of_rule).collect()
    }
}
