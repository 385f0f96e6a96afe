//! The links of a star: the rate of most of them, and those of single hosts that are faster or slower, each way.
//!
//! A [train](crate::trains) from one host to another has the rate of the slower of two links: the sender's up and the receiver's
//! down. Each host sends and receives trains with two others, so the faster of two rates is that of its own link, unless both
//! others are slower. Where all hosts send at another rate than they receive, all trains have the lower rate; messages of all
//! hosts to one, and of one host to all, show the higher one.

use titr_common::units::Bytes;

use crate::fit::Fit;
use crate::measurements::{Measurements, Pattern, Series};
use crate::robust::median;
use crate::trains::Limit;

/// A direction of the cable of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    /// From the host to the switch.
    Up,
    /// From the switch to the host.
    Down,
}

/// The links of the hosts of a star.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HostLinks {
    /// The bandwidth of most links, in bytes per second.
    pub bandwidth: f64,
    /// The links that differ, with their bandwidths in bytes per second.
    pub unlike: Vec<(u32, Direction, f64)>,
}

/// Links whose rates differ by less than this part are alike.
const ALIKE: f64 = 0.2;

/// Bytes that every link may pass at once, as devices hold some packets.
const PACKETS: u64 = 6000;

impl HostLinks {
    /// Links that all have this bandwidth, in bytes per second.
    pub(crate) fn alike(bandwidth: f64) -> Self {
        Self { bandwidth, unlike: Vec::new() }
    }

    /// The links that measurements show, where `fit` is of a ping-pong of two hosts.
    pub(crate) fn of(measurements: &Measurements, fit: &Fit) -> Self {
        let (bandwidth, hosts) = (fit.bandwidth(), fit.pair.map(|rank| measurements.host_of(rank)));
        let rates: Vec<([u32; 2], f64)> = measurements
            .trains()
            .filter_map(|train| Some((measurements.ends_of(train), Limit::of(train)?.rate)))
            .collect();
        let of_pair = rates.iter().filter(|(ends, _)| ends.iter().all(|host| hosts.contains(host)));
        let of_pair = median(&of_pair.map(|(_, rate)| *rate).collect::<Vec<_>>());
        let (Some(of_pair), true) = (of_pair, rates.len() > 2) else { return Self::alike(bandwidth) };
        // Trains and ping-pongs have their own ways to be slower than the link by a per cent.
        let scale = bandwidth / of_pair;
        let all = median(&rates.iter().map(|(_, rate)| *rate).collect::<Vec<_>>()).unwrap_or(of_pair);
        // Arrivals that were held up come fast afterwards. Two hosts with faster links have faster trains both ways.
        let certain = |&(ends, rate): &([u32; 2], f64)| {
            let [from, to] = ends;
            let back = rates.iter().find(|(ends, _)| *ends == [to, from]).map_or(all, |(_, back)| *back);
            if rate > all && differ(rate, all).is_some() { rate.min(back.max(all)) } else { rate }
        };
        let fastest = |end: usize, host: u32| {
            let of_host = rates.iter().filter(|(ends, _)| ends[end] == host).map(|train| certain(train) * scale);
            of_host.reduce(f64::max)
        };
        let ways = (0..measurements.hosts.len() as u32)
            .flat_map(|host| [(host, Direction::Up, 0), (host, Direction::Down, 1)]);
        let found: Vec<(u32, Direction, f64)> =
            ways.filter_map(|(host, way, end)| Some((host, way, fastest(end, host)?))).collect();
        let Some(mut usual) = median(&found.iter().map(|(.., rate)| *rate).collect::<Vec<_>>()) else {
            return Self::alike(bandwidth);
        };
        if differ(usual, bandwidth).is_none() {
            usual = bandwidth;
        }
        let whole_way =
            [(Direction::Up, Pattern::Scatter), (Direction::Down, Pattern::Incast)].map(|(way, pattern)| {
                let series = measurements.first(pattern, false);
                let faster = series.and_then(|series| rate_of_one(series, fit.burst)).map(|rate| (way, rate));
                faster.filter(|(_, rate)| *rate > usual && differ(*rate, usual).is_some())
            });
        let unlike = found.into_iter().filter_map(|(host, way, rate)| match differ(rate, usual) {
            Some(rate) => Some((host, way, rate)),
            None => {
                let (_, faster) = whole_way.into_iter().flatten().find(|(of, _)| *of == way)?;
                Some((host, way, faster))
            }
        });
        Self { bandwidth: usual, unlike: unlike.collect() }
    }
}

/// A rate that is not like the usual one.
fn differ(rate: f64, usual: f64) -> Option<f64> {
    Some(rate).filter(|rate| (rate / usual - 1.0).abs() > ALIKE)
}

/// The rate at which the first rank of a pattern sends to all others or receives from them, in bytes per second, by the largest
/// messages. `None`: these are so short that what buckets of `burst` bytes pass at once counts.
fn rate_of_one(series: &Series, burst: Option<Bytes>) -> Option<f64> {
    let &(bytes, time) = series.medians().last()?;
    let passed = burst.unwrap_or_default().0.max(PACKETS);
    if bytes.0 < 10 * passed {
        return None;
    }
    Some(bytes.0 as f64 * (series.ranks.len() as f64 - 1.0) / time).filter(|rate| rate.is_finite())
}
