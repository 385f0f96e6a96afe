//! Writes a network trace, message by message.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use titr_common::output::OutputFile;

use crate::grammar::{HEADER, write_message};
use crate::message::TracedMessage;

/// A network trace that is being written, gzipped.
pub struct NetworkTraceWriter<W: Write> {
    out: BufWriter<GzEncoder<W>>,
    messages: u64,
}

impl NetworkTraceWriter<OutputFile> {
    /// Begins the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(path: &Path, nodes: u32, ordered: bool) -> io::Result<Self> {
        Self::new(OutputFile::create(path)?, nodes, ordered)
    }
}

impl<W: Write> NetworkTraceWriter<W> {
    /// Begins a trace of this many nodes. If it is `ordered`, the labels of the messages rise, and their times of
    /// generation never fall.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub(crate) fn new(out: W, nodes: u32, ordered: bool) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 16, GzEncoder::new(out, Compression::new(3)));
        writeln!(out, "{HEADER}\nnodes {nodes}")?;
        if ordered {
            writeln!(out, "ordered")?;
        }
        Ok(Self { out, messages: 0 })
    }

    /// Writes the next message.
    ///
    /// # Errors
    /// If the trace cannot be written.
    pub fn write(&mut self, message: &TracedMessage) -> io::Result<()> {
        self.messages += 1;
        write_message(&mut self.out, message)
    }

    /// Ends the trace, and returns the writer below it.
    ///
    /// # Errors
    /// If the trace cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        writeln!(self.out, "end {}", self.messages)?;
        self.out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
    }
}
