//! A machine with known parameters, the simulator on a platform: its measurements are fitted, and the parameters
//! compared.

use proptest::prelude::*;
use titr_common::units::{Bytes, Seconds};

use super::*;
use crate::directions::Duplexity;
use crate::measurements::{Pattern, Point, Series};

mod machine;

use machine::{Machine, TRAIN_MESSAGE, TYPICAL};

fn near(found: f64, expected: f64, within: f64) -> bool {
    (found / expected - 1.0).abs() <= within
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// On any machine, the bandwidth is within a per cent, the time of every ping-pong within the noise, and the
    /// threshold exact.
    #[test]
    fn a_machine_is_recovered(
        bandwidth in 1e6..1e10,
        latency in 1e-6..1e-3,
        eager in 100_u64..500_000,
        handshake in 1.0..6.0,
        half in any::<bool>(),
        crosstraffic in 0.0..0.1,
        overhead in 0.0..0.3,
    ) {
        let duplex = if half { "half" } else { "full" };
        // An overhead that is more than the latency has no place in the time of an empty message.
        let crosstraffic = if half { 0.0 } else { crosstraffic };
        let machine = Machine { bandwidth, latency, eager, handshake, duplex, crosstraffic, overhead: overhead * latency, ..TYPICAL };
        let measured = machine.measure(0.02);
        let found = Calibration::of(&measured, &NamedTopology::Star, None)?;
        prop_assert_eq!(found.fit.eager_threshold, Some(Bytes(eager)));
        // A limit that latency hides cannot be seen.
        let is_visible = 6.0 * (1 << 20) as f64 / bandwidth > 10.0 * latency * handshake;
        if is_visible {
            prop_assert!(near(found.fit.bandwidth(), bandwidth, 0.02), "{} for {bandwidth}", found.fit.bandwidth());
            prop_assert_eq!(found.fit.duplex != Duplexity::Full, half);
            prop_assert!((found.fit.crosstraffic - crosstraffic).abs() < 0.03, "{} for {crosstraffic}", found.fit.crosstraffic);
            // Without eager messages that take long, the two ways to be slow both ways look alike.
            if half && eager as f64 / bandwidth > 10.0 * latency {
                prop_assert_eq!(found.fit.duplex, Duplexity::Half);
            }
            prop_assert!(found.remarks.is_empty(), "{:?}", found.remarks);
        }
        // Within a host, the factors for sizes are those of the network, where noise can make them wrong here.
        for of in found.residuals.iter().filter(|of| !of.local) {
            // The ping-pong was fitted. The other patterns are predicted, with the noise of both.
            let bound = if of.pattern == Pattern::PingPong { 0.02 } else { 0.05 };
            prop_assert!(of.typical() < bound || !is_visible, "{} {:?}", of.title(), of.typical());
            if of.pattern == Pattern::PingPong {
                for point in &of.points {
                    prop_assert!(point.error().abs() < 0.06, "{}: {point:?}", of.title());
                }
            }
        }
    }
}

#[test]
fn without_noise_everything_is_recovered() {
    let found = Calibration::of(&TYPICAL.measure(0.0), &NamedTopology::Star, None).unwrap();
    let fit = &found.fit;
    assert!(
        near(fit.bandwidth(), TYPICAL.bandwidth, 1e-6) && near(fit.latency(), 2.0 * TYPICAL.latency, 1e-6),
        "{fit:?}"
    );
    assert!((fit.crosstraffic - TYPICAL.crosstraffic).abs() < 1e-3, "{fit:?}");
    assert!(near(fit.overheads.send.seconds, TYPICAL.overhead, 1e-6) && fit.overheads.send.per_byte < 1e-15, "{fit:?}");
    assert_eq!(
        (fit.segments.len(), fit.duplex, fit.overheads.overlap, fit.overheads.cut),
        (2, Duplexity::Full, 0.0, 1.0)
    );
    assert!(found.remarks.is_empty(), "{:?}", found.remarks);
}

/// What calls take is known even if a send and a receive take as long as a whole message.
#[test]
fn sends_that_overlap_with_the_way_are_not_cut() {
    let machine = Machine { latency: 2e-6, overlap: 0.7, ..TYPICAL };
    let mut measured = machine.measure(0.0);
    // Within a host, messages would have overheads of their own.
    measured.series.retain(|series| series.ranks != [0, 1]);
    let found = Calibration::of(&measured, &NamedTopology::Star, None).unwrap();
    let fit = &found.fit;
    assert!(
        near(fit.overheads.send.seconds, machine.overhead, 1e-6)
            && near(fit.overheads.isend.seconds, machine.overhead, 1e-6),
        "{fit:?}"
    );
    assert!(
        fit.overheads.overlap > 0.2 && fit.overheads.overlap <= machine.overlap && fit.overheads.cut == 1.0,
        "{fit:?}"
    );
    let small = |of: &&Residuals| matches!(of.pattern, Pattern::PingPong | Pattern::Exchange);
    for point in found.residuals.iter().filter(small).flat_map(|of| &of.points) {
        assert!(point.error().abs() < 0.02, "{point:?}");
    }
}

/// For eager messages with a third of latency, ranks that answer in turn distinguish a cable shared by both directions.
#[test]
fn a_shared_cable_is_recognised_by_messages_that_are_partly_latency() {
    let machine = Machine {
        bandwidth: 2.7e9,
        latency: 25e-6,
        eager: 196_609,
        handshake: 1.0,
        duplex: "half",
        crosstraffic: 0.0,
        overhead: 0.0,
        ..TYPICAL
    };
    let found = Calibration::of(&machine.measure(0.02), &NamedTopology::Star, None).unwrap();
    assert_eq!((found.fit.duplex, found.remarks), (Duplexity::Half, Vec::new()));
}

/// A limiter that lets 32 KiB pass, and a library that sends the data of two ranks one way at a time, as over TCP: both are found,
/// and all patterns are predicted.
#[test]
fn bursts_and_answers_behind_data_are_found() {
    let machine = Machine { burst: 32 << 10, rendezvous_duplex: false, crosstraffic: 0.0, ..TYPICAL };
    let found = Calibration::of(&machine.measure(0.01), &NamedTopology::Star, None).unwrap();
    let burst = found.fit.burst.map_or(0.0, |burst| burst.0 as f64);
    assert!(near(burst, 32768.0, 0.02), "{burst}");
    assert!(near(found.fit.bandwidth(), machine.bandwidth, 0.02), "{:?}", found.fit);
    assert_eq!(found.fit.duplex, Duplexity::RendezvousOneWay);
    for residuals in &found.residuals {
        assert!(residuals.typical() < 0.02, "{}", found.cluster);
    }
    assert!(!found.misses.are_too_many(), "{:?}", found.misses);
}

/// The table `[spread]` has what was measured: 100 detours of 10 µs in 2 s, and samples of messages that differ by 2 %.
#[test]
fn noise_becomes_the_spread_of_the_platform() {
    let found = Calibration::of(&TYPICAL.measure(0.02), &NamedTopology::Star, None).unwrap();
    assert!(
        near(found.noise.detour_length, 1e-5, 1e-9) && near(found.noise.detour_rate, 50.0, 0.01),
        "{:?}",
        found.noise
    );
    assert!((0.002..0.03).contains(&found.noise.message), "{:?}", found.noise);
    let platform = Platform::parse(Path::new("cluster.toml"), found.cluster.clone(), &[]);
    assert!(platform.is_ok() && found.cluster.contains("\n[spread]\n"), "{}", found.cluster);
}

/// Whatever the noise, the platform can be read.
#[test]
fn a_machine_that_does_something_else_has_a_platform() {
    let mut measured = TYPICAL.measure(0.02);
    for point in measured.series.iter_mut().flat_map(|series| &mut series.points) {
        let times = (0..9).map(|sample| point.seconds[0] * if sample % 2 == 0 { 1.0 } else { 30.0 });
        point.seconds = times.collect();
    }
    let found = Calibration::of(&measured, &NamedTopology::Star, None).unwrap();
    assert!(found.noise.message <= 1.0, "{:?}", found.noise);
}

/// A machine whose messages between many ranks take twice as long as two ranks show is not described by this platform.
#[test]
fn a_platform_that_misses_what_was_measured_is_refused() {
    let mut measured = TYPICAL.measure(0.01);
    let disturbed = |series: &&mut Series| series.ranks.len() > 2;
    for series in measured.series.iter_mut().filter(disturbed) {
        series.points.iter_mut().for_each(|point| point.seconds.iter_mut().for_each(|time| *time *= 2.0));
    }
    let found = Calibration::of(&measured, &NamedTopology::Star, None).unwrap();
    assert!(found.misses.are_too_many(), "{:?}", found.misses);
    assert!(found.cluster.contains("# NOTE: this platform does not fit: it misses "), "{}", found.cluster);
    let good = Calibration::of(&TYPICAL.measure(0.01), &NamedTopology::Star, None).unwrap();
    assert!(!good.misses.are_too_many() && !good.cluster.contains("does not fit"), "{:?}", good.misses);
}

/// The machine is a star, and the user says that it is a mesh in one row: its halves would share a link.
#[test]
fn a_topology_that_the_measurements_contradict_is_told() {
    let row: NamedTopology = "mesh=4".parse().unwrap();
    let found = Calibration::of(&TYPICAL.measure(0.01), &row, None).unwrap();
    assert!(found.remarks.iter().any(|remark| remark.starts_with("bisection")), "{:?}", found.remarks);
    assert!(found.cluster.contains("# NOTE: bisection of 4 ranks"), "{}", found.cluster);
}

#[test]
fn a_topology_with_too_few_hosts_is_refused() {
    let pair: NamedTopology = "torus=3".parse().unwrap();
    let refused = Calibration::of(&TYPICAL.measure(0.0), &pair, None).unwrap_err().to_string();
    assert_eq!(refused, "--topology torus=3 has 3 hosts, and the ranks ran on 4: a, b, c, d");
}

#[test]
fn one_rank_cannot_be_fitted() {
    let alone = Measurements { series: Vec::new(), ..TYPICAL.measure(0.0) };
    assert_eq!(Fit::of(&alone), Err(NoPingPong));
}

#[test]
fn one_host_is_fitted_to_its_memory_and_told() {
    let all = TYPICAL.measure(0.0);
    let local = all.series.iter().filter(|series| all.is_local(series)).cloned().collect();
    let alone = Measurements { hosts: vec!["a".into()], places: vec![0, 0], series: local, ..all };
    let found = Calibration::of(&alone, &NamedTopology::Star, None).unwrap();
    assert!(found.fit.is_one_host && found.remarks[0].starts_with("all ranks are on one host"), "{:?}", found.remarks);
    assert!(found.residuals.iter().all(|of| of.typical() < 1e-3), "{:?}", found.residuals);
}

/// The same measurements with trains around four hosts, whose links send and receive at these rates, and with large messages to and
/// from the first host at its rates.
fn around(measured: Measurements, up: [f64; 4], down: [f64; 4]) -> Measurements {
    let mut series: Vec<Series> =
        measured.series.iter().filter(|series| series.pattern != Pattern::Train).cloned().collect();
    let pairs = (0..4).flat_map(|host| [[host, (host + 1) % 4], [(host + 1) % 4, host]]);
    for [from, to] in pairs {
        let rate = up[from].min(down[to]);
        let point = |at: u64| {
            let bytes = at * TRAIN_MESSAGE;
            Point { bytes: Bytes(bytes), repetitions: 1, seconds: vec![bytes as f64 / rate] }
        };
        let ranks = [from, to].map(|host| 2 * host as u32).to_vec();
        series.push(Series {
            pattern: Pattern::Train,
            ranks,
            late: Seconds(0.0),
            points: (1..128).map(point).collect(),
        });
    }
    let others = |rates: [f64; 4]| rates[1..].iter().sum::<f64>();
    for (pattern, rate) in [(Pattern::Incast, down[0].min(others(up))), (Pattern::Scatter, up[0].min(others(down)))] {
        series.retain(|series| series.pattern != pattern);
        let bytes = 4 << 20;
        let point = Point { bytes: Bytes(bytes), repetitions: 1, seconds: vec![3.0 * bytes as f64 / rate] };
        series.push(Series { pattern, ranks: vec![0, 2, 4, 6], late: Seconds(0.0), points: vec![point] });
    }
    Measurements { series, ..measured }
}

/// The bandwidth of most links in MB/s, and the links that differ.
fn links(up: [f64; 4], down: [f64; 4]) -> (f64, Vec<String>) {
    let found = Calibration::of(&around(TYPICAL.measure(0.01), up, down), &NamedTopology::Star, None).unwrap();
    let platform = Platform::parse(Path::new("cluster.toml"), found.cluster.clone(), &[]).unwrap();
    let topology = &platform.topology;
    let names = (0..topology.links().len() as u32).map(titr_network::topology::LinkId);
    let rate = |link: titr_network::topology::LinkId| (topology.links()[link.index()].bandwidth / 1e6).round();
    let between_hosts: Vec<_> = names.filter(|link| !topology.is_loopback(*link)).collect();
    let most = found.cluster.split("\nbandwidth = \"").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    let most = (most.parse::<f64>().unwrap() / 1e6).round();
    let unlike = between_hosts.into_iter().filter(|&link| (rate(link) - most).abs() > 1.0);
    (most, unlike.map(|link| format!("{} {}", topology.link_name(link), rate(link))).collect())
}

#[test]
fn hosts_with_other_links_are_found() {
    let same = [12e6; 4];
    assert_eq!(links(same, same), (12.0, Vec::new()));
    let slow = [12e6, 12e6, 3e6, 12e6];
    assert_eq!(links(slow, slow), (12.0, vec!["node-2 up 3".into(), "node-2 down 3".into()]));
    assert_eq!(links(slow, same), (12.0, vec!["node-2 up 3".into()]));
    // The ping-pong is of the first two hosts.
    let first_slow = [12e6, 48e6, 48e6, 48e6];
    assert_eq!(links(first_slow, first_slow), (48.0, vec!["node-0 up 12".into(), "node-0 down 12".into()]));
}

/// Hosts of a cloud often may send less than they may receive.
#[test]
fn links_with_another_rate_each_way_are_found() {
    let receive = (12.0, (0..4).map(|host| format!("node-{host} down 36")).collect::<Vec<_>>());
    assert_eq!(links([12e6; 4], [48e6; 4]), receive);
    let send = (12.0, (0..4).map(|host| format!("node-{host} up 20")).collect::<Vec<_>>());
    assert_eq!(links([20e6; 4], [12e6; 4]), send);
}

#[test]
fn repetitions_that_cannot_be_are_refused() {
    for (repetitions, is_possible) in [(0, false), (1, true), (10_000, true), (10_001, false), (u32::MAX, false)] {
        let mut measured = TYPICAL.measure(0.0);
        measured.series[0].points[3].repetitions = repetitions;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), measured.to_json().unwrap()).unwrap();
        let said = Measurements::load(file.path()).map_err(|error| error.to_string());
        let expected = format!("PingPong of 4 bytes was repeated {repetitions} times, where 1 to 10000 are possible");
        match said {
            Ok(read) => assert!(is_possible && read == measured, "{repetitions}"),
            Err(said) => assert!(!is_possible && said.ends_with(&expected), "{said}"),
        }
    }
}
