//! Hypotheses about real programs, compared with programs that were really changed.

use std::path::{Path, PathBuf};

use serde_json::Value;
use titr_common::event::{Event, Mark, Rank, ThreadId};
use titr_common::trace::{RankWriter, Trace};
use titr_common::units::Instructions;
use titr_tests::{Family, Traced, assert_sound, binary, lines, run};

/// A machine with a known speed, on which messages take microseconds.
const PLATFORM: &str = r#"
schema = 1
[hosts]
count = 4
speed = "1 Ginstr/s"
[topology.star]
[network]
bandwidth = "10 Gbit/s"
latency = "1 us"
"#;

/// The predicted time of a trace with the changes of a file, in seconds.
fn predicted(directory: &Path, changes: &str) -> f64 {
    let file = |name: &str, text: &str| {
        let path = directory.with_file_name(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let mut command = binary("titr-replay");
    command.arg("--json").arg("--platform").arg(file("platform.toml", PLATFORM));
    command.arg("--what-if").arg(file("changes.toml", changes)).arg(directory);
    let replayed = run(&mut command);
    assert_eq!(replayed.status, Some(0), "{}", replayed.stderr);
    let result: Value = serde_json::from_str(&replayed.stdout).unwrap();
    result["simulated_time"].as_f64().unwrap()
}

/// The trace of a program on four ranks, with the places that its calls are made from.
fn traced(program: &Path, arguments: &[&str]) -> Traced {
    titr_tests::traced_with(&[("TITRACE_CALLSITES", "1")], Family::OpenMpi, 4, program, arguments)
}

/// The trace of a program that was asked to count its steps: their number, which it gives to `MPI_Pcontrol` before them, is in
/// the place of the computation that was measured. It does not depend on the machine or on what else runs there.
fn with_steps(trace: &Traced) -> PathBuf {
    let directory = trace.path().with_file_name("steps");
    let source = Trace::open(&trace.path()).unwrap();
    let mut manifest = source.manifest().cloned().unwrap();
    for entry in &mut manifest.per_rank {
        let mut stream = source.stream(Rank(entry.rank)).unwrap();
        let mut writer = RankWriter::create(&directory, Rank(entry.rank)).unwrap();
        let (mut site, mut steps) = (None, None);
        while let Some(event) = stream.next_event().unwrap() {
            let before = match event {
                Event::Compute(_) => continue,
                Event::Mark(Mark::CallSite(_)) => {
                    site = Some(event);
                    continue;
                }
                Event::Mark(Mark::Control(number)) => {
                    site = None;
                    steps = Some(Event::Compute(Instructions(f64::from(number))));
                    continue;
                }
                // Defines a call site, and is no call.
                Event::Mark(Mark::CallStack(..)) => [None, None],
                _ => [site.take(), steps.take()],
            };
            before.iter().flatten().chain([&event]).for_each(|event| writer.write(ThreadId::MAIN, event).unwrap());
        }
        *entry = writer.finish(entry.clone()).unwrap();
    }
    manifest.write(&directory).unwrap();
    directory
}

/// A hypothesis about a program takes as long as the program that was really changed; the arguments are those of either. The
/// program itself takes at least `gain` times as long. Fails if a hypothesis changes nothing, or anything else than the
/// program's change.
fn assert_predicts([before, after]: [&[&str]; 2], program: &Path, changes: &str, gain: f64) {
    let [unchanged, changed] = [before, after].map(|arguments| traced(program, &[arguments, &["counted"]].concat()));
    let (unchanged, changed) = (with_steps(&unchanged), with_steps(&changed));
    let times = [predicted(&unchanged, ""), predicted(&unchanged, changes), predicted(&changed, "")];
    let [before, hypothesis, after] = times;
    assert!((hypothesis / after - 1.0).abs() < 1e-6 && before > gain * after, "{times:?}");
}

/// Load imbalance in one place, whose ranks wait later: balancing the place by a hypothesis takes as long as balancing it in
/// the program.
fn balances(symptom: &str, work: &str, place: &str, over: &str) {
    let program = Family::OpenMpi.build("imbalance.c", &["-g"]);
    let change = format!("[[change]]\nkind = 'balance-compute'\n{place}\nover = '{over}'");
    assert_predicts([&[symptom, work], &[symptom, "balanced"]], &program, &change, 1.2);
}

#[test]
fn imbalance_whose_symptom_is_in_a_collective() {
    balances("collective", "constant", "region = 'foo'", "totals");
}

#[test]
fn imbalance_whose_symptom_is_in_receives() {
    balances("point-to-point", "constant", "call_site = 'foo'", "totals");
}

#[test]
fn imbalance_that_moves_from_rank_to_rank_is_balanced_instance_by_instance() {
    balances("collective", "rotating", "call_site = 'foo'", "instances");
}

/// The cause is where the work is, although ranks wait elsewhere, after balanced work.
#[test]
fn the_place_of_imbalance_is_named() {
    let program = Family::OpenMpi.build("imbalance.c", &["-g"]);
    for symptom in ["collective", "point-to-point"] {
        let trace = traced(&program, &[symptom, "constant", "counted"]);
        let platform = trace.path().with_file_name("platform.toml");
        std::fs::write(&platform, PLATFORM).unwrap();
        let mut command = binary("titr-replay");
        command.args(["--json", "--analyse", "wait-states", "--platform"]).arg(platform).arg(with_steps(&trace));
        let result: Value = serde_json::from_str(&run(&mut command).stdout).unwrap();
        let cause = &result["analyses"]["wait-states"]["causes"][0];
        let site = cause["call_site"].as_str().unwrap();
        assert!(site.starts_with("foo (imbalance.c:"), "{cause}");
        assert_eq!((&cause["kind"], &cause["region"]), (&"compute".into(), &"foo".into()), "{cause}");
    }
}

#[test]
fn a_million_empty_messages_removed_are_the_program_without_them() {
    let program = Family::OpenMpi.build("empty_messages.c", &[]);
    let change = "[[change]]\nkind = 'remove-messages'\nmax_bytes = 0";
    assert_predicts([&["5000"], &["0"]], &program, change, 1.00005);
}

/// Marks of regions are recorded alike from C and Fortran, with both libraries, and change nothing else.
#[test]
fn regions_are_recorded() {
    let mut all = Vec::new();
    for family in Family::ALL {
        for source in ["regions.c", "regions.F90"] {
            let trace = titr_tests::traced(family, 2, &family.build(source, &[]), &[], str::to_owned);
            assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
            assert_sound(&trace.path());
            all.push(lines(&trace.path()));
        }
    }
    let expected: String = (0..2)
        .map(|rank| {
            let events = [
                "init",
                "region_begin outer",
                "barrier",
                "region_begin a_name_of_several_words",
                "barrier",
                "region_end a_name_of_several_words",
                "region_end outer",
                "pcontrol 3",
                "pcontrol -3",
                "pcontrol 1",
                "pcontrol 0",
                "finalize",
            ];
            events.map(|event| format!("{rank} {event}\n")).concat()
        })
        .collect();
    all.iter().for_each(|lines| assert_eq!(*lines, expected));
}
