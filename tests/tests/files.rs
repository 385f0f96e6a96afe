//! Files of real programs: every call is recorded, is valid, and takes its time in a replay on each network.

use std::path::Path;

use titr_common::trace::Manifest;
use titr_tests::{EXTENDED, Family, assert_sound, binary, lines, run, traced_as};

/// The result of a replay on hosts of their own, without what the program computes.
fn replayed(trace: &Path, settings: &[&str]) -> serde_json::Value {
    let platform = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/torus.toml");
    let mut command = binary("titr-replay");
    command.arg("--platform").arg(platform).args(["--json", "--compute", "none", "--set", "hosts.cores=1"]);
    command.args(settings.iter().flat_map(|setting| ["--set", setting]));
    let replayed = run(command.arg(trace));
    assert_eq!(replayed.status, Some(0), "{}", replayed.stderr);
    serde_json::from_str(&replayed.stdout).unwrap()
}

fn seconds(report: &serde_json::Value) -> f64 {
    report["simulated_time"].as_f64().unwrap()
}

/// What a replay says of storage.
fn told(report: &serde_json::Value) -> Vec<&str> {
    let warnings = report["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap());
    warnings.filter(|warning| warning.contains("storage") || warning.contains("accesses to files")).collect()
}

/// Traces a program of `programs` in both modes, which mean the same to a replay, and hands the trace on.
fn in_both_modes(name: &str, ranks: u32, arguments: &[&str], check: impl Fn(Family, &Path)) {
    for family in Family::ALL {
        let program = family.build(&format!("{name}.c"), &[]);
        let trace = |variables: &[(&str, &str)]| {
            let trace = traced_as(variables, family, ranks, &program, arguments, str::to_owned);
            assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
            assert_sound(&trace.path());
            trace
        };
        let (plain, extended) = (trace(&[]), trace(&[EXTENDED]));
        check(family, &plain.path());
        for model in ["flow", "packet"] {
            let model = format!("network.model={model}");
            let time = |trace: &Path| seconds(&replayed(trace, &[&model]));
            assert_eq!(time(&plain.path()), time(&extended.path()), "{family:?}, {model}");
        }
    }
}

#[test]
fn every_way_to_access_a_file() {
    in_both_modes("files", 2, &[], |family, trace| {
        // MPICH's own code makes an operation when the first file is opened. The program makes none.
        let ranks = Manifest::read(trace).unwrap().per_rank;
        assert!(ranks.iter().all(|rank| !rank.local.contains_key("MPI_Op_create")), "{family:?}");
        let report = replayed(trace, &[]);
        assert_eq!(told(&report).len(), 1, "{family:?}: {report}");
        // Each of 36 accesses of two ranks has a latency of 85 µs, and a dozen other calls do.
        assert!(seconds(&report) > 18.0 * 85e-6, "{family:?}: {report}");
        let described = replayed(trace, &["storage.latency=1 ms"]);
        assert_eq!(told(&described), [""; 0]);
        assert!(seconds(&described) > 18e-3, "{family:?}: {described}");
    });
}

/// 4 ranks on hosts of their own write 32 MB and read them, twice each. Whatever the messages take, disks that are this slow
/// decide: a rank's 8 MB take 0.8 s to write and 0.4 s to read.
#[test]
fn aggregators_of_a_real_program() {
    in_both_modes("collective_files", 4, &["file", "8000000"], |family, trace| {
        let slow = ["storage.read_bandwidth=20 MB/s", "storage.write_bandwidth=10 MB/s"];
        for model in ["flow", "packet", "ideal"] {
            let model = format!("network.model={model}");
            let time = |more: &[&str]| seconds(&replayed(trace, &[&slow[..], &[&model], more].concat()));
            let parallel = time(&[]);
            let off = parallel / 2.4 - 1.0;
            assert!((0.0..0.04).contains(&off), "{family:?}, {model}: {parallel} s");
            let alone = time(&["storage.aggregators=1"]);
            let off = alone / 9.6 - 1.0;
            assert!((0.0..0.04).contains(&off), "{family:?}, {model}: {alone} s with one aggregator");
        }
    });
}

/// A rank's accesses with their bytes, and how far each is from where the one before has ended.
#[test]
fn accesses_say_where_they_begin() {
    in_both_modes("file_places", 4, &["file"], |family, trace| {
        let lines = lines(trace);
        for rank in 0..4 {
            let accesses: Vec<_> = lines
                .lines()
                .filter_map(|line| line.strip_prefix(&format!("{rank} file_")))
                .filter(|line| line.starts_with("read") || line.starts_with("write") || line.starts_with("iread"))
                .filter(|line| !line.contains("_end "))
                .collect();
            let place = |skip: i64| if skip == 0 { String::new() } else { format!(" {skip:+}") };
            // The first has ended at 1000 * (rank + 1), the fourth at 1000, and each through the view 40 bytes after its start. The
            // last rank has read what there is before the end of the file.
            let (short, at) = if rank == 3 { (Some("read_at 0 10 +2990".to_owned()), 4000) } else { (None, 1000) };
            let mut expected = vec![
                format!("write_at_all 0 1000{}", place(1000 * rank)),
                format!("read 0 400{}", place(-1000 * (rank + 1))),
                "read 0 400".to_owned(),
                "iread 0 100 0 +100".to_owned(),
                format!("write_all 0 40{}", place(2000 + 4 * rank - at)),
                "write_all 0 40 +120".to_owned(),
                // Five integers on from the start of the view, which is 280 bytes before.
                format!("write_at_all_begin 0 4{}", place(80 - 200)),
            ];
            short.into_iter().for_each(|read| expected.insert(4, read));
            assert_eq!(accesses, expected, "{family:?}, rank {rank}");
        }
    });
}
