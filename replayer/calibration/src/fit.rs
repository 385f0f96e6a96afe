//! Fits the parameters of a platform to measurements of two ranks without other load.
//!
//! A message of *s* bytes between two ranks that wait for it takes
//!
//! ```text
//! T(s) = (1 - v) o_s(s) + o_r(s) + a_k + b_k s    if the message is eager,
//! T(s) =                           a_k + b_k s    if it is not,
//! ```
//!
//! where the line *k* is the [segment](crate::segments) that contains *s*. The overheads of the two processors, *o_s*
//! and *o_r*, are measured separately (as in LogGP: A. Alexandrov et al., SPAA 1995); the lines are fitted to the rest.
//! A part *v* of *o_s* overlaps with the way ([`overheads`](crate::overheads)).
//! If links have token [buckets](crate::buckets) of *B* bytes, a message has less to wait for by the bytes that have
//! come into the bucket since the last message, and the lines are fitted to the times without that.
//!
//! In the flow model, *a_1* is the latency of the route and *1/b* of the last line its bandwidth; the other lines are
//! factors on them.

use thiserror::Error;
use titr_common::units::Bytes;

use crate::buckets;
use crate::directions::{BothWays, Duplexity, OneWay};
use crate::eager;
use crate::measurements::{Measurements, Pattern, Series};
use crate::overheads::Overheads;
use crate::robust::{
    LEAST_UNCERTAINTY, Line, Sample, least_misses, levels, median, scatter, theil_sen, weighted_median,
};
use crate::segments::{CurvePoint, Segment, pieces};
use crate::trains;

/// The parameters that were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The smallest message whose send waits for its receive. `None`: there was none among those that were tried.
    pub eager_threshold: Option<Bytes>,
    /// The size of the token buckets of links. `None`: they have none.
    pub burst: Option<Bytes>,
    /// The time of a message without the overheads and bursts; the last segment has the bandwidth.
    pub segments: Vec<Segment>,
    /// The times of calls.
    pub overheads: Overheads,
    /// The line of messages within a host, before the factors. `None`: not measured.
    pub loopback: Option<Line>,
    /// Whether messages travel in both directions at once.
    pub duplex: Duplexity,
    /// The part of a message's rate that its acknowledgements take from messages in the opposite direction.
    pub crosstraffic: f64,
    /// The two ranks whose messages were fitted.
    pub pair: [u32; 2],
    /// Whether there was only one host, so that the lines describe its memory.
    pub is_one_host: bool,
    /// The bandwidth of the fastest line as it was measured, as a multiple of the bandwidth of large messages. No line
    /// of the fit is so fast.
    pub fastest: f64,
    /// The typical deviation of samples from their median.
    pub noise: f64,
}

/// Nothing can be fitted.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("there is no ping-pong of at least two sizes among the measurements: calibrate with at least two ranks")]
pub struct NoPingPong;

/// A platform has no factor of zero: the latency of the first line is at most this many times the latency of another
/// line.
const MOST_FACTOR: f64 = 100.0;

/// Messages within a host show the rate of its memory if some are as large as this.
const SHOWS_RATE: Bytes = Bytes(16 << 10);

impl Fit {
    /// Fits the parameters to measurements.
    pub(crate) fn of(measurements: &Measurements) -> Result<Self, NoPingPong> {
        Self::with_burst(measurements, buckets::burst(measurements))
    }

    /// Fits the parameters to measurements over links with buckets of this size.
    pub(crate) fn with_burst(measurements: &Measurements, burst: Option<Bytes>) -> Result<Self, NoPingPong> {
        let is_one_host = measurements.hosts.len() < 2;
        let usable = |series: &&Series| series.points.len() >= 2;
        let ping_pong = |local| measurements.first(Pattern::PingPong, local).filter(usable);
        let alone = ping_pong(is_one_host).ok_or(NoPingPong)?;
        let (times, local) = (alone.medians(), ping_pong(true).map(Series::medians));
        let eager_threshold = eager::threshold(&measurements.late_receives);
        let is_eager = |bytes: Bytes| eager_threshold.is_none_or(|threshold| bytes < threshold);

        let overhead = |pattern| {
            let series = measurements.first(pattern, is_one_host).map(Series::medians).unwrap_or_default();
            theil_sen(&plain(series.into_iter().filter(|&(bytes, _)| is_eager(bytes))))
        };
        let eager = |times: &[(Bytes, f64)]| -> Vec<(Bytes, f64)> {
            times.iter().copied().filter(|&(bytes, _)| is_eager(bytes)).collect()
        };
        let calls = [Pattern::Send, Pattern::Isend, Pattern::Receive].map(overhead);
        let overheads = Overheads::of(calls, &eager(&times), &eager(local.as_deref().unwrap_or_default()));
        let software = |bytes: Bytes| if is_eager(bytes) { overheads.in_message(bytes) } else { 0.0 };
        let spreads: Vec<f64> = alone.points.iter().map(|point| point.spread()).collect();
        let noise = median(&spreads).unwrap_or(0.0);
        let burst = burst.filter(|_| !is_one_host);
        let saved = buckets::saved(burst, eager_threshold, &alone.points, buckets::rate(measurements));
        let way: Vec<(Bytes, f64)> =
            times.iter().zip(saved).map(|(&(bytes, time), saved)| (bytes, time - software(bytes) + saved)).collect();
        let breaks: Vec<Bytes> = eager_threshold.into_iter().filter(|threshold| threshold.0 > 0).collect();
        let scatter = scatter(&plain(way.iter().copied()));
        let measured = alone.points.iter().filter(|point| !point.seconds.is_empty());
        let curve: Vec<CurvePoint> = (way.iter().zip(measured).zip(levels_of(&times)).zip(scatter))
            .map(|(((&(bytes, seconds), point), level), scatter)| {
                let part = point.uncertainty().max(LEAST_UNCERTAINTY).max(scatter);
                CurvePoint { bytes, seconds, uncertainty: level * part }
            })
            .collect();
        let mut segments = pieces(&curve, &breaks);
        let fastest = make_possible(&mut segments, &curve);

        let mut fit = Self {
            eager_threshold,
            burst,
            segments,
            overheads,
            loopback: None,
            duplex: Duplexity::Full,
            crosstraffic: 0.0,
            pair: [alone.ranks[0], alone.ranks[1]],
            is_one_host,
            fastest,
            noise,
        };
        let shows_rate = |times: &Vec<(Bytes, f64)>| times.last().is_some_and(|&(bytes, _)| bytes >= SHOWS_RATE);
        fit.loopback = local.filter(shows_rate).map(|local| {
            let sample = |(&(bytes, time), scale): (&(Bytes, f64), f64)| Sample {
                fixed: fit.latency_factor(bytes),
                growing: bytes.0 as f64 / fit.bandwidth_factor(bytes),
                time: time - software(bytes),
                scale,
            };
            least_misses(&local.iter().zip(levels_of(&local)).map(sample).collect::<Vec<_>>()).0
        });
        if let Some(exchange) = measurements.first(Pattern::Exchange, is_one_host) {
            let of = |pattern| measurements.first(pattern, is_one_host).map(Series::medians).unwrap_or_default();
            let late = measurements.first(Pattern::LateExchange, is_one_host).map_or_else(Vec::new, |series| {
                series.medians().into_iter().map(|(size, time)| (size, time - series.late.0)).collect()
            });
            let both_ways = BothWays { exchanged: exchange.medians(), late, shifted: of(Pattern::Shift) };
            let slowest = trains::slowest(measurements, fit.pair);
            fit.duplex = OneWay { slowest, ..fit.one_way(&times) }.duplexity(&both_ways);
        }
        let both_ways = match fit.duplex {
            Duplexity::Full => {
                measurements.first(Pattern::Opposite, false).or(measurements.first(Pattern::Exchange, false))
            }
            Duplexity::RendezvousOneWay => measurements.first(Pattern::Opposite, false),
            Duplexity::Half => None,
        };
        fit.crosstraffic = both_ways.map_or(0.0, |both_ways| fit.one_way(&times).crosstraffic(&both_ways.medians()));
        Ok(fit)
    }

    /// Messages in one direction, with these median times of each size.
    fn one_way<'m>(&self, alone: &'m [(Bytes, f64)]) -> OneWay<'m> {
        OneWay { bandwidth: self.bandwidth(), slowest: 1.0, eager_threshold: self.eager_threshold, alone }
    }

    /// Bytes per second of the route.
    pub(crate) fn bandwidth(&self) -> f64 {
        self.segments.last().map_or(1.0, |last| 1.0 / last.line.per_byte)
    }

    /// Seconds that the first byte takes on the route.
    pub(crate) fn latency(&self) -> f64 {
        self.segments.first().map_or(0.0, |first| first.line.seconds)
    }

    /// The factor on the latency for messages of this size.
    pub(crate) fn latency_factor(&self, bytes: Bytes) -> f64 {
        self.segment(bytes).map_or(1.0, |segment| segment.line.seconds / self.latency())
    }

    /// The factor on the bandwidth for messages of this size.
    pub(crate) fn bandwidth_factor(&self, bytes: Bytes) -> f64 {
        self.segment(bytes).map_or(1.0, |segment| 1.0 / segment.line.per_byte / self.bandwidth())
    }

    fn segment(&self, bytes: Bytes) -> Option<&Segment> {
        self.segments.iter().rev().find(|segment| segment.above < bytes).or(self.segments.first())
    }
}

/// The [levels] of times.
fn levels_of(times: &[(Bytes, f64)]) -> Vec<f64> {
    levels(&times.iter().map(|&(_, time)| time).collect::<Vec<_>>())
}

fn plain(points: impl Iterator<Item = (Bytes, f64)>) -> Vec<(f64, f64)> {
    points.map(|(bytes, time)| (bytes.0 as f64, time)).collect()
}

/// Gives every line a valid latency and bandwidth for a platform. No line is faster than the last one: a single message
/// may be faster, if something passes its first bytes at once, but many in a row share the bandwidth of large messages.
/// Returns the ratio of the fastest line's speed to the last one's.
fn make_possible(segments: &mut [Segment], points: &[CurvePoint]) -> f64 {
    let steepest = segments.iter().rev().map(|segment| segment.line.per_byte).find(|&slope| slope > 0.0);
    // If no size took longer than another, the largest is assumed to be the fastest.
    let of_largest = points.last().map_or(1e-9, |point| point.seconds.max(1e-12) / point.bytes.0.max(1) as f64);
    let least = steepest.unwrap_or(of_largest);
    // The speed of a line without a slope is unknown.
    let sloping = segments.iter().map(|segment| segment.line.per_byte).filter(|&slope| slope > 0.0);
    let fastest = sloping.map(|slope| least / slope).fold(1.0, f64::max);
    let mut to = None;
    for segment in segments.iter_mut().rev() {
        let is_in = |point: &&CurvePoint| {
            (point.bytes > segment.above || segment.above == Bytes(0)) && to.is_none_or(|to| point.bytes <= to)
        };
        if segment.line.per_byte < least {
            let left: Vec<(f64, f64)> = points
                .iter()
                .filter(is_in)
                .map(|point| (point.seconds - least * point.bytes.0 as f64, 1.0 / point.uncertainty))
                .collect();
            segment.line = Line { seconds: weighted_median(left).unwrap_or(0.0).max(0.0), per_byte: least };
        }
        to = Some(segment.above);
    }
    let latency = segments.first().map_or(0.0, |first| first.line.seconds).max(1e-9);
    for (at, segment) in segments.iter_mut().enumerate() {
        let least = if at == 0 { latency } else { latency / MOST_FACTOR };
        segment.line.seconds = segment.line.seconds.max(least);
    }
    fastest
}
