//! Trains: the rate of a link, and the bytes that it passes at once after a pause.
//!
//! A train of messages arrives at the rate *R* of the link, but for the first *B* bytes, if a token bucket of that size was
//! full. The byte *x* after the first message arrives at *(x − B) / R* from some *x* on. The line through the later
//! arrivals gives *R* by its slope, and *B* by its place (as "packet trains" measure bottlenecks: M. Jain and C. Dovrolis,
//! "End-to-end available bandwidth", SIGCOMM 2002).

use titr_common::units::Bytes;

use crate::measurements::{Measurements, Pattern, Point, Series};
use crate::robust::{median, standard_error_of_median, theil_sen};

/// What a train shows of the link that limits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Bytes per second.
    pub rate: f64,
    /// The bytes that pass at once after a pause, beyond the first message.
    pub burst: f64,
    /// The standard error of `burst`.
    pub uncertainty: f64,
}

/// Bytes that a link may pass at once as if it had a bucket: two packets, of which one waits in each device.
const PACKETS: f64 = 3000.0;

/// The sizes of a ping-pong whose times show the rate of large messages.
const LARGE: usize = 8;

/// Rates that differ by less than this part are the same.
const ALIKE: f64 = 0.1;

impl Limit {
    /// The limit that a train shows. `None`: its later half has no steady rate.
    #[must_use]
    pub(crate) fn of(series: &Series) -> Option<Self> {
        let arrivals: Vec<(f64, f64)> =
            series.medians().into_iter().map(|(bytes, time)| (bytes.0 as f64, time)).collect();
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

/// The size of the token buckets of the links, by the median of all trains. `None`: they have none that shows.
#[must_use]
pub(crate) fn burst(measurements: &Measurements) -> Option<Bytes> {
    let trains = measurements.series.iter().filter(|series| series.pattern == Pattern::Train);
    let bursts = trains.filter_map(|train| {
        let limit = Limit::of(train)?;
        let first = train.points.first().map_or(0.0, |point| point.bytes.0 as f64);
        // The first message found the bucket full, too.
        Some(if limit.burst > PACKETS.max(3.0 * limit.uncertainty) { limit.burst + first } else { 0.0 })
    });
    median(&bursts.collect::<Vec<_>>()).filter(|&burst| burst > 0.0).map(|burst| Bytes(burst.round() as u64))
}

/// The seconds that buckets of this size save each message of a ping-pong, by size. Each sample begins with full buckets. While
/// a message comes back, the bucket of the way there fills.
#[must_use]
pub(crate) fn saved(burst: Option<Bytes>, ping_pong: &[Point]) -> Vec<f64> {
    let Some(Bytes(burst)) = burst else { return vec![0.0; ping_pong.len()] };
    let median_time = |point: &Point| median(&point.seconds).unwrap_or(0.0);
    let large: Vec<(f64, f64)> =
        ping_pong.iter().rev().take(LARGE).map(|point| (point.bytes.0 as f64, median_time(point))).collect();
    let rate = 1.0 / theil_sen(&large).per_byte.max(f64::MIN_POSITIVE);
    let saved = |point: &Point| {
        let (burst, size) = (burst as f64, point.bytes.0 as f64);
        let mut tokens = burst;
        let mut at_once = 0.0;
        for _ in 0..point.repetitions {
            at_once += tokens.clamp(0.0, size);
            tokens = (tokens - size + 2.0 * rate * median_time(point)).min(burst);
        }
        at_once / f64::from(point.repetitions) / rate
    };
    ping_pong.iter().map(saved).collect()
}

#[cfg(test)]
mod tests {
    use titr_common::units::Seconds;

    use super::*;

    /// A train of 128 messages of 4,000 bytes over a link with this rate and bucket, and 50 µs of noise.
    fn train(rate: f64, bucket: f64) -> Series {
        let point = |at: u64| {
            let bytes = (at * 4000) as f64;
            let noise = (at * 7919 % 101) as f64 * 0.5e-6;
            let time = ((bytes + 4000.0 - bucket) / rate).max(bytes / 1e9) + noise;
            Point { bytes: Bytes(at * 4000), repetitions: 1, seconds: vec![time] }
        };
        Series { pattern: Pattern::Train, ranks: vec![0, 1], late: Seconds(0.0), points: (1..128).map(point).collect() }
    }

    fn measured(series: Vec<Series>) -> Measurements {
        let hosts = vec!["a".to_owned(), "b".to_owned()];
        let mpi = "Open MPI".to_owned();
        Measurements {
            titr_measurements: 1,
            mpi,
            hosts,
            places: vec![0, 1],
            series,
            late_receives: Vec::new(),
            detours: Vec::new(),
        }
    }

    #[test]
    fn rate_and_bucket_are_found() {
        for (rate, bucket) in [(1.25e7, 32768.0), (1.25e6, 16384.0), (1.25e8, 200_000.0)] {
            let found = Limit::of(&train(rate, bucket)).unwrap();
            assert!((found.rate / rate - 1.0).abs() < 0.02, "{found:?}");
            let burst = burst(&measured(vec![train(rate, bucket)])).unwrap().0 as f64;
            assert!((burst - bucket).abs() < 0.1 * bucket + 60e-6 * rate, "{burst} instead of {bucket}");
        }
    }

    #[test]
    fn a_link_without_a_bucket_has_none() {
        assert_eq!(burst(&measured(vec![train(1.25e7, 4000.0), train(1.25e7, 4000.0)])), None);
        assert_eq!(burst(&measured(Vec::new())), None);
    }

    /// A bucket that holds more than the train shows no rate.
    #[test]
    fn a_train_that_ends_in_its_bucket_shows_nothing() {
        assert_eq!(Limit::of(&train(1.25e7, 400_000.0)), None);
    }
}
