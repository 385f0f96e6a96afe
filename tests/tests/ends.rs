//! For any end of a program, its output and its exit status are unchanged, and the trace is readable up to its last
//! flush.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use titr_common::event::Rank;
use titr_common::trace::manifest::Ended;
use titr_common::trace::{Ending, Manifest, Trace};
use titr_tests::{Family, Run, Traced, binary, build, library, milestones, run, traced, traced_alone};

/// Runs `ends HOW` with and without the tracer, on two ranks.
fn ends(family: Family, how: &str) -> Traced {
    traced(family, 2, &family.build("ends.c", &[]), &[how], milestones)
}

/// The same on one.
fn ends_alone(family: Family, how: &str) -> Traced {
    traced_alone(family, &family.build("ends.c", &[]), &[how], milestones)
}

/// The number of readable events of `rank`, and the end of its stream.
fn readable(trace: &Path, rank: u32) -> (u64, Ending) {
    let source = Trace::open(trace).unwrap_or_else(|error| panic!("{error}")).partial(true);
    let mut stream = source.stream(Rank(rank)).unwrap();
    while stream.next_event().unwrap_or_else(|error| panic!("{error}")).is_some() {}
    (stream.events(), stream.ending().unwrap())
}

fn how_ended(trace: &Path) -> Vec<Ended> {
    Manifest::read(trace).unwrap().per_rank.iter().map(|entry| entry.ended).collect()
}

#[test]
fn finalize_ends_the_trace() {
    for family in Family::ALL {
        let trace = ends(family, "finalize");
        assert_eq!(how_ended(&trace.path()), [Ended::Finalize; 2]);
        for rank in 0..2 {
            let (events, ending) = readable(&trace.path(), rank);
            assert!(events >= 20_000 && ending == Ending::Complete);
        }
    }
}

/// Output is not compared: of ranks that abort, `mpirun` may lose what they have printed, with or without the tracer.
#[test]
fn abort_is_recorded_up_to_the_call() {
    for family in Family::ALL {
        let trace = traced(family, 2, &family.build("ends.c", &[]), &["abort"], |_| String::new());
        assert_eq!(trace.run.status, Some(3), "{family:?}");
        assert_eq!(how_ended(&trace.path())[1], Ended::Abort, "{family:?}");
        let (events, ending) = readable(&trace.path(), 1);
        assert!(events >= 20_000 && ending == Ending::Complete, "{family:?}: {events} {ending:?}");
    }
}

#[test]
fn exit_without_finalize_leaves_a_whole_trace() {
    for (family, how) in Family::ALL.into_iter().flat_map(|family| ["exit", "return"].map(|how| (family, how))) {
        let trace = ends_alone(family, how);
        assert_eq!(trace.run.status, Some(5), "{family:?} {how}");
        assert_eq!(how_ended(&trace.path()), [Ended::Exit], "{family:?} {how}");
        let (events, ending) = readable(&trace.path(), 0);
        assert!(events >= 20_000 && ending == Ending::Complete, "{family:?} {how}: {events} {ending:?}");
    }
}

/// A library that a plug-in of the program needs, and the plug-in, say when they begin and end.
#[test]
fn libraries_begin_and_end_once_however_the_program_ends() {
    const WAYS: [&str; 6] = ["exit", "exit-atexit", "exit-destructor", "exit-thread", "exit-quick", "handler-exits"];
    let library = build("cc", "once.c", &["-shared", "-fPIC"]);
    let plugin = build("cc", "once.c", &["-shared", "-fPIC", "-Wl,--no-as-needed", library.to_str().unwrap()]);
    for (family, how) in Family::ALL.into_iter().flat_map(|family| WAYS.map(|how| (family, how))) {
        let program = family.build("late_ends.c", &["-pthread", "-ldl"]);
        let trace = traced_alone(family, &program, &[how, plugin.to_str().unwrap()], str::to_owned);
        assert_eq!(trace.run.stdout.matches("once: begins").count(), 2, "{family:?} {how}: {}", trace.run.stdout);
        let (events, ending) = readable(&trace.path(), 0);
        assert!(events > 1 && ending == Ending::Complete, "{family:?} {how}: {events} {ending:?}");
    }
}

/// The linker says what it does: from the destructors of the program on it neither opens nor initialises an object, in
/// processes that are traced and in those that call MPI past the tracer.
#[test]
fn nothing_is_opened_while_a_process_exits() {
    for family in Family::ALL {
        let programs =
            [("ends.c", "exit"), ("late_ends.c", "handler-exits"), ("sudden_ends.c", "error"), ("looks_up.c", "")];
        for (source, how) in programs {
            let directory = TempDir::new().unwrap();
            let mut command = family.alone(family.build(source, &["-Wl,--as-needed", "-pthread", "-ldl"]));
            command.arg(how).current_dir(directory.path()).env("LD_PRELOAD", family.preload());
            command.envs([("OMPI_COMM_WORLD_RANK", "0"), ("PMI_RANK", "0"), ("LD_DEBUG", "files")]);
            run(command.env("LD_DEBUG_OUTPUT", directory.path().join("linker")));
            let mut exits = 0;
            for entry in fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()) {
                let said = if entry.is_dir() { String::new() } else { fs::read_to_string(entry).unwrap() };
                // The program has no name there.
                if let Some((_, at_exit)) = said.split_once("calling fini:  [0]") {
                    exits += 1;
                    let other =
                        at_exit.lines().find(|line| line.contains("calling init") || line.contains("opening file"));
                    assert_eq!(other, None, "{family:?} {source} {how}");
                }
            }
            assert!(exits > 0, "{family:?} {source} {how}");
        }
    }
}

/// Nobody tells the tracer.
#[test]
fn an_end_that_cannot_be_seen_costs_the_last_buffer_at_most() {
    for family in Family::ALL {
        let trace = ends_alone(family, "kill");
        assert_ne!(trace.run.status, Some(0));
        assert_eq!(how_ended(&trace.path()), [Ended::Running]);
        let (events, ending) = readable(&trace.path(), 0);
        assert!(events > 1000 && matches!(ending, Ending::Torn(_)), "{family:?}: {events} {ending:?}");
    }
}

#[test]
fn a_killed_rank_loses_its_last_buffer_at_most() {
    for family in Family::ALL {
        let directory = TempDir::new().unwrap();
        let mut command = family.mpirun();
        command.args(["-np", "2"]).arg(family.build("ends.c", &[])).arg("kill").current_dir(directory.path());
        run(command.env("LD_PRELOAD", family.preload()));
        let trace = directory.path().join("traces");
        let (events, ending) = readable(&trace, 1);
        assert!(events > 1000, "{family:?}: {events}");
        assert!(matches!(ending, Ending::Torn(_)), "{family:?}: {ending:?}");
        assert_eq!(how_ended(&trace)[1], Ended::Running);
        let report = run(binary("titr").arg("info").arg(&trace));
        assert!(report.stdout.contains("torn") || report.stderr.contains("torn"), "{report:?}");
    }
}

#[test]
fn a_full_disk_ends_the_trace_and_not_the_program() {
    for family in Family::ALL {
        let trace = ends(family, "disk-full");
        assert_eq!(trace.run.status, Some(0), "{family:?}");
        assert!(trace.run.stderr.contains("the program goes on"), "{family:?}: {}", trace.run.stderr);
        let manifest = Manifest::read(&trace.path()).unwrap();
        assert!(manifest.per_rank.iter().all(|entry| entry.lost_events > 0 && entry.error.is_some()), "{family:?}");
        assert!(matches!(readable(&trace.path(), 0), (1000.., Ending::Torn(_))), "{family:?}");
    }
}

#[test]
fn a_forked_child_writes_nothing() {
    for family in Family::ALL {
        let trace = ends(family, "fork");
        assert_eq!(how_ended(&trace.path()), [Ended::Finalize; 2], "{family:?}");
        assert_eq!(readable(&trace.path(), 0).1, Ending::Complete);
    }
}

#[test]
fn a_program_that_calls_no_mpi_leaves_nothing() {
    for family in Family::ALL {
        let trace = traced(family, 1, &family.build("no_mpi.c", &[]), &[], |text| {
            text.lines().filter(|line| line.contains("no MPI")).collect()
        });
        assert!(!trace.path().exists(), "{family:?}");
    }
    let directory = TempDir::new().unwrap();
    // Whether there is MPI, as mpi4py asks before it loads it.
    let asks = "python3 -c 'import ctypes; print(hasattr(ctypes.CDLL(None), \"MPI_Get_version\"))'";
    for command in ["true", "sh -c 'echo hello; exit 3'", "mpirun.openmpi --version", "mpirun.mpich --version", asks] {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(directory.path());
        let plain = run(&mut shell);
        assert_eq!(run(shell.env("LD_PRELOAD", library())), plain, "{command}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// A rank that is not traced is told so if it has an MPI library, and if it has none and asks.
#[test]
fn a_rank_that_never_calls_mpi_where_it_is_seen_is_told_so() {
    for family in Family::ALL {
        let directory = TempDir::new().unwrap();
        let start = |program: &Path, verbose| {
            let mut command = family.mpirun();
            command.args(["-np", "2"]).arg(program).current_dir(directory.path());
            run(command.env("LD_PRELOAD", family.preload()).env("TITRACE_VERBOSE", verbose))
        };
        let looked_up = start(&family.build("looks_up.c", &["-ldl"]), "0");
        assert_eq!(looked_up.stdout.matches("found MPI").count(), 2, "{looked_up:?}");
        let told = |run: &Run, what: &str| run.stderr.lines().filter(|line| line.contains(what)).count();
        assert_eq!(told(&looked_up, "and never called MPI_Init where titr could see it"), 2, "{looked_up:?}");
        let [quiet, verbose] = ["0", "1"].map(|verbose| start(Path::new("true"), verbose));
        assert_eq!((told(&quiet, "titrace"), told(&verbose, "never called MPI")), (0, 2), "{quiet:?} {verbose:?}");
    }
}

/// A misspelt path is refused before the program has computed anything; directories for hosts and jobs are made.
#[test]
fn a_trace_is_not_put_into_a_directory_that_does_not_exist() {
    for family in Family::ALL {
        let directory = TempDir::new().unwrap();
        let start = |pattern| {
            let mut command = family.alone(family.build("barrier.c", &[]));
            run(command.current_dir(directory.path()).env("LD_PRELOAD", family.preload()).env("TITRACE_DIR", pattern))
        };
        let refused = start("misspelt/traces");
        assert_eq!((refused.status, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
        assert!(refused.stderr.contains("TITRACE_DIR=misspelt/traces: there is no directory misspelt"), "{refused:?}");
        assert!(!directory.path().join("misspelt").exists());
        assert_eq!(start("%h/%r/traces").status, Some(0));
    }
}

#[test]
fn a_trace_is_never_overwritten() {
    let family = Family::OpenMpi;
    let directory = TempDir::new().unwrap();
    let program = family.build("sendrecv.c", &[]);
    let mut command = family.mpirun();
    command.args(["-np", "2"]).arg(program).current_dir(directory.path()).env("LD_PRELOAD", family.preload());
    run(&mut command);
    let first = fs::read(directory.path().join("traces/rank-000000.tit.gz")).unwrap();
    let second = run(&mut command);
    assert!(second.stderr.contains("traces-2"), "{}", second.stderr);
    assert!(directory.path().join("traces-2/manifest.json").exists());
    assert_eq!(fs::read(directory.path().join("traces/rank-000000.tit.gz")).unwrap(), first);
}

#[test]
fn a_wrong_variable_is_refused_before_the_program_runs() {
    let family = Family::OpenMpi;
    let directory = TempDir::new().unwrap();
    let program = family.build("sendrecv.c", &[]);
    let mut command = family.mpirun();
    command.args(["-np", "2"]).arg(program).current_dir(directory.path()).env("LD_PRELOAD", family.preload());
    let refused = run(command.env("TITRACE_LEVEL", "fast"));
    assert_eq!(refused.status, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("TITRACE_LEVEL=fast"), "{}", refused.stderr);
    assert!(!refused.stdout.contains("done"), "{}", refused.stdout);
    assert!(!directory.path().join("traces").exists());
}

#[test]
fn a_directory_that_cannot_be_made_costs_the_trace_and_not_the_run() {
    let family = Family::OpenMpi;
    let mut command = family.mpirun();
    command.args(["-np", "2"]).arg(family.build("sendrecv.c", &[])).env("LD_PRELOAD", family.preload());
    let untraced = run(command.env("TITRACE_DIR", "/proc/traces"));
    assert_eq!(untraced.status, Some(0), "{untraced:?}");
    assert!(untraced.stdout.contains("done") && untraced.stderr.contains("/proc/traces"), "{untraced:?}");
}
