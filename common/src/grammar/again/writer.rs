//! Writing events, those that come again by reference.

use std::collections::HashMap;

use super::{AGAIN, LONGEST, WINDOW};
use crate::event::{Event, Rank};
use crate::grammar::write::{push_number, write_event};
use crate::units::Instructions;

/// How many volumes a line holds at most.
const VOLUMES: u32 = 64;
/// How much text of known events is kept at most.
const KNOWN_TEXT: usize = 64 << 10;

/// Writes the events of one rank in order, into buffers that the caller may change at the end of any line.
#[derive(Debug)]
pub struct EventWriter {
    rank: Rank,
    /// What was computed before the event that is to come; nothing is written of it yet.
    computed: Option<Instructions>,
    /// Events so far that count.
    count: usize,
    /// The distance at which events come again, as long as they do; 0 if they do not.
    distance: usize,
    /// How many more volumes the line holds; `None` if there is no line.
    room: Option<u32>,
    history: History,
}

/// The events that may come again.
#[derive(Debug)]
struct History {
    /// The `count` from which on they are known.
    since: usize,
    /// Each distinct one, and how many events were before it the last time.
    known: Vec<(Event, usize)>,
    /// Which it is, by its text.
    by_text: HashMap<Box<[u8]>, u16>,
    /// The length of these texts.
    text: usize,
    /// Which ones the last [`WINDOW`] events were.
    window: Box<[u16; WINDOW]>,
}

impl EventWriter {
    /// For the events of `rank`.
    #[must_use]
    pub fn new(rank: Rank) -> Self {
        Self { rank, computed: None, count: 0, distance: 0, room: None, history: History::default() }
    }

    /// Appends `event` to `out`, after those before it. A line may be left open, and a computation may wait for the event
    /// after it.
    #[inline]
    pub fn write(&mut self, out: &mut Vec<u8>, event: &Event) {
        if let Event::Compute(work) = event {
            if self.computed.is_some() {
                self.end_line(out);
            }
            self.computed = Some(*work);
            return;
        }
        if let Event::Seen(_) = event {
            self.end_line(out);
            return write_event(out, self.rank, event);
        }
        let volume = self.volume(out);
        match self.history.at(self.count - self.distance, event) {
            Some(known) if self.distance > 0 => self.come_again(out, volume, known),
            _ => self.jump(out, volume, event),
        }
    }

    /// Ends the line that is open, and writes a computation that waits: what was written is then in `out`.
    pub fn end_line(&mut self, out: &mut Vec<u8>) {
        if self.room.take().is_some() {
            out.push(b'\n');
        }
        if let Some(work) = self.computed.take() {
            write_event(out, self.rank, &Event::Compute(work));
        }
    }

    /// The volume before an event, as a list has it; spells it if a list cannot have it.
    fn volume(&mut self, out: &mut Vec<u8>) -> u64 {
        let Some(Instructions(work)) = self.computed else { return 0 };
        let whole = work as u64;
        if whole > 0 && whole as f64 == work {
            self.computed = None;
            return whole;
        }
        self.end_line(out);
        0
    }

    /// The event is the one `distance` before.
    fn come_again(&mut self, out: &mut Vec<u8>, volume: u64, known: u16) {
        match self.room {
            Some(room @ 1..) => self.room = Some(room - 1),
            Some(0) => {
                out.push(b'\n');
                self.begin_line(out);
            }
            None => self.begin_line(out),
        }
        match volume {
            0..10 => out.extend_from_slice(&[b' ', b'0' + volume as u8]),
            _ => {
                out.push(b' ');
                push_number(out, volume);
            }
        }
        self.history.note(self.count, known);
        self.count += 1;
    }

    fn begin_line(&mut self, out: &mut Vec<u8>) {
        push_number(out, u64::from(self.rank.0));
        out.extend_from_slice(AGAIN);
        push_number(out, self.distance as u64);
        // Whole rounds of a loop, so that the same events stand below each other.
        let distance = self.distance as u32;
        let volumes = if distance > VOLUMES { VOLUMES } else { VOLUMES - VOLUMES % distance };
        self.room = Some(volumes - 1);
    }

    /// The event is not the one that was expected: it is known from elsewhere, or it is spelled.
    #[cold]
    fn jump(&mut self, out: &mut Vec<u8>, volume: u64, event: &Event) {
        if self.room.take().is_some() {
            out.push(b'\n');
        }
        let start = out.len();
        write_event(out, self.rank, event);
        let text = out[start..].trim_ascii_end();
        if let Some((known, last)) = self.history.find(text).filter(|(_, last)| self.count - last <= WINDOW) {
            out.truncate(start);
            self.distance = self.count - last;
            return self.come_again(out, volume, known);
        }
        if text.len() <= LONGEST {
            self.distance = 0;
            self.history.learn(self.count, text, event);
            self.count += 1;
        }
        if volume > 0 {
            // It stands before the event.
            let spelled = out.len();
            write_event(out, self.rank, &Event::Compute(Instructions(volume as f64)));
            out[start..].rotate_left(spelled - start);
        }
    }
}

impl History {
    /// The event `at`, if it was this one.
    #[inline]
    fn at(&self, at: usize, event: &Event) -> Option<u16> {
        let which = self.window[at % WINDOW];
        let same = at >= self.since && self.known.get(which as usize).is_some_and(|(known, _)| known == event);
        same.then_some(which)
    }

    /// The event of this text, and when it was last.
    fn find(&self, text: &[u8]) -> Option<(u16, usize)> {
        let which = *self.by_text.get(text)?;
        self.known.get(which as usize).map(|&(_, last)| (which, last))
    }

    /// The event at `count` is a known one.
    #[inline]
    fn note(&mut self, count: usize, which: u16) {
        self.window[count % WINDOW] = which;
        if let Some((_, last)) = self.known.get_mut(which as usize) {
            *last = count;
        }
    }

    /// The event at `count` is new.
    fn learn(&mut self, count: usize, text: &[u8], event: &Event) {
        // An event that was too far back to come again is learnt anew.
        if self.known.len() == WINDOW || self.text > KNOWN_TEXT {
            self.known.clear();
            self.by_text.clear();
            (self.text, self.since) = (0, count);
        }
        self.text += text.len();
        let which = self.known.len() as u16;
        self.known.push((event.clone(), count));
        self.by_text.insert(text.into(), which);
        self.window[count % WINDOW] = which;
    }
}

impl Default for History {
    fn default() -> Self {
        Self { since: 0, known: Vec::new(), by_text: HashMap::new(), text: 0, window: Box::new([0; WINDOW]) }
    }
}
