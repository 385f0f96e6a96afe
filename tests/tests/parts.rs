//! Traces of a part of a program: the recorded calls, and replays with every model and every library's algorithms,
//! although ranks do not pass the ends of a part at the same time.

use std::path::Path;

use serde_json::Value;
use titr_common::trace::Manifest;
use titr_tests::{Family, Traced, assert_sound, binary, lines, run, traced_with};

fn parts(family: Family, part: &str, mode: &str, arguments: &[&str]) -> Traced {
    let program = family.build("parts.c", &[]);
    traced_with(&[("TITRACE_PART", part), ("TITRACE_MODE", mode)], family, 4, &program, arguments)
}

/// The JSON report of a replay.
fn replay(trace: &Traced, options: &[&str]) -> Value {
    let torus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/torus.toml");
    let mut command = binary("titr-replay");
    let report = run(command
        .arg("--platform")
        .arg(torus)
        .args(["--json", "--set", "hosts.cores=1"])
        .args(options)
        .arg(trace.path()));
    assert_eq!(report.status, Some(0), "{options:?}: {}", report.stderr);
    serde_json::from_str(&report.stdout).unwrap()
}

/// The warnings of a result except for the one that only a part was traced.
fn other_warnings(result: &Value) -> Vec<&str> {
    let warnings = result["warnings"].as_array().unwrap().iter().filter_map(Value::as_str);
    let (part, others): (Vec<&str>, Vec<&str>) =
        warnings.partition(|warning| warning.starts_with("only a part of the program"));
    assert_eq!(part.len(), 1, "{result}");
    // Of the platform, for routers that count cycles; and of the machine, which runs more ranks than it has cores.
    let expected = ["the packet model", "computation was counted in CPU time on a busy machine"];
    others.into_iter().filter(|warning| !expected.iter().any(|beginning| warning.starts_with(beginning))).collect()
}

const WAYS: [&[&str]; 5] = [
    &["--collectives", "openmpi"],
    &["--collectives", "mpich"],
    &["--set", "network.model=ideal"],
    &["--set", "network.model=packet"],
    &["--set", "mpi.eager_threshold=0 B", "--collectives", "simgrid"],
];

/// However a part is chosen, in time-independent and extended traces, ranks that enter it with messages under way.
#[test]
fn every_part_replays_everywhere() {
    let chosen = [
        "region=step,2-3",
        "region=step",
        "regions=step,step",
        "pcontrol",
        "seconds=0-999",
        "calls=17-43",
        "calls=40-999",
    ];
    for (family, part) in Family::ALL.into_iter().flat_map(|family| chosen.map(|part| (family, part))) {
        let modes: &[&str] =
            if ["region=step,2-3", "calls=17-43"].contains(&part) { &["ti", "extended"] } else { &["ti"] };
        for mode in modes {
            let trace = parts(family, part, mode, &["6"]);
            assert_sound(&trace.path());
            for way in WAYS {
                let result = replay(&trace, way);
                assert_eq!(other_warnings(&result), [""; 0], "{family:?} {part} {mode} {way:?}");
                assert!(result["messages"].as_u64().unwrap() > 0, "{family:?} {part} {mode} {way:?}");
            }
        }
    }
}

/// What a part has of a program whose iterations nothing connects is what a program has that makes only these iterations.
#[test]
fn iterations_of_their_own_take_the_time_that_they_take_alone() {
    for family in Family::ALL {
        for mode in ["ti", "extended"] {
            let part = parts(family, "region=step,3-5", mode, &["8", "even"]);
            let alone = parts(family, "region=step,1-3", mode, &["3", "even"]);
            for way in WAYS {
                let way = [way, &["--compute", "none"]].concat();
                let [part, alone] = [&part, &alone].map(|trace| replay(trace, &way));
                for key in ["simulated_time", "messages", "bytes"] {
                    assert_eq!(part[key], alone[key], "{family:?} {mode} {way:?} {key}");
                }
                assert_eq!(other_warnings(&part), [""; 0]);
            }
        }
    }
}

fn windows(family: Family, part: &str, mode: &str, arguments: &[&str]) -> Traced {
    let program = family.build("part_windows.c", &[]);
    traced_with(&[("TITRACE_PART", part), ("TITRACE_MODE", mode)], family, 4, &program, arguments)
}

/// One-sided communication and calls on files, in epochs that the ends of the part cut, and with locks that were taken before.
#[test]
fn windows_and_files_of_before_replay_everywhere() {
    for family in Family::ALL {
        for (part, mode) in [
            ("region=step,2-3", "ti"),
            ("region=step,2-3", "extended"),
            ("region=step", "ti"),
            ("calls=30-61", "ti"),
            ("calls=44-999", "ti"),
            ("seconds=0-999", "ti"),
        ] {
            let trace = windows(family, part, mode, &["5", "data"]);
            assert_sound(&trace.path());
            for way in WAYS {
                let result = replay(&trace, way);
                let others = other_warnings(&result);
                let is_of_storage = |warning: &&str| warning.starts_with("assumed, as the platform has no [storage]");
                assert!(others.iter().all(is_of_storage), "{family:?} {part} {mode} {way:?}: {others:?}");
            }
        }
    }
}

/// Iterations that nothing connects have all of their one-sided calls and calls on files in the part, and take their time.
#[test]
fn iterations_with_windows_and_files_take_the_time_that_they_take_alone() {
    for family in Family::ALL {
        for mode in ["ti", "extended"] {
            let part = windows(family, "region=step,3-5", mode, &["8", "data", "even"]);
            let alone = windows(family, "region=step,1-3", mode, &["3", "data", "even"]);
            for way in WAYS {
                let way = [way, &["--compute", "none"]].concat();
                let [part, alone] = [&part, &alone].map(|trace| replay(trace, &way));
                for key in ["simulated_time", "messages", "bytes"] {
                    assert_eq!(part[key], alone[key], "{family:?} {mode} {way:?} {key}");
                }
                let text = part["warnings"].to_string();
                assert!(!text.contains("one-sided call") && !text.contains("access epoch"), "{text}");
            }
        }
    }
}

/// A part that is the whole program takes the time of the whole program.
#[test]
fn all_calls_are_the_program() {
    for family in Family::ALL {
        let part = parts(family, "calls=1-9999", "ti", &["3"]);
        let whole = parts(family, "all", "ti", &["3"]);
        let way = ["--compute", "none"];
        let (part, whole) = (replay(&part, &way), replay(&whole, &way));
        assert_eq!(part["simulated_time"], whole["simulated_time"], "{family:?}");
        assert_eq!(part["messages"], whole["messages"], "{family:?}");
    }
}

/// Communicators and persistent requests are there, messages only in the part, and the manifest says how many calls are not.
#[test]
fn a_part_is_what_was_asked_for() {
    for family in Family::ALL {
        let trace = parts(family, "region=step,2-3", "ti", &["6"]);
        let lines = lines(&trace.path());
        for rank in 0..4 {
            let count = |word: &str| lines.lines().filter(|line| line.starts_with(&format!("{rank} {word}"))).count();
            assert_eq!((count("part_begin"), count("part_end")), (2, 2), "{lines}");
            assert_eq!((count("region_begin step"), count("allreduce"), count("comm_dup")), (2, 0, 1), "{lines}");
            assert_eq!(count("start"), 2, "{lines}");
        }
        let manifest = Manifest::read(&trace.path()).unwrap();
        for calls in manifest.per_rank.iter().map(|entry| entry.part.unwrap()) {
            assert!(calls.times == 2 && calls.inside > 8 && calls.before > 8 && calls.after > 8, "{calls:?}");
        }
        let info = run(binary("titr").arg("info").arg(trace.path())).stdout;
        assert!(info.contains("  part          region=step,2-3, of 4 ranks: "), "{info}");
    }
}

#[test]
fn a_part_that_never_comes_is_an_error() {
    for family in Family::ALL {
        let trace = parts(family, "region=stop", "ti", &["2"]);
        let torus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/torus.toml");
        let failed = run(binary("titr-replay").arg("--platform").arg(torus).arg(trace.path()));
        assert_eq!(failed.status, Some(1), "{failed:?}");
        assert!(
            failed.stderr.contains("no rank came to the part") && failed.stderr.contains("region=stop"),
            "{failed:?}"
        );
    }
}
