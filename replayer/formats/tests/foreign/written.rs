//! Archives of OTF2 that titr writes: read again, they are the traces that they were, and OTF2's own library reads them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use tempfile::tempdir;
use titr_common::collectives::{Library, Selection};
use titr_common::event::{Annotation, Event};
use titr_common::trace::Trace;
use titr_common::trace::manifest::Mode;
use titr_common::units::Bytes;
use titr_formats::output::{self, Rules};

use crate::counts::{Counts, events};
use crate::samples::{each_of_titr_in_the_collection, open, sample};
use crate::steps::{STEPS, native, native_of, program};

/// Writes a trace as an archive in `directory`; returns the lines for the user.
fn write(trace: &Trace, directory: &Path) -> Vec<String> {
    let format = output::FORMATS.iter().find(|format| format.name == "otf2").unwrap();
    let rules =
        Rules { collectives: Selection::from(Library::SimGrid), eager_threshold: Bytes(65_536), hosts: Vec::new() };
    let notes = (format.convert)(trace, &rules, directory).unwrap_or_else(|error| panic!("{error}"));
    [vec![notes.written], notes.differences].concat()
}

/// The events of a rank without observations. Computations between two calls are one.
fn calls(trace: &Trace, rank: u32) -> Vec<Event> {
    let events = events(trace, rank).unwrap_or_else(|error| panic!("rank {rank}: {error}"));
    let mut calls: Vec<Event> = Vec::new();
    for event in events {
        match (event, calls.last_mut()) {
            (Event::Annotation(_), _) => {}
            (Event::Compute(work), Some(Event::Compute(before))) => before.0 += work.0,
            (event, _) => calls.push(event),
        }
    }
    calls
}

/// Checks that a trace and its archive are the same.
fn assert_round_trip(path: &Path) {
    let (trace, place) = (open(path).unwrap(), tempdir().unwrap());
    write(&trace, &place.path().join("archive"));
    let again = open(&place.path().join("archive")).unwrap();
    assert_eq!(again.untranslated(), Vec::<String>::new(), "{}", path.display());
    for rank in 0..trace.ranks() {
        let (before, after) = (calls(&trace, rank), calls(&again, rank));
        let differs = before.iter().zip(&after).position(|(before, after)| before != after);
        if let Some(at) = differs {
            panic!("{} rank {rank} event {at}: {:?} became {:?}", path.display(), before[at], after[at]);
        }
        assert_eq!(before.len(), after.len(), "{} rank {rank}", path.display());
    }
}

#[test]
fn archives_are_the_traces_that_they_were() {
    let dumpi = ["stencil", "collectives", "persistent", "wildcards"];
    let paths = dumpi
        .iter()
        .map(|program| sample("dumpi").join(program))
        .chain(["stencil", "lu", "persistent", "wildcards"].map(|program| sample(&format!("otf2/scorep-{program}"))))
        .chain([sample("liballprof").join("collectives")])
        .chain([sample("paraver").join("stencil")]);
    paths.for_each(|path| assert_round_trip(&path));
}

#[test]
#[ignore = "reads the collection of traces that TITR_FOREIGN names"]
fn traces_of_titr_in_a_collection() {
    each_of_titr_in_the_collection(assert_round_trip);
}

/// The events of an archive by type, as OTF2's tool lists them.
fn listed(archive: &Path) -> BTreeMap<String, u64> {
    let output = Command::new("otf2-print").arg(archive.join("traces.otf2")).output();
    let output = output.unwrap_or_else(|error| panic!("otf2-print, which ci/install test installs: {error}"));
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && errors.trim().is_empty(), "{errors}");
    let mut counts = BTreeMap::new();
    for word in text.lines().filter_map(|line| line.split_whitespace().next()) {
        if word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit()) {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn the_library_of_otf2_lists_as_many_events() {
    for (folder, program) in [
        ("dumpi", "stencil"),
        ("dumpi", "collectives"),
        ("dumpi", "persistent"),
        ("dumpi", "wildcards"),
        ("otf2", "scorep-lu"),
    ] {
        let (trace, place) = (open(&sample(folder).join(program)).unwrap(), tempdir().unwrap());
        let archive = place.path().join("archive");
        write(&trace, &archive);
        let listed = listed(&archive);
        let of = |kinds: &[&str]| kinds.iter().filter_map(|&kind| listed.get(kind)).sum::<u64>();
        let sends: u64 = listed.get("MPI_ISEND").copied().unwrap_or_default();
        assert_eq!(of(&["ENTER"]), of(&["LEAVE"]), "{program}");
        assert_eq!(of(&["MPI_ISEND_COMPLETE"]), sends, "{program}");
        let counts = Counts::of(&trace);
        let collectives: u64 = counts.collectives.values().sum();
        assert_eq!(of(&["MPI_COLLECTIVE_END"]), collectives, "{program}");
        // The program of persistent requests starts each several times.
        if program != "persistent" {
            assert_eq!(of(&["MPI_SEND", "MPI_ISEND"]), counts.messages, "{program}");
        }
        assert_eq!(of(&["MPI_SEND", "MPI_ISEND"]), of(&["MPI_RECV", "MPI_IRECV"]), "{program}");
    }
}

#[test]
fn each_step_is_what_it_was() {
    for step in 0..STEPS.len() {
        let place = tempdir().unwrap();
        assert_round_trip(&native(place.path(), &program(&[step])));
    }
}

/// The beginnings of calls by the clock of the rank, after the first call.
fn times(trace: &Trace) -> Vec<u64> {
    let begin = |event| if let Event::Annotation(Annotation::Call(span)) = event { Some(span.begin.0) } else { None };
    let times: Vec<u64> = events(trace, 0).unwrap().into_iter().filter_map(begin).collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn instructions_take_no_time_in_a_trace_with_times() {
    let place = tempdir().unwrap();
    let lines = ["called 0 10", "init", "compute 5000", "called 100 150", "barrier", "called 200 210", "finalize"];
    let lines = lines.map(str::to_owned).to_vec();
    let trace = open(&native_of(Mode::Extended, place.path(), &[lines])).unwrap();
    write(&trace, &place.path().join("archive"));
    let again = open(&place.path().join("archive")).unwrap();
    assert_eq!(times(&trace).last(), Some(&100));
    assert_eq!(times(&again).last(), Some(&100));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Writes a random program as an archive, and reads it again.
    #[test]
    fn random_programs_are_what_they_were(steps in prop::collection::vec(0..STEPS.len(), 0..40)) {
        let place = tempdir().unwrap();
        assert_round_trip(&native(place.path(), &program(&steps)));
    }
}
