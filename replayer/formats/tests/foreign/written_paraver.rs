//! Traces for Paraver that titr writes: read again, they have as many messages, bytes and collectives.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::tempdir;
use titr_common::collectives::{Library, Selection};
use titr_common::event::Event;
use titr_common::trace::Trace;
use titr_common::units::Bytes;
use titr_formats::output::{self, Rules};

use crate::counts::events;
use crate::samples::{each_of_titr_in_the_collection, open, sample};
use crate::steps::{STEPS, native, program};
use crate::tally::{self, counted};

/// Writes a trace into a directory; returns the path, and the lines for the user.
fn write(trace: &Trace, directory: &Path) -> (PathBuf, Vec<String>) {
    let format = output::FORMATS.iter().find(|format| format.name == "paraver").unwrap();
    let rules =
        Rules { collectives: Selection::from(Library::SimGrid), eager_threshold: Bytes(65_536), hosts: Vec::new() };
    let path = directory.join("x.prv");
    let notes = (format.convert)(trace, &rules, &path).unwrap_or_else(|error| panic!("{error}"));
    (path, [vec![notes.written], notes.differences].concat())
}

fn counts(trace: &Trace) -> tally::Counts {
    counted(trace).unwrap_or_else(|error| panic!("{error}"))
}

fn assert_as_many(path: &Path) {
    let (trace, place) = (open(path).unwrap(), tempdir().unwrap());
    let (written, _) = write(&trace, place.path());
    let again = open(&written).unwrap();
    assert_eq!(counts(&again), counts(&trace), "{}", path.display());
}

#[test]
fn a_trace_has_as_many_messages_and_collectives() {
    let programs = ["stencil", "collectives", "persistent", "vectors", "wildcards"];
    programs.iter().for_each(|program| assert_as_many(&sample("dumpi").join(program)));
    programs.iter().for_each(|program| assert_as_many(&sample("paraver").join(program)));
    ["scorep-stencil", "scorep-lu", "scorep-persistent", "scorep-wildcards"]
        .iter()
        .for_each(|program| assert_as_many(&sample("otf2").join(program)));
}

#[test]
#[ignore = "reads the collection of traces that TITR_FOREIGN names"]
fn traces_of_titr_in_a_collection() {
    each_of_titr_in_the_collection(assert_as_many);
}

/// The steps that Paraver, as titr reads it, does not say all of: collectives that do not block, cancelled receives.
const NOT_SAID: [usize; 2] = [9, 16];

#[test]
fn each_step_has_as_many_messages_and_collectives() {
    for step in (0..STEPS.len()).filter(|step| !NOT_SAID.contains(step)) {
        let place = tempdir().unwrap();
        assert_as_many(&native(place.path(), &program(&[step])));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn random_programs_have_as_many(steps in prop::collection::vec(0..STEPS.len(), 0..40)) {
        let place = tempdir().unwrap();
        let steps: Vec<usize> = steps.into_iter().filter(|step| !NOT_SAID.contains(step)).collect();
        assert_as_many(&native(place.path(), &program(&steps)));
    }
}

/// The volumes of computation before each call, without those of nothing.
fn computation(trace: &Trace, rank: u32) -> Vec<u64> {
    let events = events(trace, rank).unwrap();
    let volume = |event: Event| if let Event::Compute(work) = event { Some(work.0 as u64) } else { None };
    events.into_iter().filter_map(volume).collect()
}

#[test]
fn a_trace_of_instructions_keeps_them() {
    let place = tempdir().unwrap();
    let trace = open(&native(place.path(), &program(&[0, 7, 1]))).unwrap();
    let again = open(&write(&trace, place.path()).0).unwrap();
    assert_eq!(computation(&trace, 0), [1000, 77]);
    assert_eq!(computation(&again, 0), [1000, 77]);
}

/// The lines of a trace of Paraver, each as its numbers.
fn lines(path: &Path) -> (String, Vec<(String, Vec<u64>)>) {
    let text = fs::read_to_string(path).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    let numbers = |line: &str| line.split(':').skip(1).map(|number| number.parse().unwrap()).collect();
    let parsed = rest.lines().map(|line| (line.split(':').next().unwrap().to_owned(), numbers(line))).collect();
    (header.to_owned(), parsed)
}

/// Reads a trace by the description of the format alone.
#[test]
fn the_file_is_as_paraver_describes_it() {
    let (trace, place) = (open(&sample("dumpi/collectives")).unwrap(), tempdir().unwrap());
    let (path, _) = write(&trace, place.path());
    let (header, lines) = lines(&path);
    let communicators: Vec<&Vec<u64>> = lines.iter().filter(|(kind, _)| kind == "c").map(|(_, line)| line).collect();
    assert!(header.ends_with(&format!("),{}", communicators.len())), "{header}");
    let end: u64 = header.split("):").nth(1).unwrap().split('_').next().unwrap().parse().unwrap();
    // The world, each rank alone, both halves, and the even ranks.
    assert_eq!(communicators.len(), 1 + 8 + 3);
    assert!(communicators.iter().all(|line| line[2] as usize == line.len() - 3));

    let (mut last, mut states, mut calls) = (0, BTreeMap::new(), BTreeMap::new());
    for (kind, line) in &lines {
        match kind.as_str() {
            "1" => {
                // The states of a row follow each other without a gap.
                let before = states.insert(line[2], line[5]).unwrap_or(0);
                assert_eq!(before, line[4], "{line:?}");
                last = line[4];
            }
            "2" => {
                assert!(last <= line[4] && line[4] <= end, "{line:?}");
                last = line[4];
                for pair in line[5..].chunks_exact(2).filter(|pair| (50_000_001..=50_000_005).contains(&pair[0])) {
                    let open = calls.insert((line[2], pair[0]), pair[1]).unwrap_or(0);
                    assert_ne!(open == 0, pair[1] == 0, "a call begins after the end of the one before: {line:?}");
                }
            }
            _ => {}
        }
    }
    assert!(calls.values().all(|&value| value == 0));
    let names = fs::read_to_string(path.with_extension("pcf")).unwrap();
    for name in ["8      MPI_Barrier", "80     MPI_Reduce_scatter", "23     MPI_Comm_split", "31     MPI_Init"] {
        assert!(names.contains(name), "{name} in {names}");
    }
    assert!(fs::read_to_string(path.with_extension("row")).unwrap().contains("LEVEL TASK SIZE 8\nrank 0\n"));
}
