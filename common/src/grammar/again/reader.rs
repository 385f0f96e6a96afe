//! Reading events, those that come again from memory.

use super::{AGAIN, LONGEST, WINDOW};
use crate::event::{Event, Rank};
use crate::grammar::error::ParseError;
use crate::grammar::parse::Parser;
use crate::units::Instructions;

/// Reads the lines of one rank's stream in order; a line holds any number of events.
#[derive(Clone, Debug)]
pub struct EventReader {
    parser: Parser,
    remembers: bool,
    /// The last events that count: number *n* at *n* modulo [`WINDOW`].
    window: Vec<Event>,
    /// How many there were.
    count: usize,
    /// What is left of the line.
    again: Again,
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
        Self { parser: Parser::new(world), remembers: false, window: Vec::new(), count: 0, again: Again::default() }
    }

    /// From here on events may come again. Only titr's own streams have such lines.
    pub fn remember(&mut self) {
        self.remembers = true;
    }

    /// The rank and the first event of `line` (without its newline); [`rest`](Self::rest) has the others. `None` as in
    /// [`Parser::line`].
    ///
    /// # Errors
    /// [`ParseError`] with the column, for a line that is not in the grammar.
    pub fn line(&mut self, line: &[u8]) -> Result<Option<(Rank, Event)>, ParseError> {
        let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 && line[digits..].starts_with(AGAIN) {
            let rank = Numbers { line, at: 0 }.next("a rank", u64::from(u32::MAX))?;
            self.again(line, digits + AGAIN.len())?;
            return Ok(self.rest().map(|event| (Rank(rank as u32), event)));
        }
        let read = self.parser.line(line)?;
        if let (true, Some((_, event))) = (self.remembers, &read)
            && !matches!(event, Event::Compute(_) | Event::Seen(_))
            && line.len() <= LONGEST
        {
            self.keep(event.clone());
        }
        Ok(read)
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
        let event = self.window.get((self.count - again.distance) % WINDOW)?.clone();
        if let Event::CommCreate(_, _, Some(group)) = &event {
            self.parser.introduce(group);
        }
        self.keep(event.clone());
        Some(event)
    }

    /// Takes in `DISTANCE VOLUMES…` of a line.
    fn again(&mut self, line: &[u8], at: usize) -> Result<(), ParseError> {
        let mut numbers = Numbers { line, at };
        let known = self.count.min(WINDOW);
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
            volumes.push(numbers.next("a number of instructions", u64::MAX)?);
        }
        self.again = Again { distance, volumes, done: 0, computed: false };
        Ok(())
    }

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
