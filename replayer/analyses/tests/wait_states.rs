//! Wait states of programs whose times are computed by hand, on the machine of [`titr_test_machine`], and
//! properties of those of any program.

use proptest::prelude::*;
use titr_analyses::{Pattern, PatternTime, SegmentKind, WaitCause, WaitTime};
use titr_common::event::Activity;
use titr_common::time::Time;
use titr_platform::{Mpi, Progress};
use titr_simulation::observe::{Observer, OperationId, Waiter, Work};
use titr_workload::Workload;

use titr_common::event::Rank;
use titr_test_machine::programs::{RANKS, happening, library, trace};
use titr_test_machine::{events, micros, mpi, picoseconds, sum, threads, wait_states};

/// A rank's waiting, by its pattern, in microseconds.
type Wait = (u32, String, f64);

/// A rank's part in the waiting of others, by the kind of time, and what it cost directly and indirectly, in microseconds.
type Cause = (u32, String, f64, f64);

/// The waits and their causes.
fn waits(ranks: u32, trace: &str, mpi: &Mpi) -> (Vec<Wait>, Vec<Cause>) {
    let found = wait_states(Workload::new(threads(ranks, trace)), mpi);
    let place = |wait: &WaitTime| (wait.rank, wait.pattern.to_string(), micros(wait.seconds));
    let cause = |cause: &WaitCause| (cause.rank, cause.kind.to_string(), micros(cause.direct), micros(cause.indirect));
    let mut waits: Vec<_> = found.waits.iter().map(place).collect();
    let mut causes: Vec<_> = found.causes.iter().map(cause).collect();
    waits.sort_by(|one, other| one.partial_cmp(other).unwrap());
    causes.sort_by(|one, other| one.partial_cmp(other).unwrap());
    (waits, causes)
}

fn expected(waits: &[(u32, &str, f64)]) -> Vec<(u32, String, f64)> {
    waits.iter().map(|&(rank, pattern, time)| (rank, pattern.to_owned(), time)).collect()
}

fn costs(causes: &[(u32, &str, f64, f64)]) -> Vec<(u32, String, f64, f64)> {
    causes.iter().map(|&(rank, kind, direct, indirect)| (rank, kind.to_owned(), direct, indirect)).collect()
}

#[test]
fn a_receiver_waits_for_a_late_sender_and_the_transfer() {
    let (waits, causes) = waits(2, "0 compute 5000\n0 send 1 7 1000\n1 recv 0 7 1000", &mpi());
    assert_eq!(waits, expected(&[(1, "late-sender", 5.0), (1, "transfer", 3.0)]));
    assert_eq!(causes, costs(&[(0, "compute", 5.0, 0.0), (0, "latency", 2.0, 0.0), (0, "transfer", 1.0, 0.0)]));
}

#[test]
fn a_sender_waits_for_a_late_receiver_and_both_for_the_transfer() {
    let (waits, causes) = waits(2, "0 send 1 7 20000\n1 compute 4000\n1 recv 0 7 20000", &mpi());
    assert_eq!(waits, expected(&[(0, "late-receiver", 4.0), (0, "transfer", 22.0), (1, "transfer", 22.0)]));
    assert_eq!(causes, costs(&[(0, "latency", 4.0, 0.0), (0, "transfer", 40.0, 0.0), (1, "compute", 4.0, 0.0)]));
}

/// Rank 2 waits for rank 1, which has waited for rank 0.
#[test]
fn who_made_the_late_one_late_is_an_indirect_cause() {
    let program = "0 compute 10000\n0 send 1 0 0\n1 recv 0 0 0\n1 compute 1000\n1 send 2 0 0\n2 recv 1 0 0";
    let (found, causes) = waits(3, program, &mpi());
    let late = [(1, "late-sender", 10.0), (1, "transfer", 2.0), (2, "late-sender", 13.0), (2, "transfer", 2.0)];
    assert_eq!(found, expected(&late));
    let direct =
        [(0, "compute", 10.0, 10.0), (0, "latency", 2.0, 2.0), (1, "compute", 1.0, 0.0), (1, "latency", 2.0, 0.0)];
    assert_eq!(causes, costs(&direct));
    // If rank 2 computes for 4 µs, it waits for 11: for an excess of 7 µs of computing and of 4 µs of latency. Ranks 0 and 1
    // have 10 and 1 of the 11 µs that are computed.
    let (found, causes) = waits(3, &program.replace("2 recv", "2 compute 4000\n2 recv"), &mpi());
    assert_eq!(found[2..], expected(&[(2, "late-sender", 9.0), (2, "transfer", 2.0)]));
    let shared = [
        (0, "compute", 10.0, 6.363_636),
        (0, "latency", 2.0, 2.0),
        (1, "compute", 0.636_364, 0.0),
        (1, "latency", 2.0, 0.0),
    ];
    assert_eq!(causes, costs(&shared));
}

#[test]
fn members_wait_at_a_barrier_for_the_last() {
    let (waits, causes) = waits(2, "0 compute 3000\n0 barrier\n1 barrier", &mpi());
    assert_eq!(waits, expected(&[(1, "barrier-completion", 2.0), (1, "wait-at-barrier", 3.0)]));
    assert_eq!(causes, costs(&[(0, "compute", 3.0, 0.0), (0, "latency", 2.0, 0.0)]));
}

#[test]
fn members_wait_for_a_root_and_a_root_for_members() {
    let all = |call: &str| (0..4).map(|rank| format!("{rank} {call}\n")).collect::<String>();
    let of = |pattern: &str, program: &str| {
        let mut found = waits(4, program, &mpi()).0;
        found.retain(|(_, known, _)| known == pattern);
        found
    };
    let late = [1, 2, 3].map(|rank| (rank, "late-broadcast", 6.0));
    assert_eq!(of("late-broadcast", &format!("0 compute 6000\n{}", all("bcast 100 0"))), expected(&late));
    let early = "1 compute 6000\n2 compute 7000\n3 compute 8000\n";
    let reduce = format!("{early}{}", all("reduce 100 0 0"));
    assert_eq!(of("early-reduce", &reduce), expected(&[(0, "early-reduce", 6.0)]));
    let late = [(0, "wait-at-nxn", 8.0), (1, "wait-at-nxn", 2.0), (2, "wait-at-nxn", 1.0)];
    assert_eq!(of("wait-at-nxn", &format!("{early}{}", all("allgather 8 8"))), expected(&late));
}

#[test]
fn a_wait_for_several_messages_is_for_the_last() {
    let program =
        "0 irecv 1 0 0 6 1\n0 irecv 2 0 0 6 2\n0 waitall\n1 compute 8000\n1 send 0 0 0\n2 compute 10000\n2 send 0 0 0";
    let (waits, causes) = waits(3, program, &mpi());
    assert_eq!(waits, expected(&[(0, "late-sender", 10.0), (0, "transfer", 2.0)]));
    assert_eq!(causes, costs(&[(2, "compute", 10.0, 0.0), (2, "latency", 2.0, 0.0)]));
}

#[test]
fn a_message_that_is_there_and_not_received_makes_the_order_wrong() {
    let program = "0 send 1 7 0\n0 compute 5000\n0 send 1 8 0\n1 recv 0 8 0\n1 recv 0 7 0";
    assert_eq!(waits(2, program, &mpi()).0, expected(&[(1, "transfer", 2.0), (1, "wrong-order", 5.0)]));
}

/// The receiver has posted its receive, and computes when the request comes.
#[test]
fn a_receiver_that_is_in_no_call_makes_progress_late() {
    let calls = Mpi { progress: Progress::Calls, ..mpi() };
    let program = "1 irecv 0 7 20000 6 1\n1 compute 10000\n1 waitall\n0 compute 1000\n0 send 1 7 20000";
    let (waits, causes) = waits(2, program, &calls);
    assert_eq!(waits, expected(&[(0, "late-progress", 9.0), (0, "transfer", 22.0), (1, "transfer", 22.0)]));
    assert!(causes.contains(&(1, "compute".to_owned(), 9.0, 0.0)), "{causes:?}");
}

/// The time that each rank has waited in calls, in picoseconds: its time without its work. Of programs with one thread a rank.
struct Measured {
    work: [u64; RANKS as usize],
    finish: [u64; RANKS as usize],
}

impl Observer for Measured {
    fn works(&mut self, waiter: Waiter, _: Work, from: Time, to: Time) {
        if let Waiter::Thread(thread) = waiter {
            self.work[thread.0 as usize] += to.0 - from.0;
        }
    }

    fn released(&mut self, _: Time, waiter: Waiter, _: Option<OperationId>, cost: Time) {
        if let Waiter::Thread(thread) = waiter {
            self.work[thread.0 as usize] += cost.0;
        }
    }

    fn active(&mut self, rank: Rank, _: Activity, _: Time, to: Time) {
        self.finish[rank.0 as usize] = to.0;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The waiting that is found is the waiting that there is, at each rank, and has causes, to the picosecond.
    #[test]
    fn waiting_attributed_is_waiting_measured(happenings in prop::collection::vec(happening(), 0..60), mpi in library()) {
        let trace = trace(&happenings);
        let programs = || Workload::new(events(RANKS, &trace).into_iter().map(Vec::into_iter).collect());
        let found = wait_states(programs(), &mpi);
        let measured = Measured { work: Default::default(), finish: Default::default() };
        let measured = titr_test_machine::observe(programs(), &mpi, measured).unwrap().observer;
        let mut waiting = [0; RANKS as usize];
        for rank in &found.ranks {
            waiting[rank.rank as usize] = picoseconds(rank.waiting);
        }
        let expected: Vec<u64> = measured.finish.iter().zip(measured.work).map(|(finish, work)| finish - work).collect();
        prop_assert_eq!(&waiting[..], &expected[..], "{}", trace);
        let total: u64 = waiting.iter().sum();
        prop_assert_eq!(picoseconds(found.waiting), total);
        prop_assert_eq!(sum(found.patterns.iter().map(|part| part.seconds)), total);
        prop_assert_eq!(sum(found.waits.iter().map(|part| part.seconds)), total);
        prop_assert_eq!(sum(found.causes.iter().map(|part| part.seconds)), total);
        for PatternTime { pattern, .. } in found.patterns {
            prop_assert!(![Pattern::Other, Pattern::Storage, Pattern::Thread].contains(&pattern), "{}", trace);
        }
        for WaitCause { kind, .. } in found.causes {
            let unlikely = [SegmentKind::Other, SegmentKind::Storage, SegmentKind::Contention];
            prop_assert!(!unlikely.contains(&kind), "{}", trace);
        }
    }
}
