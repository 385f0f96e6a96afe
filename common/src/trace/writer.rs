//! Writes one rank's stream.

use std::fs::{self, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

use super::directory;
use super::own_file::{OwnFile, Placement};
use crate::event::Rank;
use crate::grammar::{END, HEADER};
use crate::output;
use crate::units::Bytes;

/// A gzip header without name or time, so that the same text gives the same bytes (RFC 1952 §2.3).
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// The window of 2¹³ bytes, out of 2¹⁵: repetitions in a trace are only a few lines apart, and memory per rank matters.
const WINDOW_BITS: u8 = 13;

/// A rank's stream on disk: a gzip member for each write.
pub struct StreamWriter {
    file: OwnFile,
    path: PathBuf,
    place: Placement,
    /// Reused for all members, since its memory is the main cost.
    deflate: Compress,
    packed: Vec<u8>,
    /// Size of the file up to the last whole member.
    size: u64,
    /// Checksum of the file up to the last whole member.
    crc: Crc,
    /// Whether the file has an end record behind the last complete member.
    is_closed: bool,
}

/// A complete stream on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinishedStream {
    /// Size of the file in bytes.
    pub size: Bytes,
    /// CRC-32 of the file on disk.
    pub crc32: u32,
}

impl StreamWriter {
    /// Creates the stream of `rank` in `directory`, compressed at `level` (1 to 9).
    ///
    /// # Errors
    /// If the file exists or cannot be created.
    pub fn create(directory: &Path, rank: Rank, level: u32) -> io::Result<Self> {
        output::begin(|| Self::create_at(directory, rank, level, Ok))
    }

    /// Like [`create`](Self::create), with the file at the descriptor that `place` chooses.
    ///
    /// # Errors
    /// If the file exists, cannot be created or cannot be placed.
    pub fn create_at(directory: &Path, rank: Rank, level: u32, place: Placement) -> io::Result<Self> {
        let path = directory::stream(directory, rank);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let file = OwnFile::new(place(OpenOptions::new().write(true).create_new(true).open(&path)?)?)?;
        let deflate = Compress::new_with_window_bits(Compression::new(level), false, WINDOW_BITS);
        let (packed, crc) = (Vec::new(), Crc::new());
        let mut stream = Self { file, path, place, deflate, packed, size: 0, crc, is_closed: false };
        stream.write_member(format!("{HEADER}\n").as_bytes())?;
        Ok(stream)
    }

    /// The path of the stream's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends `text`, whole lines, as one member. An end record that was written before is taken back.
    ///
    /// # Errors
    /// If it cannot be written; the file then ends with the last whole member.
    pub fn write_member(&mut self, text: &[u8]) -> io::Result<()> {
        if self.is_closed {
            self.take_back()?;
        }
        self.append(text)?;
        self.size += self.packed.len() as u64;
        self.crc.update(&self.packed);
        Ok(())
    }

    /// Ends the stream after `events` events, unless more is written.
    pub fn close(&mut self, events: u64) -> io::Result<FinishedStream> {
        if self.is_closed {
            self.take_back()?;
        }
        self.append(format!("{END}{events}\n").as_bytes())?;
        self.is_closed = true;
        let mut crc = Crc::new();
        crc.combine(&self.crc);
        crc.update(&self.packed);
        Ok(FinishedStream { size: Bytes(self.size + self.packed.len() as u64), crc32: crc.sum() })
    }

    /// Ends the stream after `events` events.
    pub fn finish(mut self, events: u64) -> io::Result<FinishedStream> {
        self.close(events)
    }

    /// Writes `text` as a member behind the last whole one.
    fn append(&mut self, text: &[u8]) -> io::Result<()> {
        self.pack(text)?;
        self.file.recover(&self.path, self.size, self.place)?;
        if let Err(error) = self.file.write_all(&self.packed) {
            // Best effort: an incomplete tail is reported by the reader, and costs no more than this member.
            let _ = self.take_back();
            return Err(error);
        }
        Ok(())
    }

    /// Truncates the file after the last complete member.
    fn take_back(&mut self) -> io::Result<()> {
        self.file.recover(&self.path, self.size, self.place)?;
        let mut file = self.file.get()?;
        file.set_len(self.size)?;
        file.seek(SeekFrom::Start(self.size))?;
        self.is_closed = false;
        Ok(())
    }

    /// Fills `packed` with `text` as a gzip member.
    fn pack(&mut self, text: &[u8]) -> io::Result<()> {
        self.packed.clear();
        self.packed.extend_from_slice(&GZIP_HEADER);
        // A member without text has taken nothing in and is complete all the same.
        if self.deflate.total_out() > 0 {
            self.deflate.reset();
        }
        loop {
            let done = self.deflate.total_in() as usize;
            self.packed.reserve(4096);
            let rest = text.get(done..).unwrap_or_default();
            match self.deflate.compress_vec(rest, &mut self.packed, FlushCompress::Finish) {
                Ok(Status::StreamEnd) => break,
                Ok(Status::Ok | Status::BufError) => {}
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        let mut crc = Crc::new();
        crc.update(text);
        self.packed.extend_from_slice(&crc.sum().to_le_bytes());
        self.packed.extend_from_slice(&crc.amount().to_le_bytes());
        Ok(())
    }
}
