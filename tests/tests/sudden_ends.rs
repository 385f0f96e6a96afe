//! Ends of a process without `atexit` handlers: the trace is complete up to there and records how it ended, and the
//! program's exit status is unchanged. A killed rank loses the events since the last flush.

use std::path::Path;

use titr_common::event::{Event, Rank};
use titr_common::trace::manifest::{Ended, Signal};
use titr_common::trace::{Ending, Manifest, Trace};
use titr_tests::{
    EXTENDED, Family, Traced, assert_sound, binary, built, milestones, run, traced, traced_alone, traced_as,
};

/// Messages to itself that a rank has recorded before its end.
const BEFORE: usize = 100;

fn alone(family: Family, how: &str) -> Traced {
    traced_alone(family, &family.build("sudden_ends.c", &[]), &[how], milestones)
}

/// The number of readable messages of `rank`, and the end of its stream.
fn readable(trace: &Path, rank: u32) -> (usize, Ending) {
    let source = Trace::open(trace).unwrap_or_else(|error| panic!("{error}")).partial(true);
    let mut stream = source.stream(Rank(rank)).unwrap();
    let mut messages = 0;
    while let Some(event) = stream.next_event().unwrap_or_else(|error| panic!("{error}")) {
        messages += usize::from(matches!(event, Event::Sendrecv(..)));
    }
    (messages, stream.ending().unwrap())
}

fn ended(trace: &Path, rank: usize) -> Ended {
    Manifest::read(trace).unwrap().per_rank[rank].ended
}

fn whole(trace: &Traced, rank: u32, how: Ended, context: &str) {
    assert_eq!(readable(&trace.path(), rank), (BEFORE, Ending::Complete), "{context}");
    assert_eq!(ended(&trace.path(), rank as usize), how, "{context}");
}

const ENDS: [(&str, Ended); 18] = [
    ("_exit", Ended::ImmediateExit),
    ("_Exit", Ended::ImmediateExit),
    ("quick_exit", Ended::Exit),
    ("execl", Ended::Exec),
    ("execlp", Ended::Exec),
    ("execle", Ended::Exec),
    ("execv", Ended::Exec),
    ("execvp", Ended::Exec),
    ("execve", Ended::Exec),
    ("abort", Ended::Signal(Signal(6))),
    ("segv", Ended::Signal(Signal(11))),
    ("term", Ended::Signal(Signal(15))),
    ("int", Ended::Signal(Signal(2))),
    ("quit", Ended::Signal(Signal(3))),
    ("xcpu", Ended::Signal(Signal(24))),
    ("handler", Ended::ImmediateExit),
    ("reset", Ended::Signal(Signal(15))),
    ("error", Ended::Error),
];

#[test]
fn whatever_ends_a_process_the_trace_is_whole_up_to_there_and_says_what_it_was() {
    for family in Family::ALL {
        for (how, expected) in ENDS {
            whole(&alone(family, how), 0, expected, &format!("{family:?} {how}"));
        }
    }
}

#[test]
fn an_extended_trace_is_whole_too() {
    for family in Family::ALL {
        for (how, expected) in [("_exit", Ended::ImmediateExit), ("term", Ended::Signal(Signal(15)))] {
            let program = family.build("sudden_ends.c", &[]);
            let trace = traced_as(&[EXTENDED], family, 1, &program, &[how], |_| String::new());
            whole(&trace, 0, expected, &format!("{family:?} {how}"));
        }
    }
}

/// Open MPI's launcher ends the other ranks with `SIGTERM`, MPICH's kills them.
#[test]
fn a_rank_that_another_one_ends_is_whole_up_to_there() {
    let program = Family::OpenMpi.build("sudden_ends.c", &[]);
    let trace = traced(Family::OpenMpi, 2, &program, &["abort-one"], |_| String::new());
    whole(&trace, 0, Ended::Signal(Signal(15)), "rank 0");
    whole(&trace, 1, Ended::Abort, "rank 1");
    let info = run(binary("titr").arg("info").arg(trace.path())).stdout;
    assert!(info.contains("by SIGTERM (1 of 2 ranks: 0)") && info.contains("in MPI_Abort (1 of 2 ranks: 1)"), "{info}");
    let check = run(binary("titr").arg("check").arg(trace.path())).stderr;
    assert!(
        check.contains("2 ranks of 2 never called MPI_Finalize: rank 1 in MPI_Abort, rank 0 by SIGTERM"),
        "{check}"
    );
}

/// The signal comes while the rank is in a call that does not return.
#[test]
fn a_rank_that_waits_in_a_call_is_whole_up_to_the_call() {
    for family in Family::ALL {
        whole(&alone(family, "waits"), 0, Ended::Signal(Signal(14)), &format!("{family:?}"));
    }
}

#[test]
fn one_rank_says_how_the_run_ended_and_where_its_trace_is() {
    let ends = [
        ("segv-one", "rank 1 ended by SIGSEGV"),
        ("abort-one", "rank 1 ended in MPI_Abort"),
        ("error-one", "rank 1 ended by an MPI error"),
    ];
    for (family, (how, ended)) in Family::ALL.into_iter().flat_map(|family| ends.map(|end| (family, end))) {
        // MPICH asks its launcher to kill all ranks, and tells nobody before whether a handler lets the program go on.
        if (family, how) == (Family::Mpich, "error-one") {
            continue;
        }
        let directory = tempfile::TempDir::new().unwrap();
        let mut command = family.mpirun();
        command.args(["-np", "3"]).arg(built("titrace")).arg(family.build("sudden_ends.c", &[])).arg(how);
        let ran = run(command.current_dir(directory.path()));
        let said: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("titrace: ")).collect();
        let [said] = said[..] else { panic!("{family:?} {how}: {ran:?}") };
        assert!(said.contains(ended) && said.contains("titr replay --partial --platform FILE traces"), "{said}");
    }
}

#[test]
fn a_program_that_goes_on_is_traced_to_its_end() {
    for family in Family::ALL {
        let trace = alone(family, "goes-on");
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        assert_eq!(readable(&trace.path(), 0), (3 * BEFORE, Ending::Complete), "{family:?}");
        assert_eq!(ended(&trace.path(), 0), Ended::Finalize, "{family:?}");
        assert_sound(&trace.path());
    }
}

/// Two loops of a hundred messages are two lines; the rank is killed a second after.
#[test]
fn a_rank_that_is_killed_has_what_it_did_until_the_last_flush() {
    for family in Family::ALL {
        let program = family.build("sudden_ends.c", &[]);
        for (flush, expected) in [("100 ms", 2 * BEFORE), ("never", 0)] {
            let flush = ("TITRACE_FLUSH", flush);
            let trace = traced_as(&[flush], family, 1, &program, &["killed"], |_| String::new());
            let (messages, ending) = readable(&trace.path(), 0);
            assert_eq!(messages, expected, "{family:?} {flush:?}");
            assert!(matches!(ending, Ending::Torn(_)), "{family:?} {flush:?}: {ending:?}");
            assert_eq!(ended(&trace.path(), 0), Ended::Running, "{family:?} {flush:?}");
        }
    }
}
