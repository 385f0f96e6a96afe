//! A trace in one file: a tar archive (POSIX.1-1988 `ustar`, GNU's sizes) of a trace directory, with the gzipped
//! streams unchanged. `tar` can therefore unpack it, and can pack a directory into one that titr reads.
//!
//! A tar archive has no index, but the size of each file precedes it: one access per rank finds all files, and from
//! then on every rank is read from its place through one open file.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use super::directory::Kind;
use super::error::TraceError;
use super::own_file::{OwnFile, Placement};
use super::section::Section;
use crate::input;

/// The unit of an archive: a header has one, and files begin where one begins.
const BLOCK: usize = 512;
/// The offset of the magic word in a header, in bytes.
const MAGIC: std::ops::Range<usize> = 257..262;

/// The largest size of the headers of a file, including its name, in bytes.
const HEADERS: usize = 1 << 20;

/// Whether the file is an archive, by its first header.
pub(super) fn is_archive(path: &Path) -> bool {
    let mut block = [0; BLOCK];
    input::open(path).and_then(|mut file| file.read_exact(&mut block)).is_ok() && is_header(&block)
}

/// Whether a file that begins with `block` is an archive.
pub(super) fn is_header(block: &[u8]) -> bool {
    block.len() >= BLOCK && block[MAGIC] == *b"ustar"
}

/// The files of a trace in the archive at `path`.
pub(super) fn scan(path: &Path) -> Result<Vec<(Kind, Section)>, TraceError> {
    let mut file = input::open(path).map_err(TraceError::io(path))?;
    let length = file.seek(SeekFrom::End(0)).map_err(TraceError::io(path))?;
    file.rewind().map_err(TraceError::io(path))?;
    let shared = Arc::new(file.try_clone().map_err(TraceError::io(path))?);
    let torn = |what: String| TraceError::Archive { path: path.into(), what };
    let mut found = Vec::new();
    let mut end = 0;
    let left = Cell::new(HEADERS);
    let mut archive = tar::Archive::new(Headers { file, left: &left });
    for entry in archive.entries_with_seek().map_err(TraceError::io(path))? {
        left.set(HEADERS);
        let entry = entry.map_err(|error| torn(format!("after {end} bytes: {error}")))?;
        let name = entry.path().map_err(TraceError::io(path))?.into_owned();
        let (at, size) = (entry.raw_file_position(), entry.size());
        end = at.saturating_add(size);
        if end > length {
            return Err(torn(format!("it ends within {}", name.display())));
        }
        if let Some(kind) = Kind::of(&name) {
            found.push((kind, Section::within(&shared, path.join(name), at, size)));
        }
    }
    // Two blocks of zeros are its end (pax, "ustar Interchange Format").
    let ends = end.next_multiple_of(BLOCK as u64) + 2 * BLOCK as u64;
    if ends > length {
        return Err(torn(format!("it ends after {end} bytes without an end mark")));
    }
    Ok(found)
}

/// The headers of an archive. The headers of one file, which may hold a long name, are read up to a limit.
struct Headers<'l> {
    file: File,
    left: &'l Cell<usize>,
}

impl Read for Headers<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        let left = self.left.get().checked_sub(read);
        self.left.set(left.ok_or_else(|| io::Error::other("a name of more than a megabyte"))?);
        Ok(read)
    }
}

impl Seek for Headers<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Writes an archive, file after file.
pub struct ArchiveWriter {
    file: OwnFile,
    /// The number of bytes still missing from the file that is being written.
    missing: u64,
    /// Padding from the end of the file to the end of a block.
    padding: usize,
}

impl ArchiveWriter {
    /// Creates it, with the file at the descriptor that `place` chooses.
    ///
    /// # Errors
    /// If the file exists, cannot be created or cannot be placed.
    pub fn create_at(path: &Path, place: Placement) -> io::Result<Self> {
        Ok(Self { file: OwnFile::new(place(File::create_new(path)?)?)?, missing: 0, padding: 0 })
    }

    /// Begins a file of this size, whose contents follow by [`write`](Self::write).
    ///
    /// # Errors
    /// If the file before is not complete, or the header cannot be written.
    pub fn begin(&mut self, name: &Path, size: u64) -> io::Result<()> {
        self.complete()?;
        let mut header = tar::Header::new_gnu();
        header.set_path(name)?;
        header.set_size(size);
        header.set_mode(0o644);
        header.set_entry_type(tar::EntryType::Regular);
        header.set_cksum();
        self.file.write_all(header.as_bytes())?;
        self.missing = size;
        self.padding = (size.next_multiple_of(BLOCK as u64) - size) as usize;
        Ok(())
    }

    /// The next bytes of the file.
    ///
    /// # Errors
    /// If they cannot be written or are too many.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let left = self.missing.checked_sub(bytes.len() as u64);
        self.missing = left.ok_or_else(|| io::Error::other("a stream is longer than its rank said"))?;
        self.file.write_all(bytes)
    }

    /// Ends the archive, and waits until it is on disk.
    ///
    /// # Errors
    /// If a file is not complete or cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.complete()?;
        self.file.write_all(&[0; 2 * BLOCK])?;
        self.file.get()?.sync_all()
    }

    fn complete(&mut self) -> io::Result<()> {
        if self.missing > 0 {
            return Err(io::Error::other("a stream is shorter than its rank said"));
        }
        self.file.write_all(&[0; BLOCK][..std::mem::take(&mut self.padding)])
    }
}
