//! The events of one rank as lines of text in titr's grammar.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::error::TraceError;
use super::event_source::{EventSource, SkipSupport};
use super::lines::Lines;
use super::located::{LocatedEvents, Location};
use super::shared_file::SharedFile;
use super::skipped::SkippedEvents;
use crate::event::{Rank, ThreadId};
use crate::event_buffer::EventSink;
use crate::grammar::{END, EventReader, HEADER};

/// Number of bytes of a line that an error shows.
const SHOWN: usize = 80;
/// Approximate number of a line's events that are returned at a time: a line may stand for a thousand, and a trace has
/// thousands of ranks.
const AT_ONCE: usize = 16;

/// The events of one rank in a text, in order.
pub(super) struct TextStream {
    input: Input,
    rank: Rank,
    reader: EventReader,
    /// The number of events that were read.
    events: u64,
    line: u64,
    /// Whether the stream declares that titr wrote it, so that it must have an end record.
    own: bool,
    partial: bool,
    ended: bool,
    /// The reason why the stream ended before its rank did.
    torn: Option<String>,
}

/// A line as an error shows it.
fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).into_owned()
}

/// Whether a line looks like an event of SimGrid up to 3.10, `p0 compute 1e6`.
pub(super) fn is_first_format(line: &[u8]) -> bool {
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let rank = fields.next().and_then(|field| field.strip_prefix(b"p")).unwrap_or_default();
    !rank.is_empty() && rank.iter().all(u8::is_ascii_digit) && fields.next().is_some()
}

/// The source of a stream's lines.
pub(super) enum Input {
    Own(Lines),
    Shared(Arc<Mutex<SharedFile>>),
}

type NumberedLine<'a> = (u64, Cow<'a, [u8]>);

impl TextStream {
    pub(super) fn new(input: Input, rank: Rank, world: u32, partial: bool) -> Self {
        let reader = EventReader::new(world);
        Self { input, rank, reader, events: 0, line: 0, own: false, partial, ended: false, torn: None }
    }

    /// Reads the next line that has events, or at most about `most` of these.
    fn read_line(&mut self, events: &mut impl EventSink, most: usize) -> Result<bool, TraceError> {
        loop {
            let Some((line, text)) = self.input.next(self.rank, self.reader.is_unfinished())? else {
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
            // A shared file keeps no line for its readers.
            let most = if let Cow::Borrowed(_) = text { most } else { usize::MAX };
            match self.reader.some_of_line(&text, events, most) {
                Ok(None) => {}
                Ok(Some(actor)) if actor.rank == self.rank => {
                    self.events += (events.len() - before) as u64;
                    return Ok(true);
                }
                Ok(Some(found)) => {
                    events.truncate(before);
                    let (found, expected) = (found.rank.0, self.rank.0);
                    return Err(TraceError::ForeignRank { path: self.input.path(), line, found, expected });
                }
                Err(error) => {
                    let (is_first_format, text) = (is_first_format(&text), shown(&text));
                    let path = self.input.path();
                    return Err(if is_first_format {
                        TraceError::FirstFormat { path, line, text }
                    } else {
                        TraceError::Line { path, line, text, error }
                    });
                }
            }
        }
    }

    /// Reads a few plain lines that are in memory, and says how many.
    fn read_plain_lines(&mut self, events: &mut LocatedEvents) -> usize {
        let Self { input: Input::Own(lines), reader, rank, .. } = self else { return 0 };
        let before = events.len();
        while events.len() < before + AT_ONCE
            && lines.next_if(|line| reader.plain_line(line, *rank, events.events_mut()))
        {
            events.locate(events.len() - 1, Location { thread: ThreadId::MAIN, line: Some(lines.line()) });
        }
        let read = events.len() - before;
        self.line = lines.line();
        self.events += read as u64;
        read
    }

    /// Takes note of a comment; true if it ends the stream.
    fn comment(&mut self, comment: &str) -> Result<bool, TraceError> {
        if self.line == 1 && comment.starts_with("# titr ") {
            if comment != HEADER {
                let what = format!("'{comment}', and this titr reads '{HEADER}'");
                return Err(TraceError::Directory { path: self.input.path(), what });
            }
            self.own = true;
            self.reader.remember();
        }
        match comment.strip_prefix(END) {
            Some(said) if self.own => {
                let found = self.events;
                if said.parse() != Ok(found) {
                    let (path, line, said) = (self.input.path(), self.line, said.parse().unwrap_or_default());
                    return Err(TraceError::Count { path, line, found, said });
                }
                self.ended = true;
                self.expect_nothing()?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Reads on after the end record, where nothing is left but comments of other ranks that share the file.
    fn expect_nothing(&mut self) -> Result<(), TraceError> {
        let is_shared = matches!(self.input, Input::Shared(_));
        while let Some((line, text)) = self.input.next(self.rank, false)? {
            let is_nothing = text.trim_ascii().is_empty() || is_shared && text.starts_with(b"#");
            if !is_nothing {
                let text = shown(&text);
                return Err(TraceError::AfterEnd { path: self.input.path(), line, text });
            }
        }
        Ok(())
    }

    /// Accepts an incomplete stream, if that was requested.
    #[inline]
    fn as_asked_for(&mut self, read: Result<bool, TraceError>) -> Result<bool, TraceError> {
        read.or_else(|error| self.end_early(error))
    }

    #[cold]
    fn end_early(&mut self, error: TraceError) -> Result<bool, TraceError> {
        match error {
            torn @ TraceError::Torn { .. } if self.partial => {
                (self.ended, self.torn) = (true, Some(torn.to_string()));
                Ok(false)
            }
            other => Err(other),
        }
    }

    fn end_of_file(&mut self) -> Result<bool, TraceError> {
        if self.own {
            let reason = "there is no end record".to_owned();
            return Err(TraceError::Torn { path: self.input.path(), line: self.line, reason });
        }
        self.ended = true;
        Ok(false)
    }
}

impl EventSource for TextStream {
    /// Reads the next line with events, or a few of its events. An incomplete stream is an error, or ends if partial
    /// traces are accepted.
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        if self.ended {
            return Ok(false);
        }
        if !self.own && self.read_plain_lines(events) > 0 {
            return Ok(true);
        }
        let first = events.len();
        let read = self.read_line(events.events_mut(), AT_ONCE);
        let more = self.as_asked_for(read)?;
        if more {
            events.locate(first, Location { thread: self.reader.thread(), line: Some(self.line) });
        }
        Ok(more)
    }

    fn goes_round(&mut self, most: usize) -> bool {
        let again = self.reader.is_unfinished().then(|| self.input.next(self.rank, true));
        matches!(again, Some(Ok(Some((_, text)))) if self.reader.equal_rounds(&text, most) > 0)
    }

    fn read_round(&mut self, events: &mut LocatedEvents, most: usize) -> Result<u64, TraceError> {
        if !self.reader.is_unfinished() {
            return Ok(0);
        }
        let Some((line, text)) = self.input.next(self.rank, true)? else { return Ok(0) };
        let first = events.len();
        let read = self.reader.round(&text, events.events_mut(), most).map_err(|error| (shown(&text), error));
        let further = read.map_err(|(text, error)| TraceError::Line { path: self.input.path(), line, text, error })?;
        let round = (events.len() - first) as u64;
        if round > 0 {
            self.events += round * (1 + further);
            events.locate(first, Location { thread: self.reader.thread(), line: Some(line) });
        }
        Ok(further)
    }

    fn pass(&mut self, passed: &mut SkippedEvents, most: usize) -> Result<SkipSupport, TraceError> {
        match &self.input {
            // Lines of a shared file cannot be passed in part.
            Input::Shared(_) => return Ok(SkipSupport::Impossible),
            Input::Own(_) if self.ended => return Ok(SkipSupport::Ended),
            Input::Own(_) => {}
        }
        let read = self.read_line(passed, most);
        Ok(if self.as_asked_for(read)? { SkipSupport::SkippedEvents(self.reader.thread()) } else { SkipSupport::Ended })
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.input.path())
    }

    fn torn(&self) -> Option<String> {
        self.torn.clone()
    }
}

impl Input {
    /// The next line of `rank`, or of no rank, with its number; the last one `again` if it is unfinished.
    fn next(&mut self, rank: Rank, again: bool) -> Result<Option<NumberedLine<'_>>, TraceError> {
        match self {
            Self::Own(lines) => {
                let line = lines.line() + u64::from(!again);
                let text = if again { Some(lines.again()) } else { lines.next()? };
                Ok(text.map(|text| (line, Cow::Borrowed(text))))
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
