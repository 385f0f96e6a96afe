//! Programs together with another tool or a sanitizer: each works as without the tracer.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use titr_test_support::cannot_run;
use titr_tests::{Family, assert_sound, build, built, lines, run, traced_only};

/// Runs a program under the launcher, with `preloaded` before it; returns its output, and its errors.
fn launched(family: Family, program: &Path, preloaded: &str) -> (String, String) {
    let directory = TempDir::new().unwrap();
    let mut command = family.mpirun();
    command.args(["-np", "2", "env", &format!("LD_PRELOAD={preloaded}")]).arg(built("titrace")).arg(program);
    let launched = run(command.current_dir(directory.path()));
    assert_eq!(launched.status, Some(0), "{family:?}: {launched:?}");
    let trace = directory.path().join("traces");
    assert_sound(&trace);
    assert_eq!(count(&trace, "allreduce"), 6, "{family:?}");
    assert_eq!(count(&trace, " send "), 2, "{family:?}");
    (launched.stdout, launched.stderr)
}

fn count(trace: &Path, word: &str) -> usize {
    lines(trace).lines().filter(|line| line.contains(word)).count()
}

const COUNTED: &str = "tool: 3 reductions, 2 sends\n";

/// The tool sees the calls of the program and no others, and so does the tracer.
#[test]
fn another_tool_counts_what_it_counts_untraced() {
    for family in Family::ALL {
        let (program, tool) =
            (family.build("counted.c", &[]), family.build("tool.c", &["-shared", "-fPIC"]).display().to_string());
        let (output, errors) = launched(family, &program, &tool);
        assert_eq!(output.matches(COUNTED).count(), 1, "{family:?}: {output} {errors}");
        // The tracer is named already.
        let both = format!("{}:{tool}", built("libtitrace.so").display());
        assert_eq!(launched(family, &program, &both).0.matches(COUNTED).count(), 1, "{family:?}");
    }
}

/// A tool in the program itself comes before the tracer; a library that the program is linked with comes behind it, and
/// that is said.
#[test]
fn a_tool_that_is_linked_is_before_or_is_named() {
    for family in Family::ALL {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/tool.c").display().to_string();
        let program = family.build("counted.c", &[&source]);
        let (output, errors) = launched(family, &program, "");
        assert_eq!((output.matches(COUNTED).count(), errors.contains("defines functions of MPI")), (1, false));
        let tool = family.build("tool.c", &["-shared", "-fPIC"]).display().to_string();
        let program = family.build("counted.c", &[&tool]);
        let (_, errors) = launched(family, &program, "");
        assert_eq!(errors.matches("defines functions of MPI").count(), 1, "{family:?}: {errors}");
        let (output, errors) = launched(family, &program, &tool);
        assert_eq!((output.matches(COUNTED).count(), errors.contains("defines functions of MPI")), (1, false));
    }
}

/// Sanitizers report the same about the program as without the tracer, for every way to preload the tracer. A plug-in of
/// the MPI library may be too much for them, traced or not: the program then runs without it as well.
#[test]
fn programs_with_a_sanitizer_run() {
    // What MPI libraries lose is not of interest here.
    let options = [("ASAN_OPTIONS", "detect_leaks=0"), ("HWLOC_COMPONENTS", "-opencl")];
    for family in Family::ALL {
        for sanitizer in ["address", "thread", "undefined"] {
            // MPICH's transport ends with a segmentation fault under ThreadSanitizer.
            if (family, sanitizer) == (Family::Mpich, "thread") {
                continue;
            }
            let program = family.build("counted.c", &[&format!("-fsanitize={sanitizer}")]);
            let runs = runs_as_untraced(family, &program, &options[..1]);
            assert!(runs || runs_as_untraced(family, &program, &options), "{family:?} {sanitizer}");
        }
    }
}

/// Whether the program succeeds with these variables. If it does, its trace is sound, and if not, it fails untraced too.
fn runs_as_untraced(family: Family, program: &Path, variables: &[(&str, &str)]) -> bool {
    let directory = TempDir::new().unwrap();
    let outcome = |starter: &[PathBuf]| {
        let mut command = family.mpirun();
        command.args(["-np", "2"]).args(starter).arg(program).current_dir(directory.path());
        // AddressSanitizer wants to be the first that is preloaded.
        let launched = run(command.env_remove("LD_PRELOAD").envs(variables.iter().copied()));
        (launched.status, launched.stdout, launched.stderr.contains("WARNING"))
    };
    let untraced = outcome(&[]);
    assert_eq!(outcome(&[built("titrace")]), untraced, "{family:?} {}", program.display());
    let runs = untraced == (Some(0), String::new(), false);
    if runs {
        assert_sound(&directory.path().join("traces"));
        // Preloaded by hand.
        assert_sound(&traced_only(variables, family, 2, program).path());
    }
    runs
}

/// A program that is built for another C library is told apart.
#[test]
fn a_program_for_musl_is_not_started() {
    if std::process::Command::new("musl-gcc").arg("--version").output().is_err() {
        return cannot_run(format_args!("there is no musl-gcc"));
    }
    let source = TempDir::new().unwrap();
    let file = source.path().join("hello.c");
    std::fs::write(&file, "int main(void) { return 0; }").unwrap();
    let program = build("musl-gcc", &file.display().to_string(), &[]);
    let refused = run(std::process::Command::new(built("titrace")).arg(program));
    assert_eq!((refused.status, refused.stderr.lines().count()), (Some(1), 1), "{refused:?}");
    assert!(refused.stderr.contains("another C library"), "{refused:?}");
}

/// What the library calls itself inside a call is not the program's, whichever names of a function the tool has, and whether or
/// not it returns there.
#[test]
fn with_another_tool_the_calls_inside_a_call_are_still_the_librarys() {
    for family in Family::ALL {
        let program = family.build("collective_files.c", &[]);
        let alone = lines(&traced_only(&[], family, 4, &program).path());
        let by_one_name = family.build("tool.c", &["-shared", "-fPIC", "-O2"]);
        for tool in [family.counter(), by_one_name] {
            let preload = format!("{}:{}", tool.display(), family.preload().display());
            let traced = traced_only(&[("LD_PRELOAD", &preload)], family, 4, &program);
            assert_eq!(lines(&traced.path()), alone, "{family:?}: {}", tool.display());
        }
    }
}
