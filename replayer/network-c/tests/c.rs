//! The C interface, as C sees it: the header, and programs that a C compiler compiles and links.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Three hosts on a ring of routers, phits of 1 ns: the header crosses a channel in a cycle, and 40 bytes are one
/// packet of 10 phits.
const RING: &str = "schema = 1\n[hosts]\nspeed = \"1 Ginstr/s\"\n[topology.torus]\ndims = [3]\n[network]\nmodel = \"packet\"\nbandwidth = \"4 GB/s\"\n[network.packet]\npacket = \"40 B\"\n";

/// Picoseconds that a packet takes to a neighbour, by the formula of the packet model: (1 + r) + h·(1 + w + r) + L cycles, with
/// one channel and no delays.
const ONE_WAY: u64 = (1 + 1 + 10) * 1000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The file that Cargo made of the library for this test, with a hash in its name or without.
fn library(extension: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let found = fs::read_dir(test.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libtitrnetwork") && name.ends_with(extension)
    });
    found.max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap()).expect("the library beside its test")
}

/// A C program, compiled with this library.
fn compiled(source: &Path, library: &Path, into: &Path) -> PathBuf {
    let program = into.join("program");
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]).arg("-o").arg(&program).arg(source);
    cc.arg("-I").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"));
    cc.arg(library).args(["-lpthread", "-ldl", "-lm"]);
    cc.arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()));
    let output = cc.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn run(program: &Path, argument: &Path) -> Output {
    Command::new(program).arg(argument).output().unwrap()
}

#[test]
fn the_header_is_that_of_the_functions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config {
        language: cbindgen::Language::C,
        cpp_compat: true,
        include_guard: Some("TITRNETWORK_H".to_owned()),
        header: Some(
            "/* titr's network models for simulators in C: docs/NETWORK-LIBRARY.md. Generated from the library's source. */"
                .to_owned(),
        ),
        no_includes: true,
        sys_includes: ["stdbool.h", "stdint.h"].map(str::to_owned).to_vec(),
        usize_is_size_t: true,
        documentation_style: cbindgen::DocumentationStyle::C99,
        line_length: 100,
        ..cbindgen::Config::default()
    };
    let source = folder.join("src/interface.rs");
    let bindings = cbindgen::Builder::new().with_config(config).with_src(source).generate().unwrap();
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).unwrap();
    let header = folder.join("include/titrnetwork.h");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&header, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&header).unwrap(), "set UPDATE=1 and run this test");
}

#[test]
fn the_example_gets_arrivals_by_the_formula() {
    let folder = tempfile::tempdir().unwrap();
    let platform = folder.path().join("ring.toml");
    fs::write(&platform, RING).unwrap();
    // Both requests leave at node 0's one injection port, the second when the first has left it: a packet of 10 phits later.
    let request = |number: u64| ONE_WAY + 10_000 * (number - 1);
    let answer = |number: u64| request(number) + 100_000 + ONE_WAY;
    let mut expected = String::new();
    for (time, text) in [(request(1), "request to 1"), (request(2), "request to 2")]
        .into_iter()
        .chain([(answer(1), "answer from 1"), (answer(2), "answer from 2")])
    {
        expected += &format!("{time} ps: {text}\n");
    }
    for extension in [".so", ".a"] {
        let program = compiled(&root().join("examples/network.c"), &library(extension), folder.path());
        let output = run(&program, &platform);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{extension}");
        assert!(output.status.success());
    }
}

#[test]
fn the_example_runs_on_every_model() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(&root().join("examples/network.c"), &library(".so"), folder.path());
    for (model, latency) in [("flow", "latency = \"1 us\""), ("ideal", "latency = \"1 us\""), ("packet", "")] {
        let platform = folder.path().join("torus.toml");
        let text = format!(
            "schema = 1\n[hosts]\nspeed = \"1 Ginstr/s\"\n[topology.torus]\ndims = [4, 2]\n[network]\nmodel = \"{model}\"\nbandwidth = \"1 GB/s\"\n{latency}\n"
        );
        fs::write(&platform, text).unwrap();
        let output = run(&program, &platform);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{model}");
        let lines = String::from_utf8(output.stdout).unwrap();
        for node in 1..8 {
            assert!(lines.contains(&format!("ps: request to {node}\n")), "{model}: {lines}");
            assert!(lines.contains(&format!("ps: answer from {node}\n")), "{model}: {lines}");
        }
        assert_eq!(lines.lines().count(), 14, "{model}: {lines}");
    }
}

#[test]
fn a_mistake_in_the_platform_is_told_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(&root().join("examples/network.c"), &library(".so"), folder.path());
    let platform = folder.path().join("broken.toml");
    fs::write(&platform, RING.replace("\"packet\"", "\"pocket\"")).unwrap();
    let output = run(&program, &platform);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("broken.toml:7:9"), "{error}");
    assert_eq!(output.status.code(), Some(1));
    let output = run(&program, &folder.path().join("missing.toml"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("missing.toml"), "{error}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn mistakes_of_the_caller_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let platform = folder.path().join("ring.toml");
    fs::write(&platform, RING).unwrap();
    let program =
        compiled(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes.c"), &library(".so"), folder.path());
    let output = run(&program, &platform);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let expected = "\
the name of the platform file is a null pointer
the network is a null pointer
the delivery is a null pointer
message 7: there is no node 3: the platform has 3, from 0
message 8: there is no node 4294967295: the platform has 3, from 0
time cannot go back to 4 ps: the network has been advanced to 5 ps
time cannot go back to 3 ps: the network has been advanced to 5 ps
simulated time is less than 2^64 - 1 ps (213 days): is a time not in picoseconds?
message 12: a message of 1.00 PB is 25,000,000,000,000 packets, and the packet model simulates each: at most 17,179,869,184 of one message. Use network.model = \"flow\", or larger packets (network.packet.packet)
message 13: simulated time runs past 213 days: is a volume, a bandwidth or a speed wrong?
simulated time is less than 2^64 - 1 ps (213 days): is a time not in picoseconds?
message 14: simulated time runs past 213 days: is a volume, a bandwidth or a speed wrong?
simulated time is less than 2^64 - 1 ps (213 days): is a time not in picoseconds?
";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert!(output.status.success());
}
