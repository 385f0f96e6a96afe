//! Robust statistics, which a few disturbed samples do not change.

/// No time is known better than to this part, however alike its samples are.
pub(crate) const LEAST_UNCERTAINTY: f64 = 0.005;

/// A median deviation of normally distributed samples is this part of their standard deviation (P. J. Huber, "Robust
/// Statistics", 1981, §5.1).
pub(crate) const MEDIAN_DEVIATION: f64 = 1.0 / 1.48;

/// The median; of an even number, the mean of the two in the middle. `None` of nothing.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some((low + high) / 2.0)
}

/// A straight line, time over size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The time of nothing, in seconds.
    pub seconds: f64,
    /// Seconds for each byte.
    pub per_byte: f64,
}

impl Line {
    /// The time of this many bytes.
    pub(crate) fn at(&self, bytes: f64) -> f64 {
        self.seconds + self.per_byte * bytes
    }
}

/// A measured time to be explained as `seconds × fixed + per_byte × growing`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// The coefficient of the time of an empty message in this sample.
    pub fixed: f64,
    /// The coefficient of the time per byte in this sample.
    pub growing: f64,
    /// The time in seconds.
    pub time: f64,
    /// The time that a miss is seen as a part of.
    pub scale: f64,
}

/// The line that explains samples with the least sum of misses, each a part of the sample's scale, among those with neither
/// a negative time of nothing nor a negative slope; and that sum. Such a line explains two of the samples exactly, or one with
/// one of its two numbers zero; all of these are tried.
pub(crate) fn least_misses(samples: &[Sample]) -> (Line, f64) {
    let explained = |line: Line, of: &Sample| line.seconds * of.fixed + line.per_byte * of.growing;
    let mut best = (f64::INFINITY, Line { seconds: 0.0, per_byte: 0.0 });
    let mut consider = |line: Line| {
        if line.seconds >= 0.0 && line.per_byte >= 0.0 {
            let part = |of: &Sample| (explained(line, of) - of.time).abs() / of.scale.max(f64::MIN_POSITIVE);
            let miss = samples.iter().map(part).sum();
            if miss < best.0 {
                best = (miss, line);
            }
        }
    };
    for (at, one) in samples.iter().enumerate() {
        consider(Line { seconds: one.time / one.fixed, per_byte: 0.0 });
        consider(Line { seconds: 0.0, per_byte: one.time / one.growing });
        for other in &samples[at + 1..] {
            let determinant = one.fixed * other.growing - other.fixed * one.growing;
            let seconds = (one.time * other.growing - other.time * one.growing) / determinant;
            let per_byte = (one.fixed * other.time - other.fixed * one.time) / determinant;
            consider(Line { seconds, per_byte });
        }
    }
    (best.1, best.0)
}

/// The number from which the others have the least sum of distances, each by its weight: half of the weights are on either side.
pub(crate) fn weighted_median(mut weighted: Vec<(f64, f64)>) -> Option<f64> {
    weighted.sort_by(|one, other| one.0.total_cmp(&other.0));
    let all: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    let middle = weighted.iter().find(|(_, weight)| {
        below += weight;
        2.0 * below >= all
    });
    middle.map(|&(number, _)| number)
}

/// The median deviation of numbers from their median, as a part of it; 0 where that is not positive.
pub(crate) fn spread(numbers: &[f64]) -> f64 {
    let Some(middle) = median(numbers).filter(|&middle| middle > 0.0) else { return 0.0 };
    let deviations: Vec<f64> = numbers.iter().map(|number| (number - middle).abs() / middle).collect();
    median(&deviations).unwrap_or(0.0)
}

/// The standard error of the median of `count` samples with this median deviation from it: 1.48 times the deviation estimates a
/// standard deviation, and the median deviates by 1.25 / √n of that (P. J. Huber, "Robust Statistics", 1981, §1.1 and §5.1).
pub(crate) fn standard_error_of_median(deviation: f64, count: usize) -> f64 {
    1.48 * 1.25 * deviation / (count.max(1) as f64).sqrt()
}

/// The Theil–Sen line: the median slope between two points, and the median of the residuals. Neither is negative. (H.
/// Theil, "A rank-invariant method of linear and polynomial regression analysis", 1950; P. K. Sen, JASA 63, 1968.)
pub(crate) fn theil_sen(points: &[(f64, f64)]) -> Line {
    let pairs =
        points.iter().enumerate().flat_map(|(at, &one)| points[at + 1..].iter().map(move |&other| (one, other)));
    let slopes: Vec<f64> = pairs.map(|(one, other)| (other.1 - one.1) / (other.0 - one.0)).collect();
    let per_byte = median(&slopes).filter(|slope| slope.is_finite()).unwrap_or(0.0).max(0.0);
    let left: Vec<f64> = points.iter().map(|&(bytes, time)| time - per_byte * bytes).collect();
    Line { seconds: median(&left).unwrap_or(0.0).max(0.0), per_byte }
}

/// By how much each of the times of rising sizes, as a part of it, may be off by chance, as its neighbours show: the median distance
/// of the times near it from the line between the sizes on either side. Samples of one size that are alike say little if another
/// size, measured a moment later, has quite another time.
pub(crate) fn scatter(curve: &[(f64, f64)]) -> Vec<f64> {
    let off = |near: &[(f64, f64)]| {
        let [(from, first), (size, time), (to, last)] = [near[0], near[1], near[2]];
        let between = first + (last - first) * (size - from) / (to - from);
        (time - between).abs() / time.max(f64::MIN_POSITIVE)
    };
    let parts: Vec<f64> = curve.windows(3).map(off).collect();
    let near = |at: usize| &parts[at.saturating_sub(5).min(parts.len())..(at + 4).min(parts.len())];
    (0..curve.len()).map(|at| median(near(at)).unwrap_or(0.0)).collect()
}

/// Each time of rising sizes without its own error: the median of it and as many on either side, at most two. What a time may be off
/// by is a part of this; as a part of itself, a time that is too short by chance would seem the surest.
pub(crate) fn levels(times: &[f64]) -> Vec<f64> {
    let level = |at: usize| {
        let beside = at.min(times.len() - 1 - at).min(2);
        median(&times[at - beside..=at + beside]).unwrap_or(times[at])
    };
    (0..times.len()).map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line with the least sum of relative misses.
    fn relative(points: &[(f64, f64)]) -> Line {
        let sample = |&(growing, time): &(f64, f64)| Sample { fixed: 1.0, growing, time, scale: time };
        least_misses(&points.iter().map(sample).collect::<Vec<_>>()).0
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 900.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(weighted_median(vec![(3.0, 1.0), (1.0, 5.0), (2.0, 1.0)]), Some(1.0));
        assert_eq!(weighted_median(Vec::new()), None);
    }

    #[test]
    fn an_outlier_does_not_move_a_line() {
        let mut points: Vec<(f64, f64)> = (0..9).map(|k| (f64::from(k) * 100.0, 2.0 + f64::from(k))).collect();
        points[4].1 = 50.0;
        for line in [relative(&points), theil_sen(&points)] {
            assert!((line.seconds - 2.0).abs() < 1e-9 && (line.per_byte - 0.01).abs() < 1e-12, "{line:?}");
        }
    }

    #[test]
    fn a_line_that_would_begin_below_nothing_begins_in_the_origin() {
        let line = relative(&[(100.0, 1.0), (200.0, 3.0), (300.0, 5.0)]);
        assert_eq!(line.seconds, 0.0);
        assert!(line.per_byte > 0.0);
    }

    #[test]
    fn times_that_jump_about_are_uncertain() {
        let sizes = |times: &[f64]| (0..).map(f64::from).zip(times.iter().copied()).collect::<Vec<_>>();
        assert_eq!(scatter(&sizes(&[1.0, 2.0, 3.0, 14.0, 25.0])), [0.0; 5]);
        assert_eq!(scatter(&sizes(&[1.0])), [0.0]);
        let mut times: Vec<f64> = [1.0, 5.0].repeat(5);
        times.extend((1..12).map(|step| f64::from(step) * 10.0));
        let jumps = scatter(&sizes(&times));
        assert!(jumps[2] > 0.5 && jumps[20] == 0.0, "{jumps:?}");
    }
}
