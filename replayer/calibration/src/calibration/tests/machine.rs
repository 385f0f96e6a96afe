//! A machine with known parameters: the simulator on a platform, with or without noise.

use std::path::Path;

use titr_common::units::{Bytes, Seconds};
use titr_platform::Platform;

use crate::benchmarks::FullHosts;
use crate::measurements::{Detours, LateReceive, Measurements, Pattern, Point, Series, VERSION};
use crate::residuals::residuals;

/// The parameters of a machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    pub(super) bandwidth: f64,
    pub(super) latency: f64,
    pub(super) eager: u64,
    /// Latencies on the way of a message that is not eager.
    pub(super) handshake: f64,
    pub(super) duplex: &'static str,
    pub(super) crosstraffic: f64,
    pub(super) overhead: f64,
    /// The part of a send after its message has left.
    pub(super) overlap: f64,
    /// The bytes that a link passes at once; 0: none.
    pub(super) burst: u64,
    /// Whether the data of messages that are not eager goes both ways at once between two ranks.
    pub(super) rendezvous_duplex: bool,
}

impl Machine {
    pub(super) fn platform(self) -> Platform {
        let Self { bandwidth, latency, eager, handshake, duplex, crosstraffic, .. } = self;
        let Self { overhead, overlap, burst, rendezvous_duplex, .. } = self;
        let above = eager - 1;
        let text = format!(
            "schema = 1\n[hosts]\ncount = 4\ncores = 2\nspeed = \"1 Ginstr/s\"\n[topology.star]\n[network]\n\
             bandwidth = \"{bandwidth} B/s\"\nlatency = \"{latency:.12} s\"\nduplex = \"{duplex}\"\n\
             [network.loopback]\nbandwidth = \"{} B/s\"\nlatency = \"{:.12} s\"\n\
             [network.flow]\nburst = \"{burst} B\"\ncrosstraffic = {crosstraffic:.6}\nlatency_factor = [[{above}, {handshake:.3}]]\n[mpi]\neager_threshold = \"{eager} B\"\n\
             rendezvous_duplex = {rendezvous_duplex}\n\
             send_overlap = {overlap:.3}\nsend_overhead = [[0, {overhead:.12}, 0.0]]\nisend_overhead = [[0, {overhead:.12}, 0.0]]\n\
             recv_overhead = [[0, {overhead:.12}, 0.0]]\n",
            bandwidth * 20.0,
            latency / 4.0,
        );
        Platform::parse(Path::new("machine.toml"), text, &[]).unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// Exchanges with a late rank, of the sizes whose transfer takes much longer.
    fn late(self, mut series: Series) -> Series {
        series.late = Seconds(4.0 * self.latency + 1.5 * self.eager as f64 / self.bandwidth);
        series.points.retain(|point| point.bytes.0 as f64 / self.bandwidth > 5.0 * series.late.0);
        series
    }

    /// The measurements of the machine, with up to so much noise.
    pub(super) fn measure(self, noise: f64) -> Measurements {
        let sizes = [0].into_iter().chain((0..=22).flat_map(|power| [1_u64 << power, 3 << power.max(10)]));
        let series = |pattern, ranks: &[u32]| {
            let point = |bytes| Point { bytes: Bytes(bytes), repetitions: 1, seconds: vec![1.0] };
            let mut sizes: Vec<u64> = sizes.clone().collect();
            sizes.sort_unstable();
            sizes.dedup();
            Series {
                pattern,
                ranks: ranks.to_vec(),
                late: Seconds(0.0),
                points: sizes.into_iter().map(point).collect(),
            }
        };
        let mut measured = Measurements {
            titr_measurements: VERSION,
            mpi: "Open MPI 4".into(),
            hosts: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            places: vec![0, 0, 1, 1, 2, 2, 3, 3],
            series: vec![
                series(Pattern::PingPong, &[0, 2]),
                series(Pattern::PingPong, &[0, 1]),
                series(Pattern::Exchange, &[0, 2]),
                self.late(series(Pattern::LateExchange, &[0, 2])),
                series(Pattern::Opposite, &[0, 2, 3, 1]),
                series(Pattern::Bisection, &[0, 2, 4, 6]),
                series(Pattern::Incast, &[0, 2, 4, 6]),
                series(Pattern::Shift, &[0, 2, 4, 6]),
            ],
            late_receives: Vec::new(),
            full_hosts: FullHosts::default(),
            detours: vec![Detours { rank: 0, watched: Seconds(2.0), count: 100, lost: Seconds(0.001) }],
        };
        let mut chance = 1_u64;
        let mut disturbed = |time: f64| {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Every so often something else runs.
            let outlier = if (chance >> 33).is_multiple_of(9) { 3.0 } else { 1.0 };
            time * (1.0 + noise * ((chance >> 40) as f64 / (1_u64 << 23) as f64 - 1.0)) * outlier
        };
        let exact =
            residuals(&measured, &mut self.platform(), self.burst > 0).unwrap_or_else(|error| panic!("{error}"));
        for (series, exact) in measured.series.iter_mut().zip(exact) {
            for (point, exact) in series.points.iter_mut().zip(exact.points) {
                point.seconds = (0..9).map(|_| disturbed(exact.predicted)).collect();
            }
        }
        for pattern in [Pattern::Send, Pattern::Isend, Pattern::Receive] {
            let mut of_calls = series(pattern, &[0, 2]);
            for point in &mut of_calls.points {
                point.seconds = (0..9).map(|_| disturbed(self.overhead)).collect();
            }
            measured.series.push(of_calls);
        }
        for ranks in [[0, 2], [2, 0]] {
            let point = |at: u64| {
                let bytes = (at * TRAIN_MESSAGE) as f64;
                let limited = (bytes + TRAIN_MESSAGE as f64 - self.burst as f64).max(0.0) / self.bandwidth;
                let seconds = (0..5).map(|_| limited.max(bytes / 1e11)).collect();
                Point { bytes: Bytes(at * TRAIN_MESSAGE), repetitions: 1, seconds }
            };
            let points = (1..128).map(point).collect();
            measured.series.push(Series { points, ..series(Pattern::Train, &ranks) });
        }
        let delay = Seconds(0.1);
        for bytes in [1, self.eager - 1, self.eager, 4 << 20] {
            let send = if bytes < self.eager { Seconds(1e-5) } else { delay };
            measured.late_receives.push(LateReceive { bytes: Bytes(bytes), delay, send });
        }
        measured
    }
}

/// The size of a message of a train.
pub(super) const TRAIN_MESSAGE: u64 = 4000;

pub(super) const TYPICAL: Machine = Machine {
    bandwidth: 12e6,
    latency: 30e-6,
    eager: 65_000,
    handshake: 4.0,
    duplex: "full",
    crosstraffic: 0.025,
    overhead: 5e-6,
    overlap: 0.0,
    burst: 0,
    rendezvous_duplex: true,
};
