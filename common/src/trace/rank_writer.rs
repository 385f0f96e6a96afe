//! Writes one rank's events, one by one, for converters and generators, which need not be fast for a waiting program.
//!
//! The tracer does the same in two halves, since a program waits for it: its own thread converts events to text, and
//! another thread writes the members of the file.

use std::io;
use std::path::Path;

use super::StreamWriter;
use super::manifest::RankEntry;
use crate::event::{Event, Rank, ThreadId};
use crate::grammar::EventWriter;
use crate::units::Bytes;

/// Text in a gzip member, and how hard it is compressed: as the tracer does it.
const MEMBER: usize = 128 << 10;
const LEVEL: u32 = 3;

/// The stream of one rank, complete once it is [finished](Self::finish).
pub struct RankWriter {
    stream: StreamWriter,
    events: EventWriter,
    text: Vec<u8>,
    count: u64,
    /// Bytes of text in the members so far.
    length: u64,
}

impl RankWriter {
    /// Creates the stream of `rank` in `directory`.
    ///
    /// # Errors
    /// If the file exists or cannot be created.
    pub fn create(directory: &Path, rank: Rank) -> io::Result<Self> {
        let stream = StreamWriter::create(directory, rank, LEVEL)?;
        Ok(Self { stream, events: EventWriter::new(rank), text: Vec::new(), count: 0, length: 0 })
    }

    /// The path of the rank's stream.
    pub fn path(&self) -> &Path {
        self.stream.path()
    }

    /// Appends an event of one of the rank's threads.
    #[inline]
    pub fn write(&mut self, thread: ThreadId, event: &Event) -> io::Result<()> {
        self.events.switch(&mut self.text, thread);
        self.events.write(&mut self.text, event);
        self.count += 1;
        if self.text.len() < MEMBER { Ok(()) } else { self.end_member() }
    }

    fn end_member(&mut self) -> io::Result<()> {
        self.events.end_line(&mut self.text);
        self.stream.write_member(&self.text)?;
        self.length += self.text.len() as u64;
        self.text.clear();
        Ok(())
    }

    /// Ends the stream, for any ending of the rank. The facts about the stream are entered in `entry`.
    pub fn finish(mut self, entry: RankEntry) -> io::Result<RankEntry> {
        // The last events may be in the writer still.
        self.events.end_line(&mut self.text);
        if !self.text.is_empty() {
            self.end_member()?;
        }
        let written = self.stream.finish(self.count)?;
        let (disk, crc32) = (written.size, Some(written.crc32));
        Ok(entry.with(|entry| {
            (entry.events, entry.text) = (self.count, Bytes(self.length));
            (entry.disk, entry.crc32) = (disk, crc32);
        }))
    }
}
