//! Background communication with libraries that make progress in MPI calls only, and with progress threads: each case
//! computed by hand on the machine of [`titr_test_machine`].

use std::path::Path;

use titr_platform::{EagerTransfer, Mpi, Platform, Progress, Rendezvous};
use titr_simulation::ranks::Core;
use titr_simulation::replay::{Options, replay};
use titr_test_machine::{events, finishes, mpi, run, run_programs, threads};
use titr_workload::Workload;

fn calls() -> Mpi {
    Mpi { progress: Progress::Calls, ..mpi() }
}

fn get() -> Mpi {
    Mpi { rendezvous: Rendezvous::Get, ..calls() }
}

/// When each rank is done, in microseconds.
fn with(ranks: u32, trace: &str, mpi: &Mpi) -> Vec<f64> {
    let outcome = run(events(ranks, trace), mpi).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.warnings, [""; 0]);
    finishes(&outcome)
}

#[test]
fn a_sender_that_computes_sends_when_it_waits_unless_the_adapter_reads() {
    let trace = "0 isend 1 0 20000 6 1\n0 compute 100000\n0 wait_of 1\n1 recv 0 0 20000";
    assert_eq!(with(2, trace, &mpi()), [100.0, 22.0]);
    assert_eq!(with(2, trace, &calls()), [122.0, 122.0]);
    assert_eq!(with(2, trace, &get()), [100.0, 22.0]);
}

#[test]
fn a_receiver_that_computes_answers_when_it_waits() {
    let trace = "0 compute 1000\n0 send 1 0 20000\n1 irecv 0 0 20000 6 1\n1 compute 100000\n1 wait_of 1";
    assert_eq!(with(2, trace, &mpi()), [23.0, 100.0]);
    assert_eq!(with(2, trace, &calls()), [122.0, 122.0]);
    assert_eq!(with(2, trace, &get()), [122.0, 122.0]);
}

#[test]
fn a_receive_posted_late_answers_in_its_own_call() {
    let trace = "0 send 1 0 20000\n1 compute 10000\n1 irecv 0 0 20000 6 1\n1 compute 100000\n1 wait_of 1";
    assert_eq!(with(2, trace, &calls()), [32.0, 110.0]);
}

/// Rank 1 answers in its test, and rank 0 sends in its own, which is later.
#[test]
fn a_test_that_finds_nothing_makes_progress() {
    let both = "0 isend 1 0 20000 6 1\n0 compute 40000\n0 test -\n0 compute 60000\n0 wait_of 1\n\
                1 irecv 0 0 20000 6 1\n1 compute 30000\n1 test -\n1 compute 70000\n1 wait_of 1";
    assert_eq!(with(2, both, &calls()), [100.0, 100.0]);
    let late = both.replace("30000", "50000").replace("70000", "50000");
    assert_eq!(with(2, &late, &calls()), [122.0, 122.0]);
}

/// The sends of rank 0 return before the answers can be there.
#[test]
fn an_answer_comes_too_late_for_the_calls_of_its_moment() {
    let trace = "0 isend 1 1 20000 6 1\n0 isend 1 2 20000 6 2\n0 compute 100000\n0 waitall_of 1,2\n\
                 1 irecv 0 1 20000 6 1\n1 irecv 0 2 20000 6 2\n1 waitall_of 1,2";
    assert_eq!(with(2, trace, &calls()), [122.0, 122.0]);
}

#[test]
fn an_eager_message_needs_nobody() {
    let trace =
        "0 isend 1 0 9000 6 1\n0 compute 100000\n0 wait_of 1\n1 irecv 0 0 9000 6 1\n1 compute 5000\n1 wait_of 1";
    assert_eq!(with(2, trace, &calls()), [100.0, 11.0]);
    let on_match = Mpi { eager_transfer: EagerTransfer::OnMatch, ..calls() };
    assert_eq!(with(2, trace, &on_match), [100.0, 11.0]);
}

/// The data of a short synchronous message comes with the request; only the receiver has to act.
#[test]
fn a_short_synchronous_message_needs_its_receiver_alone() {
    let trace =
        "0 issend 1 0 1000 6 1\n0 compute 100000\n0 wait_of 1\n1 irecv 0 0 1000 6 1\n1 compute 50000\n1 wait_of 1";
    assert_eq!(with(2, trace, &mpi()), [100.0, 50.0]);
    assert_eq!(with(2, trace, &calls()), [100.0, 53.0]);
}

/// What is buffered beyond the eager threshold stays with its sender, which is in MPI_Finalize at its end.
#[test]
fn a_rank_at_its_end_makes_progress() {
    let trace = "0 bsend 1 0 20000\n0 compute 100000\n1 recv 0 0 20000";
    assert_eq!(with(2, trace, &mpi()), [100.0, 22.0]);
    assert_eq!(with(2, trace, &calls()), [100.0, 122.0]);
}

/// The barrier of four ranks has two rounds, the first of which starts in the call.
#[test]
fn the_next_round_of_a_collective_starts_in_a_call() {
    let all = |lines: &str| (0..4).map(|rank| lines.replace('R', &rank.to_string())).collect::<String>();
    let trace = all("R ibarrier 1\nR compute 100000\nR wait_of 1\n");
    assert_eq!(with(4, &trace, &mpi()), [100.0; 4]);
    assert_eq!(with(4, &trace, &calls()), [102.0; 4]);
    let tested = all("R ibarrier 1\nR compute 50000\nR test -\nR compute 50000\nR wait_of 1\n");
    assert_eq!(with(4, &tested, &calls()), [100.0; 4]);
    let blocking = all("R compute 100000\nR barrier\n");
    assert_eq!(with(4, &blocking, &calls()), [104.0; 4]);
}

/// Thread 1 of rank 0 waits in a receive while the main thread computes, and so sends what that has started.
#[test]
fn any_thread_in_a_call_makes_progress() {
    let trace = "0 isend 1 0 20000 6 1\n0.1 recv 1 7 8\n0 compute 100000\n0 wait_of 1\n\
                 1 recv 0 0 20000\n1 compute 50000\n1 send 0 7 8";
    let time = |mpi: &Mpi| finishes(&run_programs(threads(2, trace), mpi).unwrap());
    assert_eq!(time(&calls()), [100.0, 72.0]);
}

/// The messages are through after 2.008 µs. Both ranks are in no call then, so they reduce in the wait, for 5 µs.
#[test]
fn a_rank_that_computes_reduces_when_it_waits() {
    let trace: String = (0..2)
        .map(|rank| format!("{rank} iallreduce 1 8 5000 6 8\n{rank} compute 100000\n{rank} wait_of 1\n"))
        .collect();
    assert_eq!(with(2, &trace, &mpi()), [100.0, 100.0]);
    assert_eq!(with(2, &trace, &calls()), [105.0, 105.0]);
}

/// How long all ranks of a torus of 2 × 2 take for an `iallreduce` of so many bytes by recursive doubling, which has two rounds
/// that take the same time, and `compute` microseconds before they wait for it.
fn overlapped(model: &str, progress: &str, bytes: u64, compute: u64) -> f64 {
    let text = format!(
        "schema = 1\nhosts.speed = \"1 Ginstr/s\"\ntopology.torus.dims = [2, 2]\n\
         [network]\nmodel = \"{model}\"\nbandwidth = \"10 Gbit/s\"\n{}\n\
         [mpi]\nprogress = \"{progress}\"\ncollectives.iallreduce = \"recursive_doubling\"",
        if model == "flow" { "latency = \"1 us\"" } else { "" }
    );
    let platform = Platform::parse(Path::new("torus.toml"), text, &[]).unwrap();
    let work = compute * 1000;
    let lines =
        (0..4).map(|rank| format!("{rank} iallreduce 1 {bytes} 0 6 8\n{rank} compute {work}\n{rank} wait_of 1\n"));
    let programs = events(4, &lines.collect::<String>()).into_iter().map(Vec::into_iter).collect();
    let hosts = platform.place(4).unwrap().0.into_iter();
    let cores = hosts.map(|host| Core::on(&platform, host)).collect();
    let mut network = platform.network(0);
    let outcome = replay(Workload::new(programs), cores, &platform.mpi, network.as_mut(), (), Options::default());
    outcome.unwrap().simulated_time.seconds().0 * 1e6
}

/// Short messages: the first round goes on while the ranks compute, and the second one starts when they wait, or before. Long
/// messages: without a thread of the library's own, nothing goes on before the ranks wait.
#[test]
fn a_collective_overlaps_with_computing_as_far_as_there_is_progress() {
    for model in ["flow", "packet"] {
        let about =
            |time: f64, expected: f64| assert!((time / expected - 1.0).abs() < 0.01, "{model}: {time} {expected}");
        let alone = overlapped(model, "thread", 1000, 0);
        about(overlapped(model, "calls", 1000, 0), alone);
        about(overlapped(model, "thread", 1000, 100), 100.0);
        about(overlapped(model, "calls", 1000, 100), 100.0 + alone / 2.0);
        let alone = overlapped(model, "thread", 1_000_000, 0);
        about(overlapped(model, "calls", 1_000_000, 0), alone);
        about(overlapped(model, "thread", 1_000_000, 1000), alone.max(1000.0));
        about(overlapped(model, "calls", 1_000_000, 1000), alone + 1000.0);
    }
}
