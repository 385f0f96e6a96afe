//! Estimates the time of iterations that were not simulated from those that were.

use titr_network::statistics::Estimate;

use super::iteration_times::IterationTime;

/// The time that iterations take beside their computation, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Overhead {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 99 % confidence interval.
    pub half_width: f64,
    /// Iterations at the beginning that were left out, as the loop had not settled.
    pub transient: usize,
    /// The growth per iteration of the distance between the first and the last rank; 0 if it is not significant.
    pub drift: f64,
}

impl Overhead {
    /// The estimate from the times of at least two iterations, in order.
    ///
    /// Initial iterations, up to half of them, are excluded as long as this reduces the standard error of the mean: the
    /// marginal standard error rule (K. P. White, "An effective truncation heuristic for bias reduction in simulation
    /// output", Simulation 69(6), 1997).
    pub(crate) fn of(iterations: &[IterationTime]) -> Self {
        let times: Vec<f64> = iterations.iter().map(|time| time.whole - time.computed).collect();
        let error = |first: usize| {
            let rest = &times[first..];
            let mean = rest.iter().sum::<f64>() / rest.len() as f64;
            rest.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
        };
        let most = times.len() / 2;
        let transient = (0..=most).min_by(|&a, &b| error(a).total_cmp(&error(b))).unwrap_or(0);
        let Estimate { mean, half_width } = Estimate::of(&times[transient..]);
        let apart: Vec<f64> = iterations[transient..].iter().map(|time| time.apart).collect();
        let drift = Estimate::of(&apart);
        let by_chance = drift.half_width.is_none_or(|half_width| drift.mean.abs() <= half_width);
        let drift = if by_chance { 0.0 } else { drift.mean };
        Self { mean, half_width: half_width.unwrap_or(f64::INFINITY), transient, drift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(times: &[f64]) -> Vec<IterationTime> {
        times.iter().map(|&whole| IterationTime { whole: whole + 7.0, computed: 7.0, apart: 0.0 }).collect()
    }

    #[test]
    fn iterations_before_the_loop_settles_do_not_count() {
        let found = Overhead::of(&times(&[9.0, 5.0, 3.0, 2.0, 2.0, 2.0, 2.0, 2.0]));
        assert_eq!((found.transient, found.mean, found.half_width), (3, 2.0, 0.0));
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
