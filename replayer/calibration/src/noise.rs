//! The spread of a machine's times, for `[spread]` of the platform file: detours of its hosts, times of messages, and the
//! uncertainty of the fitted values.

use titr_common::statistics::quantile;
use titr_simulation::Draw;

use crate::fit::{Fit, NoPingPong};
use crate::measurements::{Measurements, Pattern, Point, SMALL};
use crate::robust::{MEDIAN_DEVIATION, median, scatter, spread, standard_error_of_median};
use crate::trains::Limit;

/// The spread of a machine's times. A part is 0 where nothing shows. A standard deviation is at most 1: samples that differ by
/// more are of a machine that does something else.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// The mean length of an interruption of computation, in seconds.
    pub detour_length: f64,
    /// Interruptions in a second of computation.
    pub detour_rate: f64,
    /// The standard deviation of the time of a message, as a fraction of it.
    pub message: f64,
    /// The standard error of the bandwidth, as a fraction of it.
    pub bandwidth: f64,
    /// The standard error of the latency, as a fraction of it.
    pub latency: f64,
    /// The standard deviation of predicted times from the measured ones, as a fraction of them, in patterns that were not fitted.
    pub model: f64,
}

impl Noise {
    /// The noise in measurements to which `fit` was fitted.
    pub(crate) fn of(measurements: &Measurements, fit: &Fit) -> Self {
        let watched: f64 = measurements.detours.iter().map(|detours| detours.watched.0).sum();
        let lost: f64 = measurements.detours.iter().map(|detours| detours.lost.0).sum();
        let count: u64 = measurements.detours.iter().map(|detours| detours.count).sum();
        let alone = measurements.first(Pattern::PingPong, fit.is_one_host);
        let points = alone.map_or(&[][..], |series| &series.points);
        let is_transfer = |point: &&Point| {
            let transfer = point.bytes.0 as f64 / fit.bandwidth();
            point.seconds.len() > 2 && median(&point.seconds).is_some_and(|time| transfer > time / 2.0)
        };
        // A sample is the mean of two messages for each repetition.
        let of_message =
            |point: &Point| point.spread() / MEDIAN_DEVIATION * (2.0 * f64::from(point.repetitions)).sqrt();
        let message = median(&points.iter().filter(is_transfer).map(of_message).collect::<Vec<_>>());
        let rates: Vec<f64> = measurements.trains().filter_map(|train| Some(Limit::of(train)?.rate)).collect();
        let small = points.iter().filter(|point| point.bytes <= SMALL).filter_map(|point| median(&point.seconds));
        Self {
            detour_length: if count > 0 { lost / count as f64 } else { 0.0 },
            detour_rate: if lost > 0.0 && watched > lost { count as f64 / (watched - lost) } else { 0.0 },
            message: message.unwrap_or(0.0).min(1.0),
            bandwidth: relative_error(&rates),
            latency: relative_error(&small.collect::<Vec<_>>()),
            model: 0.0,
        }
    }
}

/// The standard error of the median of these numbers, as a fraction of it, at most 1; 0 if there are fewer than three.
fn relative_error(numbers: &[f64]) -> f64 {
    if numbers.len() > 2 { standard_error_of_median(spread(numbers), numbers.len()).min(1.0) } else { 0.0 }
}

/// Fits to measurements that differ by chance.
pub(crate) struct Confidence {
    refits: Vec<Fit>,
}

/// The number of fits: the 5 % at either end are four of them.
const REFITS: u32 = 80;

impl Confidence {
    /// Refits to measurements to which `fit` was fitted. The buckets of links are as in that fit.
    pub(crate) fn of(measurements: &Measurements, fit: &Fit) -> Result<Self, NoPingPong> {
        let refit = |number| Fit::with_burst(&redrawn(measurements, Draw { seed: 0, number }), fit.burst);
        Ok(Self { refits: (0..REFITS).map(refit).collect::<Result<_, _>>()? })
    }

    /// The interval that has 90 % of the refitted values of a parameter. `None`: a refit has no such parameter.
    pub(crate) fn interval(&self, parameter: impl Fn(&Fit) -> Option<f64>) -> Option<[f64; 2]> {
        let mut values = self.refits.iter().map(parameter).collect::<Option<Vec<f64>>>()?;
        values.sort_by(f64::total_cmp);
        Some([0.05, 0.95].map(|part| quantile(&values, part)))
    }

    /// The part of the refits that agree on a choice.
    pub(crate) fn share(&self, agrees: impl Fn(&Fit) -> bool) -> f64 {
        self.refits.iter().filter(|fit| agrees(fit)).count() as f64 / self.refits.len() as f64
    }
}

/// The measurements with all times of a size multiplied by one random factor, whose deviation is the uncertainty of their median.
fn redrawn(measurements: &Measurements, draw: Draw) -> Measurements {
    let mut redrawn = measurements.clone();
    for (at, series) in redrawn.series.iter_mut().enumerate() {
        let scattered = scatter(&series.curve());
        for ((which, point), scattered) in series.points.iter_mut().enumerate().zip(scattered) {
            let deviation = point.uncertainty().max(scattered);
            let factor = draw.factor(&format!("{at}.{which}"), deviation);
            point.seconds.iter_mut().for_each(|time| *time *= factor);
        }
    }
    redrawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_numbers_are_certain() {
        assert_eq!([relative_error(&[5.0; 9]), relative_error(&[1.0, 9.0])], [0.0, 0.0]);
        let error = relative_error(&[9.0, 10.0, 11.0, 9.0, 10.0, 11.0, 9.0, 10.0, 11.0]);
        assert!((error - 1.48 * 1.25 * 0.1 / 3.0).abs() < 1e-12, "{error}");
    }
}
