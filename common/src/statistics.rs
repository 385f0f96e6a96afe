//! The mean and the spread of a sample.

/// The mean; 0 if there are no numbers.
#[must_use]
pub fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len().max(1) as f64
}

/// The standard deviation of the distribution that the sample is from; 0 for fewer than two numbers.
#[must_use]
pub fn deviation(sample: &[f64]) -> f64 {
    let mean = mean(sample);
    let squares: f64 = sample.iter().map(|number| (number - mean).powi(2)).sum();
    (squares / sample.len().saturating_sub(1).max(1) as f64).sqrt()
}

/// The standard deviation divided by the mean; 0 if the mean is not positive.
#[must_use]
pub fn relative_deviation(sample: &[f64]) -> f64 {
    let mean = mean(sample);
    if mean > 0.0 { deviation(sample) / mean } else { 0.0 }
}

/// The number below which this part of a sorted sample lies, interpolated between the two nearest numbers (Hyndman and Fan's type 7);
/// 0 if there are no numbers.
#[must_use]
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part.clamp(0.0, 1.0) * sorted.len().saturating_sub(1) as f64;
    let at = |place: f64| sorted.get(place as usize).copied().unwrap_or(0.0);
    let (below, above) = (at(place.floor()), at(place.ceil()));
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ninety_and_a_hundred_and_ten_deviate_by_the_root_of_two_hundred() {
        let sample = [90.0, 110.0];
        assert_eq!((mean(&sample), deviation(&sample)), (100.0, 200_f64.sqrt()));
        assert_eq!(relative_deviation(&sample), 200_f64.sqrt() / 100.0);
    }

    #[test]
    fn quantiles_lie_between_numbers() {
        let quartiles = [0.0, 0.25, 0.5, 1.0].map(|part| quantile(&[1.0, 2.0, 4.0], part));
        assert_eq!(quartiles, [1.0, 1.5, 2.0, 4.0]);
        assert_eq!((quantile(&[], 0.5), quantile(&[3.0], 0.9)), (0.0, 3.0));
    }

    #[test]
    fn fewer_than_two_numbers_have_no_spread() {
        assert_eq!([&[][..], &[7.0]].map(|sample| (mean(sample), deviation(sample))), [(0.0, 0.0), (7.0, 0.0)]);
        assert_eq!(relative_deviation(&[0.0, 0.0]), 0.0);
    }
}
