//! The results of a study are the same byte for byte, however its points are simulated.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::studies::engine;
use crate::studies::{Inputs, PreparedPoint, ResultsFolder, Study, StudyError};
use proptest::prelude::*;
use titr_simulation::parallel::Jobs;

/// Twelve points; a random placement has another time in each of its runs.
const STUDY: &str = "\
schema = 1
platform = 'ring.toml'
trace = ['exchange.txt', 'stream.txt']
repeats = 2
split-communication = true
axes.network.bandwidth = ['1 GB/s', '2 GB/s', '5 GB/s']
axes.placement.policy = ['block', 'random']
cost.link = '1e-9 * network.bandwidth'
";

const POINTS: usize = 12;

const RING: &str = "\
schema = 1
hosts = { speed = '1 Ginstr/s', cores = 2 }
topology.torus.dims = [5]
network = { bandwidth = '1 GB/s', latency = '1 us' }
";

const EXCHANGE: &str = "\
0 init\n0 compute 1000000\n0 send 1 7 100000\n0 recv 2 8 50000\n0 barrier\n0 finalize\n\
1 init\n1 compute 2000000\n1 recv 0 7 100000\n1 send 2 9 70000\n1 barrier\n1 finalize\n\
2 init\n2 send 0 8 50000\n2 recv 1 9 70000\n2 barrier\n2 compute 30000\n2 finalize\n";

const STREAM: &str = "0 init\n0 compute 500\n0 send 1 7 1000000\n0 finalize\n1 init\n1 recv 0 7 1000000\n1 finalize\n";

/// A part of a sweep, which ends early.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// The number of points that it simulates at most; the next point is an error, as if the process were killed.
    points: usize,
    /// The number of threads.
    jobs: usize,
    /// Whether it is a task of a batch system, which does not lock the folder.
    is_task: bool,
}

/// Reads the inputs as a new process does.
fn inputs(folder: &Path) -> Inputs {
    Inputs::read(Study::load(&folder.join("study.toml")).unwrap(), Jobs::ONE).unwrap()
}

fn written() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = [("study.toml", STUDY), ("ring.toml", RING), ("exchange.txt", EXCHANGE), ("stream.txt", STREAM)];
    files.into_iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

/// The tables of a study.
fn tables(results: &Path) -> [Vec<u8>; 2] {
    ["results.csv", "results.units.csv"].map(|name| fs::read(results.join(name)).unwrap())
}

/// Simulates points in this order until the part ends, and counts the simulations of each.
fn simulate(
    study: &Path,
    results: &Path,
    order: &[usize],
    part: Part,
    simulated: &Mutex<BTreeMap<usize, u32>>,
) -> bool {
    let inputs = inputs(study);
    let folder = match part.is_task {
        true => ResultsFolder::of_task(results, &inputs).unwrap(),
        false => ResultsFolder::open(results, &inputs).unwrap(),
    };
    let missing = folder.missing(inputs.count(), false);
    let points: Vec<usize> = order.iter().copied().filter(|point| missing.contains(point)).collect();
    let begun = AtomicUsize::new(0);
    let replay = |point, prepared: &PreparedPoint| {
        if begun.fetch_add(1, Ordering::Relaxed) >= part.points {
            return Err(StudyError::Failed("killed".to_owned()));
        }
        *simulated.lock().unwrap().entry(point).or_default() += 1;
        engine::simulate(&inputs, prepared, point)
    };
    let jobs = Jobs(NonZeroUsize::new(part.jobs).unwrap());
    engine::run(&inputs, &folder, &points, jobs, &replay, &|| ()).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_order_with_any_cuts_gives_the_same_tables(
        order in Just((0..POINTS).collect::<Vec<_>>()).prop_shuffle(),
        parts in prop::collection::vec((0..6_usize, 1..5_usize, any::<bool>()), 0..6),
    ) {
        let study = written();
        let (whole, cut) = (study.path().join("whole"), study.path().join("cut"));
        let all = Part { points: POINTS, jobs: 1, is_task: false };
        let in_order: Vec<usize> = (0..POINTS).collect();
        prop_assert!(simulate(study.path(), &whole, &in_order, all, &Mutex::default()));
        ResultsFolder::open(&whole, &inputs(study.path())).unwrap().finish(&inputs(study.path())).unwrap();

        drop(ResultsFolder::open(&cut, &inputs(study.path())).unwrap());
        let simulated = Mutex::default();
        for (points, jobs, is_task) in parts {
            simulate(study.path(), &cut, &order, Part { points, jobs, is_task }, &simulated);
        }
        let rest = Part { jobs: 3, ..all };
        prop_assert!(simulate(study.path(), &cut, &order, rest, &simulated));
        ResultsFolder::open(&cut, &inputs(study.path())).unwrap().finish(&inputs(study.path())).unwrap();
        prop_assert_eq!(tables(&whole), tables(&cut));
        let simulated = simulated.into_inner().unwrap();
        prop_assert!(simulated.len() == POINTS && simulated.values().all(|times| *times == 1), "{:?}", simulated);
    }
}
