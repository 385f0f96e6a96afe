//! Faults of a program or its disk cost the trace at most the last buffer, and do not change the program's output or
//! exit status. `ends.rs` has the regular ends of programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use titr_common::event::{Completion, Event, Rank};
use titr_common::trace::manifest::Ended;
use titr_common::trace::{Ending, Manifest, Trace};
use titr_test_support::cannot_run;
use titr_tests::{Family, Run, Traced, assert_sound, build, library, milestones, replay, run, traced, traced_alone};

/// Runs `faults WHAT` with and without the tracer, on two ranks.
fn on_two_ranks(family: Family, what: &str) -> Traced {
    traced(family, 2, &family.build("faults.c", &[]), &[what], milestones)
}

/// Runs `faults WHAT` with and without the tracer, on one rank.
fn alone(family: Family, what: &str) -> Traced {
    traced_alone(family, &family.build("faults.c", &[]), &[what], milestones)
}

/// The events of `rank` that can be read, and how its stream ends.
fn readable(trace: &Path, rank: u32) -> (Vec<Event>, Ending) {
    let source = Trace::open(trace).unwrap_or_else(|error| panic!("{error}")).partial(true);
    let mut stream = source.stream(Rank(rank)).unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.next_event().unwrap_or_else(|error| panic!("{error}")) {
        events.push(event);
    }
    (events, stream.ending().unwrap())
}

fn command(family: Family, what: &[&str]) -> Command {
    let mut command = family.mpirun();
    command.args(["-np", "2"]).arg(family.build("faults.c", &[])).args(what).env("LD_PRELOAD", family.preload());
    command
}

#[test]
fn a_program_that_only_begins_leaves_a_trace_that_is_replayed() {
    for family in Family::ALL {
        let trace = on_two_ranks(family, "init-only");
        assert_sound(&trace.path());
        assert_eq!(replay("torus.toml", &trace.path())["messages"], 0);

        let trace = alone(family, "init-exit");
        let ended: Vec<_> = Manifest::read(&trace.path()).unwrap().per_rank;
        let whole: Vec<_> = ended.iter().filter(|entry| entry.ended == Ended::Exit).collect();
        assert!(!whole.is_empty(), "{family:?}: {ended:?}");
        assert!(whole.iter().all(|entry| readable(&trace.path(), entry.rank).1 == Ending::Complete), "{family:?}");
    }
}

/// 20 million additions, and nothing else, in the last event.
#[test]
fn what_was_computed_after_the_last_call_is_recorded() {
    for family in Family::ALL {
        for (trace, rank, end) in
            [(alone(family, "compute-exit"), 0, Ended::Exit), (on_two_ranks(family, "compute-abort"), 1, Ended::Abort)]
        {
            assert_eq!(Manifest::read(&trace.path()).unwrap().per_rank[rank as usize].ended, end, "{family:?}");
            let (events, _) = readable(&trace.path(), rank);
            let last = events.last().unwrap();
            assert!(matches!(last, Event::Compute(work) if work.0 > 5e6), "{family:?} {end:?}: {last:?}");
        }
    }
}

/// A small file system, mounted as long as the value lives; `None` unless the user is root.
struct Disk(TempDir);

impl Disk {
    fn mount(options: &str) -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let mut mount = Command::new("mount");
        let mounted = run(mount.args(["-t", "tmpfs", "-o", options, "none"]).arg(folder.path()));
        if mounted.status != Some(0) {
            cannot_run(format_args!("no file system can be mounted, as root can: {}", mounted.stderr));
            return None;
        }
        Some(Self(folder))
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

fn untouched(run: &Run) {
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stdout.contains("before the end") && run.stdout.contains("done on 2 ranks"), "{run:?}");
}

#[test]
fn a_disk_that_fills_up_ends_the_trace_and_not_the_program() {
    for family in Family::ALL {
        let Some(disk) = Disk::mount("size=1m") else { return };
        let (trace, filler) = (disk.path().join("traces"), disk.path().join("filler"));
        let mut command = command(family, &["full", filler.to_str().unwrap()]);
        let run = run(command.env("TITRACE_DIR", &trace).env("TITRACE_BUFFER", "8 KiB"));
        untouched(&run);
        assert!(run.stderr.contains("the program goes on"), "{family:?}: {}", run.stderr);
        for rank in 0..2 {
            let (events, ending) = readable(&trace, rank);
            assert!(
                events.len() >= 1000 && matches!(ending, Ending::Torn(_)),
                "{family:?}: {} {ending:?}",
                events.len()
            );
        }
    }
}

#[test]
fn a_directory_that_cannot_be_written_costs_the_trace_and_not_the_run() {
    let family = Family::OpenMpi;
    let Some(disk) = Disk::mount("ro") else { return };
    for directory in [disk.path(), disk.path().join("traces")] {
        let run = run(command(family, &[]).env("TITRACE_DIR", &directory));
        untouched(&run);
        assert!(run.stderr.contains(disk.path().to_str().unwrap()), "{}", run.stderr);
    }
}

/// The slowest compression of the smallest buffers: the program waits for the flush thread, and the waits are counted.
#[test]
fn a_flush_thread_that_falls_behind_is_waited_for() {
    let directory = TempDir::new().unwrap();
    let mut command = command(Family::OpenMpi, &[]);
    let settings = [("TITRACE_BUFFER", "4 KiB"), ("TITRACE_LEVEL", "9")];
    untouched(&run(command.current_dir(directory.path()).envs(settings)));
    let trace = directory.path().join("traces");
    for entry in Manifest::read(&trace).unwrap().per_rank {
        let (events, ending) = readable(&trace, entry.rank);
        assert_eq!((entry.lost_events, ending), (0, Ending::Complete));
        assert_eq!(entry.events, events.len() as u64);
        assert!(
            events.iter().filter(|event| matches!(event, Event::Send(_, _, Completion::Request(_)))).count() == 10_000
        );
    }
}

#[test]
fn a_clock_that_steps_back_makes_no_volume_strange() {
    let family = Family::OpenMpi;
    let directory = TempDir::new().unwrap();
    let clock = build("cc", "clock_back.c", &["-shared", "-fPIC"]);
    let mut command = family.mpirun();
    // The program's clocks, and not those of mpirun, which gives up on its ranks then.
    let preload = format!("LD_PRELOAD={}:{}", library().display(), clock.display());
    command.args(["-np", "2", "env", &preload]).arg(family.build("faults.c", &[]));
    untouched(&run(command.current_dir(directory.path()).env("TITRACE_COUNTER", "cpu")));
    let trace = directory.path().join("traces");
    assert_sound(&trace);
    for rank in 0..2 {
        let (events, ending) = readable(&trace, rank);
        assert_eq!(ending, Ending::Complete);
        for event in events {
            // An hour would be 10¹² instructions and more.
            assert!(!matches!(event, Event::Compute(work) if !(0.0..1e11).contains(&work.0)), "{event:?}");
        }
    }
}
