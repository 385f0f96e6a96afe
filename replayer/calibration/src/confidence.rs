//! Confidence intervals of the fitted parameters, by the parametric bootstrap (B. Efron and R. J. Tibshirani, "An Introduction to
//! the Bootstrap", 1993, §6.5): the fit is repeated with times that differ from the measured ones by as much as these may be off
//! by chance.

use titr_common::statistics::quantile;
use titr_simulation::Draw;

use crate::fit::{Fit, FitError};
use crate::measurements::Measurements;
use crate::robust::scatter;

/// Fits to measurements that differ by chance.
pub(crate) struct Confidence {
    refits: Vec<Fit>,
}

/// The number of fits: the 5 % at either end are four of them.
const REFITS: u32 = 80;

impl Confidence {
    /// Refits to measurements to which `fit` was fitted. The buckets of links are as in that fit.
    ///
    /// # Errors
    /// If there is nothing to fit to.
    pub(crate) fn of(measurements: &Measurements, fit: &Fit) -> Result<Self, FitError> {
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
