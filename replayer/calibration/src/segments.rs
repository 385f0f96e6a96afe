//! A piecewise linear curve: the time of a message as a function of its size, with as few lines as possible, and jumps
//! where the library changes its protocol.
//!
//! **The problem.** Points are sizes *s* with times *t*. A partition into runs of consecutive points, with a line for
//! each, costs the sum of `|line(s) − t| / (t u)` over all points, where *u* is the relative uncertainty of a point,
//! and a price for each line. The cheapest partition is found exactly: the best one of the first *n* points ends with a
//! line over the last *k* of them, after the best one of the first *n − k* (R. Bellman, "On the approximation of curves
//! by line segments using dynamic programming", CACM 4(6), 1961). The price prevents breaks due to noise: a line has to
//! save at least its price. It is that of the Bayesian information criterion (G. Schwarz, Annals of Statistics 6(2),
//! 1978): ½ ln *n* for each of three parameters, seconds, slope and place, of some 40 points.

use titr_common::units::Bytes;

use crate::robust::{Line, Sample, least_misses};

/// A straight piece of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The piece holds for larger messages than this; all sizes, in the first piece.
    pub above: Bytes,
    /// Time over size.
    pub line: Line,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CurvePoint {
    pub bytes: Bytes,
    /// The time in seconds.
    pub seconds: f64,
    /// The time that a miss is measured by, in seconds: how far the point may be off by chance.
    pub uncertainty: f64,
}

/// The misses, each in its uncertainty, that a line has to save.
const PRICE: f64 = 6.0;

/// A curve has no line of fewer points than this, where it has more.
const FEWEST: usize = 2;

/// Messages up to this size take the same line: what a byte more takes is less than any clock shows.
const SMALL: Bytes = Bytes(128);

/// The pieces of the curve through `points`, rising in size. No piece reaches across a size of `breaks`: smaller
/// messages than that belong to another piece than the others.
pub(crate) fn pieces(points: &[CurvePoint], breaks: &[Bytes]) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut from = 0;
    let ends = breaks.iter().map(|&size| points.partition_point(|point| point.bytes < size)).chain([points.len()]);
    for (end, start) in ends.zip([None].into_iter().chain(breaks.iter().map(|&size| Some(size)))) {
        if end > from {
            let first = start.map_or(Bytes(0), |size| Bytes(size.0.saturating_sub(1)));
            partition(&points[from..end], first, &mut segments);
            from = end;
        }
    }
    segments
}

/// Appends the pieces of a part of the curve whose first piece begins above `above`.
fn partition(points: &[CurvePoint], above: Bytes, segments: &mut Vec<Segment>) {
    let sample = |&CurvePoint { bytes, seconds, uncertainty }: &CurvePoint| Sample {
        fixed: 1.0,
        growing: bytes.0 as f64,
        time: seconds,
        scale: uncertainty,
    };
    let samples: Vec<Sample> = points.iter().map(sample).collect();
    // For the first `end` points: their cost, the start of their last line, and that line.
    let mut best: Vec<(f64, usize, Line)> = vec![(0.0, 0, Line { seconds: 0.0, per_byte: 0.0 })];
    for end in 1..=samples.len() {
        let mut least = (f64::INFINITY, 0, best[0].2);
        for begin in 0..end {
            let is_break = begin > 0;
            if is_break && (begin < FEWEST || end - begin < FEWEST || points[begin - 1].bytes < SMALL) {
                continue;
            }
            let (line, miss) = least_misses(&samples[begin..end]);
            let cost = best[begin].0 + miss + PRICE;
            if cost < least.0 {
                least = (cost, begin, line);
            }
        }
        best.push(least);
    }
    let at = segments.len();
    let mut end = samples.len();
    while end > 0 {
        let (_, begin, line) = best[end];
        let from = if begin == 0 { above } else { points[begin - 1].bytes };
        segments.insert(at, Segment { above: from, line });
        end = begin;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(sizes: impl IntoIterator<Item = u64>, time: impl Fn(f64) -> f64) -> Vec<CurvePoint> {
        let point = |size| {
            let seconds = time(size as f64);
            CurvePoint { bytes: Bytes(size), seconds, uncertainty: 0.005 * seconds }
        };
        sizes.into_iter().map(point).collect()
    }

    /// Two points that are a tenth off, and known to be uncertain, are no line of their own; certain ones would be.
    #[test]
    fn noise_is_no_break() {
        let mut points = curve((0..20).map(|k| 1 << k), |size| 1e-5 + size * 1e-9);
        for point in &mut points[10..12] {
            point.seconds *= 1.1;
        }
        assert_eq!(pieces(&points, &[]).len(), 3);
        for point in &mut points[10..12] {
            point.uncertainty *= 10.0;
        }
        assert_eq!(pieces(&points, &[]).len(), 1);
    }

    #[test]
    fn one_line_stays_one() {
        let points = curve((0..20).map(|k| 1 << k), |size| 1e-5 + size * 1e-9);
        let [Segment { above: Bytes(0), line }] = pieces(&points, &[])[..] else { panic!("more than one") };
        assert!((line.seconds - 1e-5).abs() < 1e-12 && (line.per_byte - 1e-9).abs() < 1e-15);
    }

    #[test]
    fn a_jump_is_found_where_it_is() {
        let points = curve((0..24).map(|k| 1 << k), |size| if size < 5000.0 { 1e-5 } else { 5e-5 + size * 1e-9 });
        let found = pieces(&points, &[]);
        assert_eq!(found.iter().map(|segment| segment.above.0).collect::<Vec<_>>(), [0, 4096]);
    }

    #[test]
    fn a_break_that_is_known_is_kept() {
        let points = curve((0..24).map(|k| 1 << k), |size| 1e-5 + size * 1e-9);
        let found = pieces(&points, &[Bytes(65_000)]);
        assert_eq!(found.iter().map(|segment| segment.above.0).collect::<Vec<_>>(), [0, 64_999]);
    }
}
