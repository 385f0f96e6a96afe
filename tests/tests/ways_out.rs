//! Calls that do not return, calls that callbacks of the program make inside other calls, and calls in which a program
//! ends: the program works as without the tracer, and its trace has the calls or lists the missing ones.

use std::collections::BTreeMap;
use std::path::Path;

use titr_common::trace::Manifest;
use titr_common::trace::manifest::Ended;
use titr_tests::{EXTENDED, Family, Traced, assert_sound, lines, recorded, traced_alone, traced_as};

const MODES: [&[(&str, &str)]; 2] = [&[], &[EXTENDED]];

/// Runs a program on two ranks with and without the tracer.
fn compared(variables: &[(&str, &str)], family: Family, source: &str, options: &[&str], arguments: &[&str]) -> Traced {
    let trace = traced_as(variables, family, 2, &family.build(source, options), arguments, str::to_owned);
    assert!(!trace.run.stderr.contains("titrace"), "{family:?} {arguments:?}: {}", trace.run.stderr);
    trace
}

/// The calls of a rank that are not in the trace though they communicate.
fn untraced(trace: &Path, rank: usize) -> BTreeMap<String, u64> {
    Manifest::read(trace).unwrap().per_rank[rank].untraced.clone()
}

/// The events of all threads of a rank, without its number.
fn events(trace: &Path, rank: u32) -> Vec<String> {
    let rank = rank.to_string();
    let all = lines(trace);
    let own =
        all.lines().filter_map(|line| line.split_once(' ')).filter(|(actor, _)| actor.split('.').next() == Some(&rank));
    own.map(|(_, event)| event.to_owned()).collect()
}

/// A call ends by an exception of C++, by a jump, or with the thread that is in it. It is counted, and what follows is
/// recorded.
#[test]
fn a_call_that_is_left_is_counted_and_recording_goes_on() {
    let by_exception: &[(&str, u64)] = &[("MPI_File_open", 1), ("MPI_Recv", 1), ("MPI_Send", 4), ("MPI_Wait", 1)];
    let by_jump: &[(&str, u64)] = &[("MPI_File_open", 1), ("MPI_Recv", 1), ("MPI_Send", 3), ("MPI_Wait", 1)];
    let by_end: &[(&str, u64)] = &[("MPI_Send", 3)];
    let ways = [("throw", by_exception, 91), ("jump", by_jump, 71), ("exit", by_end, 60)];
    for (family, variables) in Family::ALL.into_iter().flat_map(|family| MODES.map(|mode| (family, mode))) {
        for (way, left, messages) in ways {
            let trace = compared(variables, family, "ways_out.cc", &["-pthread"], &[way]);
            assert_eq!(trace.run.status, Some(0), "{family:?} {way}: {}", trace.run.stderr);
            for rank in 0..2 {
                let left = left.iter().map(|&(name, calls)| (name.to_owned(), calls)).collect();
                assert_eq!(untraced(&trace.path(), rank), left, "{family:?} {variables:?} {way}");
                let found =
                    events(&trace.path(), rank as u32).iter().filter(|event| event.contains("sendrecv")).count();
                assert_eq!(found, messages, "{family:?} {variables:?} {way}");
            }
        }
    }
}

/// Handlers of errors, functions of attributes and of generalised requests, in `MPI_Finalize` as elsewhere. `-O2` makes
/// a jump of the last call of some, which then returns to the library.
#[test]
fn calls_of_callbacks_come_before_the_call_that_they_are_in() {
    let expected = [
        "init",
        "comm_dup 2 0 0-1",
        "sendrecv 1 1 4 1 1 4",
        "comm_dup 3 0 0-1",
        "on 3 allreduce 4 1 6 4",
        "comm_free 3",
        "comm_dup 3 2 0-1",
        "comm_free 3",
        "sendrecv 1 2 4 1 2 4",
        "barrier",
        "comm_free 2",
        "bcast 8 1 6 4",
        "win_create 0 4",
        "sendrecv 1 3 4 1 3 4",
        "win_free 0",
        "irecv 1 6 4 6 0",
        "isend 1 6 4 6 1",
        "sendrecv 1 4 4 1 4 4",
        "waitall 2",
        "allreduce 4 1 6 4",
        "sendrecv 1 5 4 1 5 4",
        "file_open 0",
        "file_write_at_all 0 4",
        "file_close 0",
        "finalize",
    ];
    for family in Family::ALL {
        for variables in MODES {
            let trace = compared(variables, family, "callbacks.c", &["-O2"], &[]);
            assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
            assert_eq!(events(&trace.path(), 0), expected, "{family:?} {variables:?}");
            // The handler of errors is called by a message that is refused.
            assert_eq!(untraced(&trace.path(), 0), [("MPI_Send".to_owned(), 1)].into(), "{family:?} {variables:?}");
            assert_sound(&trace.path());
            if variables == [EXTENDED] {
                // No call begins before the one before it has ended.
                assert!(!recorded(&trace.path()).is_empty());
            }
        }
    }
}

#[test]
fn calls_after_the_end_of_main_are_recorded() {
    for (family, how) in Family::ALL.into_iter().flat_map(|family| ["atexit", "destructor"].map(|how| (family, how))) {
        let trace = compared(&[], family, "late_ends.c", &[], &[how]);
        assert_eq!(trace.run.status, Some(0), "{family:?} {how}: {}", trace.run.stderr);
        let expected = ["init", "sendrecv 1 0 4 1 0 4", "sendrecv 1 2 4 1 2 4", "finalize"];
        assert_eq!(events(&trace.path(), 0), expected, "{family:?} {how}");
        assert_eq!(untraced(&trace.path(), 0), BTreeMap::new(), "{family:?} {how}");
    }
}

/// The trace has what the handler did, and counts the call that the handler was called in.
#[test]
fn a_handler_of_errors_may_end_the_program() {
    for (family, variables) in Family::ALL.into_iter().flat_map(|family| MODES.map(|mode| (family, mode))) {
        for (how, status, ended) in [("handler-aborts", 3, Ended::Abort), ("handler-finalizes", 0, Ended::Finalize)] {
            let program = family.build("late_ends.c", &[]);
            let trace = traced_as(variables, family, 2, &program, &[how], |_| String::new());
            assert_eq!(trace.run.status, Some(status), "{family:?} {how}: {}", trace.run.stderr);
            let entry = &Manifest::read(&trace.path()).unwrap().per_rank[1];
            assert_eq!(entry.ended, ended, "{family:?} {variables:?} {how}");
            assert_eq!(entry.untraced, [("MPI_Send".to_owned(), 1)].into(), "{family:?} {variables:?} {how}");
            // Rank 0 is killed in the middle of it, if rank 1 aborts.
            if ended == Ended::Finalize {
                let expected = ["init", "sendrecv 0 0 4 0 0 4", "sendrecv 0 1 4 0 1 4", "finalize"];
                assert_eq!(events(&trace.path(), 1), expected, "{family:?} {variables:?} {how}");
            }
        }
    }
    for family in Family::ALL {
        let trace = traced_alone(family, &family.build("late_ends.c", &[]), &["handler-exits"], str::to_owned);
        assert_eq!(trace.run.status, Some(5), "{family:?}: {}", trace.run.stderr);
        assert_eq!(untraced(&trace.path(), 0), [("MPI_Send".to_owned(), 1)].into(), "{family:?}");
        assert_eq!(events(&trace.path(), 0), ["init", "sendrecv 0 0 4 0 0 4", "sendrecv 0 1 4 0 1 4"], "{family:?}");
    }
}

/// The process that the launcher has started only waits.
#[test]
fn a_child_that_is_forked_before_mpi_is_initialised_is_traced() {
    for family in Family::ALL {
        let trace = compared(&[], family, "late_ends.c", &[], &["fork"]);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        assert_eq!(events(&trace.path(), 1), ["init", "sendrecv 0 0 4 0 0 4", "finalize"], "{family:?}");
    }
}

/// With its own scope of symbols (`RTLD_DEEPBIND`) a plug-in finds the MPI library before the tracer.
#[test]
fn a_plugin_that_calls_mpi_past_the_tracer_is_named() {
    for family in Family::ALL {
        let plugin = family.build("deep_plugin.c", &["-shared", "-fPIC", "-Wl,-z,lazy"]);
        let (host, arguments) = (family.build("deep_host.c", &["-ldl"]), [plugin.to_str().unwrap()]);
        let trace = traced_as(&[], family, 2, &host, &arguments, str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        let said = trace.run.stderr.lines().filter(|line| line.contains("past titr: MPI_Sendrecv")).count();
        assert_eq!(said, 1, "{family:?}: {}", trace.run.stderr);
        for rank in 0..2 {
            let untraced = untraced(&trace.path(), rank);
            assert!(untraced.keys().any(|name| name.starts_with("MPI_Sendrecv in ")), "{family:?}: {untraced:?}");
        }
    }
}
