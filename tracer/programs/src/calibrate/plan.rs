//! The patterns to measure, each with a part of the time given by the user.

use std::time::{Duration, Instant};

use titr_calibration::eager::Search;
use titr_calibration::measurements::{Detours, Measurements, Pattern, Point, Series};
use titr_calibration::robust::median;
use titr_common::units::{Bytes, Seconds};

use super::order::{Failure, Measuring};
use super::pattern::{Measured, Train};

/// The samples of each size at most, and at least.
const SAMPLES: u32 = 9;
const FEWEST_SAMPLES: u32 = 3;
/// A sample repeats the pattern for about so long.
const SAMPLE: f64 = 2e-3;
const MOST_PLANNED: f64 = 100.0;
/// The largest message; the largest one that is tried in search of the eager threshold, even if there is no time for
/// larger ones; and the largest one if there is.
const LARGEST: u64 = 16 << 20;
const LEAST_EAGER: u64 = 256 << 10;
const LARGEST_EAGER: u64 = 4 << 20;

/// The distance of sizes of which each is measured, at most: a factor of eight between them.
const MOST_LEFT_OUT: f64 = 6.0;

/// The time before each sample.
const IDLE: Duration = Duration::from_millis(10);
/// The time by which a rank is late for an exchange, beyond the time of answers.
const LATE: f64 = 1e-3;
/// A train takes about so long, in seconds, and is sent after a pause: between the first two hosts so often, and between others, where
/// its rate matters and not its burst, less often.
const TRAIN: f64 = 0.08;
const PAUSE: f64 = 0.1;
const TRAINS: usize = 5;
const FURTHER_TRAINS: usize = 3;
/// The hosts that are watched for interruptions.
const WATCHED: usize = 8;
/// Messages of a train, and their sizes.
const FEWEST_MESSAGES: u32 = 32;
const MOST_MESSAGES: u32 = 256;
const SMALLEST_OF_TRAIN: u64 = 1 << 10;
const LARGEST_OF_TRAIN: u64 = 32 << 10;

/// Measures everything that the ranks allow.
pub(crate) fn measure(
    measurements: &mut Measurements,
    measuring: &mut Measuring<'_>,
    seconds: f64,
) -> Result<(), Failure> {
    let leaders = leaders(measurements);
    let neighbour = beside(measurements, 0);
    let far = leaders.get(1).map(|&other| [leaders[0], other]);
    let near = neighbour.map(|other| [0, other]);
    let Some(pair) = far.or(near) else { return Ok(()) };

    let all = sizes();
    let some: Vec<u64> = all
        .iter()
        .copied()
        .filter(|bytes| *bytes == 0 || bytes.trailing_zeros() % 2 == 0 && bytes.is_power_of_two())
        .collect();
    let mut plan: Vec<(Pattern, Vec<u32>, &[u64], f64)> = vec![(Pattern::PingPong, pair.to_vec(), &all, 0.25)];
    if let (Some(_), Some(near)) = (far, near) {
        plan.push((Pattern::PingPong, near.to_vec(), &all, 0.05));
    }
    plan.push((Pattern::Exchange, pair.to_vec(), &some, 0.08));
    if let Some([one, two]) = far
        && let [Some(beside_one), Some(beside_two)] = [one, two].map(|leader| beside(measurements, leader))
    {
        plan.push((Pattern::Opposite, vec![one, two, beside_two, beside_one], &all, 0.08));
    }
    if leaders.len() > 2 {
        plan.push((Pattern::Bisection, leaders[..leaders.len() / 2 * 2].to_vec(), &some, 0.08));
        plan.push((Pattern::Incast, leaders.clone(), &some, 0.06));
        plan.push((Pattern::Scatter, leaders.clone(), &some, 0.06));
        plan.push((Pattern::Shift, leaders.clone(), &some, 0.08));
        // Each host with the next; the first two are already measured.
        let part = 0.05 / (leaders.len() - 2) as f64;
        plan.extend(leaders.windows(2).skip(1).map(|next| (Pattern::PingPong, next.to_vec(), &some[..], part)));
    }
    for (pattern, ranks, sizes, part) in plan {
        let mut series = Series { pattern, ranks, late: Seconds(0.0), points: Vec::new() };
        of_sizes(&mut series, sizes, seconds * part, measuring)?;
        measurements.series.push(series);
    }
    threshold(measurements, pair, measuring)?;
    late_exchange(measurements, pair, &some, seconds * 0.1, measuring)?;
    if far.is_some() {
        trains(measurements, &leaders, seconds * 0.15, measuring)?;
    }
    calls(measurements, pair, seconds * 0.02, measuring)?;
    let watched = leaders.iter().take(WATCHED);
    let time = seconds * 0.02 / watched.len() as f64;
    for &rank in watched {
        let gaps = measuring.watch(rank, Duration::from_secs_f64(time))?;
        let lost = Seconds(gaps.lost.as_secs_f64());
        measurements.detours.push(Detours { rank, watched: Seconds(time), count: gaps.count, lost });
    }
    Ok(())
}

/// Measures exchanges for which one rank is late by more than a request takes, but by less than a fifth of the time that the
/// data takes. A request may carry as much data as the largest eager message.
fn late_exchange(
    measurements: &mut Measurements,
    pair: [u32; 2],
    sizes: &[u64],
    seconds: f64,
    measuring: &mut Measuring<'_>,
) -> Result<(), Failure> {
    let eager = titr_calibration::eager::threshold(&measurements.late_receives).map_or(0, |eager| eager.0);
    let late = LATE + 4.0 * way(measurements, 0) + 1.5 * way(measurements, eager);
    let long: Vec<u64> = sizes.iter().copied().filter(|&bytes| way(measurements, bytes) > 5.0 * late).collect();
    let mut series =
        Series { pattern: Pattern::LateExchange, ranks: pair.to_vec(), late: Seconds(late), points: Vec::new() };
    of_sizes(&mut series, &long, seconds, measuring)?;
    measurements.series.push(series);
    Ok(())
}

/// Measures trains in both directions between each host and the next, and between the last and the first, as long as there is time.
fn trains(
    measurements: &mut Measurements,
    leaders: &[u32],
    seconds: f64,
    measuring: &mut Measuring<'_>,
) -> Result<(), Failure> {
    let eager = titr_calibration::eager::threshold(&measurements.late_receives).map_or(LEAST_EAGER, |eager| eager.0);
    let largest = eager.saturating_sub(1).min(LARGEST_OF_TRAIN);
    if largest < SMALLEST_OF_TRAIN {
        return Ok(());
    }
    let rate = rate(measurements);
    let bytes = ((rate * TRAIN) as u64 / u64::from(MOST_MESSAGES)).clamp(SMALLEST_OF_TRAIN, largest);
    let messages = ((rate * TRAIN / bytes as f64) as u32).clamp(FEWEST_MESSAGES, MOST_MESSAGES);
    let begin = Instant::now();
    let pairs = leaders.windows(2).map(|pair| [pair[0], pair[1]]);
    let around = (leaders.len() > 2).then(|| [leaders[leaders.len() - 1], leaders[0]]);
    let directions = pairs.chain(around).flat_map(|[one, other]| [[one, other], [other, one]]);
    for (at, ranks) in directions.enumerate() {
        if at >= 2 && begin.elapsed().as_secs_f64() > seconds {
            break;
        }
        let train = Train { ranks, bytes, messages, pause: Duration::from_secs_f64(PAUSE) };
        let trains = if at < 2 { TRAINS } else { FURTHER_TRAINS };
        let samples = (0..trains).map(|_| measuring.train(train)).collect::<Result<Vec<_>, _>>()?;
        let point = |at: usize| Point {
            bytes: Bytes((at as u64 + 1) * bytes),
            repetitions: 1,
            seconds: samples.iter().filter_map(|sample| sample.get(at).copied()).collect(),
        };
        let points = (0..messages as usize - 1).map(point).collect();
        measurements.series.push(Series { pattern: Pattern::Train, ranks: ranks.to_vec(), late: Seconds(0.0), points });
    }
    Ok(())
}

/// The first rank of each host.
fn leaders(measurements: &Measurements) -> Vec<u32> {
    let first = |host: u32| measurements.places.iter().position(|&place| place == host).map(|rank| rank as u32);
    (0..measurements.hosts.len() as u32).filter_map(first).collect()
}

/// The next rank on the host of a rank.
fn beside(measurements: &Measurements, rank: u32) -> Option<u32> {
    let place = measurements.places[rank as usize];
    (rank + 1..measurements.places.len() as u32).find(|&other| measurements.places[other as usize] == place)
}

/// Powers of two, and from 1 KiB on also their multiples by 1.5.
fn sizes() -> Vec<u64> {
    let powers = (0..=LARGEST.ilog2()).map(|power| 1_u64 << power);
    let sizes = powers.flat_map(|size| [Some(size), Some(size / 2 * 3).filter(|_| size >= 1024)]);
    [0].into_iter().chain(sizes.flatten().filter(|&size| size <= LARGEST)).collect()
}

/// Measures sizes as long as there is time. If there is not enough for all, sizes in between are left out, so that small and large ones
/// are measured.
fn of_sizes(series: &mut Series, sizes: &[u64], seconds: f64, measuring: &mut Measuring<'_>) -> Result<(), Failure> {
    let begin = Instant::now();
    let ways =
        if matches!(series.pattern, Pattern::PingPong | Pattern::Opposite | Pattern::Bisection) { 2.0 } else { 1.0 };
    // The time of the first size is unknown.
    let mut measured = Measured {
        pattern: series.pattern,
        ranks: series.ranks.clone(),
        bytes: sizes.first().copied().unwrap_or_default(),
        repetitions: 1,
        samples: FEWEST_SAMPLES,
        idle: IDLE,
        pause: Duration::from_secs_f64(series.late.0),
    };
    if sizes.is_empty() {
        return Ok(());
    }
    let mut last = measuring.measure(measured.clone())?;
    // What a sample takes besides its messages, as ranks wait for each other before it.
    let mut aside = begin.elapsed().as_secs_f64() / f64::from(FEWEST_SAMPLES);
    let mut at = 0;
    while let Some(&bytes) = sizes.get(at) {
        // The time of a message grows at most in proportion to its size.
        let growth = (bytes as f64 / last.bytes.0.max(1) as f64).max(1.0);
        let once = median(&last.seconds).unwrap_or(0.0) * growth * ways;
        let left = seconds - begin.elapsed().as_secs_f64();
        // Two sizes are the least that a line needs.
        let rounds = f64::from(1 + series.pattern.rounds_before());
        if (once * rounds + aside) * f64::from(FEWEST_SAMPLES) > left && series.points.len() >= 2 {
            break;
        }
        // A rank is late once for each time that both are ready.
        let most = if series.pattern == Pattern::LateExchange { 1.0 } else { MOST_PLANNED };
        let repetitions = (SAMPLE / once.max(1e-9)).clamp(1.0, most) as u32;
        let rounds = repetitions + series.pattern.rounds_before();
        // No size takes more than a part of the remaining time.
        let affordable = left / 4.0 / (once * f64::from(rounds) + aside);
        let samples = (affordable as u32).clamp(FEWEST_SAMPLES, SAMPLES);
        measured = Measured { bytes, repetitions, samples, ..measured };
        let start = Instant::now();
        last = measuring.measure(measured.clone())?;
        series.points.push(last.clone());
        let messages = median(&last.seconds).unwrap_or(0.0) * ways * f64::from(rounds);
        let sample = start.elapsed().as_secs_f64() / f64::from(samples);
        aside = (aside + (sample - messages).max(IDLE.as_secs_f64())) / 2.0;
        let left = seconds - begin.elapsed().as_secs_f64();
        let needed = aside * f64::from(FEWEST_SAMPLES) * (sizes.len() - at) as f64;
        at += (needed / left.max(1e-3)).ceil().clamp(1.0, MOST_LEFT_OUT) as usize;
    }
    Ok(())
}

/// About how many bytes a second the pair's largest messages have.
fn rate(measurements: &Measurements) -> f64 {
    let points = measurements.series.first().map(Series::medians).unwrap_or_default();
    let Some(&(large, time)) = points.last() else { return 0.0 };
    let half = points.iter().rev().find(|(bytes, _)| bytes.0 <= large.0 / 2);
    let (bytes, before) = half.copied().unwrap_or_default();
    (large.0 - bytes.0) as f64 / (time - before).max(1e-9)
}

/// About how long a message between the pair takes; of sizes that were not measured, at 8 Mbit/s.
pub(crate) fn way(measurements: &Measurements, bytes: u64) -> f64 {
    let points = measurements.series.first().map(Series::medians).unwrap_or_default();
    let larger = points.iter().find(|(size, _)| size.0 >= bytes).or(points.last());
    larger.map_or(1e-3, |&(size, time)| time + bytes.saturating_sub(size.0) as f64 * 1e-6)
}

/// Searches for the smallest message whose send waits for its receive.
fn threshold(measurements: &mut Measurements, pair: [u32; 2], measuring: &mut Measuring<'_>) -> Result<(), Failure> {
    let measured = measurements.series.first().and_then(|first| first.points.last()).map_or(0, |last| last.bytes.0);
    let mut search = Search::up_to(Bytes(measured.clamp(LEAST_EAGER, LARGEST_EAGER)));
    let try_size = |measurements: &mut Measurements, measuring: &mut Measuring<'_>, bytes: u64| {
        let delay = Duration::from_secs_f64(0.02 + 2.0 * way(measurements, bytes));
        let late = measuring.late(pair, bytes, delay)?;
        measurements.late_receives.push(late);
        Ok::<_, Failure>(late.waited())
    };
    let (mut returned, mut waited) = (None, None);
    while let Some(Bytes(bytes)) = search.next_size() {
        // A send that was disturbed looks as if it waited.
        let waits = try_size(measurements, measuring, bytes)? && try_size(measurements, measuring, bytes)?;
        *(if waits { &mut waited } else { &mut returned }) = Some(bytes);
        search.learn(Bytes(bytes), waits);
    }
    // The two sizes that decide are tried again.
    for bytes in [returned, waited].into_iter().flatten() {
        for _ in 0..2 {
            try_size(measurements, measuring, bytes)?;
        }
    }
    Ok(())
}

/// Measures the overheads of calls with eager messages.
fn calls(
    measurements: &mut Measurements,
    pair: [u32; 2],
    seconds: f64,
    measuring: &mut Measuring<'_>,
) -> Result<(), Failure> {
    const SIZES: [u64; 7] = [0, 64, 1 << 10, 4 << 10, 16 << 10, 32 << 10, 64 << 10];
    let eager = titr_calibration::eager::threshold(&measurements.late_receives);
    for pattern in [Pattern::Send, Pattern::Isend, Pattern::Receive] {
        let begin = Instant::now();
        let mut series = Series { pattern, ranks: pair.to_vec(), late: Seconds(0.0), points: Vec::new() };
        for bytes in SIZES.into_iter().filter(|&bytes| eager.is_none_or(|eager| bytes < eager.0)) {
            let pause = Duration::from_secs_f64(1e-4 + 2.0 * way(measurements, bytes));
            let once = pause.as_secs_f64() * f64::from(SAMPLES);
            let left = seconds - begin.elapsed().as_secs_f64();
            if once > left && series.points.len() >= 2 {
                break;
            }
            let repetitions = (left / 7.0 / once).clamp(1.0, 10.0) as u32;
            let ranks = series.ranks.clone();
            series.points.push(measuring.measure(Measured {
                pattern,
                ranks,
                bytes,
                repetitions,
                samples: SAMPLES,
                idle: Duration::ZERO,
                pause,
            })?);
        }
        measurements.series.push(series);
    }
    Ok(())
}
