//! Robust statistics, which a few disturbed samples do not change.

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
    #[must_use]
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
#[must_use]
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

/// The Theil–Sen line: the median slope between two points, and the median of the residuals. Neither is negative. (H.
/// Theil, "A rank-invariant method of linear and polynomial regression analysis", 1950; P. K. Sen, JASA 63, 1968.)
#[must_use]
pub(crate) fn theil_sen(points: &[(f64, f64)]) -> Line {
    let pairs =
        points.iter().enumerate().flat_map(|(at, &one)| points[at + 1..].iter().map(move |&other| (one, other)));
    let slopes: Vec<f64> = pairs.map(|(one, other)| (other.1 - one.1) / (other.0 - one.0)).collect();
    let per_byte = median(&slopes).filter(|slope| slope.is_finite()).unwrap_or(0.0).max(0.0);
    let left: Vec<f64> = points.iter().map(|&(bytes, time)| time - per_byte * bytes).collect();
    Line { seconds: median(&left).unwrap_or(0.0).max(0.0), per_byte }
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
}
