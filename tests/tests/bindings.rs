//! Equal calls in every language, with both MPI libraries, give the same trace: each call once, with its arguments.
//!
//! | | Open MPI | MPICH |
//! | --- | --- | --- |
//! | C, `mpif.h`, `use mpi`, `use mpi_f08` | ✓ | ✓ |
//! | Python (mpi4py, which loads the library with `RTLD_LOCAL`) | ✓ | not packaged: Debian builds mpi4py for Open MPI |

use std::path::{Path, PathBuf};

use titr_common::trace::Manifest;
use titr_tests::{Family, assert_sound, lines, replay, run, traced};

/// A program in one of the bindings, and the arguments that make it that.
struct Binding {
    family: Family,
    program: PathBuf,
    arguments: Vec<String>,
}

/// `programs/NAME` in each binding.
fn bindings(name: &str) -> Vec<Binding> {
    let mut all = Vec::new();
    for family in Family::ALL {
        let c = family.build(&format!("{name}.c"), &[]);
        let fortran = ["-DBINDING=1", "-DBINDING=2", "-DBINDING=3"];
        let fortran = fortran.map(|binding| family.build(&format!("{name}.F90"), &[binding]));
        let programs = std::iter::once(c).chain(fortran);
        all.extend(programs.map(|program| Binding { family, program, arguments: Vec::new() }));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("programs/{name}.py"));
    if script.exists() {
        // Debian's own interpreter: another one would not find Debian's mpi4py.
        let program = PathBuf::from("/usr/bin/python3");
        let found = run(std::process::Command::new(&program).args(["-c", "import mpi4py"]));
        assert_eq!(found.status, Some(0), "{}: run ci/install test", found.stderr);
        all.push(Binding { family: Family::OpenMpi, program, arguments: vec![script.to_string_lossy().into_owned()] });
    }
    all
}

/// All leave the golden trace called `name`, which is sound.
fn check(name: &str, ranks: u32) {
    for Binding { family, program, arguments } in bindings(name) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let trace = traced(family, ranks, &program, &arguments, str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        eprintln!("{name} as {} {arguments:?} recorded it:", program.display());
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(name, lines(&trace.path())) });
        for entry in &Manifest::read(&trace.path()).unwrap().per_rank {
            assert_eq!(entry.untraced, [].into(), "{family:?}");
        }
        assert_sound(&trace.path());
        assert_eq!(replay("torus.toml", &trace.path())["ranks"], ranks);
    }
}

#[test]
fn ring() {
    check("ring", 4);
}

#[test]
fn choices() {
    check("choices", 3);
}

#[test]
fn tour() {
    check("tour", 4);
}
