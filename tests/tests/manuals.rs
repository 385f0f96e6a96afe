//! The commands of the README and of the manuals, run as a reader would type them, in one directory that has what they
//! name.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use titr_tests::{Family, built, run};

/// The pages whose blocks of shell commands are run, in this order.
const PAGES: [&str; 15] = [
    "README.md",
    "docs/I-WANT-TO.md",
    "docs/TRACING.md",
    "docs/REPLAYING.md",
    "docs/PLATFORM.md",
    "docs/JOBS.md",
    "docs/EXPLAINING.md",
    "docs/WHAT-IF.md",
    "docs/STUDIES.md",
    "docs/REENACTING.md",
    "docs/FORMATS.md",
    "docs/SIMGRID.md",
    "docs/PACKET.md",
    "docs/NETWORK-TRACES.md",
    "docs/NETWORK-LIBRARY.md",
];

/// The pages whose commands are not run here.
const OTHER_PAGES: [(&str, &str); 7] = [
    ("docs/ADMINISTRATOR.md", "installs: see the test `installed`, and `ci/release cluster`"),
    ("docs/CALIBRATING.md", "needs two hosts: see the test `calibrate`"),
    ("docs/PYTHON.md", "needs the module for Python: see replayer/python/tests/test_docs.py"),
    ("docs/TESTING.md", "runs the tests"),
    ("docs/PERFORMANCE.md", "takes an hour"),
    ("docs/OVERHEAD.md", "takes an hour"),
    ("docs/EXTRAPOLATING.md", "records 64 ranks of a program: see the test `extrapolate` of titr-replayer"),
];

/// The beginnings of commands that are not run.
const NOT_RUN: [(&str, &str); 5] = [
    ("LogGOPSim", "a program that no package has"),
    ("cargo build", "the tests run what it has built"),
    ("ci/install-to", "see the test `installed`"),
    ("ci/test", "runs this test"),
    (
        "titr replay --platform examples/torus.toml traces/ elsewhere/",
        "a program of several worlds: see the test `worlds`",
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The blocks of shell commands of a page, each with the line that it begins at.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let mut is_inside = false;
    for (number, line) in text.lines().enumerate() {
        match line {
            "```sh" => {
                blocks.push((number + 2, String::new()));
                is_inside = true;
            }
            "```" => is_inside = false,
            _ if is_inside => writeln!(blocks.last_mut().unwrap().1, "{line}").unwrap(),
            _ => {}
        }
    }
    blocks
}

/// The commands of a block that are run: those that are not take no time.
fn runnable(block: &str) -> String {
    let is_run = |line: &&str| !NOT_RUN.iter().any(|(beginning, _)| line.starts_with(beginning));
    block.lines().filter(is_run).map(|line| line.to_owned() + "\n").collect()
}

/// What the commands name: programs, traces, platforms, and the files of the repository.
const PREPARATIONS: &str = r#"
mpirun -np 16 titrace ./lu.B.16
TITRACE_MODE=extended TITRACE_DIR=extended mpirun -np 16 titrace ./lu.B.16
for platform in cluster mesh torus; do cp examples/torus.toml $platform.toml; done
printf '[[change]]\nkind = "scale-messages"\nfactor = 0.5\n' > changes.toml
printf '[[job]]\nname = "one"\ntrace = "traces"\n' > jobs.toml
printf 'schema = 1\nplatform = ["torus.toml", "examples/fat-tree.toml"]\ntrace = "traces"\n' > study.toml
for ranks in 16 64; do titr generate stencil --ranks $ranks --torus --bytes 1KiB --compute 1e6 -o run-$ranks; done
titr convert --to otf2 traces -o scorep
titr convert --to simgrid traces -o actions && cp actions/index.txt traces.idx
for host in $(seq 0 15); do echo "host-$host"; done > hosts
cat > cluster16.xml <<'XML'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="host-" suffix="" radical="0-15" speed="1Gf" bw="125MBps" lat="50us"/>
</platform>
XML
"#;

/// A directory in which the commands run.
fn prepared() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let inside = |name: &str| directory.path().join(name);
    let release = built("titr").parent().unwrap().to_owned();
    fs::create_dir_all(inside("target")).unwrap();
    fs::create_dir_all(inside("bin")).unwrap();
    symlink(release, inside("target/release")).unwrap();
    for name in ["examples", "replayer"] {
        symlink(root().canonicalize().unwrap().join(name), inside(name)).unwrap();
    }
    let program = Family::OpenMpi.build("ring.c", &[]);
    for name in ["lu.B.16", "lu.B.64"] {
        symlink(&program, inside(name)).unwrap();
    }
    let app = Family::OpenMpi.build("parts.c", &[]);
    let scripts = [("app", format!("exec {} 30", app.display())), ("bin/mpirun", "exec mpirun.openmpi \"$@\"".into())];
    for (name, script) in scripts {
        fs::write(inside(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(inside(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    directory
}

/// Runs commands in `directory`; what they said if one of them failed.
fn execute(directory: &Path, commands: &str) -> Result<(), String> {
    let path = format!(
        "{}:{}:{}",
        directory.join("bin").display(),
        directory.join("target/release").display(),
        std::env::var("PATH").unwrap()
    );
    // What a page writes to the machine's directory for temporary files goes here, too.
    let commands = format!("set -euo pipefail\n{}", commands.replace("/tmp/", "$TMPDIR/"));
    let mut command = Family::OpenMpi.alone("bash");
    command.args(["-c", &commands]).current_dir(directory).env("PATH", path).env("TMPDIR", directory);
    let run = run(&mut command);
    if run.status == Some(0) { Ok(()) } else { Err(format!("exit status {:?}\n{}", run.status, run.stderr)) }
}

#[test]
fn every_command_of_the_manuals_works() {
    let directory = prepared();
    execute(directory.path(), PREPARATIONS).unwrap_or_else(|said| panic!("{said}"));
    let mut failed = Vec::new();
    for page in PAGES {
        let blocks = blocks(page);
        assert!(!blocks.is_empty(), "{page} has no commands");
        for (line, block) in blocks {
            let commands = runnable(&block);
            if let Err(said) = execute(directory.path(), &commands) {
                failed.push(format!("{page}:{line}\n{commands}{said}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_page_and_every_exception_is_known() {
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut all = Vec::new();
    for name in pages.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".md")) {
        let page = format!("docs/{name}");
        let blocks = blocks(&page);
        let is_known = PAGES.contains(&&*page) || OTHER_PAGES.iter().any(|(other, _)| *other == page);
        assert!(blocks.is_empty() || is_known, "{page} has commands, and is in neither list of pages");
        all.extend(blocks.into_iter().map(|(_, block)| block));
    }
    all.extend(blocks("README.md").into_iter().map(|(_, block)| block));
    for (beginning, _) in NOT_RUN {
        let is_there = all.iter().flat_map(|block| block.lines()).any(|line| line.starts_with(beginning));
        assert!(is_there, "no page has a command `{beginning}`");
    }
}
