//! Lines of a text, plain or gzipped, with bounded memory and precise errors about its end.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use titr_common::input::{self, BYTE_ORDER_MARK, other_encoding};

use crate::error::NetworkTraceError;

/// Lines longer than this are no trace: a message that waits for a thousand others takes 40 kB.
const LONGEST_LINE: u64 = 1 << 20;

/// The lines of a file, one after another.
pub(crate) struct Lines {
    path: PathBuf,
    input: Box<dyn BufRead + Send>,
    text: Vec<u8>,
    /// Number of the line given out last.
    line: u64,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Self, NetworkTraceError> {
        let file = input::open(path).map_err(NetworkTraceError::io(path))?;
        Self::of(path, BufReader::with_capacity(1 << 16, file))
    }

    pub(crate) fn of(path: &Path, mut input: impl BufRead + Send + 'static) -> Result<Self, NetworkTraceError> {
        // No text starts with gzip's first byte (RFC 1952 §2.3.1).
        let is_gzip = input.fill_buf().map_err(NetworkTraceError::io(path))?.first() == Some(&0x1f);
        let input: Box<dyn BufRead + Send> = if is_gzip {
            Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(input)))
        } else {
            Box::new(input)
        };
        Ok(Self { path: path.into(), input, text: Vec::new(), line: 0 })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The next line without its newline; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&str>, NetworkTraceError> {
        self.text.clear();
        let read = (&mut self.input).take(LONGEST_LINE).read_until(b'\n', &mut self.text);
        match read {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return Err(self.torn("the file ends within a gzip member"));
            }
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData) => {
                return Err(self.torn(&format!("the gzip member that follows is damaged ({error})")));
            }
            Err(error) => return Err(NetworkTraceError::Io { path: self.path.clone(), error }),
        }
        self.line += 1;
        if self.line == 1 {
            if let Some(encoding) = other_encoding(&self.text) {
                return Err(self.wrong(encoding.to_owned()));
            }
            if self.text.starts_with(BYTE_ORDER_MARK) {
                self.text.drain(..BYTE_ORDER_MARK.len());
            }
        }
        if self.text.last() == Some(&b'\n') {
            self.text.pop();
        } else if self.text.len() as u64 == LONGEST_LINE {
            return Err(self.wrong(format!("the line is longer than {LONGEST_LINE} bytes: this is no network trace")));
        }
        match std::str::from_utf8(&self.text) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(self.wrong("the line is no text: this is no network trace".to_owned())),
        }
    }

    /// The error that the line given out last is wrong.
    pub(crate) fn wrong(&self, what: String) -> NetworkTraceError {
        NetworkTraceError::Line { path: self.path.clone(), line: self.line, what }
    }

    /// The error that the file ends too early.
    pub(crate) fn torn(&self, reason: &str) -> NetworkTraceError {
        NetworkTraceError::Torn { path: self.path.clone(), line: self.line, reason: reason.to_owned() }
    }
}
