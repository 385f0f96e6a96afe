//! What `ci/install-to` puts below a prefix works from there, and from wherever the prefix is moved to.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use titr_tests::{Family, built, run};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Runs a shell script with the commands of `prefix` in its path, and returns its standard output.
fn shell(prefix: &Path, directory: &Path, script: &str) -> String {
    let path = format!("{}:{}", prefix.join("bin").display(), std::env::var("PATH").unwrap());
    let mut command = Family::OpenMpi.alone("bash");
    command.args(["-euo", "pipefail", "-c", script]).current_dir(directory).env("PATH", path).env("PREFIX", prefix);
    let run = run(&mut command);
    assert_eq!(run.status, Some(0), "{script}\n{}\n{}", run.stdout, run.stderr);
    run.stdout
}

/// A prefix that was moved after the installation.
fn moved_prefix(directory: &Path) -> PathBuf {
    let (first, moved) = (directory.join("first"), directory.join("moved"));
    let release = built("titr").parent().unwrap().to_owned();
    let mut install = Command::new(root().join("ci/install-to"));
    install.arg(&first).env("TITR_BUILT", release).env("TITR_DEBUG", directory.join("debug"));
    let run = run(&mut install);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    fs::rename(first, &moved).unwrap();
    moved
}

#[test]
fn an_installed_titr_traces_and_replays_after_its_prefix_was_moved() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = moved_prefix(directory.path());
    let program = Family::OpenMpi.build("ring.c", &[]);
    let traced = format!("mpirun.openmpi -np 4 titrace {}", program.display());
    let script =
        format!("{traced} >/dev/null\ntitr-replay --platform $PREFIX/share/titr/examples/torus.toml --json traces");
    let result: serde_json::Value = serde_json::from_str(&shell(&prefix, directory.path(), &script)).unwrap();
    assert_eq!(result["ranks"], 4);

    let listed = fs::read_to_string(prefix.join("share/titr/installed")).unwrap();
    for file in listed.lines() {
        assert!(prefix.join(file).is_file(), "{file} is listed, and not installed");
    }
    let found = shell(&prefix, directory.path(), "cd $PREFIX && find . -type f | sed 's/^..//' | LC_ALL=C sort");
    let mut found: Vec<&str> = found.lines().filter(|file| *file != "share/titr/installed").collect();
    found.sort_unstable();
    assert_eq!(found, listed.lines().collect::<Vec<_>>());
}

#[test]
fn links_of_the_installed_manuals_lead_to_installed_files() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = moved_prefix(directory.path());
    let script = r#"cd $PREFIX/share/doc/titr
        grep -roE --include='*.md' '\]\([^):#]+[)#]' . | while IFS=: read -r page target; do
            [ -e "$(dirname "$page")/${target:2:-1}" ] || echo "$page $target"
        done"#;
    assert_eq!(shell(&prefix, directory.path(), script), "");
}

#[test]
fn pkg_config_finds_the_network_library_of_a_prefix() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = moved_prefix(directory.path());
    let script = "export PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig LD_LIBRARY_PATH=$PREFIX/lib
        cc -o network $PREFIX/share/titr/examples/network.c $(pkg-config --cflags --libs titrnetwork)
        ./network $PREFIX/share/titr/examples/packet.toml | tail -n 1";
    assert!(shell(&prefix, directory.path(), script).contains("answer"));
}

#[test]
fn debugging_information_is_apart_and_names_the_lines_of_what_is_installed() {
    let directory = tempfile::tempdir().unwrap();
    let prefix = moved_prefix(directory.path());
    let script = "id=$(readelf --notes $PREFIX/bin/titr | sed -n 's/.*Build ID: *//p')
        ! readelf --sections $PREFIX/bin/titr | grep -q debug_line
        readelf --sections debug/.build-id/${id:0:2}/${id:2}.debug | grep -o debug_line | head -n 1";
    assert_eq!(shell(&prefix, directory.path(), script), "debug_line\n");
}
