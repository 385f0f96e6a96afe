//! Small messages of all pairs of hosts that are equally far apart, as samples of one time.
//!
//! What a small message takes varies more than its size says: a rank that has just received answers at once, and one that has waited
//! may sleep. The few samples of one pair, measured within a moment, can all be of one kind.

use titr_common::units::Bytes;

use crate::measurements::{Measurements, Pattern, Point};

/// The largest message whose time is nearly all latency.
pub(crate) const SMALL: Bytes = Bytes(512);

impl Measurements {
    /// The measurements with, in the first ping-pong between hosts, the samples of small messages of all others whose ranks'
    /// hosts `are_alike` in their distance to those of the first.
    #[must_use]
    pub(crate) fn with_pairs_alike(&self, are_alike: impl Fn([u32; 2], [u32; 2]) -> bool) -> Self {
        let mut all = self.clone();
        let between_hosts = |at: &usize| {
            let series = &self.series[*at];
            series.pattern == Pattern::PingPong && !self.is_local(series)
        };
        let mut places = (0..self.series.len()).filter(between_hosts);
        let Some(first) = places.next() else { return all };
        let hosts = |at: usize| self.ends_of(&self.series[at]);
        for other in places.filter(|&other| are_alike(hosts(first), hosts(other))) {
            let small = |point: &&Point| point.bytes <= SMALL;
            for point in self.series[other].points.iter().filter(small) {
                let same = all.series[first].points.iter_mut().find(|own| own.bytes == point.bytes);
                if let Some(own) = same {
                    own.seconds.extend(&point.seconds);
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use titr_common::units::Seconds;

    use super::*;
    use crate::measurements::Series;

    #[test]
    fn small_messages_of_pairs_as_far_apart_are_one_sample() {
        let point = |bytes, time| Point { bytes: Bytes(bytes), repetitions: 1, seconds: vec![time] };
        let ping_pong = |ranks: [u32; 2], time| Series {
            pattern: Pattern::PingPong,
            ranks: ranks.to_vec(),
            late: Seconds(0.0),
            points: vec![point(64, time), point(4096, time)],
        };
        let series = [([0, 1], 1.0), ([0, 2], 2.0), ([2, 3], 3.0), ([1, 3], 4.0)];
        let measurements = Measurements {
            hosts: ["a", "b", "c"].map(str::to_owned).to_vec(),
            places: vec![0, 0, 1, 2],
            series: series.into_iter().map(|(ranks, time)| ping_pong(ranks, time)).collect(),
            titr_measurements: 1,
            mpi: String::new(),
            late_receives: Vec::new(),
            detours: Vec::new(),
        };
        let pooled = measurements.with_pairs_alike(|one, other| one[0] + one[1] == other[0] + other[1] - 2);
        let times: Vec<Vec<f64>> = pooled.series[1].points.iter().map(|point| point.seconds.clone()).collect();
        assert_eq!(times, [vec![2.0, 3.0], vec![2.0]]);
    }
}
