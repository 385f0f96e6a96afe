//! Repetition: events that come again are written as references.
//!
//! Programs run in loops, and a loop asks for the same things in every round; what differs is how much was computed in
//! between, and where that is measured in time it differs in every round. So a stream does not spell a loop out again:
//!
//! ```text
//! 5 recv 1 11 640                      spelled
//! 5 compute 1400
//! 5 send 6 11 640
//! 5 loop 2 400 1400                    recv, send, 200 times, each send after 1400 instructions
//! 5 loop 2 6 1390 0 1420               three times, with what was computed before each send
//! ```
//!
//! `loop D N V1 V2 …` stands for *N* events: each is the one *D* events before it, which may itself stand on the same line. This is Ziv
//! and Lempel's sliding window (IEEE Trans. Inf. Theory 23(3), 1977) with events for letters, and computation left out of the comparison.
//! The inner loops of a loop are in its round, as in ScalaTrace's power-regular section descriptors (M. Noeth et al., J. Parallel Distrib.
//! Comput. 69(8), 2009), so a nest of loops takes its inner loops once, and a line for all rounds of the outer one.
//!
//! An event that [computed](history::PastEvent) in one of the last rounds takes the next volume of the list, of which 0 is none; the others take
//! none. The list starts again when it is used up: rounds alike take the volumes of one. Volumes are written in [few letters](volumes)
//! where they differ.
//!
//! `again D V1 V2 …` stands for as many events as there are volumes, and each takes one. Older versions wrote no other lines.
//!
//! `window E` stands for no event: from here on *E* different events of the thread may come again, up to [`Lookback::MOST`], in place of
//! [`Lookback::LEAST`]. A writer says so where it sees a loop whose round has more different events, so that other traces have no such line;
//! versions before it was there refuse a trace with one, and this version reads what they wrote.
//!
//! Computation does not count as an event here, nor do times and what is seen at them, the stack of a call site, which is said once, nor one whose line is longer than
//! [`LONGEST`] or whose list holds more numbers than that; *D* is at most [twice](Lookback::window) *E*, *N* at most [`EVENTS`].
//!
//! * Lossless: a volume that is not a whole number is spelled, as are computations with no event after them, and those before an event that
//!   takes no volume.
//! * Streaming, in bounded memory: a reader keeps the order of the last 2 *E* events or of one round, and at most *E* different
//!   events and a few more; a writer these, their texts, and the volumes of a line. Both grow with the program's loops alone: some 100 KiB
//!   at first, and 20 MiB for a round of 100,000 different events.
//! * Cheap: in a loop, a writer compares each event with one other and writes a few letters; a reader parses no fields.
//! * Safe to cut: a line refers to what is before it, never to what follows.
//!
//! The events of different threads of a rank have windows of their own, as each goes round a loop of its own.
//!
//! Only [`EventWriter`] and [`EventReader`] know of this. Whoever asks for events gets them all.

mod history;
mod loops;
mod open_line;
mod reach;
mod reader;
mod volumes;
mod writer;

pub use reader::EventReader;
pub use writer::EventWriter;

#[cfg(doc)]
use reach::Lookback;

use crate::event::{Event, Mark};

/// How many events a line holds at most, and how many if each has its volume.
const EVENTS: usize = 1 << 14;
const VOLUMES_AGAIN: usize = 1024;

/// The longest line, in bytes, and the longest list of an event that may come again: what a rank's reader keeps is bounded.
const LONGEST: usize = 1 << 10;

/// The words of repetitions, between blanks.
const AGAIN: &[u8] = b" again ";
const LOOP: &[u8] = b" loop ";
/// The word with which events from further back may come again.
const WINDOW: &[u8] = b" window ";

/// Whether an event whose line takes `length` bytes may be repeated. A line of a few bytes may list millions: `start
/// 0-9999999`.
fn is_repeatable(event: &Event, length: usize) -> bool {
    if let Event::Compute(_) | Event::Annotation(_) | Event::Mark(Mark::CallStack(..)) = event {
        return false;
    }
    length.max(event.list_size().entries) <= LONGEST
}

#[cfg(test)]
mod long_loops;
#[cfg(test)]
mod tests;
