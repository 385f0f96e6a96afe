//! Messages in both directions: whether they share the cable, and what acknowledgements take.

use titr_common::units::Bytes;

use crate::robust::{LEAST_UNCERTAINTY, median};

/// The sharing of a cable by messages in both directions between two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplexity {
    /// Each direction has the bandwidth.
    Full,
    /// Both directions share it.
    Half,
    /// Each direction has the bandwidth, but the data of messages that are not eager goes one way at a time between two ranks.
    RendezvousOneWay,
}

/// Patterns in both directions, and the median time of each size, in seconds.
pub(crate) struct BothWays {
    /// Two ranks that exchange messages.
    pub exchanged: Vec<(Bytes, f64)>,
    /// Two ranks of which one is late, without the time by which it is late.
    pub late: Vec<(Bytes, f64)>,
    /// Ranks that send to one rank and receive from another.
    pub shifted: Vec<(Bytes, f64)>,
}

/// Messages in one direction, with which those in both are compared.
pub(crate) struct OneWay<'m> {
    /// Bytes per second.
    pub bandwidth: f64,
    /// The bandwidth of the slowest cable, as a part of this one.
    pub slowest: f64,
    /// The smallest message whose send waits for its receive.
    pub eager_threshold: Option<Bytes>,
    /// The median time of each size, in seconds.
    pub alone: &'m [(Bytes, f64)],
}

/// Both directions take longer than one by this part of the transfer if they share something: two ways at once take no longer, one
/// after the other by all of the transfer.
const SHARED: f64 = 0.6;

impl OneWay<'_> {
    /// The part by which messages take longer if others go the other way, by messages whose time is nearly all
    /// transfer. Less than is known of a time counts as nothing.
    pub(crate) fn crosstraffic(&self, both_ways: &[(Bytes, f64)]) -> f64 {
        let excesses = self.excesses((both_ways, self.bandwidth), |_| true, 0.9);
        median(&excesses).filter(|&part| part >= LEAST_UNCERTAINTY).unwrap_or(0.0).min(1.0)
    }

    /// Whether both directions share the cable, determined from exchanges that are limited by the bandwidth. A message
    /// is not compared with one that exceeded the bandwidth because it was alone. Ranks that send to one rank and receive from
    /// another determine whether the cable is the limit; if there are no such ranks, eager messages do. A shared cable lengthens all
    /// sizes by their transfer; queues and other load lengthen some sizes less, or by a multiple of it.
    ///
    /// Two ranks that begin at once may or may not exchange in both directions at once, depending on microseconds. Ranks of a
    /// program are rarely so even, so exchanges for which one of them is late decide where there are any.
    pub(crate) fn duplexity(&self, both_ways: &BothWays) -> Duplexity {
        let BothWays { exchanged, late, shifted } = both_ways;
        let is_eager = |bytes| self.eager_threshold.is_none_or(|threshold| bytes < threshold);
        // Whether the times are as over a shared cable.
        let shared = |excesses: Vec<f64>| {
            let least = excesses.iter().copied().reduce(f64::min)?;
            Some(least > SHARED && median(&excesses)? < 2.0 - SHARED)
        };
        let slowest = self.bandwidth * self.slowest;
        let shifted = shared(self.excesses((shifted, slowest), |bytes| !is_eager(bytes), 0.5));
        let cable = shifted.or_else(|| shared(self.excesses((exchanged, self.bandwidth), is_eager, 0.5)));
        let of_pair = |times| median(&self.excesses((times, self.bandwidth), |bytes| !is_eager(bytes), 0.5));
        match (cable, of_pair(late).or_else(|| of_pair(exchanged))) {
            (Some(true), Some(pair)) if pair > SHARED => Duplexity::Half,
            (Some(true), None) => Duplexity::Half,
            (_, Some(pair)) if pair > SHARED => Duplexity::RendezvousOneWay,
            _ => Duplexity::Full,
        }
    }

    /// The times by which messages in both directions over a cable of some bandwidth take longer than those in one, as parts of the
    /// transfer: of sizes for which `counts`, and of whose time in one direction at least `part` is transfer. A size that was not
    /// measured in one direction is taken to be all transfer.
    fn excesses(
        &self,
        (both_ways, bandwidth): (&[(Bytes, f64)], f64),
        counts: impl Fn(Bytes) -> bool,
        part: f64,
    ) -> Vec<f64> {
        let excesses = both_ways.iter().filter(|&&(bytes, _)| counts(bytes)).filter_map(|&(bytes, both)| {
            let transfer = bytes.0 as f64 / bandwidth;
            let one = self.alone.iter().find(|&&(size, _)| size == bytes).map_or(transfer, |&(_, one)| one);
            (transfer > 0.0 && transfer >= part * one).then(|| (both - one.max(transfer)) / transfer)
        });
        excesses.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of 1, 2 and 4 MB at 1 MB/s, of which the last was not measured alone.
    fn found(times: [[f64; 3]; 3]) -> Duplexity {
        let sizes = |[one, two, four]: [f64; 3]| {
            vec![(Bytes(1_000_000), one), (Bytes(2_000_000), two), (Bytes(4_000_000), four)]
        };
        let alone = [(Bytes(1_000_000), 1.0), (Bytes(2_000_000), 2.0)];
        let one_way = OneWay { bandwidth: 1e6, slowest: 1.0, eager_threshold: Some(Bytes(1000)), alone: &alone };
        let [exchanged, late, shifted] = times.map(sizes);
        one_way.duplexity(&BothWays { exchanged, late, shifted })
    }

    #[test]
    fn a_shared_cable_lengthens_every_size() {
        let (once, twice) = ([1.0, 2.0, 4.0], [2.0, 4.0, 8.0]);
        assert_eq!(found([twice, twice, twice]), Duplexity::Half);
        assert_eq!(found([twice, twice, once]), Duplexity::RendezvousOneWay);
        assert_eq!(found([once, once, once]), Duplexity::Full);
        // Queues of a second, and of three.
        assert_eq!(found([twice, twice, [2.0, 3.0, 5.0]]), Duplexity::RendezvousOneWay);
        assert_eq!(found([twice, twice, [4.0, 5.0, 7.0]]), Duplexity::RendezvousOneWay);
        assert_eq!(found([twice, twice, [4.0, 5.0, 11.0]]), Duplexity::RendezvousOneWay);
    }

    /// Among the ranks that send to the next one is a host with a quarter of the bandwidth.
    #[test]
    fn a_slow_host_is_no_shared_cable() {
        let alone = [(Bytes(1_000_000), 1.0)];
        let one_way = OneWay { bandwidth: 1e6, slowest: 0.25, eager_threshold: Some(Bytes(1000)), alone: &alone };
        let times = |seconds| vec![(Bytes(1_000_000), seconds)];
        let both_ways = |shifted| BothWays { exchanged: times(2.0), late: times(2.0), shifted: times(shifted) };
        assert_eq!(one_way.duplexity(&both_ways(4.0)), Duplexity::RendezvousOneWay);
        assert_eq!(one_way.duplexity(&both_ways(8.0)), Duplexity::Half);
    }

    #[test]
    fn late_exchanges_of_sizes_that_were_not_measured_alone_count() {
        let alone = [(Bytes(1_000_000), 1.0)];
        let one_way = OneWay { bandwidth: 1e6, slowest: 1.0, eager_threshold: Some(Bytes(1000)), alone: &alone };
        let exchanged = vec![(Bytes(1_000_000), 1.3)];
        let both_ways = BothWays { exchanged, late: vec![(Bytes(4_000_000), 7.9)], shifted: Vec::new() };
        assert_eq!(one_way.duplexity(&both_ways), Duplexity::RendezvousOneWay);
    }
}
