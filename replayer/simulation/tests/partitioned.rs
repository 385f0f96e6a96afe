//! Partitioned messages leave with their last part, and take as long as the equivalent messages.

use std::path::Path;

use titr_common::units::{Bytes, Seconds, Speed};
use titr_network::topology::HostId;
use titr_platform::{Mpi, Overhead, OverheadStep, Platform};
use titr_simulation::observe::Breakdown;
use titr_simulation::ranks::Core;
use titr_simulation::replay::{Options, replay};
use titr_test_machine::{events, finishes, micros, mpi, run};
use titr_workload::Workload;

fn two(trace: &str) -> Vec<f64> {
    with(&mpi(), trace)
}

fn with(mpi: &Mpi, trace: &str) -> Vec<f64> {
    let outcome = run(events(2, trace), mpi).unwrap_or_else(|error| panic!("{error}\n{trace}"));
    assert_eq!((outcome.warnings.len(), outcome.approximations.len()), (0, 0), "{:?}", outcome.warnings);
    finishes(&outcome)
}

/// A send of 4,000 bytes in four parts, one ready every 10 µs.
fn sender() -> String {
    let part = |part| format!("0 compute 10000\n0 pready 0 {part}\n");
    let parts: String = (0..4).map(part).collect();
    format!("0 psend_init 1 7 4000 0 4\n0 start 0\n{parts}0 wait_of 0\n")
}

#[test]
fn a_message_leaves_with_its_last_part() {
    let receiver = |parts| format!("1 precv_init 0 7 4000 3 {parts}\n1 start 3\n1 wait_of 3");
    for parts in [1, 2, 4, 5] {
        // All 4,000 bytes leave after 40 µs.
        assert_eq!(two(&(sender() + &receiver(parts))), [40.0, 46.0]);
    }
}

#[test]
fn a_receiver_can_wait_for_a_part() {
    let receiver = |parts, part| format!("1 precv_init 0 7 4000 3 {parts}\n1 start 3\n1 parrived 3 {part}\n");
    let twice = |parts, part| {
        let once = receiver(parts, part);
        format!("{once}1 compute 1000\n1 wait_of 3")
    };
    assert_eq!(two(&(sender() + &twice(4, 0))), [40.0, 47.0]);
}

#[test]
fn a_late_receiver_finds_a_small_message_there_and_makes_a_large_one_wait() {
    let trace = |bytes| {
        format!(
            "0 psend_init 1 7 {bytes} 0 2\n0 start 0\n0 pready 0 0-1\n0 wait_of 0\n\
             1 precv_init 0 7 {bytes} 3 2\n1 compute 50000\n1 start 3\n1 wait_of 3"
        )
    };
    assert_eq!(two(&trace(2000)), [0.0, 50.0]);
    assert_eq!(two(&trace(20000)), [72.0, 72.0]);
}

#[test]
fn rounds_belong_together_and_the_sender_can_be_ahead() {
    let send = "0 start 0\n0 pready 0 1\n0 pready 0 0\n0 wait_of 0\n";
    let receive = "1 compute 50000\n1 start 3\n1 parrived 3 1\n1 wait_of 3\n";
    let trace = |rounds| {
        format!(
            "0 psend_init 1 7 2000 0 2\n{}0 request_free 0\n1 precv_init 0 7 2000 3 2\n{}1 request_free 3",
            send.repeat(rounds),
            receive.repeat(rounds)
        )
    };
    assert_eq!(two(&trace(3)), [0.0, 150.0]);
}

#[test]
fn messages_are_matched_in_the_order_in_which_they_are_set_up() {
    // Two messages of one tag: the second that is set up is the first that is started.
    let trace = "0 psend_init 1 7 1000 0 1\n0 psend_init 1 7 5000 1 1\n0 start 1\n0 pready 1 0\n0 wait_of 1\n\
                 0 compute 100000\n0 start 0\n0 pready 0 0\n0 wait_of 0\n\
                 1 precv_init 0 7 1000 5 1\n1 precv_init 0 7 5000 6 1\n1 start 5-6\n1 wait_of 6\n1 compute 1000\n1 wait_of 5";
    assert_eq!(two(trace), [100.0, 103.0]);
    // One tag, two communicators.
    let trace = "0 comm_dup 2 0 0-1\n1 comm_dup 2 0 0-1\n\
                 0 on 2 psend_init 1 7 1000 0 1\n0 psend_init 1 7 5000 1 1\n0 start 1\n0 pready 1 0\n0 wait_of 1\n\
                 0 compute 100000\n0 start 0\n0 pready 0 0\n0 wait_of 0\n\
                 1 on 2 precv_init 0 7 1000 5 1\n1 precv_init 0 7 5000 6 1\n1 start 5-6\n1 wait_of 6\n1 compute 1000\n1 wait_of 5";
    let made = two("0 comm_dup 2 0 0-1\n1 comm_dup 2 0 0-1")[0];
    assert_eq!(two(trace), [made + 100.0, made + 103.0]);
}

#[test]
fn the_last_part_costs_the_overhead_of_the_message() {
    let overhead = |seconds| {
        let step = OverheadStep { above: Bytes(0), seconds: Seconds(seconds), seconds_per_byte: Seconds(0.0) };
        Overhead::new(vec![step])
    };
    let mpi = Mpi { isend_overhead: overhead(1e-6), recv_overhead: overhead(5e-6), ..mpi() };
    let trace = "0 psend_init 1 7 4000 0 4\n0 start 0\n0 pready 0 0-3\n0 wait_of 0\n\
                 1 precv_init 0 7 4000 3 4\n1 start 3\n1 wait_of 3";
    // One message, which leaves after 1 µs, travels for 6 µs, and takes 5 µs to receive.
    assert_eq!(with(&mpi, trace), [1.0, 12.0]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |trace: &str| run(events(2, trace), &mpi()).unwrap_err().to_string();
    let init = "0 psend_init 1 7 64 0 4\n0 precv_init 1 7 64 1 4\n";
    for (trace, why) in [
        ("0 pready 0 1", "request 0 is no partitioned message that is started"),
        ("0 start 0\n0 pready 0 4", "part 4 of request 0 is marked twice, or is not among its 4 parts"),
        ("0 start 0\n0 pready 0 1\n0 pready 0 1", "part 1 of request 0 is marked twice, or is not among its 4 parts"),
        ("0 pready 9 1", "request 9 is no partitioned message that is started"),
        ("0 parrived 9 1", "request 9 is no partitioned message that is started"),
        ("0 start 1\n0 parrived 1 4", "part 4 of request 1 is marked twice, or is not among its 4 parts"),
    ] {
        let error = refused(&format!("{init}{trace}"));
        assert!(error.ends_with(why), "{trace}: {error}");
    }
    let error = refused(
        "0 psend_init 1 7 64 0 2\n0 start 0\n0 pready 0 0\n0 wait_of 0\n1 precv_init 0 7 64 0 2\n1 start 0\n1 parrived 0 1",
    );
    assert!(error.contains("waits for a partitioned send to rank 1 with tag 7"), "{error}");
    assert!(error.contains("waits for a part of a partitioned receive from rank 0 with tag 7"), "{error}");
}

/// Sixteen hosts on a torus.
fn platform(model: &str) -> Platform {
    let text = format!(
        "schema = 1\n[hosts]\nspeed = \"1 Ginstr/s\"\n[topology.torus]\ndims = [4, 4]\n[network]\nmodel = \"{model}\"\n\
         bandwidth = \"10 Gbit/s\"\nlatency = \"1 us\"\n"
    );
    Platform::parse(Path::new("cluster.toml"), text, &[]).unwrap()
}

fn time(platform: &Platform, ranks: u32, trace: &str) -> f64 {
    let speed = Speed { per_second: 1e9 };
    let cores = (0..ranks).map(|host| Core::new(HostId(host), speed)).collect();
    let workload = Workload::new(events(ranks, trace).into_iter().map(Vec::into_iter).collect());
    let mut network = platform.network(0);
    let outcome = replay(workload, cores, &platform.mpi, &mut *network, Breakdown::new(ranks), Options::default());
    micros(outcome.unwrap_or_else(|error| panic!("{error}\n{trace}")).simulated_time.seconds())
}

/// On every network, a ring of partitioned messages takes as long as the ordinary messages that it is.
#[test]
fn a_partitioned_message_takes_as_long_as_ordinary_ones() {
    let ring = |line: &dyn Fn(u32, u32, u32) -> String| -> String {
        (0..4).map(|rank| line(rank, (rank + 1) % 4, (rank + 3) % 4)).collect()
    };
    for bytes in [8_000, 800_000] {
        let partitioned = |compute: u32| {
            ring(&|rank, next, last| {
                let parts: String =
                    (0..4).map(|part| format!("{rank} compute {compute}\n{rank} pready 0 {part}\n")).collect();
                format!(
                    "{rank} precv_init {last} 0 {bytes} 1 2\n{rank} psend_init {next} 0 {bytes} 0 4\n\
                     {rank} start 0-1\n{parts}{rank} waitall_of 0-1\n"
                )
            })
        };
        let whole = |compute: u32| {
            ring(&|rank, next, last| {
                format!(
                    "{rank} irecv {last} 0 {bytes} 6 1\n{rank} compute {}\n{rank} isend {next} 0 {bytes} 6 0\n\
                     {rank} waitall_of 0-1\n",
                    4 * compute
                )
            })
        };
        for model in ["flow", "packet", "ideal"] {
            for compute in [100, 30_000] {
                let platform = platform(model);
                let [expected, found] = [whole(compute), partitioned(compute)].map(|trace| time(&platform, 4, &trace));
                let error = (found - expected).abs() / expected;
                assert!(error < 0.01, "{model}, {bytes} bytes: {found} µs for {expected} µs");
            }
        }
    }
}
