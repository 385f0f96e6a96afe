//! Traces of DUMPI that titr writes: read again, they have the calls that they were made of.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::tempdir;
use titr_common::collectives::{Library, Selection};
use titr_common::event::{Collective, CommCall, CommId, Completed, Event, Group, RequestId};
use titr_common::program::RequestTable;
use titr_common::trace::Trace;
use titr_common::units::{Bytes, Instructions};
use titr_formats::output::{self, Rules};

use crate::counts::events;
use crate::samples::{each_of_titr_in_the_collection, open, sample};
use crate::steps::{STEPS, native, program};
use crate::tally::counted;

/// Writes a trace into a new directory; returns the lines for the user.
pub(crate) fn write(trace: &Trace, directory: &Path) -> Result<Vec<String>, String> {
    let format = output::FORMATS.iter().find(|format| format.name == "dumpi").unwrap();
    let rules = Rules { collectives: Selection::from(Library::SimGrid), eager_threshold: Bytes(65_536) };
    let notes = (format.convert)(trace, &rules, directory).map_err(|error| error.to_string())?;
    Ok([vec![notes.written], notes.differences].concat())
}

/// A call, as far as DUMPI has it.
#[derive(Debug, PartialEq)]
enum Call {
    As(Event),
    /// A wait or a test, and the requests that it completed.
    Completes(&'static str, Vec<RequestId>),
    /// A communicator, whose call may be another one.
    Makes(CommId, Option<Group>),
    /// A collective without the work of its reduction.
    Collective(Box<Collective>),
}

/// The calls of a rank.
fn calls(trace: &Trace, rank: u32) -> Vec<Call> {
    let mut requests = RequestTable::<()>::default();
    let mut resolve = |event: &Event| {
        let started: Vec<RequestId> = event.starts().to_vec();
        started.iter().for_each(|&id| requests.add(id, None).unwrap());
        let (Event::Wait(_, completed) | Event::Test(_, Some(completed))) = event else { return Vec::new() };
        let ids = match completed {
            Completed::One(_, id) => id.iter().copied().collect(),
            Completed::These(ids) => ids.clone(),
            Completed::Outstanding(_) => requests.active(),
        };
        ids.iter().for_each(|&id| _ = requests.complete(id));
        ids
    };
    let events = events(trace, rank).unwrap_or_else(|error| panic!("rank {rank}: {error}"));
    let call = |event: Event| {
        let completed = resolve(&event);
        Some(match event {
            Event::Annotation(_) | Event::Compute(_) | Event::Sleep(_) | Event::Mark(_) | Event::Other(_) => {
                return None;
            }
            Event::Wait(..) | Event::Test(_, Some(_)) => Call::Completes(event.word(), completed),
            Event::CommCreate(_, parent, group) => Call::Makes(parent, group.map(|group| Group { tag: None, ..group })),
            Event::Collective(call, _) => {
                Call::Collective(Box::new(Collective { work: Instructions(0.0), element: Bytes(1), ..call }))
            }
            event => Call::As(event),
        })
    };
    events.into_iter().filter_map(call).collect()
}

/// Whether the trace defines communicators without the calls that made them. All ranks then make them.
fn defines_communicators(trace: &Trace) -> bool {
    let is_definition = |event: &Event| matches!(event, Event::CommCreate(CommCall::World, ..));
    (0..trace.ranks()).any(|rank| events(trace, rank).unwrap().iter().any(is_definition))
}

/// Checks that a trace and what is read of its files are the same.
fn assert_round_trip(path: &Path) {
    let (trace, place) = (open(path).unwrap(), tempdir().unwrap());
    let directory = place.path().join("dumpi");
    write(&trace, &directory).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let again = open(&directory).unwrap();
    let is_defined = defines_communicators(&trace);
    for rank in 0..trace.ranks() {
        let (before, mut after) = (calls(&trace, rank), calls(&again, rank));
        after.retain(|call| !(is_defined && matches!(call, Call::Makes(CommId::WORLD, None))));
        let differs = before.iter().zip(&after).position(|(before, after)| before != after);
        if let Some(at) = differs {
            panic!("{} rank {rank} call {at}: {:?} became {:?}", path.display(), before[at], after[at]);
        }
        assert_eq!(before.len(), after.len(), "{} rank {rank}", path.display());
    }
    assert_eq!(again.untranslated(), Vec::<String>::new(), "{}", path.display());
}

#[test]
fn traces_have_the_calls_that_they_were_made_of() {
    let programs = ["stencil", "collectives", "persistent", "vectors", "wildcards"];
    programs.iter().for_each(|program| assert_round_trip(&sample("dumpi").join(program)));
    ["stencil", "collectives", "vectors"]
        .iter()
        .for_each(|program| assert_round_trip(&sample("paraver").join(program)));
    ["scorep-stencil", "scorep-lu"].iter().for_each(|program| assert_round_trip(&sample("otf2").join(program)));
    assert_round_trip(&sample("liballprof/collectives"));
}

#[test]
fn communicators_that_are_defined_without_calls_keep_their_collectives() {
    for path in ["otf2/scorep-collectives", "otf2/scorep-vectors", "paraver/vectors", "liballprof/vectors"] {
        let (trace, place) = (open(&sample(path)).unwrap(), tempdir().unwrap());
        write(&trace, &place.path().join("dumpi")).unwrap();
        let again = open(&place.path().join("dumpi")).unwrap();
        assert_eq!(counted(&again).unwrap(), counted(&trace).unwrap(), "{path}");
    }
}

#[test]
#[ignore = "reads the collection of traces that TITR_FOREIGN names"]
fn traces_of_titr_in_a_collection() {
    each_of_titr_in_the_collection(assert_round_trip);
}

/// The step with a collective that does not block, for which DUMPI has no function.
const NOT_SAID: [usize; 1] = [9];

#[test]
fn each_step_is_what_it_was() {
    for step in (0..STEPS.len()).filter(|step| !NOT_SAID.contains(step)) {
        let place = tempdir().unwrap();
        assert_round_trip(&native(place.path(), &program(&[step])));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn random_programs_are_what_they_were(steps in prop::collection::vec(0..STEPS.len(), 0..40)) {
        let place = tempdir().unwrap();
        let steps: Vec<usize> = steps.into_iter().filter(|step| !NOT_SAID.contains(step)).collect();
        assert_round_trip(&native(place.path(), &program(&steps)));
    }
}

#[test]
fn what_dumpi_has_no_function_for_is_left_out_and_counted() {
    let place = tempdir().unwrap();
    let trace = open(&native(place.path(), &program(&[9, 0, 21]))).unwrap();
    let lines = write(&trace, &place.path().join("dumpi")).unwrap();
    let expected = [
        "3 calls that are neither messages nor collectives are left out",
        "3 non-blocking collectives are left out, for which DUMPI has no function",
        "3 waits and tests are left out, whose requests have no record",
    ];
    expected.iter().for_each(|line| assert!(lines.iter().any(|found| found == line), "{line} in {lines:?}"));
    let again = open(&place.path().join("dumpi")).unwrap();
    assert_eq!(counted(&again).unwrap().collectives.values().sum::<u64>(), 3);
}

#[test]
fn a_trace_of_instructions_becomes_one_of_times() {
    let place = tempdir().unwrap();
    let trace = open(&native(place.path(), &program(&[0, 7, 1]))).unwrap();
    write(&trace, &place.path().join("dumpi")).unwrap();
    let again = events(&open(&place.path().join("dumpi")).unwrap(), 0).unwrap();
    let volume = |event: Event| if let Event::Compute(work) = event { Some(work.0) } else { None };
    assert_eq!(again.into_iter().filter_map(volume).collect::<Vec<_>>(), [1000.0, 77.0]);
}

/// A program whose ranks have these lines between `init` and `finalize`.
fn alike(directory: &Path, ranks: u32, lines: impl Fn(u32) -> Vec<String>) -> std::path::PathBuf {
    let whole = |rank| [vec!["init".to_owned()], lines(rank), vec!["finalize".to_owned()]].concat();
    native(directory, &(0..ranks).map(whole).collect::<Vec<_>>())
}

#[test]
fn large_messages_and_odd_elements_keep_their_bytes() {
    let place = tempdir().unwrap();
    let lines = |rank: u32| {
        let lines = match rank {
            0 => ["send 1 0 5000000001 6", "bcast 6000000000 0 6", "gatherv 3 3 3 0 6 6"],
            _ => ["recv 0 0 5000000001 6", "bcast 6000000000 0 6", "gatherv 3 0 0 0 6 6"],
        };
        lines.map(str::to_owned).to_vec()
    };
    assert_round_trip(&alike(place.path(), 2, lines));
}

#[test]
fn a_communicator_of_some_ranks_only_is_an_error() {
    let place = tempdir().unwrap();
    let lines = |rank: u32| if rank < 2 { vec!["comm_create_group 2 0 0-1".to_owned()] } else { Vec::new() };
    let trace = open(&alike(place.path(), 3, lines)).unwrap();
    let directory = place.path().join("dumpi");
    let error = write(&trace, &directory).unwrap_err();
    assert!(error.contains("rank 0: a communicator that only its members call for"), "{error}");
    assert!(fs::read_dir(directory).is_err(), "nothing is left of it");
}
