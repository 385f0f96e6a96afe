//! Benchmarks of full hosts: all pairs of ranks at once, windows of messages, reductions, and collectives as proof.
//!
//! Benchmarks share the time, and the most important sizes of each are first.

use std::time::{Duration, Instant};

use titr_calibration::Measurements;
use titr_calibration::benchmarks::{Benchmark, FullHosts, PROOF, Place, Row, pairs_of};
use titr_calibration::robust::median;
use titr_common::terminal::say;
use titr_common::units::{Bytes, Seconds};

use super::calls::Calls;
use super::order::{Failure, Measuring};
use super::plan::way;
use super::seat::{Seat, are_in_order, between, levels};

/// Sizes of messages of a pair and of a ring of ranks; of many pairs; of windows; of reductions; of collectives. The first are the
/// most important, if there is no time for all.
const SIZES: [u64; 11] = [8, 512 << 10, 8 << 10, 8 << 20, 512, 64 << 10, 2 << 20, 2 << 10, 128 << 10, 32 << 10, 64];
const OF_PAIRS: [u64; 4] = [512 << 10, 8, 8 << 20, 32 << 10];
const OF_WINDOWS: [u64; 4] = [8, 1 << 20, 64 << 10, 4 << 10];
const OF_REDUCTIONS: [u64; 6] = [8, 4 << 20, 16 << 10, 256 << 10, 16 << 20, 1 << 10];
const OF_COLLECTIVES: [u64; 4] = [8, 16 << 10, 1 << 10, 256 << 10];

/// The samples of a row, and the time that the calls of one take about.
const SAMPLES: u32 = 5;
const SAMPLE: f64 = 4e-3;
const MOST_REPETITIONS: f64 = 1000.0;

/// The time between two words of progress.
const PROGRESS: Duration = Duration::from_secs(10);

/// The most hosts in a ring.
const MOST_HOSTS: usize = 16;

/// A benchmark on some ranks.
struct Group {
    benchmark: Benchmark,
    place: Option<Place>,
    nodes: u32,
    ranks_per_node: u32,
    ranks: Vec<u32>,
    sizes: &'static [u64],
}

/// Measures full hosts in about so many seconds.
pub(crate) fn measure(
    measurements: &mut Measurements,
    seats: &[Seat],
    measuring: &mut Measuring<'_>,
    seconds: f64,
) -> Result<(), Failure> {
    let on = |host: u32| -> Vec<u32> {
        let places = (0..).zip(&measurements.places);
        places.filter(|(_, place)| **place == host).map(|(rank, _)| rank).collect()
    };
    let (first, second) = (on(0), on(1));
    let of_first: Vec<&Seat> = first.iter().filter_map(|&rank| seats.get(rank as usize)).collect();
    let Some(seat) = of_first.first() else { return Ok(()) };
    let levels = levels(&of_first);
    let full = &mut measurements.full_hosts;
    *full = FullHosts {
        processors: seat.processors,
        cache: seat.cache,
        are_bound: of_first.iter().all(|seat| seat.parts.iter().any(Option::is_some)),
        are_in_order: are_in_order(&of_first, &levels),
        levels: levels.clone(),
        rows: Vec::new(),
    };
    let mut groups = within(&first, &levels, |one, other| between(of_first[one], of_first[other], &levels));
    groups.extend(between_two(&first, &second));
    let leaders: Vec<u32> = (0..measurements.hosts.len() as u32).filter_map(|host| on(host).first().copied()).collect();
    if leaders.len() > 2 {
        let ranks = leaders[..leaders.len().min(MOST_HOSTS)].to_vec();
        let (nodes, sizes) = (ranks.len() as u32, &OF_WINDOWS[1..2]);
        groups.push(Group { benchmark: Benchmark::Sendrecv, place: None, nodes, ranks_per_node: 1, ranks, sizes });
    }
    let begin = Instant::now();
    let (count, mut said) = (groups.len(), None);
    for (at, group) in groups.into_iter().enumerate() {
        if said.is_none_or(|said: Instant| said.elapsed() > PROGRESS) {
            said = Some(Instant::now());
            say(format_args!("titr-calibrate: full hosts: {at} of {count} benchmarks are measured"));
        }
        let left = seconds - begin.elapsed().as_secs_f64();
        let way = |bytes| way(measurements, bytes);
        let found = rows(&group, left / (count - at) as f64, way, measuring)?;
        measurements.full_hosts.rows.extend(found);
    }
    Ok(())
}

/// What is measured within a host, by all its ranks. `between` has the places of two of them.
fn within(ranks: &[u32], levels: &[(Place, u32)], between: impl Fn(usize, usize) -> Place) -> Vec<Group> {
    let count = ranks.len() as u32;
    let group = |benchmark, place, ranks: Vec<u32>, sizes| Group {
        benchmark,
        place,
        nodes: 1,
        ranks_per_node: count,
        ranks,
        sizes,
    };
    let mut groups = Vec::new();
    for &(place, _) in levels {
        let pairs = pairs_of(count, count / 2, |one, other| between(one as usize, other as usize) == place);
        for number in numbers(pairs.len()) {
            let pairs = &pairs[..number];
            let ends = [0, 1].iter().flat_map(|&end| pairs.iter().map(move |pair| ranks[pair[end] as usize]));
            let sizes = if number == 1 { &SIZES[..] } else { &OF_PAIRS[..] };
            groups.push(group(Benchmark::PingPong, Some(place), ends.collect(), sizes));
        }
    }
    if count > 1 {
        groups.push(group(Benchmark::Sendrecv, None, ranks.to_vec(), &SIZES[..]));
        groups.push(group(Benchmark::ReduceLocal, None, ranks.to_vec(), &OF_REDUCTIONS[..]));
        let proof = |kind| group(Benchmark::Collective(kind), None, ranks.to_vec(), &OF_COLLECTIVES[..]);
        groups.extend(PROOF.map(proof));
    }
    groups
}

/// What is measured between two hosts with these ranks.
fn between_two(first: &[u32], second: &[u32]) -> Vec<Group> {
    let group = |benchmark, each: usize, sizes| Group {
        benchmark,
        place: None,
        nodes: 2,
        ranks_per_node: each as u32,
        ranks: [&first[..each], &second[..each]].concat(),
        sizes,
    };
    let most = first.len().min(second.len());
    let mut groups: Vec<Group> =
        numbers(most).into_iter().map(|each| group(Benchmark::Uniband, each, &OF_WINDOWS[..])).collect();
    if most > 0 {
        groups.push(group(Benchmark::Biband, most, &OF_WINDOWS[1..3]));
        groups.extend(PROOF.map(|kind| group(Benchmark::Collective(kind), most, &OF_COLLECTIVES[..])));
    }
    groups
}

/// 1, 2, 4, ... and the largest.
fn numbers(largest: usize) -> Vec<usize> {
    let powers = (0..usize::BITS).map(|power| 1 << power).take_while(|&number| number < largest);
    powers.chain(Some(largest).filter(|&largest| largest > 0)).collect()
}

/// The rows of a group, as long as there is time. `way` is about how long a message of a size takes between two hosts alone.
fn rows(
    group: &Group,
    seconds: f64,
    way: impl Fn(u64) -> f64,
    measuring: &mut Measuring<'_>,
) -> Result<Vec<Row>, Failure> {
    let Group { benchmark, place, nodes, ranks_per_node, ref ranks, sizes } = *group;
    let begin = Instant::now();
    let mut rows: Vec<Row> = Vec::new();
    for (at, &bytes) in sizes.iter().enumerate() {
        let mut calls = Calls { benchmark, ranks: ranks.clone(), bytes, repetitions: 1, samples: 1 };
        let of_rank = match benchmark {
            Benchmark::Collective(_) => ranks.len(),
            _ => benchmark.calls(ranks.len() as u32, Bytes(bytes), 0).len(),
        };
        let messages = of_rank * ranks.len();
        if nodes > 1 && at > 0 && messages as f64 * way(bytes) > seconds {
            continue;
        }
        let left = seconds - begin.elapsed().as_secs_f64();
        if left < 0.0 && rows.len() > 1 {
            break;
        }
        let trial = Instant::now();
        let once = measuring.calls(&calls)?.iter().copied().fold(0.0, f64::max);
        let trial = trial.elapsed().as_secs_f64();
        let part = (left / (sizes.len() - at) as f64 - trial).max(0.0) / f64::from(SAMPLES);
        calls.repetitions = (SAMPLE.min(part) / once.max(1e-7)).clamp(1.0, MOST_REPETITIONS) as u32;
        calls.samples = if part > 0.0 { SAMPLES } else { 1 };
        let Some(time) = median(&measuring.calls(&calls)?).filter(|time| *time > 0.0) else { continue };
        let is_rate = matches!(benchmark, Benchmark::Uniband | Benchmark::Biband);
        rows.push(Row {
            machine: String::new(),
            library: String::new(),
            benchmark,
            place,
            nodes,
            ranks_per_node,
            ranks: ranks.len() as u32,
            bytes: Bytes(bytes),
            time: Some(Seconds(time)),
            messages_per_second: is_rate.then_some(1.0 / time),
            bandwidth: None,
            runs: SAMPLES,
            line: 0,
        });
    }
    Ok(rows)
}
