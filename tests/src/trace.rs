//! Traces, in the form that the tests compare.

use std::path::Path;

use titr_common::event::{Actor, Event, Rank};
use titr_common::grammar::write_event;
use titr_common::trace::Trace;

/// All events of all ranks as lines, but for what differs from run to run: how much was computed, when, and how often a
/// rank asked in vain.
///
/// # Panics
/// If the trace cannot be read to its end.
pub fn lines(trace: &Path) -> String {
    let source = Trace::open(trace).unwrap_or_else(|error| panic!("{error}"));
    let mut text = Vec::new();
    for (rank, mut stream) in (0..).map(Rank).zip(source.streams().unwrap()) {
        while let Some(event) = stream.next_event().unwrap_or_else(|error| panic!("{error}")) {
            match event {
                Event::Compute(_) | Event::Annotation(_) | Event::Test(_, None) | Event::Iprobe(_, false) => {}
                event => write_event(&mut text, Actor { rank, thread: stream.location().thread }, &event),
            }
        }
    }
    String::from_utf8(text).unwrap()
}
