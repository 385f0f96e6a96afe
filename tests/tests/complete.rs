//! The whole standard: libraries that are not installed here, and every kind of call beyond messages and collectives.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use titr_common::trace::Manifest;
use titr_tests::{Family, Run, Traced, assert_sound, library, lines, replay, run, traced};

/// A program written against the standard ABI, and a library that has it (or, with `options`, another one).
struct Standard {
    directory: TempDir,
    program: PathBuf,
}

impl Standard {
    fn build(options: &[&str]) -> Self {
        let directory = TempDir::new().unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/abi");
        let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wrappers/tests/data/abi");
        let compile = |source: &str, arguments: &[&str]| {
            let mut command = Command::new("cc");
            command.arg("-I").arg(&header).arg(sources.join(source)).args(arguments).current_dir(directory.path());
            let compiled = run(&mut command);
            assert_eq!(compiled.status, Some(0), "{}", compiled.stderr);
        };
        compile("library.c", &[&["-shared", "-fPIC", "-o", "libmpi_abi.so"], options].concat());
        compile("program.c", &["-o", "program", "-L.", "-lmpi_abi", "-Wl,-rpath,$ORIGIN"]);
        let program = directory.path().join("program");
        Self { directory, program }
    }

    fn run(&self, traced: bool) -> Run {
        let mut command = Command::new(&self.program);
        command.current_dir(self.directory.path());
        if traced {
            command.env("LD_PRELOAD", library());
        }
        run(&mut command)
    }

    fn trace(&self) -> PathBuf {
        self.directory.path().join("traces")
    }
}

/// The library is a stand-in, as none that has the standard ABI is packaged: its handles, constants and statuses are
/// the standard's.
#[test]
fn the_standard_abi() {
    let standard = Standard::build(&[]);
    let (plain, traced) = (standard.run(false), standard.run(true));
    assert_eq!(plain.stdout, "rank 0 of MPI 5.0 got 1 2 3, and no more\n");
    assert_eq!(traced, plain);
    assert_eq!(
        lines(&standard.trace()),
        "0 init\n0 irecv * * 12 6 0 any\n0 send 0 77 12\n0 matched 0 0 77\n0 wait 0 0 77 0\n0 allreduce 12 3 6 4\n0 finalize\n"
    );
}

/// An unknown library is named once, and the program runs untraced.
#[test]
fn an_unknown_library() {
    let unknown = Standard::build(&["-DUNKNOWN"]);
    let (plain, traced) = (unknown.run(false), unknown.run(true));
    assert_eq!((traced.status, &traced.stdout), (plain.status, &plain.stdout));
    assert_eq!(plain.status, Some(6));
    assert_eq!(traced.stderr.lines().count(), 1);
    assert!(traced.stderr.contains("not tracing") && traced.stderr.contains("Some other MPI 1.0"), "{}", traced.stderr);
    assert!(!unknown.trace().exists());
}

/// The trace that `programs/NAME.c` leaves is the golden one, nothing in it is untraced, and it can be replayed.
fn check(name: &str, family: Family, ranks: u32) -> (Traced, serde_json::Value) {
    let trace = traced(family, ranks, &family.build(&format!("{name}.c"), &[]), &[], str::to_owned);
    assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(name, lines(&trace.path())) });
    for entry in &Manifest::read(&trace.path()).unwrap().per_rank {
        assert_eq!(entry.untraced, [].into(), "{family:?}");
    }
    assert_sound(&trace.path());
    let report = replay("torus.toml", &trace.path());
    assert_eq!(report["ranks"], ranks);
    (trace, report)
}

/// What a replay says that it did not simulate.
fn skipped(report: &serde_json::Value) -> Vec<&str> {
    let warnings = report["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap());
    warnings.filter(|warning| warning.starts_with("not simulated: ")).collect()
}

#[test]
fn one_sided() {
    for family in Family::ALL {
        let (_, report) = check("one_sided", family, 4);
        assert_eq!(skipped(&report), [""; 0]);
    }
}

#[test]
fn files() {
    for family in Family::ALL {
        let (_, report) = check("files", family, 2);
        assert_eq!(skipped(&report), [""; 0]);
    }
}

/// Collectives of neighbours and persistent ones are simulated.
#[test]
fn neighbors() {
    for family in Family::ALL {
        let (_, report) = check("neighbors", family, 4);
        assert_eq!(skipped(&report), [""; 0]);
        assert!(report["messages"].as_u64().unwrap() > 0);
    }
}

#[test]
fn persistent_collectives() {
    for family in Family::ALL {
        let (_, report) = check("persistent_collectives", family, 4);
        assert_eq!(skipped(&report), [""; 0]);
    }
}

#[test]
fn intergroups() {
    for family in Family::ALL {
        let (_, report) = check("intergroups", family, 5);
        assert_eq!(skipped(&report), [""; 0]);
    }
}

/// Open MPI 4.1 is an MPI 3.1.
#[test]
fn mpi_4() {
    let (_, report) = check("mpi_4", Family::Mpich, 2);
    assert_eq!(skipped(&report), [""; 0]);
}

/// Without `MPI_COMM_WORLD` there are no ranks that a trace could name: the program is told so, and left alone.
#[test]
fn sessions_alone() {
    let family = Family::Mpich;
    let trace = traced(family, 2, &family.build("sessions.c", &[]), &[], str::to_owned);
    assert_eq!((trace.run.status, trace.run.stdout.as_str()), (Some(0), "2 ranks\n"));
    assert!(trace.run.stderr.contains("not tracing: the program uses sessions alone"), "{}", trace.run.stderr);
    assert!(!trace.path().exists());
}

/// The peak memory that a run of `programs/requests.c` has.
fn peak(family: Family, what: &str, number: u32, preload: bool) -> u64 {
    let directory = TempDir::new().unwrap();
    let mut command = family.mpirun();
    command.args(["-np", "1"]).arg(family.build("requests.c", &[])).args([what, &number.to_string()]);
    command.current_dir(directory.path());
    if preload {
        command.env("LD_PRELOAD", family.preload());
    }
    let run = run(&mut command);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    if preload {
        assert_sound(&directory.path().join("traces"));
    }
    let peak = run.stderr.lines().find_map(|line| line.strip_prefix("peak "));
    peak.unwrap_or_else(|| panic!("{}", run.stderr)).parse().unwrap()
}

/// Requests freed, cancelled, started again, never waited for leave nothing behind.
#[test]
fn requests_let_go() {
    for family in Family::ALL {
        let grown = |preload| {
            let (few, many) = (peak(family, "letgo", 2_000, preload), peak(family, "letgo", 60_000, preload));
            many.saturating_sub(few)
        };
        let (own, traced) = (grown(false), grown(true));
        // A request that leaked would take 100 bytes: five of them in 58,000 rounds are 29 MB.
        assert!(traced < own + (1 << 20), "{family:?}: grows by {traced} traced, by {own} untraced");
    }
}

/// A million requests at once: what the tracer keeps of each is little. MPICH 4.0 itself ends the program at some 260,000.
#[test]
fn a_million_requests_at_once() {
    for (family, pairs) in [(Family::OpenMpi, 500_000), (Family::Mpich, 100_000)] {
        let (own, traced) = (peak(family, "outstanding", pairs, false), peak(family, "outstanding", pairs, true));
        let each = traced.saturating_sub(own) / (2 * u64::from(pairs));
        assert!(each <= 200, "{family:?}: {each} bytes a request: {own} untraced, {traced} traced");
    }
}
