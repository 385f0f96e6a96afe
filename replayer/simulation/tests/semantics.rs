//! The time of MPI calls, each case computed by hand on the machine of [`titr_test_machine`].

use titr_common::units::{Bytes, Seconds};
use titr_platform::{EagerTransfer, Mpi, Overhead, OverheadStep};
use titr_test_machine::{events, finishes, micros, mpi, run};

/// When each of two ranks is done, in microseconds.
fn two(trace: &str) -> Vec<f64> {
    with(2, trace, &mpi())
}

fn with(ranks: u32, trace: &str, mpi: &Mpi) -> Vec<f64> {
    let outcome = run(events(ranks, trace), mpi).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.warnings, [""; 0]);
    finishes(&outcome)
}

#[test]
fn an_eager_send_returns_at_once_and_a_large_one_on_arrival() {
    assert_eq!(two("0 send 1 0 1000\n1 recv 0 0 1000"), [0.0, 3.0]);
    assert_eq!(two("0 send 1 0 10000\n1 recv 0 0 10000"), [12.0, 12.0]);
    assert_eq!(two("0 ssend 1 0 1000\n1 recv 0 0 1000"), [3.0, 3.0]);
    assert_eq!(two("0 bsend 1 0 10000\n1 recv 0 0 10000"), [0.0, 12.0]);
    assert_eq!(two("0 rsend 1 0 1000\n1 recv 0 0 1000"), [0.0, 3.0]);
}

#[test]
fn a_buffer_is_detached_when_its_large_messages_have_arrived() {
    let detached = |call, bytes, late| {
        two(&format!("0 bsend 1 0 {bytes}\n0 call {call} 0 0\n1 compute {late}\n1 recv 0 0 {bytes}"))
    };
    assert_eq!(detached("MPI_Buffer_detach", 10000, 50000), [62.0, 62.0]);
    assert_eq!(detached("MPI_Comm_flush_buffer", 10000, 50000), [62.0, 62.0]);
    assert_eq!(detached("MPI_Buffer_detach", 1000, 50000), [0.0, 50.0]);
    // Another rank's messages are in another buffer, and nothing is left of a message that has arrived.
    assert_eq!(two("0 bsend 1 0 10000\n1 call MPI_Buffer_detach 0 0\n1 compute 50000\n1 recv 0 0 10000"), [0.0, 62.0]);
    let twice = "0 bsend 1 0 10000\n0 recv 1 1 1000\n0 call MPI_Buffer_detach_c 0 0\n1 recv 0 0 10000\n1 send 0 1 1000";
    assert_eq!(two(twice), [15.0, 12.0]);
}

#[test]
fn a_late_receive_finds_an_eager_message_there_and_makes_a_large_one_wait() {
    let late = |bytes| format!("0 send 1 0 {bytes}\n1 compute 50000\n1 recv 0 0 {bytes}");
    assert_eq!(two(&late(1000)), [0.0, 50.0]);
    assert_eq!(two(&late(10000)), [62.0, 62.0]);
    let on_match = Mpi { eager_transfer: EagerTransfer::OnMatch, ..mpi() };
    assert_eq!(with(2, &late(1000), &on_match), [0.0, 53.0]);
}

#[test]
fn a_receive_posted_early_overlaps_with_computing() {
    let trace = "0 compute 10000\n0 send 1 0 1000\n1 irecv 0 0 1000 6 0\n1 compute 12000\n1 wait 0 1 0 0";
    assert_eq!(two(trace), [10.0, 13.0]);
}

#[test]
fn a_wait_completes_the_request_it_names() {
    let trace = "0 compute 10000\n0 send 1 1 1000\n0 compute 10000\n0 send 1 2 1000\n\
                 1 irecv 0 1 1000 6 0\n1 irecv 0 2 1000 6 1\n1 waitany_of 0\n1 compute 1000\n1 wait_of 1";
    assert_eq!(two(trace), [20.0, 23.0]);
    let by_key = "0 compute 10000\n0 send 1 1 1000\n0 compute 10000\n0 send 1 1 500\n\
                  1 irecv 0 1 1000\n1 irecv 0 1 500\n1 wait 0 1 1\n1 wait 0 1 1";
    assert_eq!(two(by_key), [20.0, 22.5]);
    let all = "0 compute 10000\n0 send 1 1 1000\n0 compute 10000\n0 send 1 1 500\n\
               1 irecv 0 1 1000\n1 irecv 0 1 500\n1 waitall 2\n1 compute 1000";
    assert_eq!(two(all), [20.0, 23.5]);
}

#[test]
fn messages_of_a_pair_are_received_in_the_order_sent() {
    // The second is smaller and arrives first; it is the first that the first receive takes.
    let trace =
        "0 isend 1 0 9000 6 0\n0 isend 1 0 10 6 1\n0 waitall_of 0-1\n1 recv 0 0 9000\n1 compute 1000\n1 recv 0 0 10";
    assert_eq!(two(trace), [0.0, 12.0]);
}

#[test]
fn sendrecv_does_both_at_once() {
    let trace = "0 sendrecv 1 0 20000 1 0 20000\n1 sendrecv 0 0 20000 0 0 20000";
    assert_eq!(two(trace), [22.0, 22.0]);
    assert_eq!(two("0 sendrecv 1 0 100 - - -\n1 sendrecv - - - 0 0 100"), [0.0, 2.1]);
}

#[test]
fn a_test_that_found_nothing_costs_nothing_and_one_that_did_waits() {
    let trace = "0 compute 10000\n0 send 1 0 1000\n\
                 1 irecv 0 0 1000 6 0\n1 test -\n1 compute 1000\n1 test -\n1 test_of 0\n1 compute 1000";
    assert_eq!(two(trace), [10.0, 14.0]);
}

#[test]
fn a_probe_waits_for_a_message_and_leaves_it() {
    let trace = "0 compute 10000\n0 send 1 7 1000\n\
                 1 iprobe none 0 7 0\n1 probe 0 7 1000\n1 compute 1000\n1 iprobe found 0 7 1000\n1 recv 0 7 1000";
    assert_eq!(two(trace), [10.0, 14.0]);
    // A large message is announced before it travels.
    assert_eq!(two("0 send 1 7 10000\n1 compute 1000\n1 probe 0 7 0\n1 recv 0 7 10000"), [13.0, 13.0]);
}

#[test]
fn a_persistent_request_can_be_started_again() {
    let trace = "0 send_init 1 3 1000 0\n0 start 0\n0 wait_of 0\n0 compute 9000\n0 start 0\n0 wait_of 0\n0 request_free 0\n\
                 1 recv_init 0 3 1000 0\n1 start 0\n1 wait_of 0\n1 start 0\n1 wait_of 0\n1 wait_of 0\n1 request_free 0";
    assert_eq!(two(trace), [9.0, 12.0]);
}

#[test]
fn a_freed_request_completes_unobserved() {
    let trace = "0 isend 1 0 10000 6 0\n0 request_free 0\n0 compute 1000\n1 recv 0 0 10000";
    assert_eq!(two(trace), [1.0, 12.0]);
}

#[test]
fn a_cancelled_receive_completes() {
    assert_eq!(two("0 irecv 1 0 10 6 0\n0 cancel 0\n0 wait_of 0\n0 compute 1000"), [1.0, 0.0]);
}

#[test]
fn a_wildcard_receive_gets_what_it_got() {
    // Rank 2's message is there first; the trace says that it was rank 1's.
    let trace = "1 compute 10000\n1 send 0 5 1000\n2 send 0 6 1000\n\
                 0 irecv * * 1000 6 0\n0 matched 0 1 5\n0 wait_of 0\n0 recv 2 6 1000";
    assert_eq!(with(3, trace, &mpi()), [13.0, 10.0, 0.0]);
    let persistent = "1 compute 10000\n1 send 0 5 1000\n2 send 0 6 1000\n\
                 0 recv_init * * 1000 0\n0 start 0\n0 matched 0 1 5\n0 wait_of 0\n0 start 0\n0 matched 0 2 6\n0 wait_of 0";
    assert_eq!(with(3, persistent, &mpi()), [13.0, 10.0, 0.0]);
}

#[test]
fn a_wildcard_that_the_trace_leaves_open_takes_the_oldest_and_is_told() {
    let trace = "1 compute 10000\n1 send 0 5 1000\n2 send 0 6 1000\n0 irecv * * 1000 6 0\n0 wait_of 0\n0 recv 1 5 1000";
    let outcome = run(events(3, trace), &mpi()).unwrap();
    assert_eq!(finishes(&outcome), [13.0, 10.0, 0.0]);
    assert_eq!(
        outcome.warnings,
        ["1 wildcard receive whose match is not in the trace took the oldest message that fits"]
    );
}

/// An overhead of these seconds and a nanosecond a byte.
fn cost(fixed: f64) -> Overhead {
    Overhead::new(vec![OverheadStep { above: Bytes(0), seconds: Seconds(fixed), seconds_per_byte: Seconds(1e-9) }])
}

#[test]
fn software_costs_delay_the_message_and_the_receiver() {
    let mpi = Mpi { send_overhead: cost(1e-6), isend_overhead: cost(2e-6), recv_overhead: cost(4e-6), ..mpi() };
    // 2 µs to send, 3 to travel, 5 to receive.
    assert_eq!(with(2, "0 send 1 0 1000\n1 recv 0 0 1000", &mpi), [2.0, 10.0]);
    // What is not eager costs neither a blocking send nor its receiver.
    assert_eq!(with(2, "0 send 1 0 10000\n1 recv 0 0 10000", &mpi), [12.0, 12.0]);
    assert_eq!(with(2, "0 isend 1 0 1000 6 0\n0 wait_of 0\n1 recv 0 0 1000", &mpi), [3.0, 11.0]);
    // Receiving overlaps with waiting for the next: 3+3 and 6+3, then 5 each after the first.
    let two = "0 isend 1 0 1000 6 0\n0 isend 1 1 1000 6 1\n0 waitall_of 0-1\n\
               1 irecv 0 0 1000 6 0\n1 irecv 0 1 1000 6 1\n1 waitall_of 0-1";
    assert_eq!(with(2, two, &mpi), [6.0, 16.0]);
    // Started one after another.
    let started = "0 send_init 1 0 1000 0\n0 send_init 1 1 1000 1\n0 start 0-1\n0 wait_of 0-1\n\
                   1 irecv 0 0 1000 6 0\n1 irecv 0 1 1000 6 1\n1 waitall_of 0-1";
    assert_eq!(with(2, started, &mpi), [6.0, 16.0]);
}

#[test]
fn a_message_leaves_before_the_rest_of_its_send() {
    let mpi = Mpi {
        send_overhead: cost(1e-6),
        isend_overhead: cost(2e-6),
        recv_overhead: cost(4e-6),
        send_overlap: 0.75,
        ..mpi()
    };
    // 0.25 µs until it leaves, 3 to travel, 5 to receive; its sender is busy for 2 µs, as without the overlap.
    assert_eq!(with(2, "0 send 1 0 1000\n1 recv 0 0 1000", &mpi), [2.0, 8.5]);
    // 0.75 µs, 3 and 5.
    assert_eq!(with(2, "0 isend 1 0 1000 6 0\n0 wait_of 0\n1 recv 0 0 1000", &mpi), [3.0, 8.75]);
    let started = "0 send_init 1 0 1000 0\n0 send_init 1 1 1000 1\n0 start 0-1\n0 wait_of 0-1\n\
                   1 irecv 0 0 1000 6 0\n1 irecv 0 1 1000 6 1\n1 waitall_of 0-1";
    // The second leaves 0.75 µs after the 3 µs of the first: it arrives while the first is received.
    assert_eq!(with(2, started, &mpi), [6.0, 13.75]);
    // A synchronous send is over when its message has arrived, and not before the rest of its own time is.
    let slow = Mpi { send_overhead: cost(20e-6), ..mpi.clone() };
    assert_eq!(with(2, "0 ssend 1 0 1000\n1 recv 0 0 1000", &slow)[0], 21.0);
    // Both ends of a broadcast: 0.25 + 3 + 5 µs.
    assert_eq!(with(2, "0 bcast 1000 0\n1 bcast 1000 0", &mpi), [2.0, 8.5]);
}

#[test]
fn a_message_to_itself_goes_through_the_network() {
    assert_eq!(with(1, "0 irecv 0 0 1000 6 0\n0 send 0 0 1000\n0 wait_of 0", &mpi()), [3.0]);
}

#[test]
fn a_broadcast_is_its_messages() {
    // Binomial over 4: 0 → 2, then 0 → 1 and 2 → 3.
    let trace: String = (0..4).map(|rank| format!("{rank} bcast 1000 0\n{rank} compute 1000\n")).collect();
    assert_eq!(with(4, &trace, &mpi()), [1.0, 4.0, 4.0, 7.0]);
}

#[test]
fn a_collective_runs_in_the_background() {
    let trace: String =
        (0..2).map(|rank| format!("{rank} ibcast 0 1000 0\n{rank} compute 2000\n{rank} wait_of 0\n")).collect();
    assert_eq!(two(&trace), [2.0, 3.0]);
}

#[test]
fn a_reduction_computes_once_in_the_end() {
    let trace: String = (0..2).map(|rank| format!("{rank} allreduce 8 500\n")).collect();
    assert_eq!(two(&trace), [2.508, 2.508]);
}

#[test]
fn a_persistent_collective_is_one_each_time_it_is_started() {
    let trace: String = (0..2)
        .map(|rank| format!("{rank} bcast_init 4 1000 0\n{rank} start 4\n{rank} wait_of 4\n{rank} compute 1000\n"))
        .map(|once| once.clone() + &once.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>())
        .collect();
    assert_eq!(two(&trace), [2.0, 5.0]);
}

#[test]
fn a_neighbourhood_exchanges_with_its_neighbours_alone() {
    // A line of three: the ends are done when they have their message, the middle when it has both.
    let line = |call: &str| {
        format!(
            "0 {call} 1 1 1000 1000\n1 {call} 0,2 0,2 1000 1000 1000 1000\n2 compute 5000\n2 {call} 1 1 1000 1000\n"
        )
    };
    assert_eq!(with(3, &line("neighbor_alltoall"), &mpi()), [3.0, 8.0, 5.0]);
    let later: String = (0..3).map(|rank| format!("{rank} wait_of 7\n")).collect();
    assert_eq!(with(3, &(line("ineighbor_allgather 7") + &later), &mpi()), [3.0, 8.0, 5.0]);
    let start: String = (0..3).map(|rank| format!("{rank} start 7\n")).collect();
    let persistent = line("neighbor_alltoallv_init 7") + &start + &later;
    assert_eq!(with(3, &persistent, &mpi()), [3.0, 8.0, 5.0]);
}

#[test]
fn what_no_model_simulates_is_passed_over_and_counted() {
    let trace = "\
        0 call MPI_Comm_spawn 0 0\n0 call MPI_Bcast 32 0\n0 call MPI_Bcast 8 0\n0 compute 1000";
    let outcome = run(events(2, trace), &mpi()).unwrap();
    assert_eq!(finishes(&outcome), [1.0, 0.0]);
    assert_eq!(outcome.warnings, [""; 0]);
    assert_eq!(
        outcome.approximations,
        ["not simulated: 2 calls of MPI_Bcast (40 B)", "not simulated: 1 call of MPI_Comm_spawn",]
    );
}

#[test]
fn collectives_on_two_communicators_do_not_meet() {
    // Ranks 0 and 1 have one of their own, 2 and 3 another, in which rank 2 is late.
    let make = "0 comm_create_group 2 0 0-1\n1 comm_create_group 2 0 0-1\n\
                2 comm_create_group 2 0 2-3\n3 comm_create_group 2 0 2-3\n";
    let made = with(4, make, &mpi());
    let bcast = "2 compute 100000\n\
                 0 on 2 bcast 1000 0\n1 on 2 bcast 1000 0\n2 on 2 bcast 1000 2\n3 on 2 bcast 1000 2";
    let finishes = with(4, &format!("{make}{bcast}"), &mpi());
    assert_eq!(finishes, [made[0], made[0] + 3.0, made[2] + 100.0, made[2] + 103.0]);
}

#[test]
fn making_a_communicator_synchronises_its_parent() {
    // Rank 2 is in no group, and takes part in the split all the same.
    let trace = "0 compute 100000\n0 comm_split 2 0 0\n1 comm_split 2 0 1\n2 comm_split - 0\n3 comm_split 2 0 3";
    let finishes = with(4, trace, &mpi());
    assert!(finishes[1..].iter().all(|&finish| finish > 102.0 && finish < 110.0), "{finishes:?}");
}

#[test]
fn point_to_point_in_communicators_is_kept_apart() {
    let trace = "0 comm_dup 2 0 0-1\n1 comm_dup 2 0 0-1\n\
                 0 send 1 0 1000\n0 compute 10000\n0 on 2 send 1 0 1000\n1 on 2 recv 0 0 1000\n1 recv 0 0 1000";
    let with_dup = two(trace);
    let dup = two("0 comm_dup 2 0 0-1\n1 comm_dup 2 0 0-1")[0];
    assert_eq!(with_dup, [dup + 10.0, dup + 13.0]);
}

#[test]
fn time_is_told_apart_by_what_it_was_spent_on() {
    let trace = "0 compute 10000\n0 send 1 0 10000\n0 barrier\n\
                 1 compute 1000\n1 recv 0 0 10000\n1 irecv 0 1 8 6 0\n1 barrier\n1 wait_of 0\n0 compute 1000\n0 send 1 1 8";
    let outcome = run(events(2, trace), &mpi()).unwrap();
    let shares: Vec<_> = outcome
        .observer
        .per_rank()
        .map(|share| [share.compute, share.send, share.recv, share.wait, share.collective, share.finish].map(micros))
        .collect();
    assert_eq!(shares, [[11.0, 12.0, 0.0, 0.0, 2.0, 25.0], [1.0, 0.0, 21.0, 3.008, 2.0, 27.008]]);
}

#[test]
fn simulated_time_has_an_end_that_is_told() {
    let error = run(events(1, "0 sleep 1e30\n0 barrier"), &mpi()).unwrap_err().to_string();
    assert_eq!(error, "rank 0, event 1: simulated time runs past 213 days: is a volume, a bandwidth or a speed wrong?");
}

/// On the ideal machine an exchange of 20,000 bytes takes 22 µs. If answers wait behind data it takes twice that, unless both
/// requests are sent before any answer.
#[test]
fn an_exchange_of_large_messages_on_a_half_duplex_connection_takes_twice_as_long() {
    let half = Mpi { rendezvous_duplex: false, ..mpi() };
    let exchange = |bytes: u32| {
        let ranks = [(0, 1), (1, 0)];
        let lines = ranks.map(|(rank, to)| {
            format!("{rank} irecv {to} 0 {bytes} 6 0\n{rank} isend {to} 0 {bytes} 6 1\n{rank} waitall_of 0,1\n")
        });
        lines.concat()
    };
    assert_eq!(two(&exchange(20_000)), [22.0, 22.0]);
    assert_eq!(with(2, &exchange(20_000), &half), [44.0, 44.0]);
    assert_eq!(with(2, &exchange(9_000), &half), [11.0, 11.0], "eager");
    let sends_first = "0 isend 1 0 20000 6 0\n0 irecv 1 0 20000 6 1\n0 waitall_of 0,1\n\
                       1 isend 0 0 20000 6 0\n1 irecv 0 0 20000 6 1\n1 waitall_of 0,1";
    assert_eq!(with(2, sends_first, &half), [22.0, 22.0]);
    let shift = (0..3).map(|rank| {
        let (to, from) = ((rank + 1) % 3, (rank + 2) % 3);
        format!("{rank} irecv {from} 0 20000 6 0\n{rank} isend {to} 0 20000 6 1\n{rank} waitall_of 0,1\n")
    });
    assert_eq!(with(3, &shift.collect::<String>(), &half), [22.0; 3], "each connection carries data one way");
}

/// Rank 0's two messages travel together; its answer to rank 1's request, a microsecond later, comes after both.
#[test]
fn an_answer_on_a_half_duplex_connection_comes_after_the_data_before_it() {
    let half = Mpi { rendezvous_duplex: false, ..mpi() };
    let trace = "0 isend 1 0 20000 6 0\n0 isend 1 1 30000 6 1\n0 irecv 1 0 20000 6 2\n0 waitall_of 0,1,2\n\
                 1 irecv 0 0 20000 6 0\n1 irecv 0 1 30000 6 1\n1 compute 1000\n1 isend 0 0 20000 6 2\n1 wait_of 2\n1 waitall_of 0,1";
    assert_eq!(with(2, trace, &half), [54.0, 54.0]);
}
