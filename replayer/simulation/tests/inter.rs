//! Collectives between two groups: their ends, computed by hand, and the match of every message in both groups.

use std::fmt::Write;
use std::path::Path;

use proptest::prelude::*;
use titr_common::collectives::{Library, Selection};
use titr_common::units::{Bytes, Speed};
use titr_network::topology::HostId;
use titr_platform::{Mpi, Platform};
use titr_simulation::observe::Breakdown;
use titr_simulation::ranks::Core;
use titr_simulation::replay::{Options, replay};
use titr_test_machine::{events, finishes, mpi, run};
use titr_workload::Workload;

/// An inter-communicator between the ranks below `first` and those from there to `ranks`.
fn made(first: u32, ranks: u32) -> String {
    let list = |from: u32, to: u32| if from + 1 == to { from.to_string() } else { format!("{from}-{}", to - 1) };
    let (low, high) = (list(0, first), list(first, ranks));
    let line = |rank: u32| {
        let (local, remote) = if rank < first { (&low, &high) } else { (&high, &low) };
        format!("{rank} intercomm_create 2 0 {local} {remote} tag 3\n")
    };
    (0..ranks).map(line).collect()
}

/// When each of four ranks is done with a collective between ranks 0 and 1 and ranks 2 and 3.
fn four(library: Library, lines: [&str; 4]) -> Vec<f64> {
    let mpi = Mpi { collectives: Selection::from(library), ..mpi() };
    let finish = |trace: &str| {
        let outcome = run(events(4, trace), &mpi).unwrap_or_else(|error| panic!("{error}\n{trace}"));
        assert_eq!(outcome.warnings, [""; 0], "{trace}");
        finishes(&outcome)
    };
    let begin = finish(&made(2, 4));
    assert!(begin.iter().all(|&at| at == begin[0]), "{begin:?}");
    let mut trace = made(2, 4);
    (0..).zip(lines).for_each(|(rank, line): (u32, _)| writeln!(trace, "{rank} on 2 {line}").unwrap());
    let nanoseconds = |at: f64| (at * 1000.0).round() / 1000.0;
    finish(&trace).into_iter().map(|at| nanoseconds(at - begin[0])).collect()
}

fn all(line: &str) -> [&str; 4] {
    [line; 4]
}

#[test]
fn from_a_root_and_to_a_root() {
    for library in [Library::Mpich, Library::OpenMpi] {
        let times = |lines| four(library, lines);
        assert_eq!(times(["bcast 1000 0", "bcast 0 -", "bcast 1000 0", "bcast 1000 0"]), [0.0, 0.0, 3.0, 6.0]);
        let reduce = ["reduce 1000 0 0", "reduce 0 0 -", "reduce 1000 0 0", "reduce 1000 0 0"];
        assert_eq!(times(reduce), [6.0, 0.0, 3.0, 0.0]);
        let gather = ["gather 0 1000 0", "gather 0 0 -", "gather 1000 0 0", "gather 1000 0 0"];
        assert_eq!(times(gather), [7.0, 0.0, 3.0, 0.0]);
        let scatter = ["scatter 1000 0 0", "scatter 0 0 -", "scatter 0 1000 0", "scatter 0 1000 0"];
        assert_eq!(times(scatter), [0.0, 0.0, 4.0, 7.0]);
        let gatherv = ["gatherv 0 1000 3000 0", "gatherv 0 0 0 -", "gatherv 1000 0 0 0", "gatherv 3000 0 0 0"];
        assert_eq!(times(gatherv), [5.0, 0.0, 0.0, 0.0]);
        let scatterv = ["scatterv 1000 3000 0 0", "scatterv 0 0 0 -", "scatterv 0 0 1000 0", "scatterv 0 0 3000 0"];
        assert_eq!(times(scatterv), [0.0, 0.0, 3.0, 5.0]);
        // The root can be in either group, and anybody in it.
        assert_eq!(times(["bcast 1000 3", "bcast 1000 3", "bcast 0 -", "bcast 1000 3"]), [3.0, 6.0, 0.0, 0.0]);
    }
}

#[test]
fn mpich_sends_large_blocks_straight_to_the_root_and_from_it() {
    let gather = ["gather 0 2000 0", "gather 0 0 -", "gather 2000 0 0", "gather 2000 0 0"];
    assert_eq!(four(Library::Mpich, gather), [4.0, 0.0, 0.0, 0.0]);
    assert_eq!(four(Library::OpenMpi, gather), [10.0, 0.0, 4.0, 0.0]);
    let scatter = ["scatter 2000 0 0", "scatter 0 0 -", "scatter 0 2000 0", "scatter 0 2000 0"];
    assert_eq!(four(Library::Mpich, scatter), [0.0, 0.0, 4.0, 4.0]);
    assert_eq!(four(Library::OpenMpi, scatter), [0.0, 0.0, 6.0, 10.0]);
}

#[test]
fn among_all() {
    use Library::{Mpich, OpenMpi};
    assert_eq!(four(Mpich, all("allreduce 1000 0")), [6.0, 9.0, 6.0, 9.0]);
    assert_eq!(four(OpenMpi, all("allreduce 1000 0")), [6.0, 9.0, 6.0, 9.0]);
    assert_eq!(four(Mpich, all("barrier")), [6.002, 8.003, 4.001, 6.002]);
    assert_eq!(four(OpenMpi, all("barrier")), [4.008, 6.012, 4.008, 6.012]);
    assert_eq!(four(Mpich, all("alltoall 1000 1000")), [6.0; 4]);
    assert_eq!(four(OpenMpi, all("alltoall 1000 1000")), [3.0; 4]);
    assert_eq!(four(Mpich, all("alltoallv 2000 1000 1000 2000 1000 1000")), [6.0; 4]);
    assert_eq!(four(OpenMpi, all("alltoallw 2000 1000 1000 2000 1000 1000")), [3.0; 4]);
    assert_eq!(four(Mpich, all("allgather 1000 1000")), [11.0, 15.0, 7.0, 11.0]);
    assert_eq!(four(OpenMpi, all("allgather 1000 1000")), [7.0, 11.0, 7.0, 11.0]);
    let allgatherv = [
        "allgatherv 1000 1000 3000",
        "allgatherv 1000 1000 3000",
        "allgatherv 1000 1000 1000",
        "allgatherv 3000 1000 1000",
    ];
    assert_eq!(four(Mpich, allgatherv), [5.0, 11.0, 8.0, 12.0]);
    let shares =
        ["reducescatter 500 1000 0", "reducescatter 500 1000 0", "reducescatter 750 750 0", "reducescatter 750 750 0"];
    assert_eq!(four(Mpich, shares), [7.0, 10.0, 10.5, 13.25]);
    assert_eq!(four(OpenMpi, shares), [3.5, 6.5, 3.5, 6.25]);
    assert_eq!(four(OpenMpi, all("reducescatter_block 750 0")), [3.5, 6.25, 3.5, 6.25]);
}

#[test]
fn those_who_reduce_compute_and_the_root_does_not() {
    let reduce = ["reduce 1000 0 0", "reduce 0 0 -", "reduce 1000 5000 0", "reduce 1000 5000 0"];
    assert_eq!(four(Library::Mpich, reduce), [6.0, 0.0, 8.0, 5.0]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |lines: [&str; 2]| {
        let trace = format!("{}0 on 2 {}\n1 on 2 {}", made(1, 2), lines[0], lines[1]);
        run(events(2, &trace), &mpi()).unwrap_err().to_string()
    };
    let error = refused(["scan 8 0", "scan 8 0"]);
    assert!(
        error.ends_with("scan on the communicator between ranks 0 and 1: MPI has no such call on inter-communicators"),
        "{error}"
    );
    let error = refused(["bcast 8 0", "bcast 8 1"]);
    assert!(error.contains("where rank 1 called bcast with root 1"), "{error}");
}

/// A line of a collective for each rank, with `low` ranks in the first group and as many bytes as `bytes` says.
fn lines(kind: usize, low: u32, high: u32, bytes: u64, root: u32) -> String {
    let ranks = low + high;
    let root = root % ranks;
    let mut trace = String::new();
    for rank in 0..ranks {
        let peers = if rank < low { high } else { low };
        let local = ranks - peers;
        let (is_root, is_idle) = (rank == root, (rank < low) == (root < low));
        let at_root = if is_root { bytes } else { 0 };
        let elsewhere = if is_idle { 0 } else { bytes };
        let who = if is_idle && !is_root { "-".to_owned() } else { root.to_string() };
        let list = |bytes: u64| vec![bytes.to_string(); peers as usize].join(" ");
        let total = bytes * u64::from(peers);
        // Of a reduction that is shared out, both groups get as much together.
        let share = bytes * u64::from(peers);
        let shares = vec![share.to_string(); local as usize].join(" ");
        let vector = if is_idle && !is_root { 0 } else { bytes };
        let line = match kind {
            0 => "barrier".to_owned(),
            1 => format!("bcast {vector} {who}"),
            2 => format!("reduce {vector} 0 {who}"),
            3 => format!("gather {elsewhere} {at_root} {who}"),
            4 => format!("scatter {at_root} {elsewhere} {who}"),
            5 => format!("gatherv {elsewhere} {} {who}", list(at_root)),
            6 => format!("scatterv {} {elsewhere} {who}", list(at_root)),
            7 => format!("allgather {bytes} {bytes}"),
            8 => format!("allgatherv {bytes} {}", list(bytes)),
            9 => format!("allreduce {bytes} 0"),
            10 => format!("alltoall {bytes} {bytes}"),
            11 => format!("alltoallv {total} {} {total} {}", list(bytes), list(bytes)),
            12 => format!("reducescatter {shares} 0"),
            _ => format!("reducescatter_block {share} 0"),
        };
        writeln!(trace, "{rank} on 2 {line}").unwrap();
    }
    trace
}

proptest! {
    /// Where no send is buffered, nobody waits forever, and every message is received.
    #[test]
    fn every_message_finds_its_receive(
        kind in 0..14_usize, low in 1..6_u32, high in 1..6_u32, bytes in prop_oneof![Just(0_u64), 1..5000_u64],
        root in 0..10_u32, openmpi: bool,
    ) {
        let library = if openmpi { Library::OpenMpi } else { Library::Mpich };
        let mpi = Mpi { collectives: Selection::from(library), eager_threshold: Bytes(0), ..mpi() };
        let trace = made(low, low + high) + &lines(kind, low, high, bytes, root);
        let outcome = run(events(low + high, &trace), &mpi).unwrap_or_else(|error| panic!("{error}\n{trace}"));
        prop_assert_eq!(outcome.warnings, [""; 0], "{}", trace);
    }
}

/// On a network whose links are shared, a broadcast and an allreduce take as long as the messages they are made of.
#[test]
fn a_collective_between_groups_takes_as_long_as_its_messages() {
    let time = |model: &str, trace: &str| {
        let text = format!(
            "schema = 1\n[hosts]\nspeed = \"1 Ginstr/s\"\n[topology.torus]\ndims = [4, 4]\n[network]\nmodel = \"{model}\"\n\
             bandwidth = \"10 Gbit/s\"\nlatency = \"1 us\"\n"
        );
        let platform = Platform::parse(Path::new("cluster.toml"), text, &[]).unwrap();
        let cores = (0..4).map(|host| Core::new(HostId(host), Speed { per_second: 1e9 })).collect();
        let workload = Workload::new(events(4, trace).into_iter().map(Vec::into_iter).collect());
        let mut network = platform.network(0);
        let outcome = replay(workload, cores, &platform.mpi, &mut *network, Breakdown::new(4), Options::default());
        outcome.unwrap_or_else(|error| panic!("{error}\n{trace}")).simulated_time.seconds().0
    };
    let groups: String =
        (0..4).map(|rank| format!("{rank} comm_create_group 3 0 {}\n", if rank < 2 { "0-1" } else { "2-3" })).collect();
    for bytes in [1_000, 200_000] {
        let vector = |line: &str, root: [u32; 4]| -> String {
            (0..).zip(root).map(|(rank, root): (u32, u32)| format!("{rank} on 3 {line} {root}\n")).collect()
        };
        let (reduce, bcast) =
            (vector(&format!("reduce {bytes} 0"), [0, 0, 2, 2]), vector(&format!("bcast {bytes}"), [0, 0, 2, 2]));
        let pairs = [
            (
                format!("0 on 2 bcast {bytes} 0\n1 on 2 bcast 0 -\n2 on 2 bcast {bytes} 0\n3 on 2 bcast {bytes} 0\n"),
                format!("0 send 2 0 {bytes}\n2 recv 0 0 {bytes}\n2 send 3 0 {bytes}\n3 recv 2 0 {bytes}\n"),
            ),
            (
                (0..4).map(|rank| format!("{rank} on 2 allreduce {bytes} 0\n")).collect(),
                format!("{reduce}0 sendrecv 2 0 {bytes} 2 0 {bytes}\n2 sendrecv 0 0 {bytes} 0 0 {bytes}\n{bcast}"),
            ),
        ];
        for (collective, messages) in pairs {
            for model in ["flow", "packet", "ideal"] {
                let before = made(2, 4) + &groups;
                let begin = time(model, &before);
                let took = |trace: &str| time(model, &(before.clone() + trace)) - begin;
                let (found, expected) = (took(&collective), took(&messages));
                assert!(
                    (found - expected).abs() < 0.01 * expected,
                    "{model}: {found} s for {expected} s\n{collective}"
                );
            }
        }
    }
}
