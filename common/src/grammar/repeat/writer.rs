//! Writes events, and repeated ones by reference.

use std::collections::HashMap;

use super::history::{History, PastEvent};
use super::loops::Loops;
use super::open_line::OpenLine;
use super::reach::{Lookback, Recurrence};
use super::{WINDOW, is_repeatable};
use crate::event::{Actor, Event, Rank, ThreadId};
use crate::grammar::line::{push_actor, push_number};
use crate::grammar::write::write_event;
use crate::units::Instructions;

/// Writes the events of one rank in order, from all its threads, into buffers that the caller may change at the end of
/// any line.
#[derive(Debug)]
pub struct EventWriter {
    /// The rank and the thread whose events are being written.
    actor: Actor,
    /// The computation before the event that is to come; nothing is written of it yet.
    computed: Option<Instructions>,
    line: OpenLine,
    encoder: Encoder,
    /// The encoders of the other threads, by number; the place of the current thread is empty.
    encoders: Vec<Encoder>,
}

/// The writer's state for one thread: the events that may be repeated.
#[derive(Debug, Default)]
struct Encoder {
    /// The number of events so far that may come again.
    count: usize,
    /// The distance at which events come again, as long as they do; 0 if they do not.
    distance: usize,
    /// Whether a computation was spelled out before the next event.
    computed: bool,
    /// Each distinct event.
    known: Vec<Known>,
    /// The index in `known` of each event, by its text.
    by_text: HashMap<Box<[u8]>, u32>,
    /// The length of all texts in `by_text`.
    text: usize,
    /// The index in `known` of each of the last events.
    history: History,
    loops: Loops,
    recurrence: Recurrence,
}

#[derive(Debug)]
struct Known {
    event: Event,
    /// The number of events before its last occurrence.
    last: usize,
    /// The number of events before its last occurrence as the first event of a loop or a repeated passage.
    began: Option<usize>,
}

impl EventWriter {
    /// A writer for the events of `rank`.
    #[must_use]
    pub fn new(rank: Rank) -> Self {
        Self {
            actor: rank.into(),
            computed: None,
            line: OpenLine::default(),
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
        match self.encoder.expected(event) {
            Some(place) => self.repeat(out, place),
            None => self.interrupt(out, event),
        }
    }

    /// Ends the open line, and writes a pending computation: everything written is then in `out`.
    pub fn end_line(&mut self, out: &mut Vec<u8>) {
        self.line.end(out, self.actor);
        if let Some(work) = self.computed.take() {
            write_event(out, self.actor, &Event::Compute(work));
            self.encoder.computed = true;
        }
    }

    /// Writes an event as the one `distance` before it, which is at `place`.
    #[inline]
    fn repeat(&mut self, out: &mut Vec<u8>, place: PastEvent) {
        let takes_volume = place.is_computing() && !self.encoder.computed;
        let volume = match self.computed {
            None => takes_volume.then_some(0),
            Some(Instructions(work)) => {
                let whole = work as u64;
                if takes_volume && whole > 0 && whole as f64 == work {
                    self.computed = None;
                    Some(whole)
                } else {
                    // A list cannot have it.
                    self.end_line(out);
                    None
                }
            }
        };
        self.line.add(out, self.actor, self.encoder.distance, volume);
        self.encoder.repeated(place, volume.is_some_and(|volume| volume > 0));
    }

    /// Writes an event that is not the one that was expected: it is known from elsewhere, or it is spelled.
    #[cold]
    fn interrupt(&mut self, out: &mut Vec<u8>, event: &Event) {
        self.line.end(out, self.actor);
        let start = out.len();
        write_event(out, self.actor, event);
        let text = out[start..].trim_ascii_end();
        if let Some(place) = self.encoder.find(text) {
            out.truncate(start);
            return self.repeat(out, place);
        }
        let computed = std::mem::take(&mut self.encoder.computed) || self.computed.is_some();
        let wider = if is_repeatable(event, text.len()) { self.encoder.learn(text, event, computed) } else { None };
        if let Some(work) = self.computed.take() {
            // It precedes the event.
            let spelled = out.len();
            write_event(out, self.actor, &Event::Compute(work));
            out[start..].rotate_left(spelled - start);
        }
        if let Some(reach) = wider {
            push_actor(out, self.actor);
            out.extend_from_slice(WINDOW);
            push_number(out, reach.distinct() as u64);
            out.push(b'\n');
            self.encoder.history.widen(reach);
        }
    }
}

impl Encoder {
    /// The slot of the next event if the loop continues, if that event equals `event`.
    #[inline]
    fn expected(&mut self, event: &Event) -> Option<PastEvent> {
        if self.distance == 0 {
            return None;
        }
        let place = self.history.expected(self.distance);
        self.known.get(place.slot() as usize).is_some_and(|known| known.event == *event).then_some(place)
    }

    /// Records that the event at `place` came again.
    #[inline]
    fn repeated(&mut self, place: PastEvent, computed: bool) {
        let computed = std::mem::take(&mut self.computed) || computed;
        self.history.repeat(place, computed);
        if let Some(known) = self.known.get_mut(place.slot() as usize) {
            known.last = self.count;
        }
        self.count += 1;
    }

    /// The place of an event of this text that came before; from there on the loop goes.
    fn find(&mut self, text: &[u8]) -> Option<PastEvent> {
        self.loops.end(self.distance, self.count);
        let slot = *self.by_text.get(text)?;
        let known = self.known.get_mut(slot as usize)?;
        let last_began = known.began.replace(self.count);
        let ago = [Some(known.last), last_began].map(|number| number.map_or(0, |number| self.count - number));
        self.distance = self.loops.resume(slot, ago, self.distance, self.count, self.history.window())?;
        Some(self.history.expected(self.distance))
    }

    /// An event is new; `computed` says whether computation came before it. Returns how far back events should come
    /// again, if that is further than they do.
    fn learn(&mut self, text: &[u8], event: &Event, computed: bool) -> Option<Lookback> {
        let reach = self.history.reach();
        // An event that was too far back to come again is learnt anew.
        if self.known.len() == reach.distinct() || self.text > reach.text() {
            self.known.clear();
            self.by_text.clear();
            self.history = History::new(reach);
            self.loops = Loops::default();
            self.text = 0;
            self.recurrence.begin(self.count);
        }
        let wider = self.recurrence.spelled(text, self.count, reach);
        // A reader that reaches further keeps lists for as long as their numbers are as few as letters may be.
        self.text += if reach.is_widened() { text.len().max(event.list_size().entries) } else { text.len() };
        let slot = self.known.len() as u32;
        self.known.push(Known { event: event.clone(), last: self.count, began: None });
        self.by_text.insert(text.into(), slot);
        self.history.push(PastEvent::new(slot, computed));
        self.distance = 0;
        self.count += 1;
        wider
    }
}
