//! Means and their confidence intervals.

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
