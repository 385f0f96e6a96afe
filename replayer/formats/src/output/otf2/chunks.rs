//! The files of an archive: records in chunks of one size.
//!
//! Each chunk begins with a header, which names its first and its last event. A record does not cross the border of a chunk: a
//! zero byte ends the chunk where the next record does not fit.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use titr_common::output::{begin, named};

/// The byte that begins a chunk, and the mark of little-endian numbers.
pub(super) const CHUNK: [u8; 2] = [3, 0x42];
/// The length of a chunk's header.
const HEADER: usize = 18;
/// The type of the record of the time of the events that follow.
const TIME: u8 = 5;
/// The last record of a file: its type and one more byte.
const END: [u8; 2] = [2, 1];
/// The length of a record whose length follows in eight bytes.
const LONG: usize = 0xff;

/// The fields of a record.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordBody(Vec<u8>);

impl RecordBody {
    /// The fields of a record whose first fields are these compressed numbers of at most four bytes.
    pub(super) fn of(numbers: &[u32]) -> Self {
        numbers.iter().fold(Self::default(), |body, &number| body.u32(number))
    }

    pub(super) fn byte(mut self, byte: u8) -> Self {
        self.0.push(byte);
        self
    }

    /// A compressed number of at most four bytes; `u32::MAX` is undefined.
    pub(super) fn u32(self, number: u32) -> Self {
        self.u64(if number == u32::MAX { u64::MAX } else { number.into() })
    }

    /// A compressed number of at most eight bytes; `u64::MAX` is undefined.
    pub(super) fn u64(mut self, number: u64) -> Self {
        if number == u64::MAX {
            return self.byte(0xff);
        }
        let length = (u64::BITS - number.leading_zeros()).div_ceil(8);
        self.0.push(length as u8);
        self.0.extend(&number.to_le_bytes()[..length as usize]);
        self
    }

    /// A number of eight bytes.
    pub(super) fn full_u64(mut self, number: u64) -> Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    /// A number of four bytes.
    pub(super) fn full_u32(mut self, number: u32) -> Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    /// A text without zero bytes.
    pub(super) fn text(mut self, text: &str) -> Self {
        self.0.extend(text.bytes().filter(|&byte| byte != 0));
        self.byte(0)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Appends the record of this type with these fields.
    fn append_to(&self, out: &mut Vec<u8>, kind: u8) {
        out.push(kind);
        match u8::try_from(self.0.len()) {
            Ok(length) if self.0.len() < LONG => out.push(length),
            _ => {
                out.push(LONG as u8);
                out.extend((self.0.len() as u64).to_le_bytes());
            }
        }
        out.extend(&self.0);
    }
}

/// A file of an archive that is being written.
pub(super) struct ChunkedFile {
    path: PathBuf,
    file: File,
    size: usize,
    chunk: Vec<u8>,
    /// The record that is being appended.
    record: Vec<u8>,
    events: u64,
    /// The time of the last event of the chunk.
    time: Option<u64>,
}

impl ChunkedFile {
    /// Begins a file whose chunks have this size.
    pub(super) fn create(path: &Path, size: usize) -> io::Result<Self> {
        let file = begin(|| File::create_new(path)).map_err(|error| named(path, error))?;
        let mut this =
            Self { path: path.into(), file, size, chunk: Vec::new(), record: Vec::new(), events: 0, time: None };
        this.begin();
        Ok(this)
    }

    /// The number of events.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    fn begin(&mut self) {
        self.chunk.extend(CHUNK);
        self.chunk.extend((self.events + 1).to_le_bytes());
        self.chunk.extend([0; 8]);
        self.time = None;
    }

    /// Writes the chunk that is full.
    fn end(&mut self) -> io::Result<()> {
        self.chunk[HEADER - 8..HEADER].copy_from_slice(&self.events.to_le_bytes());
        self.file.write_all(&self.chunk).map_err(|error| named(&self.path, error))?;
        self.chunk.clear();
        Ok(())
    }

    /// Makes room for this many bytes and the end of the chunk.
    fn make_room(&mut self, length: usize) -> io::Result<()> {
        let room = self.size - END.len();
        if self.chunk.len() + length > room {
            self.chunk.resize(self.size, 0);
            self.end()?;
            self.begin();
        }
        if self.chunk.len() + length > room {
            let what = format!("a record of {length} bytes does not fit into a chunk of {} bytes of OTF2", self.size);
            return Err(named(&self.path, io::Error::other(what)));
        }
        Ok(())
    }

    /// Appends a definition.
    pub(super) fn definition(&mut self, kind: u8, body: &RecordBody) -> io::Result<()> {
        self.record.clear();
        body.append_to(&mut self.record, kind);
        self.make_room(self.record.len())?;
        self.chunk.extend(&self.record);
        Ok(())
    }

    /// Appends an event, with a list of attributes if it has any.
    pub(super) fn event(
        &mut self,
        time: u64,
        kind: u8,
        body: &RecordBody,
        attributes: Option<&RecordBody>,
    ) -> io::Result<()> {
        self.record.clear();
        if let Some(attributes) = attributes {
            attributes.append_to(&mut self.record, 6);
        }
        // The length of these records is the length of their only number.
        if matches!(kind, 12 | 13 | 16 | 17 | 20 | 21 | 85) {
            self.record.push(kind);
            self.record.extend(&body.0);
        } else {
            body.append_to(&mut self.record, kind);
        }
        self.make_room(self.record.len() + 1 + size_of::<u64>())?;
        if self.time != Some(time) {
            self.time = Some(time);
            self.chunk.push(TIME);
            self.chunk.extend(time.to_le_bytes());
        }
        self.chunk.extend(&self.record);
        self.events += 1;
        Ok(())
    }

    /// Ends the file.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.chunk.extend(END);
        self.end()
    }
}
