//! Time in calls that concern the caller only is computation, and a rank goes on only when it has learnt of what others
//! did, whichever call it has learnt it from.

use std::path::Path;

use titr_common::event::{Event, Rank};
use titr_common::trace::{Manifest, Trace};
use titr_tests::{Family, Traced, assert_sound, binary, run, traced_with};

/// What the programs compute at a time, in seconds, except for the end of a clock's tick.
const WORK: f64 = 0.33;

fn trace(family: Family, program: &str, how: &str) -> Traced {
    // CPU time is counted on every machine.
    let trace = traced_with(&[("TITRACE_COUNTER", "cpu")], family, 2, &family.build(program, &[]), &[how]);
    assert_eq!(trace.run.status, Some(0), "{family:?} {how}: {}", trace.run.stderr);
    assert_sound(&trace.path());
    trace
}

/// The computation of a rank, in seconds of a machine with the rate of the trace.
fn computed(trace: &Path, rank: u32) -> f64 {
    let mut stream = Trace::open(trace).unwrap().stream(Rank(rank)).unwrap();
    let mut sum = 0.0;
    while let Some(event) = stream.next_event().unwrap() {
        if let Event::Compute(work) = event {
            sum += work.0;
        }
    }
    sum / 1e9
}

/// The result of a replay on hosts as fast as the trace's, with 1 MB/s between them.
fn replayed(trace: &Path) -> serde_json::Value {
    let replayed = run(binary("titr-replay").args(["--json", "-p", "star:2 8Mbit/s 1us"]).arg(trace));
    assert_eq!(replayed.status, Some(0), "{}", replayed.stderr);
    serde_json::from_str(&replayed.stdout).unwrap()
}

fn predicted(trace: &Path) -> f64 {
    replayed(trace)["simulated_time"].as_f64().unwrap()
}

#[test]
fn time_in_calls_that_concern_the_caller_only_is_computation() {
    for family in Family::ALL {
        // Requests are set up so quickly that most of the time is the tracer's.
        for (how, part) in [("unpack", 0.9), ("reduce", 0.9), ("types", 0.9), ("clock", 0.9), ("requests", 0.1)] {
            let trace = trace(family, "local_calls.c", how);
            let of_both = [0, 1].map(|rank| computed(&trace.path(), rank));
            assert!(of_both[0] > part * WORK && of_both[1] < 0.5 * WORK, "{family:?} {how}: {of_both:?}");
            let predicted = predicted(&trace.path());
            assert!((part * WORK..1.5 * WORK).contains(&predicted), "{family:?} {how}: {predicted}");
        }
    }
}

/// The barrier is neither computation, nor before what is computed before it.
#[test]
fn what_a_callback_computes_in_such_a_call_is_computation_and_what_it_waits_is_not() {
    for family in Family::ALL {
        let trace = trace(family, "local_calls.c", "callback");
        let computed = computed(&trace.path(), 0);
        assert!((1.96 * WORK..2.6 * WORK).contains(&computed), "{family:?}: {computed}");
        let predicted = predicted(&trace.path());
        assert!((2.94 * WORK..3.7 * WORK).contains(&predicted), "{family:?}: {predicted}");
    }
}

#[test]
fn time_in_calls_that_are_no_events_is_in_the_manifest_and_warned_of() {
    for family in Family::ALL {
        let trace = trace(family, "local_calls.c", "nobody");
        let times = Manifest::read(&trace.path()).unwrap().per_rank;
        let passed_over: Vec<f64> = times.iter().map(|rank| rank.process_time.as_ref().unwrap().passed_over).collect();
        let ([first, second], all) = ([passed_over[0], passed_over[1]], &replayed(&trace.path())["warnings"]);
        assert!(first > 0.05 * WORK && first < WORK && second < 0.05 * WORK, "{family:?}: {passed_over:?}");
        assert!(all.to_string().contains("of CPU time of calls of MPI that are no events"), "{family:?}: {all}");
        let info = run(binary("titr").arg("info").arg(trace.path())).stdout;
        assert!(info.contains("of CPU time in calls of MPI that are no events"), "{family:?}: {info}");
    }
}

#[test]
fn a_rank_goes_on_when_it_has_learnt_from_a_status_or_a_duplicate_that_another_has() {
    for family in Family::ALL {
        for how in ["ibarrier", "issend", "partitioned", "idup", "idup_tested"] {
            if how == "partitioned" && family != Family::Mpich {
                continue; // Open MPI has none in this version.
            }
            let trace = trace(family, "held.c", how);
            let predicted = predicted(&trace.path());
            assert!((1.96 * WORK..2.8 * WORK).contains(&predicted), "{family:?} {how}: {predicted}");
        }
    }
}

/// A message of 1 MB takes a second.
#[test]
fn a_rank_goes_on_from_the_detachment_of_its_buffer_when_its_messages_are_delivered() {
    for family in Family::ALL {
        for (how, messages) in [("detach", 1.0), ("detach_two", 2.0)] {
            let trace = trace(family, "held.c", how);
            let (predicted, right) = (predicted(&trace.path()), messages + 2.0 * WORK);
            assert!((0.97 * right..1.2 * right).contains(&predicted), "{family:?} {how}: {predicted}");
            let warnings = replayed(&trace.path())["warnings"].to_string();
            assert!(!warnings.contains("not simulated"), "{family:?} {how}: {warnings}");
        }
    }
}
