//! A curve in pieces: how long a message takes, by its size, as few straight lines that jump where the library changes its protocol.
//!
//! **The problem.** Points are sizes *s* with times *t*. A partition into runs of consecutive points, with a line for each,
//! costs the sum of `|line(s) − t| / t` over all points, and a price for each line. The cheapest partition is found
//! exactly: the best one of the first *n* points ends with a line over the last *k* of them, after the best one of the
//! first *n − k* (R. Bellman, "On the approximation of curves by line segments using dynamic programming", CACM 4(6), 1961). The
//! price keeps noise from being taken for a break: a line has to save as much.

use titr_common::units::Bytes;

use crate::robust::{Line, least_relative};

/// A straight piece of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The piece holds for larger messages than this; all sizes, in the first piece.
    pub above: Bytes,
    /// Time over size.
    pub line: Line,
}

/// A curve has no line of fewer points than this, where it has more.
const FEWEST: usize = 2;

/// The pieces of the curve through `points` (size, seconds), rising in size. No piece reaches across a size of `breaks`:
/// smaller messages than that belong to another piece than the others. Each piece costs `price`.
#[must_use]
pub fn pieces(points: &[(Bytes, f64)], breaks: &[Bytes], price: f64) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut from = 0;
    let ends = breaks.iter().map(|&size| points.partition_point(|&(bytes, _)| bytes < size)).chain([points.len()]);
    for (end, start) in ends.zip([None].into_iter().chain(breaks.iter().map(|&size| Some(size)))) {
        if end > from {
            let first = start.map_or(Bytes(0), |size| Bytes(size.0.saturating_sub(1)));
            partition(&points[from..end], first, price, &mut segments);
            from = end;
        }
    }
    segments
}

/// Appends the pieces of a part of the curve whose first piece begins above `above`.
fn partition(points: &[(Bytes, f64)], above: Bytes, price: f64, segments: &mut Vec<Segment>) {
    let plain: Vec<(f64, f64)> = points.iter().map(|&(bytes, time)| (bytes.0 as f64, time)).collect();
    // Of the first `end` points: what they cost, where their last line begins, and that line.
    let mut best: Vec<(f64, usize, Line)> = vec![(0.0, 0, Line { seconds: 0.0, per_byte: 0.0 })];
    for end in 1..=plain.len() {
        let mut least = (f64::INFINITY, 0, best[0].2);
        for begin in 0..end {
            if begin > 0 && (begin < FEWEST || end - begin < FEWEST) {
                continue;
            }
            let line = least_relative(&plain[begin..end]);
            let cost = best[begin].0 + line.miss(&plain[begin..end]) + price;
            if cost < least.0 {
                least = (cost, begin, line);
            }
        }
        best.push(least);
    }
    let at = segments.len();
    let mut end = plain.len();
    while end > 0 {
        let (_, begin, line) = best[end];
        let from = if begin == 0 { above } else { points[begin - 1].0 };
        segments.insert(at, Segment { above: from, line });
        end = begin;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(sizes: impl IntoIterator<Item = u64>, time: impl Fn(f64) -> f64) -> Vec<(Bytes, f64)> {
        sizes.into_iter().map(|size| (Bytes(size), time(size as f64))).collect()
    }

    #[test]
    fn one_line_stays_one() {
        let points = curve((0..20).map(|k| 1 << k), |size| 1e-5 + size * 1e-9);
        let [Segment { above: Bytes(0), line }] = pieces(&points, &[], 0.04)[..] else { panic!("more than one") };
        assert!((line.seconds - 1e-5).abs() < 1e-12 && (line.per_byte - 1e-9).abs() < 1e-15);
    }

    #[test]
    fn a_jump_is_found_where_it_is() {
        let points = curve((0..24).map(|k| 1 << k), |size| if size < 5000.0 { 1e-5 } else { 5e-5 + size * 1e-9 });
        let found = pieces(&points, &[], 0.04);
        assert_eq!(found.iter().map(|segment| segment.above.0).collect::<Vec<_>>(), [0, 4096]);
    }

    #[test]
    fn a_break_that_is_known_is_kept() {
        let points = curve((0..24).map(|k| 1 << k), |size| 1e-5 + size * 1e-9);
        let found = pieces(&points, &[Bytes(65_000)], 0.04);
        assert_eq!(found.iter().map(|segment| segment.above.0).collect::<Vec<_>>(), [0, 64_999]);
    }
}
