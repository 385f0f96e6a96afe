//! Estimates the time of iterations that were not simulated from those that were.

use titr_common::statistics::mean;
use titr_network::statistics::Estimate;

use super::iteration_times::IterationTime;
use super::sample::{Groups, IterationSample};

/// The most iterations after one for whose correlation with it an interval is widened.
const LAGS: usize = 3;

/// The time that the iterations of a loop take beside their computation, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Overheads {
    /// That of all iterations that were not simulated.
    pub(crate) left_out: f64,
    /// Half the width of its 99 % confidence interval.
    pub(crate) half_width: f64,
    /// The growth per iteration of the distance between the mean of all ranks and the first or the last one; 0 if it is not
    /// significant.
    pub(crate) drift: f64,
}

impl Overheads {
    /// The estimate from the times of the iterations of a sample, of which the first `settling` usual ones do not count.
    ///
    /// The variance of a mean of n out of N iterations is s²/n. The sum of the other N − n iterations differs from N − n times that
    /// mean with the variance (N − n)² s²/n + (N − n) s² = (N − n) N s²/n (W. G. Cochran, Sampling Techniques, 1977, theorem 2.2).
    pub(crate) fn of(times: &[IterationTime], sample: &IterationSample, groups: &Groups, settling: usize) -> Self {
        let of_group = |unusual: bool| {
            let group = times.iter().zip(&sample.is_unusual).filter(move |&(_, &is_unusual)| is_unusual == unusual);
            group.map(|(&time, _)| time).collect::<Vec<_>>()
        };
        let usual = Overhead::of(&of_group(false), settling);
        let unusual = of_group(true);
        let rest = |all: &[u64], sampled: usize| (all.len() - sampled) as f64;
        let usual_left = rest(&groups.usual, times.len() - unusual.len());
        let unusual_left = rest(&groups.unusual, unusual.len());
        let half_width = |of_mean: f64, left: f64, all: &[u64]| of_mean * (left * all.len() as f64).sqrt();
        let mut overheads = Self {
            left_out: usual.mean * usual_left,
            half_width: half_width(usual.half_width, usual_left, &groups.usual),
            drift: usual.drift,
        };
        if unusual_left > 0.0 {
            let unusual = Overhead::of(&unusual, 0);
            overheads.left_out += unusual.mean * unusual_left;
            overheads.half_width =
                overheads.half_width.hypot(half_width(unusual.half_width, unusual_left, &groups.unusual));
        }
        overheads
    }
}

/// The time that iterations take beside their computation, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Overhead {
    pub(crate) mean: f64,
    /// Half the width of its 99 % confidence interval.
    pub(crate) half_width: f64,
    /// The growth per iteration of the distance between the mean of all ranks and the first or the last one; 0 if it is not
    /// significant.
    pub(crate) drift: f64,
}

impl Overhead {
    /// The estimate from the times of iterations, in order, without the first `settling`. To exclude those without which the interval
    /// is narrowest, as the marginal standard error rule does (K. P. White, "An effective truncation heuristic for bias reduction in
    /// simulation output", Simulation 69(6), 1997), would make the interval of a few iterations too narrow: where it says 99 %, it
    /// held in 50 to 99 % of the samples of recorded programs.
    pub(crate) fn of(iterations: &[IterationTime], settling: usize) -> Self {
        let settled = &iterations[settling.min(iterations.len())..];
        let all = |what: fn(&IterationTime) -> f64| settled.iter().map(what).collect::<Vec<_>>();
        let beside = all(|time| time.whole - time.computed);
        let Estimate { mean, half_width } = Estimate::of(&beside);
        let half_width = half_width.map_or(f64::INFINITY, |half_width| half_width * correlation(&beside).sqrt());
        let drifts = [all(|time| time.ahead), all(|time| time.behind)].map(|drifts| {
            let Estimate { mean, half_width } = Estimate::of(&drifts);
            if half_width.is_none_or(|half_width| mean.abs() <= half_width) { 0.0 } else { mean.abs() }
        });
        Self { mean, half_width, drift: drifts[0].max(drifts[1]) }
    }
}

/// How many times larger the variance of a mean is than if the numbers were independent, if it is larger: a rank that is delayed delays
/// others in later iterations. Fewer than eight numbers do not tell. (W. K. Newey and K. D. West, "A simple, positive semi-definite,
/// heteroskedasticity and autocorrelation consistent covariance matrix", Econometrica 55(3), 1987.)
fn correlation(numbers: &[f64]) -> f64 {
    let mean = mean(numbers);
    let product = |lag: usize| numbers.iter().zip(&numbers[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let lags = LAGS.min(numbers.len() / 8);
    let weighted: f64 = (1..=lags).map(|lag| (1.0 - lag as f64 / (lags + 1) as f64) * product(lag)).sum();
    let variance = product(0);
    if variance > 0.0 { (1.0 + 2.0 * weighted / variance).max(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(times: &[f64]) -> Vec<IterationTime> {
        times
            .iter()
            .map(|&whole| IterationTime { whole: whole + 7.0, computed: 7.0, ahead: 0.0, behind: 0.0 })
            .collect()
    }

    /// Of 100 iterations, 2 settle, and 4 take 1, 2, 3 and 4 s: their mean is 2.5, its standard error √(5/12), and t with 3 degrees
    /// of freedom 5.841.
    #[test]
    fn the_interval_covers_the_iterations_that_were_not_simulated() {
        let groups = Groups { usual: (0..100).collect(), unusual: Vec::new() };
        let sample =
            IterationSample { longer: vec![8, 25, 41, 58, 75, 91], is_unusual: vec![false; 6], shorter: Vec::new() };
        let found = Overheads::of(&times(&[9.0, 6.0, 2.0, 4.0, 1.0, 3.0]), &sample, &groups, 2);
        assert_eq!(found.left_out, 94.0 * 2.5);
        let expected = 5.841 * (5.0_f64 / 12.0).sqrt() * (94.0_f64 * 100.0).sqrt();
        assert!((found.half_width - expected).abs() < 1e-9 * expected, "{found:?}");
    }

    #[test]
    fn unusual_iterations_are_estimated_by_themselves() {
        let groups = Groups { usual: (0..98).collect(), unusual: vec![98, 99] };
        let is_unusual = vec![false, false, false, false, true, true];
        let sample = IterationSample { longer: vec![1, 20, 40, 60, 98, 99], is_unusual, shorter: Vec::new() };
        let found = Overheads::of(&times(&[5.0, 4.0, 2.0, 2.0, 70.0, 90.0]), &sample, &groups, 2);
        assert_eq!((found.left_out, found.half_width), (94.0 * 2.0, 0.0));
    }

    #[test]
    fn iterations_before_the_loop_settles_do_not_count() {
        let found = Overhead::of(&times(&[9.0, 5.0, 2.0, 2.0, 2.0, 2.0]), 2);
        assert_eq!((found.mean, found.half_width), (2.0, 0.0));
    }

    /// The first iterations that count differ most, which may be by chance: with the other three alone, it would be 0.57.
    #[test]
    fn no_iteration_that_counts_is_left_out_for_a_narrower_interval() {
        let found = Overhead::of(&times(&[9.0, 5.0, 2.9, 1.2, 2.1, 2.0, 2.2]), 2);
        assert!(found.half_width > 1.2, "{found:?}");
    }

    #[test]
    fn ranks_that_drift_apart_are_told_from_those_that_waver() {
        let drift = |drifts: &[f64], of: fn(f64) -> IterationTime| {
            Overhead::of(&drifts.iter().map(|&drift| of(drift)).collect::<Vec<_>>(), 2).drift
        };
        const STILL: IterationTime = IterationTime { whole: 5.0, computed: 3.0, ahead: 0.0, behind: 0.0 };
        let kinds: [fn(f64) -> IterationTime; 2] =
            [|ahead| IterationTime { ahead, ..STILL }, |behind| IterationTime { behind, ..STILL }];
        for of in kinds {
            assert_eq!([drift(&[1.0; 8], of), drift(&[-1.0; 8], of)], [1.0; 2]);
            assert_eq!(drift(&[2.0, -2.0, 1.0, -1.0, 3.0, -2.0], of), 0.0);
        }
    }

    /// By hand: of the seven products with the next deviation six are 1 and one is −1. With a weight of 1/2, the factor is
    /// 1 + 2 × 5/2 / 8.
    #[test]
    fn an_interval_is_wider_if_iterations_resemble_those_before() {
        assert_eq!(correlation(&[1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0]), 1.625);
        assert_eq!(correlation(&[1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0]), 1.0);
        assert_eq!(correlation(&[2.0; 8]), 1.0);
    }

    #[test]
    fn a_loop_that_does_not_settle_is_unsure() {
        let found = Overhead::of(&times(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 2);
        assert!(found.half_width > 1.0, "{found:?}");
    }
}
