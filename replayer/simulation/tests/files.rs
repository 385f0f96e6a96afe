//! The cost of calls on files: computed by hand for a single rank, and compared with programs that compute instead of
//! waiting for the disk and send the messages that the call sends.
//!
//! A disk reads a byte in 1 ns and writes it in 2 ns, after 10 µs.

use std::sync::Arc;

use proptest::prelude::*;
use titr_common::units::{Bandwidth, Seconds, Speed};
use titr_network::ideal::Ideal;
use titr_network::topology::{Cable, Duplex, HostId, Star};
use titr_platform::{CollectiveAccess, DiskParameters, Service, Storage};
use titr_simulation::observe::Breakdown;
use titr_simulation::ranks::{Causality, Core, ReplayError};
use titr_simulation::replay::{Options, Outcome, replay};
use titr_test_machine::{events, explained, finishes, mpi};
use titr_workload::Workload;

fn storage() -> Storage {
    let bandwidth = |bytes_per_second| Bandwidth { bytes_per_second };
    let (read_bandwidth, write_bandwidth) = (bandwidth(1e9), bandwidth(0.5e9));
    let disk = DiskParameters { read_bandwidth, write_bandwidth, latency: Seconds(10e-6), service: Service::Shared };
    let independent = CollectiveAccess::Independent;
    Storage { disk, collective: independent, is_assumed: false, ..Storage::default() }
}

/// Replays a trace with `per_host` ranks at each host, on the machine of [`titr_test_machine`] otherwise.
fn outcome(ranks: u32, per_host: u32, trace: &str, options: Options) -> Result<Outcome<Breakdown>, ReplayError> {
    let workload = Workload::new(events(ranks, trace).into_iter().map(Vec::into_iter).collect());
    let cable = Cable { bandwidth: 1e9, latency: Seconds(1e-6), duplex: Duplex::Full };
    let mut network = Ideal::new(Arc::new(Star::new(ranks, cable, None)));
    let core = |rank| Core::new(HostId(rank / per_host), Speed { per_second: 1e9 });
    let cores = (0..ranks).map(core).collect();
    explained(ranks as usize, |observer| replay(workload, cores, &mpi(), &mut network, observer, options))
}

/// When each rank is done, in microseconds.
fn on(storage: &Storage, ranks: u32, per_host: u32, trace: &str) -> Vec<f64> {
    let options = Options { storage: storage.clone(), ..Options::default() };
    finishes(&outcome(ranks, per_host, trace, options).unwrap())
}

fn run(ranks: u32, trace: &str) -> Vec<f64> {
    on(&storage(), ranks, 1, trace)
}

/// The lines of all ranks, of which each does the same.
fn all(ranks: u32, lines: &[&str]) -> String {
    (0..ranks).flat_map(|rank| lines.iter().map(move |line| format!("{rank} {line}\n"))).collect()
}

#[test]
fn one_rank_waits_for_its_disk() {
    assert_eq!(run(1, "0 file_open 0"), [10.0]);
    assert_eq!(run(1, "0 file_open 0\n0 file_write_at 0 1000"), [22.0]);
    assert_eq!(run(1, "0 file_open 0\n0 file_read 0 5000\n0 file_get_size 0\n0 file_close 0"), [45.0]);
    assert_eq!(run(1, "0 file_delete"), [10.0]);
}

#[test]
fn ranks_at_one_host_share_its_disk() {
    let write = all(4, &["on 1 file_open 0", "file_write 0 1000"]);
    assert_eq!(on(&storage(), 4, 1, &write), [22.0; 4]);
    assert_eq!(on(&storage(), 4, 4, &write), [28.0; 4]);
    assert_eq!(on(&storage(), 4, 2, &write), [24.0; 4]);
}

#[test]
fn a_request_is_complete_when_the_disk_is_done() {
    let open = "0 file_open 0\n";
    assert_eq!(run(1, &format!("{open}0 file_iwrite 0 1000 3")), [10.0]);
    assert_eq!(run(1, &format!("{open}0 file_iwrite 0 1000 3\n0 compute 5000\n0 wait_of 3")), [22.0]);
    assert_eq!(run(1, &format!("{open}0 file_iwrite 0 1000 3\n0 compute 50000\n0 wait_of 3")), [60.0]);
}

#[test]
fn all_members_open_and_close_together() {
    let late = "1 compute 7000\n";
    for (calls, messages) in [
        (&["file_open 0"][..], &["compute 10000", "allreduce 4 0"][..]),
        (&["file_open 0", "file_sync 0"], &["compute 10000", "allreduce 4 0", "compute 10000", "allreduce 4 0"]),
        (&["file_open 0", "file_close 0"], &["compute 10000", "allreduce 4 0", "compute 10000", "barrier"]),
    ] {
        for ranks in [2, 3, 8] {
            assert_eq!(
                run(ranks, &(late.to_owned() + &all(ranks, calls))),
                run(ranks, &(late.to_owned() + &all(ranks, messages)))
            );
        }
    }
}

/// Two files are open at a time, and their calls come in another order on each rank.
#[test]
fn files_of_one_communicator_do_not_meet() {
    let open = all(2, &["file_open 0", "file_open 1"]);
    let one = open.clone()
        + "0 file_iwrite_all 0 0 1\n0 file_iread_all 1 0 2\n1 file_iread_all 1 0 1\n1 file_iwrite_all 0 0 2\n";
    run(2, &(one + &all(2, &["waitall 2"])));
}

#[test]
fn an_independent_collective_access_follows_an_exchange_of_offsets() {
    let open = all(3, &["file_open 0"]);
    let equivalent =
        all(3, &["allgather 8 8", "allgather 8 8"]) + "0 compute 12000\n1 compute 14000\n2 compute 10000\n";
    let equivalent = run(3, &(all(3, &["compute 10000", "allreduce 4 0"]) + &equivalent));
    let calls = "0 file_write_all 0 1000\n1 file_write_all 0 2000\n2 file_write_all 0 0\n";
    assert_eq!(run(3, &(open.clone() + calls)), equivalent);
    let split = all(3, &["file_write_at_all_end 0"]);
    let begin = "0 file_write_at_all_begin 0 1000\n1 file_write_at_all_begin 0 2000\n2 file_write_at_all_begin 0 0\n";
    assert_eq!(run(3, &(open + begin + &split)), equivalent);
}

/// A rank at each of two hosts: each writes half of what both have.
#[test]
fn aggregators_exchange_the_data_and_access_it() {
    let open = all(2, &["file_open 0"]);
    let opened = all(2, &["compute 10000", "allreduce 4 0", "allgather 8 8", "allgather 8 8"]);
    let exchange = |sizes: [u64; 2]| -> String {
        let messages = |me: u32| {
            let peers = || 0..2_u32;
            let post = peers().map(move |from| format!("{me} irecv {from} 5 {}\n", sizes[from as usize]));
            let send = peers().map(move |to| format!("{me} isend {to} 5 {}\n", sizes[me as usize]));
            post.chain(send).chain([format!("{me} waitall 4\n")]).collect::<String>()
        };
        messages(0) + &messages(1)
    };
    let two_phase = Storage { collective: CollectiveAccess::TwoPhase, ..storage() };
    let calls = open.clone() + "0 file_write_all 0 3000\n1 file_write_all 0 5000\n";
    // Each aggregator writes 4,000 bytes, of which 1,500 and 2,500 are of the ranks.
    let write = opened.clone() + &exchange([1500, 2500]) + &all(2, &["compute 18000", "allreduce 4 0"]);
    assert_eq!(on(&two_phase, 2, 1, &calls), run(2, &write));
    // Reads have the data come after the disk, and no error code.
    let reads = open + "0 file_read_all 0 3000\n1 file_read_all 0 5000\n";
    let back: String = (0..2)
        .map(|me: usize| {
            let (mine, sizes) = ([1500, 2500][me], [1500, 2500]);
            let receive: String = (0..2).map(|from| format!("{me} irecv {from} 5 {mine}\n")).collect();
            let send: String = (0..2).map(|to: usize| format!("{me} isend {to} 5 {}\n", sizes[to])).collect();
            receive + &send + &format!("{me} waitall 4\n")
        })
        .collect();
    let read = opened + &all(2, &["compute 14000"]) + &back;
    assert_eq!(on(&two_phase, 2, 1, &reads), run(2, &read));
}

#[test]
fn one_aggregator_at_each_host_accesses_its_disk() {
    let two_phase = Storage { collective: CollectiveAccess::TwoPhase, ..storage() };
    let calls = |bytes| all(4, &["file_open 0", &format!("file_write_all 0 {bytes}")]);
    let writing = |per_host| {
        let [full, empty] = [1_000_000, 0].map(|bytes| on(&two_phase, 4, per_host, &calls(bytes))[0]);
        full - empty
    };
    // 4 MB at 2 ns a byte; two hosts have half of it each. All else are messages, of 3 MB to a host at most.
    assert!((8000.0..8000.0 + 3100.0).contains(&writing(4)), "{}", writing(4));
    assert!((4000.0..4000.0 + 1600.0).contains(&writing(2)), "{}", writing(2));
    let one = Storage { aggregators: Some(1), ..two_phase.clone() };
    let alone = on(&one, 4, 2, &calls(1_000_000))[0];
    assert!(alone > 8000.0, "{alone}");
}

#[test]
fn a_shared_pointer_is_moved_by_one_after_another() {
    // Reading and writing 8 bytes of the pointer takes 20.024 µs; then each writes to a disk of its own.
    let trace = all(3, &["file_open 0", "barrier", "file_write_shared 0 1000"]);
    let before = run(3, &all(3, &["file_open 0", "barrier"]));
    let mut took: Vec<f64> = run(3, &trace).into_iter().zip(&before).map(|(after, before)| after - before).collect();
    took.sort_by(f64::total_cmp);
    assert!((took[0] - 32.024).abs() < 1e-3, "{took:?}");
    assert!((took[1] - took[0] - 20.024).abs() < 3.0 && (took[2] - took[1] - 20.024).abs() < 3.0, "{took:?}");
}

#[test]
fn ordered_accesses_take_turns_at_the_pointer() {
    let open = all(3, &["compute 10000", "allreduce 4 0"]);
    let turns =
        "0 compute 20024\n0 send 1 5 0\n1 recv 0 5 0\n1 compute 20024\n1 send 2 5 0\n2 recv 1 5 0\n2 compute 20024\n";
    let access = all(3, &["allgather 8 8", "allgather 8 8", "compute 12000"]);
    let calls = all(3, &["file_open 0", "file_write_ordered 0 1000"]);
    assert_eq!(run(3, &calls), run(3, &(open + turns + &access)));
}

#[test]
fn without_time_only_messages_are_left() {
    let trace = all(2, &["file_open 0", "file_write 0 1000", "file_write_all 0 5"]);
    let options = |causality| Options { causality, storage: storage(), ..Options::default() };
    let causal = finishes(&outcome(2, 1, &trace, options(Causality::Causal)).unwrap());
    assert_eq!(causal, run(2, &all(2, &["allreduce 4 0", "allgather 8 8", "allgather 8 8"])));
    outcome(2, 1, &trace, options(Causality::None)).unwrap();
}

#[test]
fn a_platform_that_says_nothing_of_storage_is_told() {
    let trace = "0 file_open 0\n0 file_write 0 1050000\n0 file_close 0";
    let outcome = outcome(1, 1, trace, Options::default()).unwrap();
    assert_eq!(finishes(&outcome), [3.0 * 85.0 + 1000.0]);
    insta::assert_snapshot!(outcome.approximations.join("\n"), @"assumed, as the platform has no [storage]: 1 access to a file (1.05 MB) took a disk at each host, which reads 3.2 GB/s and writes 1.05 GB/s after 85 µs");
}

#[test]
fn what_makes_no_sense_is_told() {
    let wrong = |trace: &str| outcome(2, 1, trace, Options::default()).unwrap_err().to_string();
    let all = [
        wrong("0 file_write 3 100"),
        wrong("0 file_close 3"),
        wrong("0 on 1 file_open 0\n0 file_write_all_end 0"),
        wrong("0 file_open 0\n1 barrier"),
        wrong("0 file_open 0\n1 file_open 0\n0 file_write_all 0 5\n1 file_sync 0"),
        wrong("0 file_open 0\n1 file_open 0\n0 file_write_all 0 5\n1 recv 0 7 8"),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    rank 0, event 1: file 3 is not open
    rank 0, event 1: file 3 is not open
    rank 0, event 2: no split access to file 0 has begun
    rank 1, event 1: barrier is this rank's collective number 1 on the world, where rank 0 called file_open
    rank 0, event 2: file_write_all is this rank's collective number 2 on the world, where rank 1 called file_sync
    deadlock after 0.000089012 s: 2 of 2 ranks wait for ever, 2 of them for each other
      rank 0, event 2 waits for a receive from rank 1 within file_write_all on the world
      rank 1, event 2 waits for a receive from rank 0 with tag 7 on the world
      never received: 1 message (8 bytes) from rank 0 to rank 1 within a collective on the world
    ");
}

proptest! {
    /// More bandwidth makes no rank later, where ranks wait for nothing but their own disks.
    #[test]
    fn more_bandwidth_is_not_slower(
        accesses in prop::collection::vec((0_u32..4, any::<bool>(), 0_u64..100_000), 1..20),
        factor in 1.0..10.0_f64,
        per_host in 1_u32..4,
    ) {
        let access = |&(rank, writes, bytes): &(u32, bool, u64)| {
            format!("{rank} file_{} 0 {bytes}\n", if writes { "write" } else { "read" })
        };
        let trace = all(4, &["on 1 file_open 0"]) + &accesses.iter().map(access).collect::<String>();
        let slow = storage();
        let faster = |bandwidth: Bandwidth| Bandwidth { bytes_per_second: bandwidth.bytes_per_second * factor };
        let disk = DiskParameters {
            read_bandwidth: faster(slow.disk.read_bandwidth),
            write_bandwidth: faster(slow.disk.write_bandwidth),
            ..slow.disk
        };
        let last = |times: Vec<f64>| times.into_iter().fold(0.0, f64::max);
        let fast = last(on(&Storage { disk, ..slow.clone() }, 4, per_host, &trace));
        let slow = last(on(&slow, 4, per_host, &trace));
        prop_assert!(fast <= slow + 1e-3, "{} {}", fast, slow);
    }
}
