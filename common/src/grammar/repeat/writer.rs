//! Writing events, those that come again by reference.

use std::collections::HashMap;

use super::{REPEAT, WINDOW, is_repeatable};
use crate::event::{Actor, Event, Rank, ThreadId};
use crate::grammar::line::{push_actor, push_number};
use crate::grammar::write::write_event;
use crate::units::Instructions;

/// How many volumes a line holds at most.
const VOLUMES: u32 = 64;
/// From how many on equal volumes in a row are counted.
const REPEATED: u32 = 3;
/// How much text of known events is kept at most.
const KNOWN_TEXT: usize = 64 << 10;

/// Writes the events of one rank in order, whichever of its threads they are of, into buffers that the caller may change at the end of any line.
#[derive(Debug)]
pub struct EventWriter {
    /// The rank and the thread whose events are being written.
    actor: Actor,
    /// The computation before the event that is to come; nothing is written of it yet.
    computed: Option<Instructions>,
    /// How many more volumes the line holds; `None` if there is no line.
    room: Option<u32>,
    /// The last volume of the line, which is written once it is known how often it comes in a row.
    volume: u64,
    times: u32,
    encoder: Encoder,
    /// The encoders of the other threads, by number; the place of the current thread is empty.
    encoders: Vec<Encoder>,
}

/// The state of one thread's events as they are written.
#[derive(Debug, Default)]
struct Encoder {
    /// The number of events so far that may come again.
    count: usize,
    /// The distance at which events come again, as long as they do; 0 if they do not.
    distance: usize,
    dictionary: Dictionary,
}

/// The events that may come again.
#[derive(Debug, Default)]
struct Dictionary {
    /// The `count` from which on events are known.
    since: usize,
    /// Each distinct event, and how many events were before it the last time.
    known: Vec<(Event, usize)>,
    /// The index in `known` of each event, by its text.
    by_text: HashMap<Box<[u8]>, u16>,
    /// The length of all texts in `by_text`.
    text: usize,
    /// The index in `known` of each of the last [`WINDOW`] events; empty before there is one.
    window: Vec<u16>,
}

impl EventWriter {
    /// A writer for the events of `rank`.
    #[must_use]
    pub fn new(rank: Rank) -> Self {
        Self {
            actor: rank.into(),
            computed: None,
            room: None,
            volume: 0,
            times: 0,
            encoder: Encoder::default(),
            encoders: Vec::new(),
        }
    }

    /// The events that follow are of `thread`, as those at first are of the main one. Ends the line if that is another.
    #[inline]
    pub fn switch(&mut self, out: &mut Vec<u8>, thread: ThreadId) {
        if self.actor.thread != thread {
            self.switch_to(out, thread);
        }
    }

    #[cold]
    fn switch_to(&mut self, out: &mut Vec<u8>, thread: ThreadId) {
        self.end_line(out);
        let (last, next) = (self.actor.thread.0 as usize, thread.0 as usize);
        if self.encoders.len() <= last.max(next) {
            self.encoders.resize_with(last.max(next) + 1, Encoder::default);
        }
        self.encoders[last] = std::mem::take(&mut self.encoder);
        self.encoder = std::mem::take(&mut self.encoders[next]);
        self.actor.thread = thread;
    }

    /// Appends `event` to `out`, after those before it. A line may be left open, and a computation may wait for the event
    /// after it.
    pub fn write(&mut self, out: &mut Vec<u8>, event: &Event) {
        if let Event::Compute(work) = event {
            self.compute(out, *work);
        } else {
            self.act(out, event);
        }
    }

    /// Appends a computation, if there was one, and `event` after it, which is none.
    #[inline]
    pub fn write_after(&mut self, out: &mut Vec<u8>, work: Option<Instructions>, event: &Event) {
        if let Some(work) = work {
            self.compute(out, work);
        }
        self.act(out, event);
    }

    #[inline]
    fn compute(&mut self, out: &mut Vec<u8>, work: Instructions) {
        if self.computed.is_some() {
            self.end_line(out);
        }
        self.computed = Some(work);
    }

    #[inline]
    fn act(&mut self, out: &mut Vec<u8>, event: &Event) {
        if let Event::Annotation(_) = event {
            self.end_line(out);
            return write_event(out, self.actor, event);
        }
        let volume = self.volume(out);
        match self.encoder.dictionary.at(self.encoder.count - self.encoder.distance, event) {
            Some(known) if self.encoder.distance > 0 => self.emit_ref(out, volume, known),
            _ => self.emit_literal(out, volume, event),
        }
    }

    /// Ends the line that is open, and writes a computation that waits: what was written is then in `out`.
    pub fn end_line(&mut self, out: &mut Vec<u8>) {
        self.close(out);
        if let Some(work) = self.computed.take() {
            write_event(out, self.actor, &Event::Compute(work));
        }
    }

    /// Ends the line that is open, if there is one.
    fn close(&mut self, out: &mut Vec<u8>) {
        if self.room.take().is_some() {
            self.volumes(out);
            out.push(b'\n');
        }
    }

    /// Writes the volume that comes so often in a row.
    fn volumes(&mut self, out: &mut Vec<u8>) {
        match self.times {
            0 => return,
            1..REPEATED => (0..self.times).for_each(|_| push_volume(out, self.volume)),
            _ => {
                push_volume(out, self.volume);
                out.push(b'*');
                push_number(out, u64::from(self.times));
            }
        }
        self.times = 0;
    }

    /// The volume before an event, as a list has it; spells it if a list cannot have it.
    #[inline]
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

    /// Writes an event as a reference to the one `distance` before it.
    #[inline]
    fn emit_ref(&mut self, out: &mut Vec<u8>, volume: u64, known: u16) {
        match self.room {
            Some(room @ 1..) => self.room = Some(room - 1),
            _ => self.begin_line(out),
        }
        if volume != self.volume {
            self.volumes(out);
            self.volume = volume;
        }
        self.times += 1;
        self.encoder.dictionary.note(self.encoder.count, known);
        self.encoder.count += 1;
    }

    #[cold]
    fn begin_line(&mut self, out: &mut Vec<u8>) {
        self.close(out);
        push_actor(out, self.actor);
        out.extend_from_slice(REPEAT);
        push_number(out, self.encoder.distance as u64);
        // Whole rounds of a loop, so that the same events stand below each other.
        let distance = self.encoder.distance as u32;
        let volumes = if distance > VOLUMES { VOLUMES } else { VOLUMES - VOLUMES % distance };
        self.room = Some(volumes - 1);
    }

    /// The event is not the one that was expected: it is known from elsewhere, or it is spelled.
    #[cold]
    fn emit_literal(&mut self, out: &mut Vec<u8>, volume: u64, event: &Event) {
        self.close(out);
        let start = out.len();
        write_event(out, self.actor, event);
        let text = out[start..].trim_ascii_end();
        if let Some((known, last)) =
            self.encoder.dictionary.find(text).filter(|(_, last)| self.encoder.count - last <= WINDOW)
        {
            out.truncate(start);
            self.encoder.distance = self.encoder.count - last;
            return self.emit_ref(out, volume, known);
        }
        if is_repeatable(event, text.len()) {
            self.encoder.distance = 0;
            self.encoder.dictionary.learn(self.encoder.count, text, event);
            self.encoder.count += 1;
        }
        if volume > 0 {
            // It stands before the event.
            let spelled = out.len();
            write_event(out, self.actor, &Event::Compute(Instructions(volume as f64)));
            out[start..].rotate_left(spelled - start);
        }
    }
}

impl Dictionary {
    /// The index in `known` of the event number `at`, if it is equal to `event`.
    #[inline]
    fn at(&self, at: usize, event: &Event) -> Option<u16> {
        let which = *self.window.get(at % WINDOW)?;
        let same = at >= self.since && self.known.get(which as usize).is_some_and(|(known, _)| known == event);
        same.then_some(which)
    }

    /// The event of this text, and when it was last.
    fn find(&self, text: &[u8]) -> Option<(u16, usize)> {
        let which = *self.by_text.get(text)?;
        self.known.get(which as usize).map(|&(_, last)| (which, last))
    }

    /// Notes that the event number `count` is the known event `which`.
    #[inline]
    fn note(&mut self, count: usize, which: u16) {
        if let Some(place) = self.window.get_mut(count % WINDOW) {
            *place = which;
        }
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
        self.window.resize(WINDOW, 0);
        self.window[count % WINDOW] = which;
    }
}

fn push_volume(out: &mut Vec<u8>, volume: u64) {
    out.push(b' ');
    push_number(out, volume);
}
