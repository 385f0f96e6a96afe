//! The critical path of programs whose times are computed by hand, on the machine of [`titr_test_machine`], and
//! properties of the path of any program.

use std::path::Path;

use proptest::prelude::*;
use titr_analyses::{AnalysedSimulation, ByKind, Parameter, RegionShare, SegmentShare, Sensitivity};
use titr_common::units::Seconds;
use titr_platform::Mpi;
use titr_simulation::parallel::Jobs;
use titr_simulation::{Platform, Simulation, Trace};
use titr_workload::Workload;

use titr_test_machine::programs::{RANKS, happening, library, overhead, trace};
use titr_test_machine::{critical_path, events, micros, mpi, picoseconds, sum, threads};

/// The parts of the path by rank and kind, and its length, in microseconds.
fn path(ranks: u32, trace: &str, mpi: &Mpi) -> (f64, Vec<(u32, String, f64)>) {
    let (time, found) = critical_path(Workload::new(threads(ranks, trace)), mpi);
    assert_eq!(picoseconds(found.length), time.0);
    let part = |part: &SegmentShare| (part.rank, part.kind.to_string(), micros(part.seconds));
    let mut parts: Vec<_> = found.segments.iter().map(part).collect();
    parts.sort_by(|one, other| one.partial_cmp(other).unwrap());
    (micros(time.seconds()), parts)
}

fn parts(parts: &[(u32, &str, f64)]) -> Vec<(u32, String, f64)> {
    parts.iter().map(|&(rank, kind, time)| (rank, kind.to_owned(), time)).collect()
}

#[test]
fn a_late_sender_is_on_the_path() {
    let found = path(2, "0 compute 5000\n0 send 1 7 1000\n1 recv 0 7 1000", &mpi());
    assert_eq!(found, (8.0, parts(&[(0, "compute", 5.0), (0, "latency", 2.0), (0, "transfer", 1.0)])));
}

#[test]
fn a_late_receiver_is_on_the_path_and_the_data_is_the_senders() {
    let found = path(2, "0 send 1 7 20000\n1 compute 4000\n1 recv 0 7 20000", &mpi());
    assert_eq!(found, (26.0, parts(&[(0, "latency", 2.0), (0, "transfer", 20.0), (1, "compute", 4.0)])));
}

/// Rank 2 computes too, but for a shorter time than it would wait.
#[test]
fn the_path_follows_a_chain_of_messages() {
    let program =
        "0 compute 10000\n0 send 1 0 0\n1 recv 0 0 0\n1 compute 1000\n1 send 2 0 0\n2 compute 4000\n2 recv 1 0 0";
    let chain = [(0, "compute", 10.0), (0, "latency", 2.0), (1, "compute", 1.0), (1, "latency", 2.0)];
    assert_eq!(path(3, program, &mpi()), (15.0, parts(&chain)));
}

/// The same, and rank 2 has computed for longer when the message comes.
#[test]
fn who_does_not_wait_is_alone_on_the_path() {
    let program =
        "0 compute 10000\n0 send 1 0 0\n1 recv 0 0 0\n1 compute 1000\n1 send 2 0 0\n2 compute 16000\n2 recv 1 0 0";
    assert_eq!(path(3, program, &mpi()), (16.0, parts(&[(2, "compute", 16.0)])));
}

/// A message is a part of the visit of its sender.
#[test]
fn the_path_visits_ranks_in_order_of_time() {
    let program = "0 compute 10000\n0 send 1 0 0\n0 recv 1 0 0\n1 recv 0 0 0\n1 compute 1000\n1 send 0 0 0";
    let (_, found) = critical_path(Workload::new(threads(2, &format!("{program}\n0 compute 500"))), &mpi());
    let visits: Vec<_> = found.visits.iter().map(|visit| (visit.rank, micros(visit.begin))).collect();
    assert_eq!(visits, [(0, 0.0), (1, 12.0), (0, 15.0)]);
}

#[test]
fn the_last_to_enter_a_barrier_is_on_the_path() {
    let found = path(2, "0 compute 3000\n0 barrier\n1 barrier", &mpi());
    assert_eq!(found, (5.0, parts(&[(0, "compute", 3.0), (0, "latency", 2.0)])));
}

#[test]
fn the_later_of_two_messages_is_on_the_path() {
    let waits = "0 irecv 1 0 0 6 1\n0 irecv 2 0 0 6 2\n0 waitall";
    let program = format!("{waits}\n1 compute 8000\n1 send 0 0 0\n2 compute 10000\n2 send 0 0 0");
    assert_eq!(path(3, &program, &mpi()), (12.0, parts(&[(2, "compute", 10.0), (2, "latency", 2.0)])));
}

/// An overhead of 1 µs for each send and of 0.5 µs for each receive of an eager message.
#[test]
fn overheads_are_on_the_path_at_both_sides() {
    let mpi = Mpi { send_overhead: overhead(1e-6), recv_overhead: overhead(0.5e-6), ..mpi() };
    let found = path(2, "0 send 1 7 1000\n1 recv 0 7 1000", &mpi);
    let expected = [(0, "latency", 2.0), (0, "overhead", 1.0), (0, "transfer", 1.0), (1, "overhead", 0.5)];
    assert_eq!(found, (4.5, parts(&expected)));
}

#[test]
fn time_is_in_the_region_that_its_rank_is_in() {
    let program =
        "0 region_begin solve\n0 compute 5000\n0 region_end solve\n0 compute 1000\n0 send 1 7 1000\n1 recv 0 7 1000";
    let (_, found) = critical_path(Workload::new(threads(2, program)), &mpi());
    let region = |share: &RegionShare| (share.region.clone(), picoseconds(share.seconds));
    let regions: Vec<_> = found.regions.iter().map(region).collect();
    assert_eq!(regions, [(None, 4_000_000), (Some("solve".into()), 5_000_000)]);
}

/// Of 8 µs, 5 are computed, 2 are latency, and 1 is bandwidth.
#[test]
fn sensitivities_are_parts_of_the_path() {
    let program = threads(2, "0 compute 5000\n0 send 1 7 1000\n1 recv 0 7 1000");
    let (_, found) = critical_path(Workload::new(program), &mpi());
    let expected = [
        (Parameter::HostSpeed, -0.625),
        (Parameter::Latency, 0.25),
        (Parameter::Bandwidth, -0.125),
        (Parameter::Overheads, 0.0),
    ];
    let found: Vec<_> = found.sensitivities.iter().map(|found| (found.parameter, found.path.unwrap())).collect();
    assert_eq!(found, expected);
}

/// The ring's path stays the same if a parameter changes by a percent, so that replays find what the path says, but for
/// terms of second order: a bandwidth of 1 % less takes 1.0101 % more time.
#[test]
fn replays_agree_with_sensitivities() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let trace = Trace::open(&folder.join("ring.txt")).unwrap();
    for (platform, checked) in [("cluster16.toml", 4), ("packet.toml", 2)] {
        let platform = Platform::load(&folder.join(platform), &[]).unwrap();
        let simulation = AnalysedSimulation::new(Simulation::new(&platform, &trace));
        let simulation = simulation.analyse("critical-path").check_sensitivities(Jobs::ONE);
        let sensitivities = simulation.run().unwrap().analyses.unwrap().critical_path.unwrap().sensitivities;
        let known: Vec<_> =
            sensitivities.iter().filter(|found| found.replays.is_some() && found.links.is_none()).collect();
        assert_eq!(known.len(), checked);
        for found in known {
            assert!((found.path.unwrap() - found.replays.unwrap()).abs() < 1e-3, "{sensitivities:#?}");
        }
    }
}

/// Whoever makes all classes of links faster makes all links faster: the sensitivities to the classes add up. A message goes at
/// the rate of the slowest of its links, so those to bandwidths do to within a percent.
#[test]
fn sensitivities_to_classes_of_links_add_up() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let trace = Trace::open(&folder.join("ring.txt")).unwrap();
    let torus = ["hosts.cores=1".to_owned(), "topology.torus.dims=[2, 2, 1]".to_owned()];
    for (file, settings, classes) in [
        ("torus.toml", &torus[..], ["loopbacks", "x", "y"]),
        ("fat-tree.toml", &torus[..1], ["level 1", "level 2", "loopbacks"]),
    ] {
        let platform = Platform::load(&folder.join(file), settings).unwrap();
        let simulation = AnalysedSimulation::new(Simulation::new(&platform, &trace));
        let simulation = simulation.analyse("critical-path").check_sensitivities(Jobs::ONE);
        let found = simulation.run().unwrap().analyses.unwrap().critical_path.unwrap().sensitivities;
        for parameter in [Parameter::Latency, Parameter::Bandwidth] {
            let of = |links: Option<&str>| {
                let of_links = |one: &&Sensitivity| one.parameter == parameter && one.links.as_deref() == links;
                found.iter().filter(of_links).map(|one| one.replays.unwrap()).collect::<Vec<_>>()
            };
            let parts: Vec<f64> = classes.iter().flat_map(|class| of(Some(class))).collect();
            assert_eq!(parts.len(), classes.len(), "{found:#?}");
            let (sum, all) = (parts.iter().sum::<f64>(), of(None)[0]);
            let rest = if parameter == Parameter::Latency { 1e-9 } else { 0.01 * all.abs() };
            assert!((sum - all).abs() <= rest, "{found:#?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The path is as long as the program takes, every part of it has a cause, and its lists add up to it.
    #[test]
    fn the_path_is_as_long_as_the_program(happenings in prop::collection::vec(happening(), 0..60), mpi in library()) {
        let trace = trace(&happenings);
        let programs = events(RANKS, &trace).into_iter().map(Vec::into_iter).collect();
        let (time, found) = critical_path(Workload::new(programs), &mpi);
        prop_assert_eq!(picoseconds(found.length), time.0, "{}", trace);
        let ByKind { compute, sleep, overhead, latency, transfer, contention, storage, other } = found.by_kind;
        prop_assert_eq!([contention, storage, other], [Seconds(0.0); 3], "{}", trace);
        prop_assert_eq!(sum([compute, sleep, overhead, latency, transfer].into_iter()), time.0);
        prop_assert_eq!(sum(found.ranks.iter().map(|part| part.seconds)), time.0);
        prop_assert_eq!(sum(found.regions.iter().map(|part| part.seconds)), time.0);
        prop_assert_eq!(sum(found.segments.iter().map(|part| part.seconds)), time.0);
        // Nothing else than these parameters takes time in such a program.
        let elasticities = found.sensitivities.iter().map(|part| part.path.unwrap().abs());
        prop_assert!((elasticities.sum::<f64>() - f64::from(time.0 > 0)).abs() < 1e-9);
    }
}
