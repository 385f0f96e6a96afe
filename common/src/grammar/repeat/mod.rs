//! Repetition: repeated events are written as references.
//!
//! Programs run in loops, and a loop makes the same requests in every round. Only the computation in between differs,
//! and measured times differ in every round. A stream therefore does not spell out a loop again:
//!
//! ```text
//! 5 recv 1 11 640                      spelled
//! 5 compute 1400
//! 5 send 6 11 640
//! 5 loop 2 400 1400                    recv, send, 200 times, each send after 1400 instructions
//! 5 loop 2 6 1390 0 1420               three times, with the computation before each send
//! ```
//!
//! `loop D N V1 V2 …` stands for *N* events: each equals the one *D* events before it, which may be on the same line.
//! This is Ziv and Lempel's sliding window (IEEE Trans. Inf. Theory 23(3), 1977) with events for letters, and without
//! comparing computation. The inner loops of a loop are in its round, as in ScalaTrace's power-regular section
//! descriptors (M. Noeth et al., J. Parallel Distrib. Comput. 69(8), 2009), so a nest of loops contains its inner loops
//! once, and a line for all rounds of the outer one.
//!
//! An event that [computed](history::PastEvent) in one of the last rounds takes the next volume of the list, where 0
//! means none; the others take none. The list starts again when it is used up: equal rounds take the volumes of one.
//! Volumes that differ are written in [few letters](volumes).
//!
//! `again D V1 V2 …` stands for one event per volume, each with its volume. Older versions wrote no other lines.
//!
//! `window E` stands for no event: from here on the last *E* different events of the thread may be repeated, up to
//! [`Lookback::MOST`], instead of [`Lookback::LEAST`]. A writer emits it when it sees a loop whose round has more
//! different events, so other traces have no such line. Versions older than this line reject a trace with one; this
//! version reads their traces.
//!
//! Some lines do not count as events here: computation, times and other observations, and the stack of a call site,
//! which is written once. Neither do events whose line is longer than [`LONGEST`] or whose list holds more numbers
//! than that. *D* is at most [twice](Lookback::window) *E*, *N* at most [`EVENTS`].
//!
//! * Lossless: a volume that is not a whole number is spelled out, as are computations with no event after them, and
//!   those before an event that takes no volume.
//! * Streaming, in bounded memory: a reader keeps the order of the last 2 *E* events or of one round, and slightly more
//!   than *E* different events; a writer keeps these, their texts, and the volumes of a line. Both grow with the
//!   program's loops alone: some 100 KiB at first, and 20 MiB for a round of 100,000 different events.
//! * Cheap: in a loop, a writer compares each event with one other and writes a few letters; a reader parses no fields.
//! * Safe to truncate: a line refers to earlier lines, never to later ones.
//!
//! The threads of a rank have separate windows, because each runs its own loops.
//!
//! Only [`EventWriter`] and [`EventReader`] know of this; readers of events get all of them.

mod history;
mod loops;
mod open_line;
mod passing;
mod reach;
mod reader;
mod volumes;
mod window;
mod writer;

pub use reader::EventReader;
pub use writer::EventWriter;

#[cfg(doc)]
use reach::Lookback;

use crate::event::{Event, Mark};

/// Maximum number of events on a line, and maximum number if each has its own volume.
const EVENTS: usize = 1 << 14;
const VOLUMES_AGAIN: usize = 1024;

/// The longest line, in bytes, and the longest list of an event that may be repeated: the memory of a rank's reader is
/// bounded.
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
mod tests;
