//! Statistics of samples: means with confidence intervals, and percentiles.

use schemars::JsonSchema;
use serde::Serialize;
use titr_common::statistics::{deviation, mean};

/// A mean and its 99 % confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval; none if one sample says nothing of it.
    pub half_width: Option<f64>,
}

/// 99.5 % quantiles of Student's t by degrees of freedom from 1. Above 30, the last one is used, which is slightly too
/// large.
const T: [f64; 30] = [
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947, 2.921,
    2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750,
];

impl Estimate {
    /// From samples that are independent and approximately normal.
    #[must_use]
    pub fn of(samples: &[f64]) -> Self {
        let (count, mean) = (samples.len(), mean(samples));
        let Some(freedom) = count.checked_sub(1).filter(|&freedom| freedom > 0) else {
            return Self { mean, half_width: None };
        };
        let quantile = T[freedom.min(T.len()) - 1];
        Self { mean, half_width: Some(quantile * deviation(samples) / (count as f64).sqrt()) }
    }
}

/// A histogram whose bins are one wide up to 64, and a 32nd of the last power of two above.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    bins: Vec<u64>,
    count: u64,
    greatest: u64,
}

/// The percentiles of a set of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Percentiles_of_{T}")]
pub struct Percentiles<T> {
    /// The median: half of the numbers are at most this.
    pub p50: T,
    /// The 95th percentile: 95 % of the numbers are at most this.
    pub p95: T,
    /// The 99th percentile: 99 % of the numbers are at most this.
    pub p99: T,
    /// The greatest number.
    pub max: T,
}

impl<T> Percentiles<T> {
    /// Maps each percentile.
    pub fn map<U>(self, of: impl Fn(T) -> U) -> Percentiles<U> {
        Percentiles { p50: of(self.p50), p95: of(self.p95), p99: of(self.p99), max: of(self.max) }
    }
}

/// Bins of each power of two.
const FINE: u64 = 32;

impl Histogram {
    /// Counts a number.
    pub fn add(&mut self, number: u64) {
        let bin = bin_of(number);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
        self.count += 1;
        self.greatest = self.greatest.max(number);
    }

    /// Adds the counts of another histogram.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.bins.resize(self.bins.len().max(other.bins.len()), 0);
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            *bin += more;
        }
        self.count += other.count;
        self.greatest = self.greatest.max(other.greatest);
    }

    /// Its percentiles; 0 if there are no numbers.
    #[must_use]
    pub fn percentiles(&self) -> Percentiles<u64> {
        Percentiles { p50: 0.5, p95: 0.95, p99: 0.99, max: 1.0 }.map(|part| self.quantile(part))
    }

    /// The least number, or the greatest of its bin, that at least this part of all are no greater than.
    pub(crate) fn quantile(&self, part: f64) -> u64 {
        let rank = (part * self.count as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let bin = self.bins.iter().position(|&bin| {
            below += bin;
            below >= rank
        });
        bin.map_or(0, |bin| greatest_of(bin).min(self.greatest))
    }
}

fn bin_of(number: u64) -> usize {
    if number < 2 * FINE {
        return number as usize;
    }
    let shift = u64::from(number.ilog2() - FINE.ilog2());
    (shift * FINE + (number >> shift)) as usize
}

/// The inverse of [`bin_of`]: the greatest number of a bin.
fn greatest_of(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < 2 * FINE {
        return bin;
    }
    let shift = bin / FINE - 1;
    ((bin % FINE + FINE) << shift) + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean 3, standard deviation √2.5, t with 4 degrees of freedom 4.604.
    #[test]
    fn five_numbers() {
        let Estimate { mean, half_width } = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((mean - 3.0).abs() < 1e-12);
        assert!((half_width.unwrap() - 4.604 * 0.5_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn one_number_says_nothing_of_others() {
        assert_eq!(Estimate::of(&[7.0]), Estimate { mean: 7.0, half_width: None });
    }
}

#[cfg(test)]
mod histogram_tests {
    use super::*;

    #[test]
    fn bins_are_narrow_and_in_order() {
        for number in (0..5000).chain([1 << 20, (1 << 20) + 5, 1 << 62]) {
            let greatest = greatest_of(bin_of(number));
            assert!(number <= greatest && greatest - number <= number / FINE, "{number} in a bin up to {greatest}");
            assert_eq!(bin_of(greatest) + 1, bin_of(greatest + 1));
        }
    }

    #[test]
    fn quantiles_are_numbers_that_were_counted() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), 0);
        for number in 1..=20 {
            histogram.add(number);
        }
        assert_eq!([0.0, 0.5, 0.95, 0.99, 1.0].map(|part| histogram.quantile(part)), [1, 10, 19, 20, 20]);
    }
}
