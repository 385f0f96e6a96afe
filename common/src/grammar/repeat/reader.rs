//! Reading events, those that come again from memory.

use std::collections::HashMap;

use super::history::History;
use super::{REPEAT, WINDOW, is_repeatable};
use crate::event::{Actor, Event, ThreadId};
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
    /// How many events were learnt, by whichever window.
    learnt: u32,
    /// The rest of the line that was read last, if only some of its events were asked for.
    unfinished: Option<Passage>,
}

/// A line's `DISTANCE VOLUMES…`, of which some was read.
#[derive(Clone, Debug)]
struct Passage {
    /// The index in the line of what is to be read next.
    at: usize,
    distance: usize,
    /// How many volumes were read.
    volumes: usize,
    /// The volume that was read last, and how many more times its event comes.
    volume: u64,
    times: usize,
}

/// How many events are kept: those in the window, and some that were, so that these are looked for now and then and not
/// at every event.
const KEPT: usize = WINDOW + WINDOW / 4;

/// The last events that count.
#[derive(Clone, Debug, Default)]
struct Window {
    /// Which events of `kept` they are.
    history: History,
    /// The events, each once for each time it was spelled; [`KEPT`] at most.
    kept: Vec<DictEntry>,
    /// Places in `kept` whose events are in the window no more.
    free: Vec<u16>,
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

    /// From here on events may come again. Only titr's own streams have such lines.
    pub fn remember(&mut self) {
        self.memory = Some(Box::default());
    }

    /// Whose `line` (without its newline) is, whose events it appends to `events`; `None` as in [`Parser::line`]. A
    /// passage is of one reader until it is cleared.
    ///
    /// # Errors
    /// [`ParseError`] with the column, for a line that is not in the grammar; it appends nothing.
    pub fn line(&mut self, line: &[u8], events: &mut EventBuffer) -> Result<Option<Actor>, ParseError> {
        self.some_of_line(line, events, usize::MAX)
    }

    /// As [`line`](Self::line), but at most about so many of the line's events. While the line
    /// [is unfinished](Self::is_unfinished), a call with it appends the next ones.
    ///
    /// # Errors
    /// As [`line`](Self::line); what was appended before stays.
    pub fn some_of_line(
        &mut self,
        line: &[u8],
        events: &mut EventBuffer,
        most: usize,
    ) -> Result<Option<Actor>, ParseError> {
        self.some_of_line_into(line, events, most)
    }

    /// As [`some_of_line`](Self::some_of_line), for whatever takes events.
    pub(crate) fn some_of_line_into(
        &mut self,
        line: &[u8],
        events: &mut impl EventSink,
        most: usize,
    ) -> Result<Option<Actor>, ParseError> {
        if self.memory.is_none() {
            let Some((actor, event)) = self.parser.line(line)? else { return Ok(None) };
            self.thread = actor.thread;
            events.push(event);
            return Ok(Some(actor));
        }
        let column = memchr::memchr(b' ', line).filter(|_| line.first().is_some_and(u8::is_ascii_digit));
        if let Some(column) = column.filter(|&column| line[column..].starts_with(REPEAT)) {
            let actor = Fields::of(line).actor()?;
            self.switch(actor.thread);
            if let Some(window) = &mut self.memory {
                let mut numbers = Numbers { line, at: column + REPEAT.len() };
                let passage = match self.unfinished.take() {
                    Some(passage) => passage,
                    None => window.passage(&mut numbers)?,
                };
                let before = events.len();
                let read = window.repeat(passage, numbers, &mut self.parser, events, most);
                self.unfinished = read.inspect_err(|_| events.truncate(before))?;
            }
            return Ok(Some(actor));
        }
        let Some((actor, event)) = self.parser.line(line)? else { return Ok(None) };
        self.switch(actor.thread);
        match &mut self.memory {
            Some(window) if is_repeatable(&event, line.len()) => {
                let slot = window.learn(event, self.learnt);
                self.learnt = (self.learnt + 1) % u32::MAX;
                window.next(slot, events);
            }
            _ => events.push(event),
        }
        Ok(Some(actor))
    }

    /// Whether the line that was read last has more events.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
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
    /// The passage that begins here, in a line's `DISTANCE VOLUMES…`.
    fn passage(&self, numbers: &mut Numbers) -> Result<Passage, ParseError> {
        let at = numbers.at;
        let known = self.history.known();
        let distance = numbers.next("how many events ago they were", u64::MAX)? as usize;
        if distance == 0 || distance > known {
            let what = format!("{distance} events ago there was none: {known} are known here");
            return Err(ParseError { column: at + 1, what });
        }
        Ok(Passage { at: numbers.at, distance, volumes: 0, volume: 0, times: 0 })
    }

    /// Appends the events of at most so many volumes of a passage, and tells what is left of it.
    fn repeat(
        &mut self,
        passage: Passage,
        mut numbers: Numbers,
        parser: &mut Parser,
        events: &mut impl EventSink,
        most: usize,
    ) -> Result<Option<Passage>, ParseError> {
        let Passage { at, distance, mut volumes, mut volume, mut times } = passage;
        numbers.at = at;
        let mut left = most;
        loop {
            let now = times.min(left);
            for _ in 0..now {
                if volume > 0 {
                    events.compute(Instructions(volume as f64));
                }
                let slot = self.history.repeat(distance);
                if let Event::CommCreate(_, _, Some(group)) = &self.kept[slot as usize].event {
                    parser.introduce(group);
                }
                events.push_ref(&self.kept[slot as usize]);
            }
            times -= now;
            left -= now;
            if numbers.at == numbers.line.len() && volumes > 0 && times == 0 {
                return Ok(None);
            }
            if left == 0 {
                return Ok(Some(Passage { at: numbers.at, distance, volumes, volume, times }));
            }
            if numbers.line.get(numbers.at) != Some(&b' ') || volumes == WINDOW {
                let what = format!("a blank and a number of instructions are expected, at most {WINDOW} times");
                return Err(ParseError { column: numbers.at + 1, what });
            }
            numbers.at += 1;
            volume = numbers.next("a number of instructions", u64::MAX)?;
            times = 1;
            if numbers.line.get(numbers.at) == Some(&b'*') {
                numbers.at += 1;
                let room = (WINDOW - volumes) as u64;
                times = numbers.next("how often, at most as often as a line holds volumes,", room)? as usize;
            }
            volumes += times;
        }
    }

    /// Makes the event that is kept in `slot` the next one.
    #[inline]
    fn next(&mut self, slot: u16, events: &mut impl EventSink) {
        events.push_ref(&self.kept[slot as usize]);
        self.history.push(slot);
    }

    /// Keeps an event, after so many that the reader has learnt before.
    fn learn(&mut self, event: Event, learnt: u32) -> u16 {
        if self.free.is_empty() && self.kept.len() == KEPT {
            let mut used = [false; KEPT];
            self.history.window().for_each(|slot| used[slot as usize] = true);
            self.free.extend((0..KEPT as u16).filter(|&slot| !used[slot as usize]));
        }
        if let Some(slot) = self.free.pop() {
            self.kept[slot as usize] = DictEntry::new(event, slot, learnt);
            return slot;
        }
        let slot = self.kept.len() as u16;
        // Thousands of ranks have a few events each, so memory grows by as little as stays cheap.
        self.kept.reserve_exact(if self.kept.len() == self.kept.capacity() { 2 + self.kept.len() / 4 } else { 0 });
        self.kept.push(DictEntry::new(event, slot, learnt));
        slot
    }
}

/// Whole numbers in a line.
struct Numbers<'l> {
    line: &'l [u8],
    /// The index in the line where the next number starts.
    at: usize,
}

impl Numbers<'_> {
    /// The next number, at most `largest`.
    #[inline]
    fn next(&mut self, what: &str, largest: u64) -> Result<u64, ParseError> {
        let start = self.at;
        let (mut number, mut overflow) = (0_u64, false);
        while let Some(digit) = self.line.get(self.at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
            // Fewer digits than this fit, so nearly always there is nothing to check.
            overflow |=
                self.at >= start + 19 && number.checked_mul(10).and_then(|n| n.checked_add(u64::from(digit))).is_none();
            number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        if self.at == start || overflow || number > largest {
            return Err(ParseError { column: start + 1, what: format!("{what} is expected") });
        }
        Ok(number)
    }
}
