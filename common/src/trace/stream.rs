//! One rank's events, read as they are asked for.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::error::TraceError;
use super::event_source::EventSource;
use super::lines::Lines;
use super::shared_file::SharedFile;
use crate::event::{Event, Rank, ThreadId};
use crate::grammar::{END, EventReader, HEADER};
use crate::passage::{Moment, Passage};

/// How much of a line an error shows.
const SHOWN: usize = 80;

/// The events of one rank, in order.
pub struct RankStream {
    input: Input,
    rank: Rank,
    reader: EventReader,
    /// Events of the line that was read last, for those who want one at a time, and how many of them they have.
    pending: Passage,
    given: usize,
    events: u64,
    line: u64,
    /// Whether the stream says that titr wrote it, so that it has to have an end record.
    own: bool,
    partial: bool,
    ending: Option<Ending>,
}

/// Where a stream's lines come from.
pub(super) enum Input {
    Own(Lines),
    Shared(Arc<Mutex<SharedFile>>),
}

/// A line and its number.
type Line<'a> = (u64, Cow<'a, [u8]>);

/// How a stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its end record, or as a file of a format that has none.
    Complete,
    /// Torn, for the reason said.
    Torn(String),
}

impl RankStream {
    pub(super) fn new(input: Input, rank: Rank, world: u32, partial: bool) -> Self {
        let reader = EventReader::new(world);
        let pending = Passage::default();
        Self { input, rank, reader, pending, given: 0, events: 0, line: 0, own: false, partial, ending: None }
    }

    /// The next event; `None` at the end, and from then on.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn next_event(&mut self) -> Result<Option<Event>, TraceError> {
        if self.given == self.pending.len() {
            let mut events = std::mem::take(&mut self.pending);
            events.clear();
            let read = self.read(&mut events);
            (self.pending, self.given) = (events, 0);
            read?;
        }
        let event = self.pending.get(self.given).map(Moment::to_event);
        self.given += usize::from(event.is_some());
        Ok(event)
    }

    /// Appends the events of the next line that has any to `events`; false at the end, and from then on.
    ///
    /// # Errors
    /// Where the file cannot be read, a line is not in the grammar, or the stream is torn — unless what there is was
    /// asked for, then a torn stream ends.
    pub fn read(&mut self, events: &mut Passage) -> Result<bool, TraceError> {
        if self.ending.is_some() {
            return Ok(false);
        }
        match self.read_line(events) {
            Err(torn @ TraceError::Torn { .. }) if self.partial => {
                self.ending = Some(Ending::Torn(torn.to_string()));
                Ok(false)
            }
            other => other,
        }
    }

    /// The thread whose event was read last; a line is of one thread.
    #[must_use]
    pub fn thread(&self) -> ThreadId {
        self.reader.thread()
    }

    /// How many events were read.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The number of the line that was read last, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// How the stream ended; `None` before it has.
    #[must_use]
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.input.path()
    }

    fn read_line(&mut self, events: &mut Passage) -> Result<bool, TraceError> {
        loop {
            let Some((line, text)) = self.input.next(self.rank)? else {
                return self.end_of_file();
            };
            self.line = line;
            if let Some(comment) = text.strip_prefix(b"#") {
                let comment = String::from_utf8_lossy(comment).trim_end().to_owned();
                if self.comment(&format!("#{comment}"))? {
                    return Ok(false);
                }
                continue;
            }
            let before = events.len();
            match self.reader.line(&text, events) {
                Ok(None) => {}
                Ok(Some(actor)) if actor.rank == self.rank => {
                    self.events += (events.len() - before) as u64;
                    return Ok(true);
                }
                Ok(Some(found)) => {
                    events.truncate(before);
                    let (found, expected) = (found.rank.0, self.rank.0);
                    return Err(TraceError::ForeignRank { path: self.path(), line, found, expected });
                }
                Err(error) => {
                    let text = String::from_utf8_lossy(&text[..text.len().min(SHOWN)]).into_owned();
                    return Err(TraceError::Line { path: self.path(), line, text, error });
                }
            }
        }
    }

    /// Takes note of a comment; true if it ends the stream.
    fn comment(&mut self, comment: &str) -> Result<bool, TraceError> {
        if self.line == 1 && comment.starts_with("# titr ") {
            if comment != HEADER {
                let what = format!("'{comment}', and this titr reads '{HEADER}'");
                return Err(TraceError::Directory { path: self.path(), what });
            }
            self.own = true;
            self.reader.remember();
        }
        match comment.strip_prefix(END) {
            Some(said) if self.own => {
                let found = self.events;
                if said.parse() != Ok(found) {
                    let (path, line, said) = (self.path(), self.line, said.parse().unwrap_or_default());
                    return Err(TraceError::Count { path, line, found, said });
                }
                self.ending = Some(Ending::Complete);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn end_of_file(&mut self) -> Result<bool, TraceError> {
        if self.own {
            let reason = "there is no end record".to_owned();
            return Err(TraceError::Torn { path: self.path(), line: self.line, reason });
        }
        self.ending = Some(Ending::Complete);
        Ok(false)
    }
}

impl EventSource for RankStream {
    fn read(&mut self, events: &mut Passage) -> Result<bool, TraceError> {
        Self::read(self, events)
    }

    fn path(&self) -> Option<PathBuf> {
        Some(Self::path(self))
    }

    fn line(&self) -> Option<u64> {
        Some(Self::line(self))
    }

    fn thread(&self) -> ThreadId {
        Self::thread(self)
    }

    fn torn(&self) -> Option<String> {
        match self.ending() {
            Some(Ending::Torn(reason)) => Some(reason.clone()),
            Some(Ending::Complete) | None => None,
        }
    }
}

impl Input {
    /// The next line that is of `rank`, or of nobody, with its number.
    fn next(&mut self, rank: Rank) -> Result<Option<Line<'_>>, TraceError> {
        match self {
            Self::Own(lines) => {
                let line = lines.line() + 1;
                Ok(lines.next()?.map(|text| (line, Cow::Borrowed(text))))
            }
            Self::Shared(file) => {
                let line = file.lock().unwrap_or_else(PoisonError::into_inner).next(rank)?;
                Ok(line.map(|(line, text)| (line, Cow::Owned(text))))
            }
        }
    }

    fn path(&self) -> PathBuf {
        match self {
            Self::Own(lines) => lines.path().into(),
            Self::Shared(file) => file.lock().unwrap_or_else(PoisonError::into_inner).path().into(),
        }
    }
}
