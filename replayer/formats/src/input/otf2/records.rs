//! The records of a file of an archive, read one after another through a window of limited size.
//!
//! A file is a sequence of chunks of one size, each with a header of 18 bytes. A zero where a record would begin ends a
//! chunk, and a mark ends the file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use titr_common::input;
use titr_common::trace::TraceError;

use super::fields::{ByteOrder, Otf2Fields};

/// The contents of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    Definitions,
    /// Events, between which records tell the time.
    Events,
}

/// The type of the record at the end of a chunk.
const END_OF_CHUNK: u8 = 0;
/// The type of the record at the end of a file.
const END_OF_FILE: u8 = 2;
/// The type of the record of the time of the events that follow.
const TIME: u8 = 5;
/// The mark at the beginning of each chunk.
const CHUNK: u8 = 3;
/// The length of a chunk's header: two marks, and the numbers of its first and its last event.
const HEADER: usize = 18;
/// The length of a record whose true length follows in eight bytes.
const LONG: u8 = 0xff;

/// Bytes that are read at once.
const WINDOW: usize = 1 << 16;

/// A record of a file.
pub(super) struct Otf2Record<'a> {
    /// The number of its type.
    pub kind: u8,
    /// The time of an event, in ticks of the location's clock.
    pub ticks: u64,
    /// Its fields.
    pub fields: Otf2Fields<'a>,
}

/// The records of a file.
pub(super) struct Otf2Records {
    path: PathBuf,
    file: File,
    contents: Contents,
    /// The size of a chunk.
    chunk: u64,
    order: ByteOrder,
    /// The bytes of the file that are in memory; those from `at` to `end` are still to be read.
    window: Vec<u8>,
    at: usize,
    end: usize,
    /// The place in the file of the first byte of the window.
    offset: u64,
    ticks: u64,
    /// The number of records read, without times.
    records: u64,
    is_ended: bool,
}

/// The place of a record in its part of the window.
struct Extent {
    header: usize,
    body: usize,
}

impl Otf2Records {
    /// Opens a file whose chunks have this size.
    pub(super) fn open(path: &Path, contents: Contents, chunk: u64) -> Result<Self, TraceError> {
        let file = input::open(path).map_err(TraceError::io(path))?;
        let mut this = Self {
            path: path.into(),
            file,
            contents,
            chunk,
            order: ByteOrder::default(),
            window: vec![0; WINDOW],
            at: 0,
            end: 0,
            offset: 0,
            ticks: 0,
            records: 0,
            is_ended: false,
        };
        this.enter_chunk()?;
        Ok(this)
    }

    /// Gives `add` each definition, which returns `None` if its fields are not what OTF2 says.
    pub(super) fn read_all(mut self, mut add: impl FnMut(u8, Otf2Fields<'_>) -> Option<()>) -> Result<(), TraceError> {
        while let Some(Otf2Record { kind, fields, .. }) = self.next()? {
            if add(kind, fields).is_none() {
                return Err(self.malformed(kind));
            }
        }
        Ok(())
    }

    /// The path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// An error at the record that was read last.
    #[cold]
    pub(super) fn error(&self, what: impl Into<String>) -> TraceError {
        let unit = match self.contents {
            Contents::Definitions => "definition",
            Contents::Events => "event",
        };
        self.error_at(format!("{unit} {}", self.records), what)
    }

    /// The error of a record whose fields are not what OTF2 says.
    #[cold]
    pub(super) fn malformed(&self, kind: u8) -> TraceError {
        self.error(format!("the record of type {kind} is shorter than its fields, or a number in it is too large"))
    }

    fn error_at(&self, place: String, what: impl Into<String>) -> TraceError {
        TraceError::Foreign { path: self.path.clone(), place, what: what.into() }
    }

    #[cold]
    fn truncated(&self) -> TraceError {
        let place = format!("byte {}", self.offset + self.end as u64);
        self.error_at(
            place,
            "the file ends in the middle: it was cut, or the program was killed before it wrote the rest",
        )
    }

    /// Makes the next `length` bytes available; false if the file ends before. Memory grows with the bytes that are there,
    /// not with `length`.
    #[inline]
    fn has(&mut self, length: usize) -> Result<bool, TraceError> {
        if self.end - self.at >= length { Ok(true) } else { self.read(length).map_err(TraceError::io(&self.path)) }
    }

    #[cold]
    fn read(&mut self, length: usize) -> io::Result<bool> {
        self.window.copy_within(self.at..self.end, 0);
        self.offset += self.at as u64;
        self.end -= self.at;
        self.at = 0;
        while self.end < length {
            if self.end == self.window.len() {
                self.window.resize(2 * self.window.len(), 0);
            }
            match self.file.read(&mut self.window[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Reads the header of a chunk.
    fn enter_chunk(&mut self) -> Result<(), TraceError> {
        if !self.has(HEADER)? {
            return Err(self.truncated());
        }
        let order = match self.window[self.at..] {
            [CHUNK, mark, ..] => ByteOrder::of_mark(mark),
            _ => None,
        };
        let Some(order) = order else {
            let place = format!("byte {}", self.offset + self.at as u64);
            return Err(self.error_at(place, "no chunk of an OTF2 file begins here"));
        };
        self.order = order;
        self.at += HEADER;
        Ok(())
    }

    /// Goes to the next chunk.
    #[cold]
    fn next_chunk(&mut self) -> Result<(), TraceError> {
        let here = self.offset + self.at as u64;
        let next = here.checked_div(self.chunk).and_then(|chunk| (chunk + 1).checked_mul(self.chunk));
        let Some(next) = next else { return Err(self.truncated()) };
        let distance = next - here;
        if distance <= (self.end - self.at) as u64 {
            self.at += distance as usize;
        } else {
            self.file.seek(SeekFrom::Start(next)).map_err(TraceError::io(&self.path))?;
            (self.offset, self.at, self.end) = (next, 0, 0);
        }
        self.enter_chunk()
    }

    /// The length of the record that begins here.
    #[inline]
    fn extent(&mut self, kind: u8) -> Result<Extent, TraceError> {
        if !self.has(2)? {
            return Err(self.truncated());
        }
        let length = self.window[self.at + 1];
        // The length of these records is the length of their only number.
        if self.contents == Contents::Events && matches!(kind, 12 | 13 | 16 | 17 | 20 | 21) {
            let number = if length == LONG { 0 } else { usize::from(length) };
            return Ok(Extent { header: 1, body: 1 + number });
        }
        if length != LONG {
            return Ok(Extent { header: 2, body: length.into() });
        }
        if !self.has(10)? {
            return Err(self.truncated());
        }
        let length = Otf2Fields::new(&self.window[self.at + 2..self.end], self.order).full_u64();
        let body = length.and_then(|length| usize::try_from(length).ok()).filter(|&body| body <= usize::MAX / 4);
        Ok(Extent { header: 10, body: body.ok_or_else(|| self.truncated())? })
    }

    /// The type and the time of the next record; `None` at the end.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<Option<(u8, u64)>, TraceError> {
        loop {
            if self.is_ended {
                return Ok(None);
            }
            if !self.has(1)? {
                return Err(self.truncated());
            }
            match self.window[self.at] {
                END_OF_CHUNK => self.next_chunk()?,
                END_OF_FILE => self.is_ended = true,
                TIME if self.contents == Contents::Events => {
                    if !self.has(9)? {
                        return Err(self.truncated());
                    }
                    let time = Otf2Fields::new(&self.window[self.at + 1..self.at + 9], self.order).full_u64();
                    self.ticks = time.unwrap_or_default();
                    self.at += 9;
                }
                kind => return Ok(Some((kind, self.ticks))),
            }
        }
    }

    /// The next record; `None` at the end of the file.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Otf2Record<'_>>, TraceError> {
        let Some((kind, ticks)) = self.peek()? else { return Ok(None) };
        let Extent { header, body } = self.extent(kind)?;
        if !self.has(header + body)? {
            return Err(self.truncated());
        }
        let from = self.at + header;
        self.at = from + body;
        self.records += 1;
        Ok(Some(Otf2Record { kind, ticks, fields: Otf2Fields::new(&self.window[from..self.at], self.order) }))
    }
}
