//! The counter `emulated`: instruction counts from an emulator, which neither another run nor other load changes.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use titr_common::event::{Event, Rank};
use titr_common::trace::{Manifest, Trace};
use titr_tests::{Family, Run, assert_sound, binary, built, run};

/// Instructions of each loop of `counted_loop.c`: three a turn.
const LOOPS: [f64; 3] = [3e6, 6e6, 9e6];

/// The instructions around a loop, at the most: of the program, and of the tracer in the way in and out of a call.
const AROUND: f64 = 2000.0;

/// Runs `counted_loop.c` on two ranks, under the emulator, and writes the trace to `trace`.
fn emulated(family: Family, how: &str, trace: &Path) -> Run {
    let program = family.build("counted_loop.c", &["-pthread"]);
    let mut command = family.mpirun();
    command.args(["-np", "2"]).arg(built("titrace")).args(["--counter", "emulated", "--dir"]).arg(trace);
    run(command.arg(program).arg(how))
}

/// The volumes of a rank's computation that are as large as a loop.
fn loops(trace: &Path, rank: u32) -> Vec<f64> {
    let mut stream = Trace::open(trace).unwrap().stream(Rank(rank)).unwrap();
    let mut volumes = Vec::new();
    while let Some(event) = stream.next_event().unwrap() {
        if let Event::Compute(work) = event
            && work.0 >= 1e6
        {
            volumes.push(work.0);
        }
    }
    volumes
}

#[test]
fn a_loop_has_its_instructions_in_every_run() {
    for family in Family::ALL {
        let directory = TempDir::new().unwrap();
        // The second thread of the third run is the load, and is counted apart.
        let volumes = ["once", "again", "thread"].map(|how| {
            let trace = directory.path().join(how);
            let outcome = emulated(family, how, &trace);
            assert_eq!(outcome.status, Some(0), "{family:?}: {}", outcome.stderr);
            assert_sound(&trace);
            assert!(Manifest::read(&trace).unwrap().per_rank.iter().all(|entry| entry.counter.kind == "emulated"));
            let info = run(binary("titr").arg("info").arg(&trace)).stdout;
            assert!(!info.contains("before MPI_Init"), "{family:?}: the emulator's own start: {info}");
            [0, 1].map(|rank| loops(&trace, rank))
        });
        for rank in &volumes {
            for volumes in rank {
                assert_eq!(volumes.len(), LOOPS.len(), "{family:?}: {volumes:?}");
                for (volume, exact) in volumes.iter().zip(LOOPS) {
                    assert!((volume - exact).abs() <= AROUND, "{family:?}: {volumes:?}");
                }
            }
        }
        assert_eq!(volumes[0], volumes[1], "{family:?}");
    }
}

/// Open MPI must not read the memory of another process, unless the user says so.
#[test]
fn libraries_know_what_the_emulator_cannot_do() {
    const COPY: &str = "OMPI_MCA_btl_vader_single_copy_mechanism";
    const WINDOWS: &str = "OMPI_MCA_osc";
    let directory = TempDir::new().unwrap();
    let mut titrace = binary("titrace");
    titrace.args(["--counter", "emulated", "--dir"]).arg(directory.path().join("traces")).arg("env");
    let outcome = run(titrace.env_remove(COPY).env(WINDOWS, "pt2pt"));
    let has = |line: String| outcome.stdout.lines().any(|one| one == line);
    assert!(has(format!("{COPY}=none")) && has(format!("{WINDOWS}=pt2pt")), "{outcome:?}");
}

/// The exit status and what the emulator prints are the program's.
#[test]
fn a_program_that_fails_under_the_emulator_says_so() {
    for family in Family::ALL {
        let directory = TempDir::new().unwrap();
        let outcome = emulated(family, "abort", &directory.path().join("traces"));
        assert_ne!(outcome.status, Some(0), "{family:?}");
        assert!(outcome.stderr.contains("uncaught target signal"), "{family:?}: {}", outcome.stderr);
    }
}

#[test]
fn what_cannot_be_emulated_is_refused_in_one_line() {
    let family = Family::OpenMpi;
    let program = family.build("counted_loop.c", &["-pthread"]);
    let refused = |path: &Path, program: &Path| {
        let mut command = binary("titrace");
        let outcome = run(command.args(["--counter", "emulated"]).arg(program).env("PATH", path));
        assert_eq!((outcome.status, outcome.stderr.lines().count()), (Some(1), 1), "{}", outcome.stderr);
        outcome.stderr
    };
    let directory = TempDir::new().unwrap();
    let name = format!("qemu-{}", std::env::consts::ARCH);
    assert!(refused(directory.path(), &program).contains(&format!("needs {name}, which is not in PATH")));

    // A program of another machine.
    let emulator = directory.path().join(&name);
    let mut header = fs::read(built("titrace")).unwrap();
    // `e_machine` is that of RISC-V.
    header[18..20].copy_from_slice(&[0xf3, 0]);
    fs::write(&emulator, header).unwrap();
    fs::set_permissions(&emulator, fs::metadata(&program).unwrap().permissions()).unwrap();
    assert!(refused(directory.path(), &program).contains("is not an emulator for this machine"));

    let script = directory.path().join("script");
    fs::write(&script, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&script, fs::metadata(&program).unwrap().permissions()).unwrap();
    assert!(refused(directory.path(), &script).contains("start a script by its interpreter"));
}

#[test]
fn without_an_emulator_the_tracer_says_how_to_start_the_program() {
    let family = Family::OpenMpi;
    let mut command = family.alone(family.build("counted_loop.c", &["-pthread"]));
    let outcome = run(command.env("LD_PRELOAD", family.preload()).env("TITRACE_COUNTER", "emulated"));
    assert_eq!(outcome.status, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("TITRACE_COUNTER=emulated: no emulator counts"), "{}", outcome.stderr);
}
