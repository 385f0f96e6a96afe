//! Computation of threads that do not call MPI: it is in the manifest, in the output of `titr info` and among the
//! warnings of a replay, or optionally in the trace.

use std::path::Path;

use titr_common::event::Event;
use titr_common::event::Rank;
use titr_common::trace::process_time::ProcessTime;
use titr_common::trace::{Manifest, Trace};
use titr_tests::{Family, Traced, binary, replay, run, traced_with};

/// What each rank of `workers.c` computes or waits, in seconds, except for the end of a clock's tick.
const WORK: f64 = 0.33;

fn workers(family: Family, how: &str, variables: &[(&str, &str)]) -> Traced {
    // CPU time is counted on every machine.
    let variables = [&[("TITRACE_COUNTER", "cpu")], variables].concat();
    traced_with(&variables, family, 2, &family.build("workers.c", &["-pthread"]), &[how])
}

fn times(trace: &Traced) -> Vec<ProcessTime> {
    let manifest = Manifest::read(&trace.path()).unwrap();
    manifest.per_rank.iter().map(|entry| *entry.process_time.clone().unwrap()).collect()
}

fn info(trace: &Traced) -> String {
    run(binary("titr").arg("info").arg(trace.path())).stdout
}

/// The warnings of a replay that speak of CPU time.
fn warnings(trace: &Path) -> Vec<String> {
    let result = replay("torus.toml", trace);
    let warnings = result["warnings"].as_array().unwrap().iter().filter_map(|warning| warning.as_str());
    warnings.filter(|warning| warning.contains("of CPU time of")).map(str::to_owned).collect()
}

/// The output of `titr check` for a sound trace.
fn check(trace: &Path) -> String {
    let checked = run(binary("titr").arg("check").arg(trace));
    assert_eq!(checked.status, Some(0), "{checked:?}");
    checked.stderr
}

/// The computation of a rank in the trace, in instructions.
fn computed(trace: &Path, rank: u32) -> f64 {
    let mut stream = Trace::open(trace).unwrap().stream(Rank(rank)).unwrap();
    let mut sum = 0.0;
    while let Some(event) = stream.next_event().unwrap() {
        if let Event::Compute(work) = event {
            sum += work.0;
        }
    }
    sum
}

#[test]
fn what_other_threads_compute_is_said() {
    for family in Family::ALL {
        for how in ["thread", "pool", "late"] {
            let trace = workers(family, how, &[]);
            for time in times(&trace) {
                assert!(time.other_threads >= WORK && time.added == 0.0, "{family:?} {how}: {time:?}");
                assert!(time.cpu >= time.calling_threads + WORK, "{family:?} {how}: {time:?}");
            }
            let warnings = warnings(&trace.path());
            assert!(
                matches!(&*warnings, [one] if one.contains("of threads") && one.contains("2 ranks")),
                "{warnings:?}"
            );
            assert!(info(&trace).contains("  not counted   "), "{family:?} {how}: {}", info(&trace));
            assert!(check(&trace.path()).contains("of CPU time of threads"), "{family:?} {how}");
        }
    }
}

#[test]
fn what_child_processes_compute_is_said() {
    for family in Family::ALL {
        let trace = workers(family, "fork", &[]);
        assert!(times(&trace).iter().all(|time| time.children >= WORK - 0.03), "{family:?}: {:?}", times(&trace));
        let warnings = warnings(&trace.path());
        assert!(matches!(&*warnings, [one] if one.contains("child processes")), "{family:?}: {warnings:?}");
        assert!(check(&trace.path()).contains("of CPU time of child processes"), "{family:?}");
    }
}

/// By choice, computation of other threads is that of the thread which waits for them: it comes before its next call.
#[test]
fn what_other_threads_compute_can_be_added() {
    for family in Family::ALL {
        for how in ["thread", "pool", "late"] {
            let trace = workers(family, how, &[("TITRACE_THREADS", "sum")]);
            for (rank, time) in (0..).zip(times(&trace)) {
                assert!(time.added >= WORK, "{family:?} {how}: {time:?}");
                // To a hundredth, as CPU time is rounded.
                let computed = computed(&trace.path(), rank) / 1e9;
                assert!((WORK * 0.99..=time.cpu * 1.01).contains(&computed), "{family:?} {how}: {computed} {time:?}");
            }
            assert_eq!(warnings(&trace.path()), [""; 0], "{family:?} {how}");
            assert!(info(&trace).contains("  counted too   "), "{family:?} {how}: {}", info(&trace));
            assert!(replay("torus.toml", &trace.path())["simulated_time"].as_f64().unwrap() > 0.1);
        }
    }
}

/// A program whose threads all call MPI has nothing to be said of; nor has one that only waits, but for a line of `titr info`.
#[test]
fn what_is_counted_is_not_reported() {
    for family in Family::ALL {
        for how in ["none", "sleep"] {
            let trace = workers(family, how, &[]);
            assert_eq!(warnings(&trace.path()), [""; 0], "{family:?} {how}");
            assert!(!info(&trace).contains("threads that do not call"), "{family:?} {how}: {}", info(&trace));
            assert!(!check(&trace.path()).contains("CPU time"), "{family:?} {how}");
            for time in times(&trace).into_iter().filter(|_| how == "sleep") {
                // A counter without the time-stamp counter cannot tell.
                assert!(time.waiting.is_none_or(|waited| waited >= WORK), "{family:?}: {time:?}");
                if time.waiting.zip(time.run_queue).is_some_and(|(waited, queued)| waited > 2.0 * queued) {
                    assert!(info(&trace).contains("  waited        "), "{family:?}: {}", info(&trace));
                }
            }
        }
    }
}
