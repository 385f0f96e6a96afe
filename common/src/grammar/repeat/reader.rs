//! Reads events, including repeated ones from memory.

use std::collections::HashMap;

use super::history::{History, PastEvent};
use super::passing::{LoopWalk, PassedRound};
use super::reach::Lookback;
use super::volumes::{Numbers, VolumeReader};
use super::{AGAIN, EVENTS, LONGEST, LOOP, VOLUMES_AGAIN, WINDOW, is_repeatable};
use crate::counts::LoopCounter;
use crate::event::{Actor, Event, Rank, ThreadId};
use crate::event_buffer::{DictEntry, EventBuffer, EventSink};
use crate::grammar::error::ParseError;
use crate::grammar::fields::Fields;
use crate::grammar::parse::Parser;
use crate::units::Instructions;

/// Reads the lines of one rank's stream in order; a line holds any number of events.
#[derive(Clone, Debug)]
pub struct EventReader {
    parser: Parser,
    memory: Option<Box<Window>>,
    /// The thread whose events the last line has.
    thread: ThreadId,
    /// The windows of the other threads.
    others: HashMap<ThreadId, Box<Window>>,
    /// The number of events that were learnt, by all windows.
    learnt: u32,
    /// The rest of the last line, if only some of its events were requested.
    unfinished: Option<Passage>,
}

/// A partially read line of repeated events.
#[derive(Clone, Debug)]
struct Passage {
    distance: usize,
    /// The number of remaining events of the line.
    left: usize,
    repetition: Repetition,
    volumes: VolumeReader,
}

/// The form of a line that repeats events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repetition {
    /// `again`: there are as many events as volumes.
    Again,
    /// `loop`: the volumes are of events before which computation came in the first round; `cycled` says whether each
    /// was given.
    Loop { cycled: bool },
}

/// The number of events that are kept: those in the window, and some more, so that a search for free slots is rare.
fn most_kept(reach: Lookback) -> usize {
    reach.distinct() + reach.distinct() / 4
}

/// The last events that count.
#[derive(Clone, Debug, Default)]
struct Window {
    /// The history, in terms of slots in `kept`.
    history: History,
    /// The events, each once for each time it was spelled; not more than [`most_kept`].
    kept: Vec<DictEntry>,
    /// Places in `kept` whose events are in the window no more.
    free: Vec<u32>,
    /// The numbers in all lists of the events that are kept.
    entries: usize,
    /// Whether a computation was spelled out before the next event.
    computed: bool,
    /// The round of the loop that goes, if some of it was passed over and nothing was read since.
    passed: Option<Box<PassedRound>>,
}

impl EventReader {
    /// A reader of a stream in a world of `world` ranks.
    #[must_use]
    pub fn new(world: u32) -> Self {
        Self {
            parser: Parser::new(world),
            memory: None,
            thread: ThreadId::MAIN,
            others: HashMap::new(),
            learnt: 0,
            unfinished: None,
        }
    }

    /// Enables repetition from here on. Only titr's own streams have such lines.
    pub fn remember(&mut self) {
        self.memory = Some(Box::default());
    }

    /// Reads `line` (without its newline), appends its events to `events`, and returns its thread; `None` as in
    /// [`Parser::line`]. A passage belongs to one reader until it is cleared.
    ///
    /// # Errors
    /// [`ParseError`] with the column, for a line that is not in the grammar; it appends nothing.
    pub fn line(&mut self, line: &[u8], events: &mut EventBuffer) -> Result<Option<Actor>, ParseError> {
        self.some_of_line(line, events, usize::MAX)
    }

    /// Like [`line`](Self::line), but reads at most about this many of the line's events. While the line [is
    /// unfinished](Self::is_unfinished), a further call with it appends the next ones.
    ///
    /// # Errors
    /// As [`line`](Self::line); events appended before remain.
    pub(crate) fn some_of_line(
        &mut self,
        line: &[u8],
        events: &mut EventBuffer,
        most: usize,
    ) -> Result<Option<Actor>, ParseError> {
        self.some_of_line_into(line, events, most)
    }

    /// Like [`some_of_line`](Self::some_of_line), for any receiver of events.
    pub(crate) fn some_of_line_into(
        &mut self,
        line: &[u8],
        events: &mut impl EventSink,
        most: usize,
    ) -> Result<Option<Actor>, ParseError> {
        if self.memory.is_none() {
            if let Some((rank, event)) = self.parser.plain_line(line) {
                self.thread = ThreadId::MAIN;
                events.plain(event);
                return Ok(Some(rank.into()));
            }
            let Some((actor, event)) = self.parser.any_line(line)? else { return Ok(None) };
            self.thread = actor.thread;
            events.push(event);
            return Ok(Some(actor));
        }
        let column = memchr::memchr(b' ', line).filter(|_| line.first().is_some_and(u8::is_ascii_digit));
        let after = |word: &[u8]| column.filter(|&at| line[at..].starts_with(word)).map(|at| at + word.len());
        let repetition = match after(AGAIN) {
            Some(at) => Some((Repetition::Again, at)),
            None => after(LOOP).map(|at| (Repetition::Loop { cycled: false }, at)),
        };
        if let Some((repetition, at)) = repetition {
            let actor = Fields::of(line).actor()?;
            self.switch(actor.thread);
            if let Some(window) = &mut self.memory {
                let passage = match self.unfinished.take() {
                    Some(passage) => passage,
                    None => window.passage(repetition, Numbers { line, at })?,
                };
                let before = events.len();
                let read = window.repeat(passage, line, &mut self.parser, events, most);
                self.unfinished = read.inspect_err(|_| events.truncate(before))?;
            }
            return Ok(Some(actor));
        }
        if let Some(at) = after(WINDOW) {
            self.widen(line, at)?;
            return Ok(None);
        }
        let Some((actor, event)) = self.parser.line(line)? else { return Ok(None) };
        self.switch(actor.thread);
        match &mut self.memory {
            Some(window) if is_repeatable(&event, line.len()) => {
                let slot = window.learn(event, self.learnt);
                self.learnt = (self.learnt + 1) % u32::MAX;
                window.next(slot, events);
            }
            Some(window) => {
                let waits = window.computed && matches!(event, Event::Annotation(_));
                window.computed = waits || matches!(event, Event::Compute(_));
                events.push(event);
            }
            None => events.push(event),
        }
        Ok(Some(actor))
    }

    /// Remembers as many events of a thread as the line says that begins `ACTOR window`.
    fn widen(&mut self, line: &[u8], at: usize) -> Result<(), ParseError> {
        self.switch(Fields::of(line).actor()?.thread);
        let mut numbers = Numbers { line, at };
        let distinct = numbers.next("how many different events may come again", Lookback::MOST as u64)? as usize;
        let Some(window) = &mut self.memory else { return Ok(()) };
        match Lookback::of(distinct).filter(|reach| reach.distinct() >= window.history.reach().distinct()) {
            Some(reach) if numbers.at == line.trim_ascii_end().len() => {
                window.history.widen(reach);
                Ok(())
            }
            Some(_) => Err(ParseError { column: numbers.at + 1, what: "the end of the line is expected".into() }),
            None => Err(ParseError { column: at + 1, what: "more events than came again before are expected".into() }),
        }
    }

    /// Appends the event of a line of `rank` that is plain, where events do not come again; false if it is another
    /// line, which is not read.
    #[inline]
    pub(crate) fn plain_line(&mut self, line: &[u8], rank: Rank, events: &mut EventBuffer) -> bool {
        match self.parser.plain_line(line) {
            Some((of, event)) if of == rank && self.memory.is_none() => {
                self.thread = ThreadId::MAIN;
                events.plain(event);
                true
            }
            _ => false,
        }
    }

    /// Whether the last line has more events.
    #[must_use]
    pub(crate) fn is_unfinished(&self) -> bool {
        self.unfinished.is_some()
    }

    /// The thread whose events the last line has.
    #[must_use]
    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    #[inline]
    fn switch(&mut self, thread: ThreadId) {
        if self.thread != thread {
            let next = self.others.remove(&thread).unwrap_or_default();
            let last = self.memory.replace(next).unwrap_or_default();
            self.others.insert(std::mem::replace(&mut self.thread, thread), last);
        }
    }
}

impl Window {
    /// The passage that begins here, in a line's `DISTANCE VOLUMES…` or `DISTANCE EVENTS VOLUMES…`.
    fn passage(&self, repetition: Repetition, mut numbers: Numbers) -> Result<Passage, ParseError> {
        let at = numbers.at;
        let known = self.history.known();
        let distance = numbers.next("how many events ago they were", u64::MAX)? as usize;
        if distance == 0 || distance > known {
            let what = format!("{distance} events ago there was none: {known} are known here");
            return Err(ParseError { column: at + 1, what });
        }
        let left = match repetition {
            Repetition::Again => VOLUMES_AGAIN,
            Repetition::Loop { .. } => {
                let at = numbers.at;
                numbers.expect(b' ')?;
                let events = numbers.next("a number of events", EVENTS as u64)? as usize;
                if events == 0 {
                    return Err(ParseError { column: at + 2, what: "at least one event is expected".into() });
                }
                events
            }
        };
        Ok(Passage { distance, left, repetition, volumes: VolumeReader::at(numbers.at) })
    }

    /// Passes over at most this many events of a passage. Returns false, and does nothing, if the events have to be looked at.
    fn pass(
        &mut self,
        passage: &mut Passage,
        line: &[u8],
        counter: &mut LoopCounter,
        most: usize,
    ) -> Result<bool, ParseError> {
        let Passage { distance, left, repetition: Repetition::Loop { cycled }, volumes } = passage else {
            return Ok(false);
        };
        let going = self.history.round(*distance);
        let next = going.next;
        let Some(round) = PassedRound::find(&mut self.passed, going, &self.kept) else { return Ok(false) };
        let events = most.min(*left);
        *left -= events;
        let computed = events > 0 && std::mem::take(&mut self.computed);
        let walk = LoopWalk { history: &mut self.history, round, counter, line, volumes, cycled };
        walk.pass(next, events, computed)?;
        Ok(true)
    }

    /// Appends at most this many events of a passage, and returns the rest of it.
    fn repeat(
        &mut self,
        mut passage: Passage,
        line: &[u8],
        parser: &mut Parser,
        events: &mut impl EventSink,
        most: usize,
    ) -> Result<Option<Passage>, ParseError> {
        let is_passed = match events.loop_counter() {
            Some(counter) => self.pass(&mut passage, line, counter, most)?,
            None => false,
        };
        let Passage { distance, left, repetition, volumes } = &mut passage;
        let most = if is_passed { 0 } else { most.min(*left) };
        *left -= most;
        if most > 0 {
            self.passed = None;
        }
        for _ in 0..most {
            let expected = self.history.expected(*distance);
            let computed = std::mem::take(&mut self.computed);
            let volume = match repetition {
                Repetition::Again => volumes.next(line)?,
                Repetition::Loop { cycled } if expected.is_computing() && !computed => {
                    if volumes.is_at_end(line) {
                        volumes.rewind();
                        *cycled = true;
                    }
                    volumes.next(line)?
                }
                Repetition::Loop { .. } => 0,
            };
            if volume > 0 {
                events.compute(Instructions(volume as f64));
            }
            self.history.repeat(expected, computed || volume > 0);
            let kept = &self.kept[expected.slot() as usize];
            if let Event::CommCreate(_, _, Some(group)) = &kept.event {
                parser.introduce(group);
            }
            events.push_ref(kept);
            if *repetition == Repetition::Again && volumes.is_at_end(line) {
                return Ok(None);
            }
        }
        match repetition {
            _ if *left > 0 => Ok(Some(passage)),
            Repetition::Loop { cycled: false } if !volumes.is_at_end(line) => {
                Err(volumes.refusal("the end of the line is expected: these events take no more volumes"))
            }
            Repetition::Loop { .. } => Ok(None),
            Repetition::Again => Err(volumes.refusal("the end of the line is expected: it holds no more volumes")),
        }
    }

    /// Makes the event that is kept in `slot` the next one.
    #[inline]
    fn next(&mut self, slot: u32, events: &mut impl EventSink) {
        events.push_ref(&self.kept[slot as usize]);
        self.history.push(PastEvent::new(slot, std::mem::take(&mut self.computed)));
    }

    /// Keeps an event, after the reader has learnt `learnt` others.
    fn learn(&mut self, event: Event, learnt: u32) -> u32 {
        let reach = self.history.reach();
        let is_full = self.free.is_empty() && self.kept.len() >= most_kept(reach);
        if is_full || reach.is_widened() && self.entries > 2 * reach.text() {
            self.find_free(reach);
        }
        self.entries += event.list_size().entries;
        if let Some(slot) = self.free.pop() {
            self.kept[slot as usize] = DictEntry::new(event, slot, learnt);
            return slot;
        }
        let slot = self.kept.len() as u32;
        // Thousands of ranks have a few events each, so memory grows by as little as stays cheap.
        self.kept.reserve_exact(if self.kept.len() == self.kept.capacity() { 2 + self.kept.len() / 4 } else { 0 });
        self.kept.push(DictEntry::new(event, slot, learnt));
        slot
    }

    /// Finds the slots of events that cannot be repeated: they are not in the window any more, or a writer has
    /// forgotten them because of the number of different events since then.
    fn find_free(&mut self, reach: Lookback) {
        let (mut used, mut distinct, mut entries) = (vec![false; self.kept.len()], 0, 0);
        let most_entries = if reach.is_widened() { reach.text() + LONGEST } else { usize::MAX };
        let is_remembered = |place: &&PastEvent| {
            let slot = place.slot() as usize;
            if !used[slot] {
                distinct += 1;
                entries += self.kept[slot].event.list_size().entries;
                used[slot] = distinct <= reach.distinct() && entries <= most_entries;
            }
            used[slot]
        };
        let remembered = self.history.window().iter().rev().take_while(is_remembered).count();
        self.history.forget_before(remembered);
        self.free = (0..self.kept.len() as u32).filter(|&slot| !used[slot as usize]).collect();
        for &slot in &self.free {
            let known = &mut self.kept[slot as usize];
            if known.event.list_size().entries > 0 {
                *known = DictEntry::new(Event::Init, slot, u32::MAX);
            }
        }
        self.entries = self.kept.iter().map(|known| known.event.list_size().entries).sum();
    }
}
