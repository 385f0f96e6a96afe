//! Ranks that are graphs of tasks, each case computed by hand on the machine of [`titr_test_machine`].

use proptest::prelude::*;
use titr_common::units::{Bytes, Seconds};
use titr_platform::{Mpi, Overhead, OverheadStep};
use titr_test_machine::{events, mpi, run};

/// When the last task is done, in microseconds.
fn done(ranks: u32, trace: &str, mpi: &Mpi) -> f64 {
    let outcome = run(events(ranks, trace), mpi).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.warnings, [""; 0]);
    titr_test_machine::micros(outcome.simulated_time.seconds())
}

/// A rank that is a graph of `tasks`, of which `roots` depend on none but `MPI_Init`.
fn graph(rank: u32, roots: u32, tasks: &[(&str, &str)]) -> String {
    let tasks = tasks.iter().map(|(task, event)| format!("{rank} task {task}\n{rank} {event}\n"));
    format!("{rank} task 0 {roots} -\n{rank} init\n{}{rank} finalize\n", tasks.collect::<String>())
}

#[test]
fn tasks_of_a_core_take_it_in_turns_and_those_of_several_do_not() {
    let tasks = |core| graph(0, 2, &[("0 0 1", "compute 3000"), (core, "compute 4000")]);
    assert_eq!(done(1, &tasks("0 0 2"), &mpi()), 7.0);
    assert_eq!(done(1, &tasks("1 0 2"), &mpi()), 4.0);
}

#[test]
fn a_receive_delays_only_the_tasks_that_depend_on_it() {
    // The message arrives at 13 µs; 5 µs and 6 µs of work do not wait for it, 1 µs does.
    let receiver = graph(
        0,
        2,
        &[("0 1 1", "recv 1 5 1000"), ("0 1 2", "compute 5000"), ("0 0 1", "compute 6000"), ("0 0 3", "compute 1000")],
    );
    let sender = graph(1, 1, &[("0 1 1", "compute 10000"), ("0 0 1", "send 0 5 1000")]);
    assert_eq!(done(2, &(receiver + &sender), &mpi()), 14.0);
}

#[test]
fn a_task_can_depend_on_the_beginning_of_another() {
    // The receive begins at 4 µs, and the work of 7 µs with it; the message arrives at 23 µs.
    let receiver = graph(0, 1, &[("0 1 1", "compute 4000"), ("0 1 1", "recv 1 5 1000"), ("0 0 - 1", "compute 7000")]);
    let sender = |compute| graph(1, 1, &[("0 1 1", compute), ("0 0 1", "send 0 5 1000")]);
    assert_eq!(done(2, &(receiver.clone() + &sender("compute 20000")), &mpi()), 23.0);
    assert_eq!(done(2, &(receiver + &sender("compute 0")), &mpi()), 11.0);
}

#[test]
fn overheads_take_the_core() {
    // Two sends of 2 µs each, one after the other; both messages arrive when the core of the receiver computes until
    // 20 µs, and each then takes 1 µs.
    let overhead = |micros: f64| {
        let (seconds, seconds_per_byte) = (Seconds(micros * 1e-6), Seconds(0.0));
        Overhead::new(vec![OverheadStep { above: Bytes(0), seconds, seconds_per_byte }])
    };
    let mpi = Mpi { send_overhead: overhead(2.0), recv_overhead: overhead(1.0), ..mpi() };
    let sender = graph(0, 2, &[("0 0 1", "send 1 5 1000"), ("0 0 2", "send 1 6 1000")]);
    let receiver =
        |core| graph(1, 3, &[("0 0 1", "recv 0 5 1000"), (core, "compute 20000"), ("0 0 3", "recv 0 6 1000")]);
    assert_eq!(done(2, &(sender.clone() + &receiver("0 0 2")), &mpi), 22.0);
    assert_eq!(done(2, &(sender + &receiver("1 0 2")), &mpi), 20.0);
}

#[test]
fn an_event_without_a_task_separates_those_before_from_those_after() {
    let trace = "0 task 0 2 -\n0 init\n0 task 0 0 1\n0 compute 1000\n0 task 1 0 2\n0 compute 3000\n0 compute 500\n\
                 0 task 0 0 -\n0 compute 1000\n0 finalize";
    assert_eq!(done(1, trace, &mpi()), 4.5);
}

#[test]
fn a_task_without_an_event_takes_no_time() {
    let trace = "0 task 0 1 -\n0 init\n0 task 0 1 1\n0 task 0 0 1\n0 compute 1000\n0 finalize";
    assert_eq!(done(1, trace, &mpi()), 1.0);
}

#[test]
fn a_receive_that_nothing_comes_for_is_named() {
    let trace = graph(0, 2, &[("0 0 1", "recv 1 5 1000"), ("0 0 2", "compute 1000")]) + &graph(1, 0, &[]);
    let error = run(events(2, &trace), &mpi()).unwrap_err().to_string();
    insta::assert_snapshot!(error);
}

/// A random graph whose tasks compute: the number of each task's core, its work, and the tasks it depends on.
type Tasks = Vec<(u32, u64, Vec<(usize, bool)>)>;

fn graphs() -> impl Strategy<Value = Tasks> {
    let task = (0..3_u32, 0..20_u64, prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..4));
    prop::collection::vec(task, 1..40).prop_map(|tasks| {
        let tasks = tasks.into_iter().enumerate();
        let earlier = |number: usize, of: Vec<(prop::sample::Index, bool)>| match number {
            0 => Vec::new(),
            _ => of.into_iter().map(|(index, ended)| (index.index(number), ended)).collect(),
        };
        tasks.map(|(number, (core, work, after))| (core, work, earlier(number, after))).collect()
    })
}

proptest! {
    /// Each task begins when all that it depends on allow it, if it has a core of its own.
    #[test]
    fn the_longest_path_takes_the_time(tasks in graphs()) {
        let roots = tasks.iter().filter(|(.., after)| after.is_empty()).count();
        let mut begins: Vec<u64> = Vec::new();
        let mut trace = format!("0 task 0 {roots} -\n0 init\n");
        for (number, (_, work, after)) in tasks.iter().enumerate() {
            let begin = after.iter().map(|&(other, ended)| begins[other] + if ended { tasks[other].1 } else { 0 });
            begins.push(begin.max().unwrap_or(0));
            let dependents: usize =
                tasks.iter().map(|(.., after)| after.iter().filter(|(other, _)| *other == number).count()).sum();
            let list = |wanted: bool| {
                let all = after.iter().filter(|(_, ended)| *ended == wanted);
                let all: Vec<String> = all.map(|(other, _)| (number - other).to_string()).collect();
                if all.is_empty() { "-".to_owned() } else { all.join(",") }
            };
            let ended = if after.is_empty() { (number + 1).to_string() } else { list(true) };
            trace += &format!("0 task {number} {dependents} {ended} {}\n0 compute {}\n", list(false), work * 1000);
        }
        trace += "0 finalize";
        let longest = begins.iter().zip(&tasks).map(|(begin, (_, work, _))| begin + work).max().unwrap_or(0);
        prop_assert_eq!(done(1, &trace, &mpi()), longest as f64);
    }

    /// Shared cores take at least the work of each core, and at most all work.
    #[test]
    fn shared_cores_are_never_idle_while_a_task_is_ready(tasks in graphs()) {
        let roots = tasks.iter().filter(|(.., after)| after.is_empty()).count();
        let mut trace = format!("0 task 0 {roots} -\n0 init\n");
        for (number, (core, work, after)) in tasks.iter().enumerate() {
            let dependents: usize =
                tasks.iter().map(|(.., after)| after.iter().filter(|(other, _)| *other == number).count()).sum();
            let all: Vec<String> = after.iter().map(|(other, _)| (number - other).to_string()).collect();
            let ended = if all.is_empty() { (number + 1).to_string() } else { all.join(",") };
            trace += &format!("0 task {core} {dependents} {ended}\n0 compute {}\n", work * 1000);
        }
        trace += "0 finalize";
        let of_core = |wanted| -> u64 {
            tasks.iter().filter(|(core, ..)| *core == wanted).map(|(_, work, _)| work).sum()
        };
        let time = done(1, &trace, &mpi());
        prop_assert!((0..3).all(|core| time >= of_core(core) as f64));
        prop_assert!(time <= (0..3).map(of_core).sum::<u64>() as f64);
    }
}
