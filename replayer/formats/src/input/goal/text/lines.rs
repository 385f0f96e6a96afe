//! The lines of a text, without comments, from any place in it on.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use titr_common::input::BYTE_ORDER_MARK;
use titr_common::trace::TraceError;

/// The number of bytes that are read at a time.
const PIECE: usize = 64 << 10;
/// A longer line is no statement.
const LONGEST: usize = 1 << 20;

/// The lines of a file that is shared with other readers.
pub(super) struct TextLines {
    path: PathBuf,
    file: Arc<File>,
    /// The place in the file after the text that was read.
    end: u64,
    text: Vec<u8>,
    /// The beginning of the next line in the text.
    start: usize,
    /// The number of the line given last.
    line: u64,
    /// Whether the next line begins in a comment.
    in_comment: bool,
    /// A line with comments in it, without them.
    rest: Vec<u8>,
}

impl TextLines {
    /// The lines from the byte `at` on, before which there are `line` lines.
    pub(super) fn new(path: &Path, file: &Arc<File>, at: u64, line: u64) -> Self {
        let (path, file) = (path.to_owned(), Arc::clone(file));
        let mut head = [0; BYTE_ORDER_MARK.len()];
        let is_marked = at == 0 && file.read_exact_at(&mut head, 0).is_ok() && head == BYTE_ORDER_MARK;
        let at = if is_marked { head.len() as u64 } else { at };
        Self { path, file, end: at, text: Vec::new(), start: 0, line, in_comment: false, rest: Vec::new() }
    }

    /// The number of the line given last, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The place in the file after the line given last.
    pub(super) fn place(&self) -> u64 {
        self.end - (self.text.len() - self.start) as u64
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// An error at the line given last.
    pub(super) fn error(&self, what: impl Into<String>) -> TraceError {
        error(&self.path, self.line, what)
    }

    /// The next line without its end, and without comments; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        let mut searched = self.start;
        let end = loop {
            if let Some(length) = memchr::memchr(b'\n', &self.text[searched..]) {
                break searched + length;
            }
            if self.text.len() - self.start > LONGEST {
                self.line += 1;
                return Err(self.error(format!("the line is longer than {LONGEST} bytes: this is no GOAL")));
            }
            self.text.drain(..self.start);
            self.start = 0;
            searched = self.text.len();
            if !self.refill()? {
                if searched == 0 {
                    return Ok(None);
                }
                break searched;
            }
        };
        let line = self.start..end;
        self.start = (end + 1).min(self.text.len());
        self.line += 1;
        if self.in_comment || memchr::memchr(b'/', &self.text[line.clone()]).is_some() {
            return Ok(Some(self.uncomment(line)));
        }
        Ok(Some(self.text[line].trim_ascii()))
    }

    fn uncomment(&mut self, line: std::ops::Range<usize>) -> &[u8] {
        self.rest.clear();
        let mut text = &self.text[line];
        while !text.is_empty() {
            if self.in_comment {
                let end = memchr::memmem::find(text, b"*/");
                self.in_comment = end.is_none();
                text = end.map_or(&[], |end| &text[end + 2..]);
                continue;
            }
            let begin = memchr::memchr_iter(b'/', text).find(|&at| matches!(text.get(at + 1), Some(b'/' | b'*')));
            let Some(begin) = begin else {
                self.rest.extend_from_slice(text);
                break;
            };
            self.rest.extend_from_slice(&text[..begin]);
            if text[begin + 1] == b'/' {
                break;
            }
            self.in_comment = true;
            text = &text[begin + 2..];
        }
        self.rest.trim_ascii()
    }

    /// Reads a piece; false at the end of the file.
    fn refill(&mut self) -> Result<bool, TraceError> {
        let length = self.text.len();
        self.text.resize(length + PIECE, 0);
        loop {
            match self.file.read_at(&mut self.text[length..], self.end) {
                Ok(read) => {
                    self.text.truncate(length + read);
                    self.end += read as u64;
                    return Ok(read > 0);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TraceError::io(&self.path)(error)),
            }
        }
    }
}

/// An error at a line of a file.
pub(super) fn error(path: &Path, line: u64, what: impl Into<String>) -> TraceError {
    TraceError::Foreign { path: path.to_owned(), place: format!("line {line}"), what: what.into() }
}

/// A text from its first word that is in no comment.
pub(super) fn skip_comments(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        if let Some(comment) = text.strip_prefix(b"//") {
            text = memchr::memchr(b'\n', comment).map_or(&[], |end| &comment[end..]);
        } else if let Some(comment) = text.strip_prefix(b"/*") {
            text = memchr::memmem::find(comment, b"*/").map_or(&[], |end| &comment[end + 2..]);
        } else {
            return text;
        }
    }
}
