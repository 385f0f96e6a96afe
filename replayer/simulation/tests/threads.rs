//! Ranks whose threads call MPI, each case computed by hand on the machine of [`titr_test_machine`].

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use titr_simulation::observe::Breakdown;
use titr_simulation::replay::Outcome;
use titr_test_machine::{mpi, run_programs, run_workload, threads};
use titr_workload::Workload;

/// When the last thread is done, in microseconds.
fn done(ranks: u32, trace: &str) -> f64 {
    let outcome = run_programs(threads(ranks, trace), &mpi()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!([outcome.warnings, outcome.approximations].concat(), [""; 0]);
    assert_eq!(outcome.events, trace.lines().filter(|line| !line.contains(" matched ")).count() as u64);
    titr_test_machine::micros(outcome.simulated_time.seconds())
}

fn stuck(ranks: u32, trace: &str) -> String {
    run_programs(threads(ranks, trace), &mpi()).unwrap_err().to_string()
}

#[test]
fn a_thread_receives_what_another_one_of_its_rank_sends() {
    let trace = "0 init\n0 recv 0 5 1000\n0.1 compute 10000\n0.1 send 0 5 1000\n0 finalize";
    assert_eq!(done(1, trace), 13.0);
    let large = "0 init\n0.1 compute 10000\n0.1 send 0 5 20000\n0 recv 0 5 20000\n0 finalize";
    assert_eq!(done(1, large), 32.0);
}

/// The second thread makes its first call when the first one comes to the call before it, wherever in a batch that is.
#[test]
fn a_thread_makes_its_first_call_when_the_one_before_it_is_made() {
    for before in 300..1100 {
        let trace =
            format!("0 init\n{}0 recv 0 5 1000\n0.1 send 0 5 1000\n0 finalize", "0 compute 1000\n".repeat(before));
        assert_eq!(done(1, &trace) - before as f64, 3.0, "{before}");
    }
}

#[test]
fn two_threads_play_ping_pong_each_with_its_own_peer() {
    // The calls of both are recorded in an order in which no single thread could have made them.
    let rank = |me: u32, peer: u32| {
        let round = |thread: &str, tag| match me {
            0 => format!("{me}{thread} send {peer} {tag} 1000\n{me}{thread} recv {peer} {tag} 1000\n"),
            _ => format!("{me}{thread} recv {peer} {tag} 1000\n{me}{thread} send {peer} {tag} 1000\n"),
        };
        let (one, two) = (round("", 1).repeat(3), round(".1", 2).repeat(3));
        let mixed: String = match me {
            0 => one.lines().zip(two.lines()).map(|(one, two)| format!("{one}\n{two}\n")).collect(),
            _ => two + &one,
        };
        format!("{me} init\n{mixed}{me} finalize\n")
    };
    assert_eq!(done(2, &(rank(0, 1) + &rank(1, 0))), 18.0);
}

/// The main thread has waited for the other one, in a way that leaves no trace, before it frees the communicator.
#[test]
fn a_communicator_is_freed_after_the_persistent_requests_on_it_are_used() {
    let trace = "0 init\n0 comm_dup 2 0 0-1\n0.1 on 2 send_init 1 5 1000 0\n0.1 compute 10000\n0.1 start 0\n\
                 0.1 wait 0 1 5 0\n0.1 request_free 0\n0 comm_free 2\n0 finalize\n\
                 1 init\n1 comm_dup 2 0 0-1\n1 on 2 recv 0 5 1000\n1 comm_free 2\n1 finalize";
    assert_eq!(done(2, trace), done(2, &trace.replace("0.1", "0")));
    // Likewise if the request was set up before there was another thread.
    let before = trace.replace("0.1 on 2 send_init 1 5 1000 0", "0 on 2 send_init 1 5 1000 0\n0 compute 0");
    assert_eq!(done(2, &before), done(2, &before.replace("0.1", "0")));
}

#[test]
fn threads_compute_at_the_same_time() {
    let trace = "0 init\n0 compute 9000\n0 barrier\n0.1 compute 10000\n0.1 send 1 0 1000\n0 finalize\n\
                 1 init\n1 barrier\n1 recv 0 0 1000\n1 finalize";
    // Rank 0's second thread begins where the first was when it was new: after `init`.
    assert_eq!(done(2, trace), 13.0);
}

#[test]
fn a_thread_begins_where_the_others_were_when_it_first_called() {
    let trace = "0 init\n0 compute 5000\n0 send 1 0 1000\n0 compute 3000\n0 send 1 0 1000\n\
                 0.1 compute 1000\n0.1 send 1 1 1000\n0 finalize\n\
                 1 init\n1 recv 0 0 1000\n1 recv 0 0 1000\n1 recv 0 1 1000\n1 compute 1000\n1 finalize";
    // It begins after the first send, when the second was still to be reached; its message is there before that.
    assert_eq!(done(2, trace), 12.0);
    let late = trace.replace("0.1 compute 1000", "0.1 compute 9000");
    assert_eq!(done(2, &late), 18.0);
}

/// What threads compute before their first calls, they compute at the same time.
#[test]
fn threads_that_follow_each_other_do_not_wait_for_what_these_compute() {
    let of = |thread: &str| format!("0{thread} compute 10000\n0{thread} send 1 0 1000\n");
    let trace = ["0 init\n", &of(""), &of(".1"), &of(".2"), &of(".3"), "0 finalize\n1 init\n"].concat();
    assert_eq!(done(2, &(trace + &"1 recv 0 0 1000\n".repeat(4) + "1 finalize")), 13.0);
}

/// The first call of the second thread returned after a call that needs it, and after one more: no order in which the calls
/// were made is that in which they returned.
#[test]
fn a_thread_whose_first_call_took_long_begins_at_the_standstill() {
    let trace = "0 init\n0 compute 4000\n0 recv 1 0 1000\n0 compute 1000\n0 recv 1 1 1000\n0.1 recv 1 2 20000\n0 finalize\n\
                 1 init\n1 send 0 2 20000\n1 send 0 0 1000\n1 send 0 1 1000\n1 finalize";
    let outcome = run_programs(threads(2, trace), &mpi()).unwrap();
    // The large message leaves when both wait, at 4; the other two after its arrival at 26.
    assert_eq!(titr_test_machine::micros(outcome.simulated_time.seconds()), 30.0);
    assert_eq!((outcome.warnings.len(), outcome.approximations.len()), (0, 1), "{:?}", outcome.approximations);
}

#[test]
fn a_request_is_waited_for_by_another_thread_than_posted_it() {
    let trace = "0 init\n0 compute 5000\n0 irecv 1 0 1000 6 0\n0.1 wait_of 0\n0.1 compute 2000\n0 finalize\n\
                 1 init\n1 send 0 0 1000\n1 finalize";
    assert_eq!(done(2, trace), 7.0);
    let persistent = "0 init\n0 recv_init 1 0 1000 0\n0.1 start 0\n0.2 wait_of 0\n0.1 start 0\n0 wait_of 0\n\
                      0.2 request_free 0\n0 finalize\n\
                      1 init\n1 send 0 0 1000\n1 compute 9000\n1 send 0 0 1000\n1 finalize";
    assert_eq!(done(2, persistent), 12.0);
}

#[test]
fn a_number_that_was_free_in_the_recorded_order_may_not_be_in_another() {
    // Here the second thread posts before the first has completed its request of the same number.
    let trace = "0 init\n0 irecv 1 0 1000 6 0\n0 wait_of 0\n0.1 irecv 1 1 1000 6 0\n0.1 wait_of 0\n0 finalize\n\
                 1 init\n1 send 0 1 1000\n1 compute 50000\n1 send 0 0 1000\n1 finalize";
    assert_eq!(done(2, trace), 53.0);
    let wild = "0 init\n0 irecv * * 1000 6 0\n0.1 irecv * * 1000 6 1\n0.1 matched 1 1 7\n0.1 wait_of 1\n\
                0.1 irecv * * 1000 6 1\n0 matched 0 1 3\n0 wait_of 0\n0.1 matched 1 1 3\n0.1 wait_of 1\n0 finalize\n\
                1 init\n1 send 0 3 1000\n1 send 0 3 1000\n1 compute 20000\n1 send 0 7 1000\n1 finalize";
    assert_eq!(done(2, wild), 23.0);
}

#[test]
fn all_that_are_outstanding_are_those_that_were_when_it_was_recorded() {
    let trace = "0 init\n0 irecv 1 7 1000 6 0\n0.1 irecv 1 0 1000 6 1\n0.1 waitall 2\n0 compute 1000\n\
                 0 irecv 1 1 1000 6 0\n0 wait_of 0\n0 finalize\n\
                 1 init\n1 send 0 7 1000\n1 send 0 0 1000\n1 compute 9000\n1 send 0 1 1000\n1 finalize";
    assert_eq!(done(2, trace), 12.0);
}

#[test]
fn collectives_of_one_communicator_come_one_after_another_whichever_thread_calls_them() {
    let trace = "0 init\n0 comm_dup 2 0 0-1\n0.1 compute 1000\n0.1 on 2 bcast 1000 0\n0 on 2 barrier\n0 comm_free 2\n\
                 0.1 compute 1000\n0 finalize\n\
                 1 init\n1 comm_dup 2 0 0-1\n1 on 2 bcast 1000 0\n1.1 on 2 barrier\n1 comm_free 2\n1 finalize";
    assert!(done(2, trace) > 3.0);
}

#[test]
fn a_thread_that_has_ended_does_not_hold_up_the_others_and_many_come_and_go() {
    let round = "0.1 send 1 1 1000\n0.2 send 1 2 1000\n0.1 compute 100\n";
    let there = "1 recv 0 1 1000\n1 recv 0 2 1000\n".repeat(6000);
    let trace = format!(
        "0 init\n0.3 send 1 3 1000\n{}0 send 1 0 1000\n0.3 send 1 3 1000\n0 finalize\n\
         1 init\n1 recv 0 3 1000\n{there}1 recv 0 0 1000\n1 recv 0 3 1000\n1 finalize",
        round.repeat(6000)
    );
    assert!(done(2, &trace) >= 600.0);
}

/// The second thread's first event is further away than is read ahead, and the first cannot go on without it.
#[test]
fn as_much_is_read_as_it_takes() {
    let round = "1.1 send 0 1 10\n".repeat(10_000);
    let trace = format!(
        "0 init\n0 recv 1 9 10\n{}0 finalize\n\
         1 init\n1.1 send 0 1 10\n{round}1.2 compute 1000\n1.2 send 0 9 10\n1 barrier\n1 finalize",
        "0 recv 1 1 10\n".repeat(10_001).replace("0 finalize", "") + "0 barrier\n"
    );
    let took = done(2, &trace);
    assert!((2.0..5000.0).contains(&took), "{took}");
}

#[test]
fn who_is_stuck_is_told_with_its_thread() {
    let trace =
        "0 init\n0.1 recv 1 5 10\n0 recv 0 6 10\n0.1 send 0 6 10\n0 finalize\n1 init\n1 recv 0 7 10\n1 finalize";
    insta::assert_snapshot!(stuck(2, trace));
    let order = "0 init\n0.1 irecv 1 5 10 6 0\n0.1 wait_of 0\n0.1 irecv 1 5 10 6 0\n0 wait_of 0\n0 finalize\n\
                 1 init\n1 finalize";
    insta::assert_snapshot!(stuck(2, order));
}

const ROUNDS: usize = 5;

/// Three threads of `rank` that exchange messages with those of the other, of which `turns` says whose call returned next.
/// Requests have the lowest numbers that are free, whichever thread they are of.
fn recorded(rank: u32, work: &[u32], turns: &[usize]) -> String {
    let mut text = format!("{rank} init\n{rank}.1 iprobe none * * 0\n{rank}.2 iprobe none * * 0\n");
    let mut calls = [0; 3];
    let mut held = [[0; 2]; 3];
    let mut taken = BTreeSet::new();
    let take = |taken: &mut BTreeSet<u32>| {
        let number = (0..).find(|number| !taken.contains(number)).unwrap();
        taken.insert(number);
        number
    };
    // Whoever has calls left when the turns are over makes them one after another.
    let rest = (0..3).flat_map(|thread| std::iter::repeat_n(thread, 3 * ROUNDS));
    for thread in turns.iter().copied().chain(rest) {
        let (round, call) = (calls[thread] / 3, calls[thread] % 3);
        if round == ROUNDS {
            continue;
        }
        calls[thread] += 1;
        let (who, peer, bytes) = (format!("{rank}.{thread}").replace(".0", ""), 1 - rank, 1000 * (thread + 1));
        let [receive, send] = &mut held[thread];
        match call {
            0 => {
                *receive = take(&mut taken);
                writeln!(text, "{who} irecv {peer} {thread} {bytes} 6 {receive}").unwrap();
            }
            1 => {
                *send = take(&mut taken);
                let work = work[thread * ROUNDS + round];
                writeln!(text, "{who} compute {work}\n{who} isend {peer} {thread} {bytes} 6 {send}").unwrap();
            }
            _ => {
                let all = taken.len() == 2;
                taken.retain(|number| number != receive && number != send);
                let what = if all { "waitall 2".into() } else { format!("waitall_of {receive},{send}") };
                writeln!(text, "{who} {what}").unwrap();
            }
        }
    }
    text + &format!("{rank} finalize\n")
}

proptest! {
    #[test]
    fn the_order_in_which_the_calls_of_threads_returned_makes_no_difference(
        work in prop::collection::vec(1..9000_u32, 3 * ROUNDS),
        turns in prop::collection::vec(prop::collection::vec(0..3_usize, 0..6 * ROUNDS), 2),
    ) {
        let orders = |turns: &[Vec<usize>]| {
            (0..2).map(|rank| recorded(rank, &work, &turns[rank as usize])).collect::<String>()
        };
        let one_after_another = orders(&[Vec::new(), Vec::new()]);
        prop_assert_eq!(done(2, &orders(&turns)), done(2, &one_after_another));
    }
}

/// A message between two threads of the ranks 0 and 1, or of one of them, and what both compute before.
#[derive(Clone, Debug)]
struct Exchange {
    from: (u32, u32),
    to: (u32, u32),
    work: [u32; 2],
    large: bool,
    /// Whether the receive returned first.
    receive_first: bool,
}

fn exchange() -> impl Strategy<Value = Exchange> {
    let thread = || (0..2_u32, 0..4_u32);
    let work = || prop::array::uniform2(prop_oneof![Just(0), 1..9000_u32]);
    (thread(), thread(), work(), any::<bool>(), any::<bool>())
        .prop_filter("a thread that sends to itself waits for ever", |(from, to, ..)| from != to)
        .prop_map(|(from, to, work, large, receive_first)| Exchange { from, to, work, large, receive_first })
}

/// The trace of the two ranks, whose threads appear as they come.
fn exchanges(all: &[Exchange]) -> String {
    let mut lines = vec!["0 init\n1 init\n".to_owned()];
    for (tag, Exchange { from, to, work, large, receive_first }) in all.iter().enumerate() {
        let side = |(rank, thread): (u32, u32), word, (peer, _): (u32, u32), work: u32| {
            let who = format!("{rank}.{thread}").replace(".0", "");
            let computed = format!("{who} compute {work}\n").repeat((work > 0).into());
            format!("{computed}{who} {word} {peer} {tag} {}\n", if *large { 20_000 } else { 1000 })
        };
        let both = [side(*from, "send", *to, work[0]), side(*to, "recv", *from, work[1])];
        lines.extend(if *receive_first { both.into_iter().rev().collect::<Vec<_>>() } else { both.to_vec() });
    }
    lines.concat() + "0 finalize\n1 finalize\n"
}

proptest! {
    /// To the picosecond.
    #[test]
    fn predicted_time_depends_on_no_batch_no_prefetching_and_no_other_rank(
        all in prop::collection::vec(exchange(), 0..60),
        batches in prop::collection::vec(1..5000_usize, 3),
        others in 1..40_u32,
        rounds in 0..20_usize,
    ) {
        let trace = exchanges(&all);
        let outcome = run_programs(threads(2, &trace), &mpi()).unwrap();
        prop_assert_eq!([outcome.warnings.clone(), outcome.approximations.clone()].concat(), [""; 0]);
        let finishes = |outcome: Outcome<Breakdown>| {
            outcome.observer.per_rank().take(2).map(|shares| shares.finish.0.to_bits()).collect::<Vec<_>>()
        };
        let (events, expected) = (outcome.events, finishes(outcome));
        for batch in batches {
            let here = run_workload(Workload::in_batches(threads(2, &trace), batch), &mpi()).unwrap();
            let ahead = run_workload(Workload::read_ahead_in_batches(threads(2, &trace), batch), &mpi()).unwrap();
            prop_assert_eq!((here.events, ahead.events), (events, events));
            prop_assert_eq!((finishes(here), finishes(ahead)), (expected.clone(), expected.clone()));
        }
        let other = |rank: u32| {
            let thread = format!("{rank} compute 777\n{rank}.1 compute 333\n{rank}.1 send {rank} 7 1000\n{rank} recv {rank} 7 1000\n");
            format!("{rank} init\n{}{rank} finalize\n", thread.repeat(rounds))
        };
        let among = trace + &(2..2 + others).map(other).collect::<String>();
        prop_assert_eq!(finishes(run_programs(threads(2 + others, &among), &mpi()).unwrap()), expected);
    }
}
