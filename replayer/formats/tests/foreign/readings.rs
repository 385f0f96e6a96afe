//! The readings that a user can choose where a format leaves one open.

use titr_common::event::{CollectiveKind, Event};
use titr_common::trace::Trace;
use titr_formats::input::{Readings, open_read_as};

use crate::counts::events;
use crate::samples::sample;

fn read_as(path: &str, reading: &str) -> Trace {
    open_read_as(&[sample(path)], &Readings::of([reading])).unwrap()
}

/// The bytes of the first allreduce of rank 0.
fn allreduce(trace: &Trace) -> u64 {
    let call = |event: Event| if let Event::Collective(call, _) = event { Some(call) } else { None };
    let mut calls = events(trace, 0).unwrap().into_iter().filter_map(call);
    calls.find(|call| call.kind == CollectiveKind::Allreduce).unwrap().send.each().0
}

#[test]
fn the_bytes_of_collectives_are_those_of_either_tool() {
    // The program reduces a number of 8 bytes over 9 ranks.
    let as_score_p = |path| allreduce(&read_as(path, "otf2-bytes=score-p"));
    let as_eztrace = |path| allreduce(&read_as(path, "otf2-bytes=eztrace"));
    assert_eq!((as_score_p("otf2/scorep-stencil"), as_eztrace("otf2/scorep-stencil")), (8, 72));
    assert_eq!(as_eztrace("otf2/eztrace-stencil"), 8);
    assert_eq!(allreduce(&read_as("otf2/eztrace-stencil", "")), 8);
    assert_eq!(allreduce(&read_as("otf2/scorep-stencil", "")), 8);
}
