//! Token buckets: the bytes that a link passes at once after a pause, as limiters do.
//!
//! With buckets of *B* bytes, a message of a ping-pong takes less than its latency and its transfer by the time of the bytes that
//! have come into the bucket since the message before. The size *B* is the one with which the times of all sizes are best
//! explained by one latency for eager messages, one for the others, and the rate of large messages.
//! [Trains](crate::trains) can contradict it, and show buckets that no ping-pong empties.

use titr_common::units::Bytes;

use crate::eager;
use crate::measurements::SMALL;
use crate::measurements::{Measurements, Pattern, Point, Series};
use crate::robust::{median, theil_sen, weighted_median};
use crate::trains::Limit;

/// Bytes that a link may pass at once as if it had a bucket: two packets, of which one waits in each device.
const PACKETS: f64 = 3000.0;

/// The sizes of a ping-pong whose times show the rate of large messages.
const LARGE: usize = 8;

/// The first trains are between the two hosts of the ping-pong, one each way.
const BETWEEN_TWO: usize = 2;

/// A bucket is one if the times are explained so much better with it: their sum of misses is less than this part of the one without.
const BETTER: f64 = 0.5;

/// Sizes that are tried differ by this factor.
const STEP: f64 = 1.03;

/// The size of the buckets of the links between hosts. `None`: they have none that shows.
pub(crate) fn burst(measurements: &Measurements) -> Option<Bytes> {
    let bursts = of_trains(measurements);
    let eager_threshold = eager::threshold(&measurements.late_receives);
    let ping_pong = measurements.first(Pattern::PingPong, false);
    let of_ping_pong = ping_pong.and_then(|series| by_ping_pong(&series.points, eager_threshold, rate(measurements)));
    match of_ping_pong {
        Some(burst) => Some(burst).filter(|burst| may_be(burst.0 as f64, &bursts)),
        None => {
            let visible =
                |&(burst, uncertainty): &(f64, f64)| if burst > PACKETS.max(3.0 * uncertainty) { burst } else { 0.0 };
            let visible: Vec<f64> = bursts.iter().map(visible).collect();
            median(&visible).filter(|&burst| burst > 0.0).map(|burst| Bytes(burst.round() as u64))
        }
    }
}

/// The size of the bucket that each train shows, with its standard error, in bytes.
fn of_trains(measurements: &Measurements) -> Vec<(f64, f64)> {
    let of = |train: &Series| {
        let limit = Limit::of(train)?;
        // The first message found the bucket full, too.
        let first = train.points.first().map_or(0.0, |point| point.bytes.0 as f64);
        Some((limit.burst + first, limit.uncertainty))
    };
    measurements.trains().filter_map(of).collect()
}

/// Whether trains leave room for a bucket of this size. They differ from each other by what other programs did at the time.
fn may_be(burst: f64, bursts: &[(f64, f64)]) -> bool {
    let sizes: Vec<f64> = bursts.iter().map(|&(burst, _)| burst).collect();
    let [least, most] = [f64::min, f64::max].map(|which| sizes.iter().copied().reduce(which).unwrap_or(burst));
    median(&sizes).is_none_or(|middle| middle + (most - least) > burst / 2.0)
}

/// The rate of trains between two hosts, in bytes per second. `None`: there are none.
pub(crate) fn rate(measurements: &Measurements) -> Option<f64> {
    let limits = measurements.trains().filter_map(Limit::of).take(BETWEEN_TWO);
    median(&limits.map(|limit| limit.rate).collect::<Vec<_>>())
}

/// The size of the bucket with which the times of a ping-pong are explained best, where trains have some rate.
fn by_ping_pong(points: &[Point], eager_threshold: Option<Bytes>, rate_of_trains: Option<f64>) -> Option<Bytes> {
    let largest = points.last()?.bytes.0 as f64;
    let misses = |burst: f64| Limited::of(points, eager_threshold, burst, rate_of_trains).misses(points);
    let sizes = std::iter::successors(Some(PACKETS), |size| Some(size * STEP)).take_while(|&size| size < largest / 2.0);
    let best = sizes.map(|size| (size, misses(size))).min_by(|one, other| one.1.total_cmp(&other.1));
    best.filter(|(_, missed)| *missed < BETTER * misses(0.0)).map(|(size, _)| Bytes(size.round() as u64))
}

/// The seconds that buckets of this size save each message of a ping-pong, by size.
pub(crate) fn saved(
    burst: Option<Bytes>,
    eager_threshold: Option<Bytes>,
    ping_pong: &[Point],
    rate_of_trains: Option<f64>,
) -> Vec<f64> {
    let Some(Bytes(burst)) = burst else { return vec![0.0; ping_pong.len()] };
    let link = Limited::of(ping_pong, eager_threshold, burst as f64, rate_of_trains);
    ping_pong.iter().map(|point| link.passed(point) / link.rate).collect()
}

/// A route with buckets, as a ping-pong shows it.
struct Limited {
    /// The size of the buckets, in bytes.
    burst: f64,
    /// Bytes per second.
    rate: f64,
    eager_threshold: Option<Bytes>,
    /// The seconds of a message that is eager, and of one that is not, besides its transfer.
    latencies: [f64; 2],
}

impl Limited {
    /// The route with buckets of `burst` bytes that explains a ping-pong best: its rate is that of the largest messages or that of
    /// trains, and its latencies are those of the smallest and of the largest messages.
    fn of(points: &[Point], eager_threshold: Option<Bytes>, burst: f64, rate_of_trains: Option<f64>) -> Self {
        let large = points.iter().rev().take(LARGE).map(|point| (point.bytes.0 as f64, median_time(point)));
        let of_large = 1.0 / theil_sen(&large.collect::<Vec<_>>()).per_byte.max(f64::MIN_POSITIVE);
        let with = |rate| Self::with_rate(points, eager_threshold, burst, rate);
        let of_large = with(of_large);
        match rate_of_trains.map(with) {
            Some(of_trains) if of_trains.misses(points) < of_large.misses(points) => of_trains,
            Some(_) | None => of_large,
        }
    }

    fn with_rate(points: &[Point], eager_threshold: Option<Bytes>, burst: f64, rate: f64) -> Self {
        let small: Vec<f64> = points.iter().filter(|point| point.bytes <= SMALL).map(median_time).collect();
        let small = median(&small).unwrap_or(0.0);
        let is_large = |point: &&Point| {
            let size = point.bytes.0 as f64;
            size > 2.0 * burst && eager_threshold.is_some_and(|threshold| point.bytes >= threshold)
        };
        let large = points.iter().filter(is_large).map(|point| {
            let time = median_time(point);
            ((time - (point.bytes.0 as f64 - burst) / rate).max(0.0), 1.0 / time.max(f64::MIN_POSITIVE))
        });
        let large = weighted_median(large.collect()).unwrap_or(small);
        Self { burst, rate, eager_threshold, latencies: [small, large] }
    }

    fn latency(&self, bytes: Bytes) -> f64 {
        let [eager, other] = self.latencies;
        if self.eager_threshold.is_none_or(|threshold| bytes < threshold) { eager } else { other }
    }

    /// The bytes of each message, on average, that pass at once. Each sample begins with full buckets. While a message comes back,
    /// the bucket of the way there fills.
    fn passed(&self, point: &Point) -> f64 {
        let (size, latency) = (point.bytes.0 as f64, self.latency(point.bytes));
        let (mut tokens, mut all) = (self.burst, 0.0);
        for _ in 0..point.repetitions {
            let passed = tokens.clamp(0.0, size);
            all += passed;
            tokens = (tokens - size + 2.0 * (self.rate * latency + size - passed)).min(self.burst);
        }
        all / f64::from(point.repetitions)
    }

    /// The sum of what the route misses of each time.
    fn misses(&self, points: &[Point]) -> f64 {
        points.iter().map(|point| self.misses_of(point)).sum()
    }

    /// What the route misses of a time, as a part of it. What misses a time by more than all of it misses it entirely.
    fn misses_of(&self, point: &Point) -> f64 {
        let time = self.latency(point.bytes) + (point.bytes.0 as f64 - self.passed(point)) / self.rate;
        let measured = median_time(point);
        ((time - measured).abs() / measured.max(f64::MIN_POSITIVE)).min(1.0)
    }
}

fn median_time(point: &Point) -> f64 {
    median(&point.seconds).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sizes of a ping-pong, eager below 64 KiB, and their times over links with this rate, latency and bucket. Each is repeated so
    /// often that the bucket is as in the long run.
    fn ping_pong(rate: f64, latency: f64, bucket: f64, noise: f64) -> Vec<Point> {
        let sizes = (6..22).flat_map(|power| [1_u64 << power, 3 << (power - 1)]);
        let time = |size: u64| {
            let (size, mut tokens) = (size as f64, bucket);
            let handshake = if size < 65_536.0 { 1.0 } else { 3.0 };
            let mut total = 0.0;
            for _ in 0..20 {
                let time = handshake * latency + (size - tokens.max(0.0)).max(0.0) / rate;
                total += time;
                tokens = (tokens - size + 2.0 * rate * time).min(bucket);
            }
            total / 20.0
        };
        let point = |size: u64| {
            let off = 1.0 + noise * ((size * 7919 % 101) as f64 / 50.0 - 1.0);
            Point { bytes: Bytes(size), repetitions: 20, seconds: vec![time(size) * off] }
        };
        sizes.map(point).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn the_bucket_of_a_ping_pong_is_found(
            rate in 1e6..1e8,
            latency in 1e-6..1e-4,
            bucket in 6000.0..200_000.0,
        ) {
            // A bucket that fills within a latency never shows. A latency is as long as some packets.
            prop_assume!((100.0..bucket / 4.0).contains(&(rate * latency)));
            let found = by_ping_pong(&ping_pong(rate, latency, bucket, 0.01), Some(Bytes(65_536)), None);
            let found = found.map_or(0.0, |found| found.0 as f64);
            prop_assert!((found / bucket - 1.0).abs() < 0.15, "{found} for {bucket}");
        }

        #[test]
        fn a_link_without_a_bucket_has_none(rate in 1e6..1e10, latency in 1e-6..1e-3) {
            let points = ping_pong(rate, latency, 0.0, 0.02);
            prop_assert_eq!(by_ping_pong(&points, Some(Bytes(65_536)), None), None);
        }
    }

    #[test]
    fn trains_contradict_a_bucket_unless_they_differ() {
        assert!(!may_be(50_000.0, &[(100.0, 50.0), (-300.0, 50.0), (200.0, 80.0)]));
        assert!(may_be(50_000.0, &[(100.0, 50.0), (-30_000.0, 50.0), (90_000.0, 80.0)]));
        assert!(may_be(50_000.0, &[]) && may_be(50_000.0, &[(45_000.0, 50.0)]));
    }
}
