//! Estimates the time of iterations that were not simulated from those that were.

use titr_network::statistics::Estimate;

use super::iteration_times::IterationTime;
use super::sample::{Groups, Sample};

/// The number of iterations at the beginning that never count: ranks that begin the loop apart catch up with each other.
const SETTLING: usize = 2;

/// The time that the iterations of a loop take beside their computation, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Overheads {
    /// That of all iterations that were not simulated.
    pub left_out: f64,
    /// Half the width of its 99 % confidence interval.
    pub half_width: f64,
    /// The growth per iteration of the distance between the first and the last rank; 0 if it is not significant.
    pub drift: f64,
}

impl Overheads {
    /// The estimate from the times of the iterations of a sample.
    ///
    /// The variance of a mean of n out of N iterations is s²/n. The sum of the other N − n iterations differs from N − n times that
    /// mean with the variance (N − n)² s²/n + (N − n) s² = (N − n) N s²/n (W. G. Cochran, Sampling Techniques, 1977, theorem 2.2).
    pub(crate) fn of(times: &[IterationTime], sample: &Sample, groups: &Groups) -> Self {
        let of_group = |slow: bool| {
            let group = times.iter().zip(&sample.is_slow).filter(move |&(_, &is_slow)| is_slow == slow);
            group.map(|(&time, _)| time).collect::<Vec<_>>()
        };
        let usual = Overhead::of(&of_group(false));
        let slow = of_group(true);
        let rest = |all: &[u64], sampled: usize| (all.len() - sampled) as f64;
        let [usual_left, slow_left] = [rest(&groups.usual, times.len() - slow.len()), rest(&groups.slow, slow.len())];
        let half_width = |of_mean: f64, left: f64, all: &[u64]| of_mean * (left * all.len() as f64).sqrt();
        let mut overheads = Self {
            left_out: usual.mean * usual_left,
            half_width: half_width(usual.half_width, usual_left, &groups.usual),
            drift: usual.drift,
        };
        if slow_left > 0.0 {
            let slow = Estimate::of(&slow.iter().map(|time| time.whole - time.computed).collect::<Vec<_>>());
            overheads.left_out += slow.mean * slow_left;
            let of_slow = half_width(slow.half_width.unwrap_or(f64::INFINITY), slow_left, &groups.slow);
            overheads.half_width = overheads.half_width.hypot(of_slow);
        }
        overheads
    }
}

/// The time that iterations take beside their computation, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Overhead {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 99 % confidence interval.
    pub half_width: f64,
    /// The growth per iteration of the distance between the first and the last rank; 0 if it is not significant.
    pub drift: f64,
}

impl Overhead {
    /// The estimate from the times of iterations, in order, without the first [`SETTLING`]. To exclude those without which the interval
    /// is narrowest, as the marginal standard error rule does (K. P. White, "An effective truncation heuristic for bias reduction in
    /// simulation output", Simulation 69(6), 1997), would make the interval of a few iterations too narrow: where it says 99 %, it
    /// held in 50 to 99 % of the samples of recorded programs.
    pub(crate) fn of(iterations: &[IterationTime]) -> Self {
        let settled = &iterations[SETTLING.min(iterations.len())..];
        let of = |what: fn(&IterationTime) -> f64| Estimate::of(&settled.iter().map(what).collect::<Vec<_>>());
        let Estimate { mean, half_width } = of(|time| time.whole - time.computed);
        let drift = of(|time| time.apart);
        let by_chance = drift.half_width.is_none_or(|half_width| drift.mean.abs() <= half_width);
        let drift = if by_chance { 0.0 } else { drift.mean };
        Self { mean, half_width: half_width.unwrap_or(f64::INFINITY), drift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(times: &[f64]) -> Vec<IterationTime> {
        times.iter().map(|&whole| IterationTime { whole: whole + 7.0, computed: 7.0, apart: 0.0 }).collect()
    }

    /// Of 100 iterations, 2 settle, and 4 take 1, 2, 3 and 4 s: their mean is 2.5, its standard error √(5/12), and t with 3 degrees
    /// of freedom 5.841.
    #[test]
    fn the_interval_covers_the_iterations_that_were_not_simulated() {
        let groups = Groups { usual: (0..100).collect(), slow: Vec::new() };
        let sample = Sample { longer: vec![8, 25, 41, 58, 75, 91], is_slow: vec![false; 6], shorter: Vec::new() };
        let found = Overheads::of(&times(&[9.0, 6.0, 2.0, 4.0, 1.0, 3.0]), &sample, &groups);
        assert_eq!(found.left_out, 94.0 * 2.5);
        let expected = 5.841 * (5.0_f64 / 12.0).sqrt() * (94.0_f64 * 100.0).sqrt();
        assert!((found.half_width - expected).abs() < 1e-9 * expected, "{found:?}");
    }

    #[test]
    fn slow_iterations_are_estimated_by_themselves() {
        let groups = Groups { usual: (0..98).collect(), slow: vec![98, 99] };
        let is_slow = vec![false, false, false, false, true, true];
        let sample = Sample { longer: vec![1, 20, 40, 60, 98, 99], is_slow, shorter: Vec::new() };
        let found = Overheads::of(&times(&[5.0, 4.0, 2.0, 2.0, 70.0, 90.0]), &sample, &groups);
        assert_eq!((found.left_out, found.half_width), (94.0 * 2.0, 0.0));
    }

    #[test]
    fn iterations_before_the_loop_settles_do_not_count() {
        let found = Overhead::of(&times(&[9.0, 5.0, 2.0, 2.0, 2.0, 2.0]));
        assert_eq!((found.mean, found.half_width), (2.0, 0.0));
    }

    /// The first iterations that count differ most, which may be by chance: with the other three alone, it would be 0.57.
    #[test]
    fn no_iteration_that_counts_is_left_out_for_a_narrower_interval() {
        let found = Overhead::of(&times(&[9.0, 5.0, 2.9, 1.2, 2.1, 2.0, 2.2]));
        assert!(found.half_width > 1.2, "{found:?}");
    }

    #[test]
    fn ranks_that_drift_apart_are_told_from_those_that_waver() {
        let drift = |apart: &[f64]| {
            let of = |&apart: &f64| IterationTime { whole: 5.0, computed: 3.0, apart };
            Overhead::of(&apart.iter().map(of).collect::<Vec<_>>()).drift
        };
        assert_eq!(drift(&[1.0; 8]), 1.0);
        assert_eq!(drift(&[2.0, -2.0, 1.0, -1.0, 3.0, -2.0]), 0.0);
    }

    #[test]
    fn a_loop_that_does_not_settle_is_unsure() {
        let found = Overhead::of(&times(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        assert!(found.half_width > 1.0, "{found:?}");
    }
}
