//! The tutorials, followed from the first line to the last: every block of shell commands is run, and what a command
//! prints is what the page shows. `UPDATE=1` writes what they print now into the pages.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use titr_test_support::cannot_run;
use titr_tests::{Family, built, run};

/// A part of a page.
enum Part {
    /// Text, and blocks that are not run.
    Text(String),
    /// A block `sh`: a script, whose output the page does not show.
    Script(String),
    /// A block `console`: commands after `$ `, each with its output.
    Console(Vec<(String, String)>),
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The parts of a page, in order.
fn parts(page: &str) -> Vec<Part> {
    let mut parts = vec![Part::Text(String::new())];
    for line in page.split_inclusive('\n') {
        match (line.trim_end(), parts.last_mut().unwrap()) {
            ("```sh", _) => parts.push(Part::Script(String::new())),
            ("```console", _) => parts.push(Part::Console(Vec::new())),
            ("```", Part::Script(_) | Part::Console(_)) => parts.push(Part::Text(String::new())),
            (_, Part::Script(script)) => script.push_str(line),
            (text, Part::Console(commands)) => match text.strip_prefix("$ ") {
                Some(command) => commands.push((command.to_owned(), String::new())),
                None => commands.last_mut().expect("a block begins with a command").1.push_str(line),
            },
            (_, Part::Text(text)) => text.push_str(line),
        }
    }
    parts
}

/// The page that has these parts.
fn page(parts: &[Part]) -> String {
    let shown = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Script(script) => format!("```sh\n{script}```\n"),
        Part::Console(commands) => {
            let commands = commands.iter().map(|(command, output)| format!("$ {command}\n{output}"));
            format!("```console\n{}```\n", commands.collect::<String>())
        }
    };
    parts.iter().map(shown).collect()
}

/// Output without the speed of this machine.
fn normal(output: &str) -> String {
    let normal = |line: &str| match line {
        _ if line.starts_with("Replayed in ") => "Replayed in …".to_owned(),
        _ if line.ends_with("a second of a processor's time") => "… a second of a processor's time".to_owned(),
        _ => line.trim_end().to_owned(),
    };
    output.lines().map(|line| normal(line) + "\n").collect()
}

/// Runs a script as a reader would, and returns what the terminal shows.
fn terminal(directory: &Path, script: &str) -> String {
    let release = built("titr").parent().unwrap().to_owned();
    let bin = directory.join("bin");
    let path = format!("{}:{}:{}", bin.display(), release.display(), std::env::var("PATH").unwrap());
    let mut command = Family::OpenMpi.alone("bash");
    command.args(["-c", &format!("exec 2>&1\nset -eo pipefail\n{script}")]).current_dir(directory).env("PATH", path);
    let run = run(&mut command);
    assert_eq!(run.status, Some(0), "{script}\n{}", run.stdout);
    normal(&run.stdout)
}

/// Runs the commands of a page in a new directory, and returns the page with what they print now.
fn followed(text: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    symlink(root().join("examples"), directory.path().join("examples")).unwrap();
    let mpirun = directory.path().join("bin/mpirun");
    fs::create_dir(mpirun.parent().unwrap()).unwrap();
    fs::write(&mpirun, "#!/bin/sh\nexec mpirun.openmpi \"$@\"\n").unwrap();
    fs::set_permissions(&mpirun, fs::Permissions::from_mode(0o755)).unwrap();
    let mut parts = parts(text);
    for part in &mut parts {
        match part {
            Part::Text(_) => {}
            Part::Script(script) => drop(terminal(directory.path(), script)),
            Part::Console(commands) => {
                for (command, output) in commands {
                    *output = terminal(directory.path(), command);
                }
            }
        }
    }
    page(&parts)
}

fn follow(name: &str) {
    let path = root().join("docs/tutorials").join(name);
    let written = fs::read_to_string(&path).unwrap();
    let now = followed(&written);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &now).unwrap();
    }
    for (number, (old, new)) in written.lines().zip(now.lines()).enumerate() {
        assert_eq!(old, new, "{name}, line {}", number + 1);
    }
    assert_eq!(written.lines().count(), now.lines().count(), "{name}");
}

/// The page shows what one recording gave: no other gives the same times.
#[test]
fn a_performance_engineer_can_do_what_the_page_says() {
    if Command::new("lmp").arg("-help").output().is_err() {
        return cannot_run("there is no lmp: run ci/install test");
    }
    follow("performance-engineer.md");
}

#[test]
fn a_buyer_gets_what_the_page_shows() {
    follow("buyer.md");
}

#[test]
fn a_network_architect_gets_what_the_page_shows() {
    follow("network-architect.md");
}

#[test]
fn a_teacher_gets_what_the_page_shows() {
    follow("teacher.md");
}
