//! Reading events, those that come again from memory.

use std::collections::HashMap;

use super::{AGAIN, LONGEST, WINDOW};
use crate::event::{Actor, Event, ThreadId};
use crate::grammar::error::ParseError;
use crate::grammar::fields::Fields;
use crate::grammar::parse::Parser;
use crate::units::Instructions;

/// Reads the lines of one rank's stream in order; a line holds any number of events.
#[derive(Clone, Debug)]
pub struct EventReader {
    parser: Parser,
    remembers: bool,
    /// Whose events the last line has.
    thread: ThreadId,
    past: Past,
    /// Those of the other threads.
    pasts: HashMap<ThreadId, Past>,
    /// What is left of the line.
    again: Again,
}

/// The events of one thread that may come again.
#[derive(Clone, Debug, Default)]
struct Past {
    /// The last ones that count: number *n* at *n* modulo [`WINDOW`].
    window: Vec<Event>,
    /// How many there were.
    count: usize,
}

/// Events that come again.
#[derive(Clone, Debug, Default)]
struct Again {
    distance: usize,
    volumes: Vec<u64>,
    /// How many of them were given out.
    done: usize,
    /// Whether the computation before the next event was.
    computed: bool,
}

impl EventReader {
    /// A reader of a stream in a world of `world` ranks.
    #[must_use]
    pub fn new(world: u32) -> Self {
        let (thread, past, pasts) = (ThreadId::MAIN, Past::default(), HashMap::new());
        Self { parser: Parser::new(world), remembers: false, thread, past, pasts, again: Again::default() }
    }

    /// From here on events may come again. Only titr's own streams have such lines.
    pub fn remember(&mut self) {
        self.remembers = true;
    }

    /// The first event of `line` (without its newline), and whose it is; [`rest`](Self::rest) has the others. `None` as
    /// in [`Parser::line`].
    ///
    /// # Errors
    /// [`ParseError`] with the column, for a line that is not in the grammar.
    pub fn line(&mut self, line: &[u8]) -> Result<Option<(Actor, Event)>, ParseError> {
        if let Some(column) = line.iter().position(|&byte| byte == b' ')
            && line[column..].starts_with(AGAIN)
            && line.first().is_some_and(u8::is_ascii_digit)
        {
            let actor = Fields::of(line).actor()?;
            self.switch(actor.thread);
            self.again(line, column + AGAIN.len())?;
            return Ok(self.rest().map(|event| (actor, event)));
        }
        let read = self.parser.line(line)?;
        if let Some((actor, event)) = &read {
            self.switch(actor.thread);
            if self.remembers && !matches!(event, Event::Compute(_)) && line.len() <= LONGEST {
                self.past.keep(event.clone());
            }
        }
        Ok(read)
    }

    /// The thread whose event was given out last.
    #[must_use]
    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    fn switch(&mut self, thread: ThreadId) {
        if self.thread != thread {
            let next = self.pasts.remove(&thread).unwrap_or_default();
            self.pasts.insert(self.thread, std::mem::replace(&mut self.past, next));
            self.thread = thread;
        }
    }

    /// The next event of a line that holds several.
    #[inline]
    pub fn rest(&mut self) -> Option<Event> {
        let again = &mut self.again;
        let volume = *again.volumes.get(again.done)?;
        if volume > 0 && !std::mem::replace(&mut again.computed, true) {
            return Some(Event::Compute(Instructions(volume as f64)));
        }
        again.computed = false;
        again.done += 1;
        let event = self.past.window.get((self.past.count - again.distance) % WINDOW)?.clone();
        if let Event::CommCreate(_, _, Some(group)) = &event {
            self.parser.introduce(group);
        }
        self.past.keep(event.clone());
        Some(event)
    }

    /// Takes in `DISTANCE VOLUMES…` of a line.
    fn again(&mut self, line: &[u8], at: usize) -> Result<(), ParseError> {
        let mut numbers = Numbers { line, at };
        let known = self.past.count.min(WINDOW);
        let distance = numbers.next("how many events ago they were", u64::MAX)? as usize;
        if distance == 0 || distance > known {
            let what = format!("{distance} events ago there was none: {known} are known here");
            return Err(ParseError { column: at + 1, what });
        }
        let mut volumes = std::mem::take(&mut self.again.volumes);
        volumes.clear();
        while numbers.at < line.len() || volumes.is_empty() {
            if line.get(numbers.at) != Some(&b' ') || volumes.len() == WINDOW {
                let what = format!("a blank and a number of instructions are expected, at most {WINDOW} times");
                return Err(ParseError { column: numbers.at + 1, what });
            }
            numbers.at += 1;
            let volume = numbers.next("a number of instructions", u64::MAX)?;
            let room = (WINDOW - volumes.len()) as u64;
            let times = if line.get(numbers.at) == Some(&b'*') {
                numbers.at += 1;
                numbers.next("how often, at most as often as a line holds volumes,", room)?
            } else {
                1
            };
            volumes.extend(std::iter::repeat_n(volume, times as usize));
        }
        self.again = Again { distance, volumes, done: 0, computed: false };
        Ok(())
    }
}

impl Past {
    fn keep(&mut self, event: Event) {
        match self.window.get_mut(self.count % WINDOW) {
            Some(oldest) => *oldest = event,
            None => self.window.push(event),
        }
        self.count += 1;
    }
}

/// Whole numbers in a line.
struct Numbers<'l> {
    line: &'l [u8],
    /// Where the next one starts.
    at: usize,
}

impl Numbers<'_> {
    /// The next one, at most `largest`.
    fn next(&mut self, what: &str, largest: u64) -> Result<u64, ParseError> {
        let start = self.at;
        let mut number = Some(0_u64);
        while let Some(digit) = self.line.get(self.at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
            number = number.and_then(|number| number.checked_mul(10)?.checked_add(u64::from(digit)));
            self.at += 1;
        }
        number
            .filter(|&number| self.at > start && number <= largest)
            .ok_or_else(|| ParseError { column: start + 1, what: format!("{what} is expected") })
    }
}
