//! Replays with random choices against closed forms: the moments and quantiles of their times.

use std::path::Path;

use titr_common::statistics::{deviation, mean, quantile};
use titr_simulation::spread::{DrawnTimes, PredictedSpread};
use titr_simulation::{Draw, Platform, Simulation, Trace};

/// Two hosts on one switch. An instruction takes a nanosecond, a message of *n* bytes 2 µs + *n* ns.
const PLATFORM: &str = r#"
schema = 1
[hosts]
count = 2
speed = "1 Ginstr/s"
[topology.star]
[network]
bandwidth = "1 GB/s"
latency = "1 us"
[mpi]
eager_threshold = "1 GiB"
"#;

/// The seconds of each of `draws` replays of a program on the platform with further lines, and those of the replay without chance.
fn seconds(program: &str, more: &str, model: &str, draws: u32) -> (f64, Vec<f64>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("program");
    std::fs::write(&file, program).unwrap();
    let trace = Trace::open(&file).unwrap();
    let text = format!("{PLATFORM}{more}");
    let set = [format!("network.model={model}")];
    let load = |factors: &[(String, f64)]| {
        Platform::parse_scaled(Path::new("cluster.toml"), text.clone(), &set, factors).unwrap()
    };
    let platform = load(&[]);
    let without = Simulation::new(&platform, &trace).run().unwrap().simulated_time.0;
    let drawn = |number| {
        let draw = Draw { seed: 3, number };
        let uncertainty = platform.spread.uncertainty.iter();
        let factors: Vec<_> = uncertainty.map(|(key, part)| (key.clone(), draw.factor(key, *part))).collect();
        Simulation::new(&load(&factors), &trace).draw(draw).run().unwrap().simulated_time.0
    };
    (without, (0..draws).map(drawn).collect())
}

/// The mean of a sample is within four standard errors of `expected`.
fn assert_mean(sample: &[f64], expected: f64) {
    let error = deviation(sample) / (sample.len() as f64).sqrt();
    assert!(error > 0.0 && (mean(sample) - expected).abs() < 4.0 * error, "{} ± {error}: {expected}", mean(sample));
}

/// `T` of computation with detours of the mean length `d` at the rate `r` takes `T (1 + r d)` on average, and has the standard
/// deviation `d √(2 r T)`, whether it is one computation or many.
#[test]
fn detours_lengthen_computation_by_rate_times_length() {
    let detours = "[spread]\ndetours = { length = \"100 us\", rate = 500 }\n";
    for program in ["0 compute 1e8\n".to_owned(), "0 compute 1e6\n".repeat(100)] {
        let (without, times) = seconds(&program, detours, "ideal", 600);
        assert_eq!(without, 0.1);
        assert_mean(&times, 0.1 * (1.0 + 500.0 * 100e-6));
        let expected = 100e-6 * (2.0 * 500.0 * 0.1_f64).sqrt();
        assert!((deviation(&times) / expected - 1.0).abs() < 0.15, "{}: {expected}", deviation(&times));
        assert!(times.iter().all(|&time| time >= without), "detours only lengthen");
    }
}

/// The time of a ping-pong of `n` messages has the mean of the one without chance, and the standard deviation of one message times √n.
#[test]
fn messages_of_a_ping_pong_vary_independently() {
    const MESSAGES: usize = 50;
    let to = "0 send 1 0 1000\n1 recv 0 0 1000\n1 send 0 0 1000\n0 recv 1 0 1000\n";
    for model in ["ideal", "flow"] {
        let (without, times) = seconds(&to.repeat(MESSAGES / 2), "[spread]\nmessage = 0.1\n", model, 600);
        let one = without / MESSAGES as f64;
        assert!((one - 3e-6).abs() < 1e-9, "{model}: {one}");
        assert_mean(&times, without);
        let expected = 0.1 * one * (MESSAGES as f64).sqrt();
        assert!((deviation(&times) / expected - 1.0).abs() < 0.15, "{model}: {}: {expected}", deviation(&times));
    }
}

/// In a packet network, the number of packets varies: 1,000 packets vary by the tenth that they are to.
#[test]
fn packets_vary_in_number() {
    let packets = "[network.packet]\npacket = \"64 B\"\n[spread]\nmessage = 0.1\n";
    let (_, times) = seconds("0 send 1 0 64000\n1 recv 0 0 64000\n", packets, "packet", 400);
    let part = deviation(&times) / mean(&times);
    assert!((part - 0.1).abs() < 0.02, "{part}");
}

/// The time of a program that only the bandwidth limits is as uncertain as the bandwidth: 90 % of a normal distribution are within
/// 1.645 standard deviations.
#[test]
fn the_uncertainty_of_the_bandwidth_is_that_of_a_long_message() {
    let uncertain = "[spread]\nuncertainty = { \"network.bandwidth\" = 0.03 }\n";
    let (without, times) = seconds("0 send 1 0 100000000\n1 recv 0 0 100000000\n", uncertain, "flow", 2000);
    let spread = PredictedSpread::of(&times.iter().map(|&time| drawn(time)).collect::<Vec<_>>());
    let [low, high] = spread.time.interval_90.map(|end| end.0 / without - 1.0);
    assert!((low + 1.645 * 0.03).abs() < 0.004 && (high - 1.645 * 0.03).abs() < 0.004, "{low} to {high}");
    assert!((spread.time.median.0 / without - 1.0).abs() < 0.003, "{:?}", spread.time);
    let mut sorted = times;
    sorted.sort_by(f64::total_cmp);
    assert_eq!(spread.time.median.0, quantile(&sorted, 0.5));
}

fn drawn(seconds: f64) -> DrawnTimes {
    DrawnTimes::new(titr_common::units::Seconds(seconds), &[])
}

proptest::proptest! {
    #[test]
    fn intervals_are_nested_and_groups_are_ordered(times in proptest::collection::vec(0.0..10.0_f64, 1..60), split in 0.0..30.0_f64) {
        // Times far from each other, so that groups are likely.
        let times: Vec<f64> = times.iter().map(|time| if *time > 5.0 { time + split } else { *time }).collect();
        let PredictedSpread { time, groups, runs, .. } =
            PredictedSpread::of(&times.iter().map(|&time| drawn(time)).collect::<Vec<_>>());
        let ([low_90, high_90], [low_50, high_50]) = (time.interval_90, time.interval_50);
        let ends = [low_90, low_50, time.median, high_50, high_90].map(|end| end.0);
        proptest::prop_assert!(ends.is_sorted(), "{ends:?}");
        proptest::prop_assert_eq!(runs, times.len());
        if !groups.is_empty() {
            proptest::prop_assert_eq!(groups.iter().map(|group| group.runs).sum::<usize>(), runs);
            let ends: Vec<f64> = groups.iter().flat_map(|group| [group.interval[0].0, group.median.0, group.interval[1].0]).collect();
            proptest::prop_assert!(ends.is_sorted(), "{ends:?}");
        }
    }
}
