//! Hypotheses about real programs, compared with programs that were really changed.

use std::path::Path;
use std::sync::Mutex;

use serde_json::Value;
use titr_test_support::assert_settles;
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
fn predicted(trace: &Traced, changes: &str) -> f64 {
    let directory = trace.path();
    let file = |name: &str, text: &str| {
        let path = directory.with_file_name(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let mut command = binary("titr-replay");
    command.arg("--json").arg("--platform").arg(file("platform.toml", PLATFORM));
    command.arg("--what-if").arg(file("changes.toml", changes)).arg(&directory);
    let replayed = run(&mut command);
    assert_eq!(replayed.status, Some(0), "{}", replayed.stderr);
    let result: Value = serde_json::from_str(&replayed.stdout).unwrap();
    result["simulated_time"].as_f64().unwrap()
}

/// The trace of a program on four ranks, with the places that its calls are made from.
fn traced(program: &Path, arguments: &[&str]) -> Traced {
    titr_tests::traced_with(&[("TITRACE_CALLSITES", "1")], Family::OpenMpi, 4, program, arguments)
}

/// A hypothesis about a program takes within 1 % as long as the program that was really changed; the arguments are those of
/// either. Gives the times of the program, of the hypothesis and of the changed program. Processors are faster and slower from
/// one second to the next by more than that, so the median of three runs counts, and one of these tests runs at a time.
/// Where a hypothesis evens out that noise, `evened` does the same to the changed program.
fn settle([before, after]: [&[&str]; 2], program: &Path, changes: &str, evened: &str) -> [f64; 3] {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    let mut medians = [0.0; 3];
    assert_settles(0.99..=1.01, || {
        let runs = [(); 3].map(|()| {
            let (unchanged, changed) = (traced(program, before), traced(program, after));
            [predicted(&unchanged, ""), predicted(&unchanged, changes), predicted(&changed, evened)]
        });
        medians = [0, 1, 2].map(|which| {
            let mut times = runs.map(|times| times[which]);
            times.sort_by(f64::total_cmp);
            times[1]
        });
        eprintln!("{before:?}: {} s, by a hypothesis {} s, {after:?}: {} s", medians[0], medians[1], medians[2]);
        medians[1] / medians[2]
    });
    medians
}

/// Load imbalance in one place, whose ranks wait later: balancing the place by a hypothesis takes as long as balancing it in
/// the program.
fn balances(symptom: &str, work: &str, place: &str, over: &str) {
    let program = Family::OpenMpi.build("imbalance.c", &["-g"]);
    let change = format!("[[change]]\nkind = 'balance-compute'\n{place}\nover = '{over}'");
    let evened = if over == "instances" { &*change } else { "" };
    let [before, _, real] = settle([&[symptom, work], &[symptom, "balanced"]], &program, &change, evened);
    assert!(before > 1.2 * real, "the imbalance costs too little: {before} and {real}");
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
        let trace = traced(&program, &[symptom, "constant"]);
        let platform = trace.path().with_file_name("platform.toml");
        std::fs::write(&platform, PLATFORM).unwrap();
        let mut command = binary("titr-replay");
        command.args(["--json", "--analyse", "wait-states", "--platform"]).arg(platform).arg(trace.path());
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
    settle([&["5000"], &["0"]], &program, change, "");
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
