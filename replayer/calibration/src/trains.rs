//! Trains: the rate of a link, and the bytes that it passes at once after a pause.
//!
//! A train of messages arrives at the rate *R* of the link, but for the first *B* bytes, if a token bucket of that size was
//! full. The byte *x* after the first message arrives at *(x − B) / R* from some *x* on. The line through the later
//! arrivals gives *R* by its slope, and *B* by its place (as "packet trains" measure bottlenecks: M. Jain and C. Dovrolis,
//! "End-to-end available bandwidth", SIGCOMM 2002).

use crate::measurements::{Measurements, Series};
use crate::robust::{median, standard_error_of_median, theil_sen};

/// What a train shows of the link that limits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limit {
    /// Bytes per second.
    pub rate: f64,
    /// The bytes that pass at once after a pause, beyond the first message.
    pub burst: f64,
    /// The standard error of `burst`.
    pub uncertainty: f64,
}

/// Rates that differ by less than this part are the same.
const ALIKE: f64 = 0.1;

impl Limit {
    /// The limit that a train shows. `None`: its later half has no steady rate.
    pub(crate) fn of(series: &Series) -> Option<Self> {
        let arrivals = series.curve();
        let later = |part: f64| {
            let from = arrivals.last().map_or(0.0, |&(bytes, _)| part * bytes);
            arrivals.iter().copied().filter(|&(bytes, _)| bytes >= from).collect::<Vec<_>>()
        };
        let half = later(0.5);
        let [line, last] = [theil_sen(&half), theil_sen(&later(0.75))];
        if half.len() < 8 || line.per_byte <= 0.0 || (last.per_byte / line.per_byte - 1.0).abs() > ALIKE {
            return None;
        }
        let (rate, slope) = (1.0 / line.per_byte, line.per_byte);
        // The line may begin before the first arrival.
        let lead = half.iter().map(|&(bytes, time)| bytes - time / slope).collect::<Vec<_>>();
        let burst = median(&lead)?;
        let deviation = median(&lead.iter().map(|lead| (lead - burst).abs()).collect::<Vec<_>>())?;
        Some(Self { rate, burst, uncertainty: standard_error_of_median(deviation, lead.len()) })
    }
}

/// The rate of the slowest train as a part of that of trains between two ranks, at most 1.
pub(crate) fn slowest(measurements: &Measurements, pair: [u32; 2]) -> f64 {
    let rates = measurements.trains().filter_map(|train| Some((&train.ranks, Limit::of(train)?.rate)));
    let (of_pair, all): (Vec<_>, Vec<_>) = rates.partition(|(ranks, _)| ranks.iter().all(|rank| pair.contains(rank)));
    let of_pair = median(&of_pair.into_iter().map(|(_, rate)| rate).collect::<Vec<_>>());
    of_pair.map_or(1.0, |of_pair| all.into_iter().map(|(_, rate)| rate / of_pair).fold(1.0, f64::min))
}

#[cfg(test)]
mod tests {
    use titr_common::units::{Bytes, Seconds};

    use super::*;
    use crate::measurements::{Pattern, Point};

    /// The size of a message.
    const MESSAGE: u64 = 4000;

    /// A train of 128 messages over a link with this rate and bucket, and 50 µs of noise.
    fn train(rate: f64, bucket: f64) -> Series {
        let point = |at: u64| {
            let bytes = (at * MESSAGE) as f64;
            let noise = (at * 7919 % 101) as f64 * 0.5e-6;
            let time = ((bytes + MESSAGE as f64 - bucket) / rate).max(bytes / 1e9) + noise;
            Point { bytes: Bytes(at * MESSAGE), repetitions: 1, seconds: vec![time] }
        };
        Series { pattern: Pattern::Train, ranks: vec![0, 1], late: Seconds(0.0), points: (1..128).map(point).collect() }
    }

    #[test]
    fn rate_and_bucket_are_found() {
        for (rate, bucket) in [(1.25e7, 32768.0), (1.25e6, 16384.0), (1.25e8, 200_000.0)] {
            let found = Limit::of(&train(rate, bucket)).unwrap();
            assert!((found.rate / rate - 1.0).abs() < 0.02, "{found:?}");
            let burst = found.burst + MESSAGE as f64;
            assert!((burst - bucket).abs() < 0.1 * bucket + 60e-6 * rate, "{burst} instead of {bucket}");
        }
    }

    #[test]
    fn a_link_without_a_bucket_has_none() {
        let found = Limit::of(&train(1.25e7, MESSAGE as f64)).unwrap();
        assert!(found.burst.abs() < 100e-6 * found.rate, "{found:?}");
    }

    /// A bucket that holds more than the train shows no rate.
    #[test]
    fn a_train_that_ends_in_its_bucket_shows_nothing() {
        assert_eq!(Limit::of(&train(1.25e7, 400_000.0)), None);
    }
}
