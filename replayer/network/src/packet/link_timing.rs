//! Cycles that a packet occupies each link, if links are unequal.
//!
//! The fastest link passes a phit per cycle. A link of 1/k of its bandwidth passes a phit in k cycles, where k is any
//! rational number: each packet takes a whole number of cycles, and the remainder is carried over to the next packet,
//! so that the link has exactly its bandwidth in the long run. The latency of a link is rounded to whole cycles.
//!
//! A queue at the end of a link has places for the packets in transit on the link, in addition to those of the
//! platform. A long link is therefore not idle while a packet that has left the queue is still to be replaced.

use std::sync::Arc;

use super::parameters::PacketParameters;
use crate::topology::{LinkId, RouterGraph, Unroutable};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinkTiming {
    /// Cycles of a packet, times `denominator`.
    packet: u64,
    denominator: u64,
    /// Cycles until a phit has entered the link, rounded up.
    pub phit: u64,
    /// Cycles from the first phit of a packet to its last, rounded up.
    pub span: u64,
    /// Cycles from one end to the other.
    pub wire: u64,
    /// Packets that are on their way from one end to the other at most, rounded up.
    pub on_the_way: u32,
}

impl LinkTiming {
    /// The timing of a link of `bandwidth` and `latency` (in cycles) in a network of these parameters.
    fn new(bandwidth: f64, latency: f64, parameters: &PacketParameters) -> Self {
        let phits = u64::from(parameters.packet_phits);
        let (numerator, denominator) = ratio(parameters.bandwidth, bandwidth, phits);
        let cycles = |phits: u64| (phits * numerator).div_ceil(denominator);
        let wire = latency.round() as u64;
        Self {
            packet: phits * numerator,
            denominator,
            phit: cycles(1),
            span: cycles(phits - 1),
            wire,
            on_the_way: wire.div_ceil(cycles(phits)).try_into().unwrap_or(u32::MAX),
        }
    }

    /// Cycles of the next packet. `remainder` is the remainder of the previous packets, in fractions of a cycle that
    /// depend on the link.
    pub(crate) fn packet_cycles(&self, remainder: &mut u64) -> u64 {
        let total = self.packet + *remainder;
        *remainder = total % self.denominator;
        total / self.denominator
    }

    /// Cycles of a packet in the mean.
    fn mean_packet(&self) -> f64 {
        self.packet as f64 / self.denominator as f64
    }
}

/// One bandwidth over another as a fraction of whole numbers. It is exact unless `times` the numerator does not fit.
fn ratio(fastest: f64, bandwidth: f64, times: u64) -> (u64, u64) {
    let (mut numerator, mut denominator) = (fastest, bandwidth);
    // Doubling is exact, and fractions end with the 52 digits of the mantissa.
    while (numerator.fract() != 0.0 || denominator.fract() != 0.0) && numerator < 2_f64.powi(60) {
        (numerator, denominator) = (2.0 * numerator, 2.0 * denominator);
    }
    // `as` saturates.
    let (mut numerator, mut denominator) = (numerator as u64, (denominator as u64).max(1));
    let divisor = greatest_common_divisor(numerator, denominator);
    (numerator, denominator) = (numerator / divisor, denominator / divisor);
    while numerator > (1 << 60) / times {
        (numerator, denominator) = (numerator / 2, (denominator / 2).max(1));
    }
    (numerator, denominator)
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// The timings of all links of a network.
#[derive(Clone, Debug)]
pub(super) struct LinkTimings(Arc<[LinkTiming]>);

impl LinkTimings {
    /// The timings of the links of a graph. `None` if packets treat all links of the graph as equal.
    pub(crate) fn of(graph: &RouterGraph, parameters: &PacketParameters) -> Result<Option<Self>, Unroutable> {
        let links = graph.own_links();
        if links.is_empty() {
            return Ok(None);
        }
        for link in graph.links() {
            let bandwidth = links[link.index()].bandwidth;
            if !(bandwidth > 0.0 && bandwidth <= parameters.bandwidth) {
                return Err(Unroutable::Impossible(format!(
                    "a link has {bandwidth} B/s, which is not between 0 and the {} B/s of the clock",
                    parameters.bandwidth
                )));
            }
        }
        let cycle = parameters.phit.0 as f64 / parameters.bandwidth;
        let timing = links.iter().map(|link| LinkTiming::new(link.bandwidth, link.latency.0 / cycle, parameters));
        Ok(Some(Self(timing.collect())))
    }

    pub(crate) fn get(&self, link: LinkId) -> &LinkTiming {
        &self.0[link.index()]
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The timing of all links that packets take, if it is the same, as fast as the clock, and channels have one
    /// direction only.
    pub(crate) fn common(&self, graph: &RouterGraph) -> Option<LinkTiming> {
        let mut links: Vec<LinkId> = graph.links().collect();
        links.sort_unstable();
        let first = *self.get(*links.first()?);
        let are_alike = links.windows(2).all(|two| two[0] != two[1] && *self.get(two[1]) == first);
        (are_alike && first.packet == first.denominator * (first.span + 1)).then_some(first)
    }

    /// Cycles that a packet takes a link of any rail, in the mean.
    pub(crate) fn mean_packet(&self, link: LinkId) -> f64 {
        self.0[link.index() % self.0.len()].mean_packet()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(bandwidth: f64, latency: f64) -> LinkTiming {
        LinkTiming::new(bandwidth, latency, &PacketParameters::default())
    }

    /// Cycles of 16 phits at a rate of 3/10 are 160/3 = 53.33: the third packet makes up for the first two.
    #[test]
    fn remainders_count_for_the_next_packet() {
        let (third, mut remainder) = (timing(0.3e9, 0.0), 0);
        let cycles: Vec<u64> = (0..6).map(|_| third.packet_cycles(&mut remainder)).collect();
        assert_eq!(cycles, [53, 53, 54, 53, 53, 54]);
        assert_eq!((third.phit, third.span), (4, 50));
    }

    /// A million packets take exactly the cycles that their bytes need at the link's bandwidth, even if the bandwidth
    /// is not a whole number.
    #[test]
    fn the_bandwidth_is_exact_in_the_long_run() {
        for bandwidth in [1e9, 0.9e9, 1e9 / 3.0, 123_456_789.0, 7000.0, 1e6 / 7.0] {
            let (timing, mut remainder) = (timing(bandwidth, 0.0), 0);
            let cycles: u64 = (0..1_000_000).map(|_| timing.packet_cycles(&mut remainder)).sum();
            let expected = 16e6 * (1e9 / bandwidth);
            assert!((cycles as f64 - expected).abs() <= 1.0 + 1e-15 * expected, "{cycles} is not {expected}");
        }
    }

    #[test]
    fn a_long_link_holds_packets() {
        let long = timing(0.5e9, 100.4);
        assert_eq!((long.wire, long.on_the_way), (100, 4));
        assert_eq!(timing(1e9, 0.0).on_the_way, 0);
    }
}
