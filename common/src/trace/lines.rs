//! Lines of a file, gzipped or not, with bounded memory and exact words on how it ends.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;

use super::error::TraceError;
use super::section::Section;

/// Lines longer than this are no trace. An `alltoallw` among 100,000 ranks takes about 2 MB.
const LONGEST_LINE: usize = 64 << 20;
/// Members up to this size are checked against their checksum before a line of them is believed; titr's own are far
/// smaller. Larger ones (a whole trace gzipped at once) are read as they come.
const CHECKED_MEMBER: usize = 4 << 20;
/// How much is read at a time. Each of thousands of files has this much text in memory at least.
const PIECE: usize = 16 << 10;

/// The lines of a file, one after another.
pub(super) struct Lines {
    path: PathBuf,
    input: Unread,
    /// Text that is read and not yet given out lies in `text[start..end]`.
    text: Vec<u8>,
    start: usize,
    end: usize,
    /// Number of the line given out last.
    line: u64,
}

/// The part of a file that is not read yet, by how it is read.
enum Unread {
    Plain(Section),
    /// Gzip members, the next of which begins here.
    Gzip(BufReader<Section>),
    /// The rest of a gzip member that is too large to check first.
    Member(Box<GzDecoder<BufReader<Section>>>),
    Ended,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, TraceError> {
        if path.is_dir() {
            let what = "a directory where a file is expected".into();
            return Err(TraceError::Directory { path: path.into(), what });
        }
        Self::of(Section::open(path)?)
    }

    pub(super) fn of(file: Section) -> Result<Self, TraceError> {
        let path = file.name().to_owned();
        let mut first = [0];
        if file.clone().read(&mut first).map_err(TraceError::io(&path))? == 0 {
            return Err(TraceError::Empty { path });
        }
        // One byte is enough: no text starts with gzip's first (RFC 1952 §2.3.1), and a file torn after it is known.
        let input =
            if first == [0x1f] { Unread::Gzip(BufReader::with_capacity(16 << 10, file)) } else { Unread::Plain(file) };
        Ok(Self { path, input, text: Vec::new(), start: 0, end: 0, line: 0 })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the line given out last, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The next line without its newline; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        let mut searched = self.start;
        loop {
            if let Some(length) = memchr::memchr(b'\n', &self.text[searched..self.end]) {
                let line = self.start..searched + length;
                self.start = line.end + 1;
                self.line += 1;
                return Ok(Some(&self.text[line]));
            }
            let pending = self.end - self.start;
            if pending > LONGEST_LINE {
                let (path, line) = (self.path.clone(), self.line + 1);
                return Err(TraceError::LongLine { path, line, limit: LONGEST_LINE });
            }
            self.text.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, pending);
            searched = pending;
            if !self.refill()? {
                if pending == 0 {
                    return Ok(None);
                }
                // A last line without a newline is a line.
                self.start = self.end;
                self.line += 1;
                return Ok(Some(&self.text[..pending]));
            }
        }
    }

    /// Reads more text; false at the end of the file.
    fn refill(&mut self) -> Result<bool, TraceError> {
        let before = self.end;
        while self.end == before {
            match std::mem::replace(&mut self.input, Unread::Ended) {
                Unread::Ended => return Ok(false),
                Unread::Plain(mut file) => {
                    if self.read_some(&mut file).map_err(TraceError::io(&self.path))? > 0 {
                        self.input = Unread::Plain(file);
                    }
                }
                Unread::Gzip(mut reader) => {
                    if reader.fill_buf().map_err(TraceError::io(&self.path))?.is_empty() {
                        return Ok(false);
                    }
                    self.member(GzDecoder::new(reader))?;
                }
                Unread::Member(mut member) => match self.read_some(&mut member) {
                    Ok(0) => self.input = Unread::Gzip(member.into_inner()),
                    Ok(_) => self.input = Unread::Member(member),
                    Err(error) => return Err(self.torn(&error)),
                },
            }
        }
        Ok(true)
    }

    /// Reads a member whole, so that its checksum is known to be right, or its first part if it is large.
    fn member(&mut self, mut member: GzDecoder<BufReader<Section>>) -> Result<(), TraceError> {
        let before = self.end;
        loop {
            match self.read_some(&mut member) {
                Ok(0) => {
                    self.input = Unread::Gzip(member.into_inner());
                    return Ok(());
                }
                Ok(_) if self.end - before > CHECKED_MEMBER => {
                    self.input = Unread::Member(Box::new(member));
                    return Ok(());
                }
                Ok(_) => {}
                Err(error) => {
                    self.end = before;
                    return Err(self.torn(&error));
                }
            }
        }
    }

    /// Appends some of `input` to the text: how much, and nothing only at its end.
    fn read_some(&mut self, input: &mut impl Read) -> io::Result<usize> {
        if self.text.len() < self.end + PIECE {
            self.text.resize(self.end + PIECE, 0);
        }
        loop {
            match input.read(&mut self.text[self.end..self.end + PIECE]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(read) => {
                    self.end += read;
                    return Ok(read);
                }
                error => return error,
            }
        }
    }

    fn torn(&self, error: &io::Error) -> TraceError {
        let reason = match error.kind() {
            io::ErrorKind::UnexpectedEof => "the file ends within a gzip member".to_owned(),
            _ => format!("the gzip member that follows is damaged ({error})"),
        };
        TraceError::Torn { path: self.path.clone(), line: self.line, reason }
    }
}
