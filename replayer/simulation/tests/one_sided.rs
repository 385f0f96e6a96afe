//! The time of one-sided communication, each case computed by hand on the machine of [`titr_test_machine`].

use titr_common::units::Bytes;
use titr_platform::{ActiveTarget, Implementation, LockAll, Mpi, OneSided, PassiveProgress};
use titr_test_machine::{events, finishes, mpi, run, run_programs, threads};

/// Accesses set out in their calls and are acknowledged, nobody has to be in a call for them, and whatever only synchronises
/// has no bytes: it takes 2 µs.
fn plain() -> OneSided {
    OneSided {
        lock_all: LockAll::Each,
        active_target: ActiveTarget::Counted,
        await_unlock: true,
        passive_progress: PassiveProgress::Hardware,
        control: Bytes(0),
        header: Bytes(0),
        ..OneSided::from(Implementation::Mpich)
    }
}

/// When each rank is done with `trace`, in microseconds, since it has made its first window.
fn with(ranks: u32, trace: &str, one_sided: OneSided) -> Vec<f64> {
    let create: String = (0..ranks).map(|rank| format!("{rank} win_create 0 1000\n")).collect();
    let made = finish(ranks, &create, &one_sided);
    assert!(made.windows(2).all(|pair| pair[0] == pair[1]), "{made:?}");
    let all = finish(ranks, &(create + trace), &one_sided);
    all.into_iter().map(|time| ((time - made[0]) * 1e6).round() / 1e6).collect()
}

fn finish(ranks: u32, trace: &str, one_sided: &OneSided) -> Vec<f64> {
    let mpi = Mpi { one_sided: one_sided.clone(), ..mpi() };
    let outcome = run(events(ranks, trace), &mpi).unwrap_or_else(|error| panic!("{error}\n{trace}"));
    assert_eq!(outcome.warnings, [""; 0]);
    // The machine has a host for each rank.
    let of_hosts = |told: &&String| told.contains("of shared memory");
    assert_eq!(outcome.approximations.iter().filter(|told| !of_hosts(told)).count(), 0);
    finishes(&outcome)
}

fn two(trace: &str, one_sided: OneSided) -> Vec<f64> {
    with(2, trace, one_sided)
}

/// A barrier of two ranks takes a message each way at once, 2 µs.
#[test]
fn a_fence_is_a_barrier_after_which_all_accesses_are_done() {
    let fence = "0 win_fence 0\n1 win_fence 0\n";
    assert_eq!(two(fence, plain()), [2.0, 2.0]);
    // The put is on its way while the barrier goes on: 2 + 1 µs.
    assert_eq!(two(&format!("0 put 0 1 1000 0\n{fence}"), plain()), [2.0, 3.0]);
    // A large one is done with the memory of its origin when it has arrived, after 12 µs; then the barrier.
    assert_eq!(two(&format!("0 put 0 1 10000 0\n{fence}"), plain()), [12.0, 14.0]);
    // A get is a request and an answer.
    assert_eq!(two(&format!("0 get 0 1 0 1000\n{fence}"), plain()), [5.0, 7.0]);
    assert_eq!(two(&format!("0 fetch_and_op 0 1 1000 1000\n{fence}"), plain()), [6.0, 8.0]);
    let acknowledged = OneSided { active_target: ActiveTarget::Acknowledged, ..plain() };
    assert_eq!(two(&format!("0 put 0 1 1000 0\n{fence}"), acknowledged), [5.0, 7.0]);
}

#[test]
fn an_access_sets_out_in_its_call() {
    let trace = "0 put 0 1 1000 0\n0 compute 10000\n0 win_fence 0\n1 compute 10000\n1 win_fence 0";
    assert_eq!(two(trace, plain()), [12.0, 12.0]);
}

const POST: &str = "1 win_post 0 0\n1 win_wait 0\n0 win_start 0 1\n0 put 0 1 1000 0\n0 win_complete 0";

#[test]
fn start_waits_for_posts_and_wait_for_completes() {
    assert_eq!(two(POST, plain()), [2.0, 5.0]);
    assert_eq!(two(&format!("1 compute 10000\n{POST}"), plain()), [12.0, 15.0]);
    let acknowledged = OneSided { active_target: ActiveTarget::Acknowledged, ..plain() };
    assert_eq!(two(POST, acknowledged), [7.0, 9.0]);
    let unchecked =
        POST.replace("win_post 0 0", "win_post 0 0 nocheck").replace("win_start 0 1", "win_start 0 1 nocheck");
    assert_eq!(two(&unchecked, plain()), [0.0, 3.0]);
    assert_eq!(two(&POST.replace("win_wait", "win_test"), plain()), [2.0, 5.0]);
    assert_eq!(two("0 win_post 0 0\n0 win_start 0 0\n0 win_complete 0\n0 win_wait 0", plain()), [0.0, 0.0]);
}

#[test]
fn a_late_post_delays_the_start() {
    let trace = "1 compute 3000\n1 win_post 0 0\n1 win_wait 0\n0 win_start 0 1\n0 put 0 1 1000 0\n0 compute 10000\n0 win_complete 0";
    // The post arrives after 5 µs.
    assert_eq!(two(trace, plain()), [15.0, 17.0]);
}

const LOCK: &str = "0 win_lock 0 1\n0 put 0 1 1000 0\n0 win_unlock 0 1";

#[test]
fn a_lock_is_asked_for_and_given_back() {
    // Lock and answer 4 µs, put and acknowledgement 5 µs, unlock and answer 4 µs.
    assert_eq!(two(LOCK, plain()), [13.0, 0.0]);
    assert_eq!(two(LOCK, OneSided { await_unlock: false, ..plain() }), [9.0, 0.0]);
    assert_eq!(two(&LOCK.replace("lock 0 1\n0 put", "lock 0 1 nocheck\n0 put"), plain()), [5.0, 0.0]);
    assert_eq!(two("0 win_lock 0 0\n0 win_unlock 0 0", plain()), [0.0, 0.0]);
}

#[test]
fn a_lock_is_waited_for_in_the_call_that_asks_for_it() {
    let trace = LOCK.replace("0 win_unlock", "0 compute 10000\n0 win_unlock");
    assert_eq!(two(&trace, plain()), [18.0, 0.0]);
}

#[test]
fn an_exclusive_lock_has_one_holder_and_a_shared_one_several() {
    let both = |word| format!("0 {word} 0 1\n0 win_unlock 0 1\n2 {word} 0 1\n2 win_unlock 0 1");
    assert_eq!(with(4, &both("win_lock"), plain()), [8.0, 0.0, 12.0, 0.0]);
    assert_eq!(with(4, &both("win_lock_shared"), plain()), [8.0, 0.0, 8.0, 0.0]);
}

#[test]
fn all_are_locked_one_by_one_or_by_the_first() {
    let trace = "1 win_lock_all 0\n1 put 0 0 1000 0\n1 win_flush 0 0\n1 win_unlock_all 0";
    assert_eq!(two(trace, plain()), [0.0, 13.0]);
    assert_eq!(two(trace, OneSided { lock_all: LockAll::Leader, ..plain() }), [0.0, 9.0]);
    assert_eq!(two(&trace.replace("lock_all 0\n1 put", "lock_all 0 nocheck\n1 put"), plain()), [0.0, 5.0]);
    // An exclusive lock and a lock of all exclude each other.
    let against = "0 win_lock 0 0\n0 compute 10000\n0 win_unlock 0 0\n1 win_lock_all 0\n1 win_unlock_all 0";
    assert_eq!(two(against, plain()), [10.0, 16.0]);
    assert_eq!(two(against, OneSided { lock_all: LockAll::Leader, ..plain() }), [10.0, 12.0]);
}

#[test]
fn a_flush_waits_for_the_target_and_a_local_one_for_the_origin() {
    let flush = |word, bytes| format!("0 win_lock_all 0 nocheck\n0 put 0 1 {bytes} 0\n0 {word}\n");
    assert_eq!(two(&flush("win_flush 0 1", 1000), plain()), [5.0, 0.0]);
    assert_eq!(two(&flush("win_flush_all 0", 1000), plain()), [5.0, 0.0]);
    assert_eq!(two(&flush("win_flush_local 0 1", 1000), plain()), [0.0, 0.0]);
    assert_eq!(two(&flush("win_flush_local_all 0", 10000), plain()), [12.0, 0.0]);
}

#[test]
fn a_request_is_complete_when_the_origin_has_its_memory_back() {
    let wait = |access| format!("0 win_lock_all 0 nocheck\n0 {access} 7\n0 wait_of 7");
    assert_eq!(two(&wait("put 0 1 1000 0"), plain()), [0.0, 0.0]);
    assert_eq!(two(&wait("put 0 1 10000 0"), plain()), [12.0, 0.0]);
    assert_eq!(two(&wait("get 0 1 0 1000"), plain()), [5.0, 0.0]);
    assert_eq!(two(&wait("get_accumulate 0 1 1000 1000"), plain()), [6.0, 0.0]);
}

#[test]
fn a_target_may_have_to_be_in_a_call() {
    let busy = format!("{LOCK}\n1 compute 20000");
    assert_eq!(two(&busy, plain()), [13.0, 20.0]);
    let emulated = OneSided { passive_progress: PassiveProgress::Target, ..plain() };
    assert_eq!(two(&busy, emulated.clone()), [31.0, 20.0]);
    // A call that finds nothing to do is one, too.
    assert_eq!(
        two(&format!("{LOCK}\n1 compute 5000\n1 iprobe none 0 0 0\n1 compute 15000"), emulated.clone()),
        [26.0, 20.0]
    );
    // A rank that waits for a message is in a call.
    assert_eq!(two(&format!("{LOCK}\n0 send 1 0 0\n1 recv 0 0 0"), emulated), [13.0, 15.0]);
}

#[test]
fn shared_memory_needs_no_call_of_its_owner() {
    let emulated = OneSided { passive_progress: PassiveProgress::Target, ..plain() };
    let shared = |create| {
        let trace = format!("0 {create}\n1 {create}\n{}\n1 compute 20000", LOCK.replace(" 0 1", " 1 1"));
        two(&trace, emulated.clone())
    };
    assert_eq!(shared("win_create_dynamic 1 0")[0] - shared("win_allocate_shared 1 8")[0], 31.0 - 13.0);
}

#[test]
fn an_access_costs_what_the_platform_says() {
    use titr_common::units::Seconds;
    use titr_platform::{Overhead, OverheadStep};
    let overhead = |seconds| {
        Overhead::new(vec![OverheadStep { above: Bytes(0), seconds: Seconds(seconds), seconds_per_byte: Seconds(0.0) }])
    };
    let flush = "0 win_lock_all 0 nocheck\n0 put 0 1 1000 0\n0 win_flush 0 1\n";
    let costly = OneSided {
        origin_overhead: overhead(1e-6),
        target_overhead: overhead(4e-6),
        header: Bytes(100),
        control: Bytes(200),
        ..plain()
    };
    assert_eq!(two(flush, costly), [1.0 + 3.1 + 4.0 + 2.2, 0.0]);
}

#[test]
fn windows_of_one_communicator_are_told_apart_by_their_order() {
    // Rank 1 has a window of its own before, so its numbers differ.
    let trace = "1 on 1 win_create 7 8\n0 win_create 1 8\n1 win_create 3 8\n0 win_fence 1\n1 win_fence 3\n\
                 0 win_free 1\n1 win_free 3\n0 win_fence 0\n1 win_fence 0\n1 win_free 7";
    two(trace, plain());
}

/// The machine has a host for each rank, and memory that ranks share is within one.
#[test]
fn shared_memory_across_hosts_is_told() {
    let windows = |call: &str| {
        let trace = format!("0 {call} 0 8\n1 {call} 0 8\n0 {call} 1 8\n1 {call} 1 8\n");
        run(events(2, &trace), &mpi()).unwrap().approximations
    };
    assert_eq!(windows("win_allocate"), [""; 0]);
    assert_eq!(
        windows("win_allocate_shared"),
        [
            "2 windows of shared memory have ranks on several hosts: loads and stores of their memory take no time on the \
          network"
        ]
    );
}

/// The message of a deadlock.
fn deadlock(trace: &str) -> String {
    let create = "0 win_create 0 8\n1 win_create 0 8\n";
    let mpi = Mpi { one_sided: plain(), ..mpi() };
    run(events(2, &format!("{create}{trace}")), &mpi).unwrap_err().to_string()
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let cases = [
        "0 win_lock 0 0\n0 win_lock 0 1\n1 win_lock 0 1\n1 win_lock 0 0",
        "0 win_lock 0 0\n0 recv 1 0 0\n1 win_lock_shared 0 0\n1 send 0 0 0",
        "0 win_start 0 1\n1 win_post 0 0\n1 win_wait 0",
        "0 win_start 0 1\n1 recv 0 0 0",
        "0 win_fence 0\n1 recv 0 0 0",
    ];
    insta::assert_snapshot!(
        "one_sided_deadlocks",
        cases.map(|case| format!("{case}\n-> {}\n", deadlock(case))).join("\n")
    );
}

/// Threads of a rank that use a window together: the accesses of one come after the lock of another.
#[test]
fn threads_share_a_window() {
    let trace = "0 win_create 0 8\n1 win_create 0 8\n0 win_lock_all 0\n0.1 put 0 1 1000 0\n0 win_flush_all 0\n\
                 0.1 win_unlock_all 0\n0 win_free 0\n0.1 win_create 0 8\n0 win_free 0\n0 finalize\n\
                 1 win_free 0\n1 win_create 0 8\n1 win_free 0\n1 finalize";
    let mpi = Mpi { one_sided: plain(), ..mpi() };
    let outcome = run_programs(threads(2, trace), &mpi).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.warnings, [""; 0]);
}

#[test]
fn calls_that_do_not_belong_together_are_refused() {
    let refusal = |trace: &str| run(events(2, trace), &mpi()).unwrap_err().to_string();
    assert_eq!(refusal("0 put 3 1 8 0"), "rank 0, event 1: window 3 is not introduced, or freed");
    assert_eq!(
        refusal("0 on 1 win_create 0 8\n0 put 0 1 8 0"),
        "rank 0, event 2: rank 1 is no member of a window of MPI_COMM_SELF"
    );
    assert_eq!(
        refusal("0 win_create 0 8\n1 allgather 8 8"),
        "rank 1, event 1: allgather is this rank's collective number 1 on the world, where rank 0 called allreduce"
    );
}
