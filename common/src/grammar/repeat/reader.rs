//! Reads events, including repeated ones from memory.

use std::collections::HashMap;

use super::reach::Lookback;
use super::volumes::Numbers;
use super::window::{Passage, Repetition, Window};
use super::{AGAIN, LOOP, WINDOW, is_repeatable};
use crate::event::{Actor, Rank, ThreadId};
use crate::event_buffer::{EventBuffer, EventSink};
use crate::grammar::ParseError;
use crate::grammar::fields::Fields;
use crate::grammar::parse::Parser;

/// Reads the lines of one rank's stream in order; a line holds any number of events.
#[derive(Clone, Debug)]
pub struct EventReader {
    parser: Parser,
    memory: Option<Box<Window>>,
    /// The thread whose events the last line has.
    thread: ThreadId,
    others: HashMap<ThreadId, Box<Window>>,
    /// The number of events that were learnt, by all windows.
    learnt: u32,
    /// The rest of the last line, if only some of its events were requested.
    unfinished: Option<Passage>,
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
                let (passage, most) = match self.unfinished.take() {
                    Some(passage) => (passage, most),
                    None => {
                        let passage = window.passage(repetition, Numbers { line, at })?;
                        // The first event alone, so that a loop is noticed before more of it is read.
                        let most = if most < usize::MAX && passage.is_worth_passing() { 1 } else { most };
                        (passage, most)
                    }
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
                window.spelled(event, self.learnt, events);
                self.learnt = (self.learnt + 1) % u32::MAX;
            }
            Some(window) => window.between(event, events),
            None => events.push(event),
        }
        Ok(Some(actor))
    }

    /// Appends the next round if there are [equal ones](Self::equal_rounds), and passes over these. Returns their number, or
    /// else 0.
    ///
    /// # Errors
    /// As [`line`](Self::line); nothing is appended.
    pub(crate) fn round(&mut self, line: &[u8], events: &mut EventBuffer, most: usize) -> Result<u64, ParseError> {
        let further = self.equal_rounds(line, most);
        let (Some(window), true) = (&mut self.memory, further > 0) else { return Ok(0) };
        let Some(passage) = self.unfinished.take() else { return Ok(0) };
        let before = events.len();
        let read = window.repeat_rounds(passage, line, &mut self.parser, events, further);
        self.unfinished = read.inspect_err(|_| events.truncate(before))?;
        Ok(further as u64)
    }

    /// The number of rounds of the line that equal the next one, of at most `most` events, if the line [is
    /// unfinished](Self::is_unfinished) and a round of a loop comes next; or else 0.
    pub(crate) fn equal_rounds(&mut self, line: &[u8], most: usize) -> usize {
        match (&mut self.memory, &mut self.unfinished) {
            (Some(window), Some(passage)) => window.equal_rounds(passage, line, most),
            _ => 0,
        }
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
    pub(crate) fn is_unfinished(&self) -> bool {
        self.unfinished.is_some()
    }

    /// The thread whose events the last line has.
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
