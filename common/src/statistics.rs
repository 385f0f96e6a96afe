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
    fn fewer_than_two_numbers_have_no_spread() {
        assert_eq!([&[][..], &[7.0]].map(|sample| (mean(sample), deviation(sample))), [(0.0, 0.0), (7.0, 0.0)]);
        assert_eq!(relative_deviation(&[0.0, 0.0]), 0.0);
    }
}
