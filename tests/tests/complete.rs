//! Everything that the standard has: libraries that are not installed here, and every kind of call beyond messages and
//! collectives.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use titr_tests::{Run, library, lines, run};

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

/// A library that nobody knows is named once, and the program is left alone.
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
