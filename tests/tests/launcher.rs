//! `mpirun titrace PROGRAM`: the same trace as with `LD_PRELOAD`, or a reason why there is none.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;

use tempfile::TempDir;
use titr_common::trace::Manifest;
use titr_test_support::cannot_run;
use titr_tests::{Family, binary, built, lines, run, traced};

fn titrace() -> Command {
    binary("titrace")
}

#[test]
fn the_trace_is_the_one_that_preloading_leaves() {
    for family in Family::ALL {
        let program = family.build("ring.c", &[]);
        let preloaded = traced(family, 4, &program, &[], str::to_owned);
        let directory = TempDir::new().unwrap();
        let trace = directory.path().join("ring");
        let mut command = family.mpirun();
        command.args(["-np", "4"]).arg(built("titrace")).args(["--level", "9", "--dir"]).arg(&trace).arg(&program);
        // An option says more than the environment does.
        let launched = run(command.env("TITRACE_LEVEL", "1"));
        assert_eq!(launched.status, Some(0), "{}", launched.stderr);
        assert_eq!(lines(&trace), lines(&preloaded.path()));
        assert_eq!(Manifest::read(&trace).unwrap().config["TITRACE_LEVEL"], "9");
    }
}

/// Slurm's `srun` starts the ranks and hands its environment on: the launcher adds to that and takes nothing away.
#[test]
fn what_the_launcher_was_told_reaches_the_program() {
    let seen = run(titrace().args(["env"]).env("SLURM_PROCID", "3").env("LD_PRELOAD", "libc.so.6"));
    assert!(seen.stdout.contains("SLURM_PROCID=3\n"), "{seen:?}");
    let preload = format!("LD_PRELOAD=libc.so.6:{}\n", built("libtitrace.so").display());
    assert!(seen.stdout.contains(&preload), "{seen:?}");
    let failed = run(titrace().args(["sh", "-c", "exit 7"]));
    assert_eq!(failed.status, Some(7), "{failed:?}");
}

/// The launcher preloads the tracer into the program, not into what the program spawns: those processes are not traced, and
/// in an extended trace they are not waited for.
#[test]
fn spawned_processes_are_not_traced() {
    // Debian's MPICH cannot spawn.
    let family = Family::OpenMpi;
    for mode in ["ti", "extended"] {
        let directory = TempDir::new().unwrap();
        let mut command = family.mpirun();
        command.args(["-np", "1"]).arg(built("titrace")).args(["--mode", mode]).arg(family.build("spawn.c", &[]));
        let launched = run(command.current_dir(directory.path()));
        assert_eq!((launched.status, launched.stdout.as_str()), (Some(0), "done with 3\n"), "{mode}: {launched:?}");
        assert_eq!(Manifest::read(&directory.path().join("traces")).unwrap().per_rank.len(), 1, "{mode}");
        assert!(!directory.path().join("traces-2").exists(), "{mode}");
    }
}

#[test]
fn a_mistake_is_told_once_for_all_ranks() {
    for family in Family::ALL {
        for (words, mistake) in [
            (&["--callsites", "4", "./a.out"][..], "unexpected argument '--callsites'"),
            (&["--counter", "none", "env"], "TITRACE_COUNTER=none"),
            (&["./no-such-program"], "no such program"),
        ] {
            let ran = run(family.mpirun().args(["-np", "3"]).arg(built("titrace")).args(words));
            assert_eq!(ran.stderr.matches(mistake).count(), 1, "{family:?}: {ran:?}");
        }
    }
}

fn refused(command: &mut Command, because: &str) {
    let refused = run(command);
    assert_eq!(refused.status, Some(1), "{refused:?}");
    assert!(refused.stderr.starts_with("titrace: ") && refused.stderr.contains(because), "{refused:?}");
    assert_eq!(refused.stderr.lines().count(), 1, "{refused:?}");
}

/// The standard error of one run of `titrace`, without the lines of `mpirun`.
fn said(command: &mut Command) -> Vec<String> {
    let ran = run(command);
    ran.stderr.lines().filter(|line| line.starts_with("titrace: ")).map(str::to_owned).collect()
}

/// Wrappers start programs that `titrace` does not look at. If none of them is traced, one line says so, whichever of
/// the programs cannot be traced, and for all ranks together.
#[test]
fn a_program_behind_a_wrapper_that_is_not_traced_is_noticed() {
    let directory = TempDir::new().unwrap();
    let source = directory.path().join("hello.c");
    fs::write(&source, "int main(void) { return 0; }").unwrap();
    let build = |name: &str, options: &[&str]| {
        let program = directory.path().join(name);
        assert!(Command::new("cc").args(options).arg("-o").arg(&program).arg(&source).status().unwrap().success());
        program
    };
    let (fixed, without_mpi) = (build("fixed", &["-static"]), build("dynamic", &[]));
    let own = |program: &str| format!("{} did not call MPI_Init", which(program));
    let became = "became a program that the tracer was not loaded into";
    let shell = format!("{}; true", fixed.display());
    let expect = |command: &mut Command, expected: &str| {
        let said = said(command.current_dir(directory.path()));
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("titrace: nothing was traced") && said[0].contains(expected), "{said:?}");
    };
    expect(titrace().arg("env").arg(&fixed), &format!("env {became}"));
    expect(titrace().args(["env", "-i"]).arg(&without_mpi), &format!("env {became}"));
    expect(titrace().arg("env").arg(&without_mpi), &format!("{} did not call MPI_Init", without_mpi.display()));
    expect(titrace().args(["bash", "-c", &shell]), &own("bash"));
    // A program that is not there: `exec` fails, and the shell goes on.
    expect(titrace().args(["bash", "-c", "shopt -s execfail; exec ./missing; true"]), &own("bash"));
    expect(titrace().arg(built("titrace")).arg(&without_mpi), "dynamic did not call MPI_Init");
    for family in Family::ALL {
        expect(family.mpirun().args(["-np", "3"]).arg(built("titrace")).arg("env").arg(&fixed), became);
        expect(
            family.mpirun().args(["-np", "3"]).arg(built("titrace")).arg(&without_mpi),
            "dynamic did not call MPI_Init",
        );
        let launcher = family.mpirun();
        let mut around = titrace();
        around.arg(launcher.get_program()).args(launcher.get_args()).args(["-np", "2"]);
        let at_end =
            said(around.envs(launcher.get_envs().filter_map(|(name, value)| Some((name, value?)))).arg(&fixed));
        assert!(at_end.last().unwrap().starts_with("titrace: nothing was traced: "), "{at_end:?}");
    }
}

#[test]
fn a_program_behind_a_wrapper_that_is_traced_is_not_spoken_of() {
    for family in Family::ALL {
        let directory = TempDir::new().unwrap();
        let mut command = family.mpirun();
        command.args(["-np", "2"]).arg(built("titrace")).args(["sh", "-c"]);
        let script = format!("env {}; true", family.build("ring.c", &[]).display());
        let ran = run(command.arg(script).current_dir(directory.path()));
        assert_eq!((ran.status, ran.stderr.lines().count()), (Some(0), 1), "{ran:?}");
        assert!(ran.stderr.starts_with("titrace: traced 2 ranks in traces ("), "{ran:?}");
        assert_eq!(Manifest::read(&directory.path().join("traces")).unwrap().per_rank.len(), 2);
    }
}

/// The path of a program that is running, as the kernel gives it.
fn which(program: &str) -> String {
    let found = run(Command::new("sh").args(["-c", "readlink -f \"$(command -v \"$1\")\"", "sh", program]));
    found.stdout.trim_end().to_owned()
}

#[test]
fn what_cannot_be_traced_is_not_started() {
    let directory = TempDir::new().unwrap();
    let source = directory.path().join("hello.c");
    fs::write(&source, "int main(void) { return 0; }").unwrap();
    let program = directory.path().join("hello");
    let compile = |options: &[&str]| {
        assert!(Command::new("cc").args(options).arg("-o").arg(&program).arg(&source).status().unwrap().success());
    };
    compile(&["-static"]);
    refused(titrace().arg(&program), "hello is statically linked");
    compile(&[]);
    assert_eq!(run(titrace().arg(&program)).status, Some(0));
    refused(titrace().args(["--level", "20"]).arg(&program), "TITRACE_LEVEL=20: expected a gzip level");
    refused(titrace().args(["--library", "/nowhere"]).arg(&program), "--library FILE");
    refused(titrace().arg(directory.path().join("missing")), "no such program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
    refused(titrace().arg(&program), "hello is not executable");
}

#[test]
fn a_program_that_becomes_another_user_is_not_started() {
    let directory = TempDir::new().unwrap();
    let program = directory.path().join("true");
    fs::copy("/bin/true", &program).unwrap();
    if let Err(error) = chown(&program, Some(65_534), None) {
        return cannot_run(format_args!("only root can give a file to another user: {error}"));
    }
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
    refused(titrace().arg(program), "set-uid");
}

/// What Linux gives a program the rights of its file's capabilities for is what the dynamic loader preloads nothing
/// into: for another user than root, if they take effect or are permitted.
#[test]
fn a_program_with_file_capabilities_is_not_started() {
    let directory = TempDir::new().unwrap();
    let program = directory.path().join("true");
    fs::copy("/bin/true", &program).unwrap();
    let launcher = directory.path().join("titrace");
    for (name, to) in [("titrace", &launcher), ("libtitrace.so", &directory.path().join("libtitrace.so"))] {
        fs::copy(built(name), to).unwrap();
    }
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let as_nobody = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&launcher).arg(&program);
        command
    };
    if !as_nobody().status().is_ok_and(|status| status.success()) {
        return cannot_run(format_args!("only root can start a program as another user (setpriv)"));
    }
    for (capabilities, is_started) in [("cap_net_raw+ep", false), ("cap_net_raw+p", false), ("cap_net_raw+i", true)] {
        if !Command::new("setcap").arg(capabilities).arg(&program).status().is_ok_and(|status| status.success()) {
            return cannot_run(format_args!("setcap gives the file no capabilities"));
        }
        match is_started {
            true => assert_eq!(run(&mut as_nobody()).status, Some(0), "{capabilities}"),
            false => refused(&mut as_nobody(), "file capabilities"),
        }
        // Root has them already.
        assert_eq!(run(Command::new(&launcher).arg(&program)).status, Some(0), "{capabilities}");
    }
}

#[test]
fn put_before_mpirun_it_says_where_it_belongs() {
    let directory = TempDir::new().unwrap();
    let mpirun = directory.path().join("mpirun");
    fs::write(&mpirun, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&mpirun, fs::Permissions::from_mode(0o755)).unwrap();
    let started = run(titrace().arg(&mpirun).args(["-np", "2", "./ring"]));
    assert_eq!(started.status, Some(0), "{started:?}");
    assert!(started.stderr.contains("put titrace after it"), "{started:?}");
}

/// The launcher may end before the last words of a rank that it kills: the rank that aborts says it before it does.
#[test]
fn the_last_line_after_an_abort_says_so() {
    for family in Family::ALL {
        let directory = TempDir::new().unwrap();
        let trace = directory.path().join("aborted");
        let mut command = family.mpirun();
        command.args(["-np", "2"]).arg(built("titrace")).arg("--dir").arg(&trace);
        let aborted = run(command.arg(family.build("ends.c", &[])).arg("abort"));
        assert_ne!(aborted.status, Some(0), "{family:?}");
        let last = aborted.stderr.lines().rfind(|line| line.starts_with("titrace: ")).unwrap_or_default();
        assert!(last.contains("abort") || last.contains("MPI_Abort"), "{family:?}: {}", aborted.stderr);
        let checked = run(binary("titr").arg("check").arg(&trace));
        assert!(checked.status == Some(1) && !checked.stdout.contains("sound"), "{family:?}: {checked:?}");
    }
}

#[test]
fn every_command_takes_any_bytes_and_says_when_its_output_is_lost() {
    let strange = OsStr::from_bytes(b"no-\xff\n-file");
    let full = || fs::File::create("/dev/full").unwrap();
    for name in ["titr", "titr-replay", "titrace", "titr-calibrate", "titr-ccnuma", "titr-reenact"] {
        for words in [&[strange][..], &[OsStr::new("--version"), strange], &[OsStr::new("info"), strange]] {
            let told = run(binary(name).args(words));
            assert!(!told.stderr.contains("panicked") && !told.stdout.contains("panicked"), "{name}: {told:?}");
            assert!(!told.stderr.lines().any(|line| line == "-file"), "{name}: {told:?}");
        }
        for words in ["--help", "--version"] {
            let lost = run(binary(name).arg(words).stdout(full()));
            let why = "cannot write to standard output: No space left on device";
            assert!(lost.status == Some(1) && lost.stderr.contains(why), "{name} {words}: {lost:?}");
        }
    }
    let outputs: [&[&str]; 4] = [
        &["platform", "show", "star:4 1GB/s 1us"],
        &["schema", "platform"],
        &["schedule", "allreduce", "--ranks", "4", "--bytes", "64KiB"],
        &["completions", "bash"],
    ];
    for words in outputs {
        let lost = run(binary("titr").args(words).stdout(full()));
        assert!(lost.status == Some(1) && lost.stderr.contains("No space left on device"), "{words:?}: {lost:?}");
    }
}
