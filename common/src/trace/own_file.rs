//! A file whose descriptor may be closed by the traced program.
//!
//! The tracer shares the descriptor table with the program. Some programs close descriptors that they have not opened,
//! and the next file that they open gets the number. An [`OwnFile`] therefore remembers the device and the inode of its
//! file, and uses the descriptor only while it still refers to that file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::IntoRawFd;
use std::path::Path;

use crate::output::{Identity, identity};

/// A way to choose the descriptor of a file that was just opened.
pub type Placement = fn(File) -> io::Result<File>;

/// A file and its identity. A descriptor that has become another file is neither written to nor closed.
#[derive(Debug)]
pub struct OwnFile {
    /// Absent only while the value is dropped.
    file: Option<File>,
    identity: Identity,
}

impl OwnFile {
    /// Takes a file that was just opened.
    ///
    /// # Errors
    /// If the system does not report the identity of the file.
    pub fn new(file: File) -> io::Result<Self> {
        let identity = identity(&file.metadata()?);
        Ok(Self { file: Some(file), identity })
    }

    /// The file, if its descriptor is still that file.
    ///
    /// # Errors
    /// If the descriptor was closed, or is another file now.
    pub(crate) fn get(&self) -> io::Result<&File> {
        let is_ours = |file: &&File| file.metadata().is_ok_and(|file| identity(&file) == self.identity);
        let lost = || io::Error::other("the program has closed the tracer's descriptor");
        self.file.as_ref().filter(is_ours).ok_or_else(lost)
    }

    /// Ensures that the descriptor refers to the file at `path`. If the descriptor was lost, reopens the file and seeks
    /// to `position`.
    ///
    /// # Errors
    /// If the descriptor was lost and the file no longer has this name.
    pub(crate) fn recover(&mut self, path: &Path, position: u64, place: Placement) -> io::Result<()> {
        let Err(lost) = self.get() else { return Ok(()) };
        let Ok(file) = OpenOptions::new().write(true).open(path) else { return Err(lost) };
        let again = Self::new(place(file)?)?;
        if again.identity != self.identity {
            return Err(lost);
        }
        again.get()?.seek(SeekFrom::Start(position))?;
        *self = again;
        Ok(())
    }
}

impl Read for OwnFile {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.get()?.read(room)
    }
}

impl Write for OwnFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.get()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if self.get().is_err() {
            // The descriptor now belongs to the program, which will close it.
            self.file.take().map(File::into_raw_fd);
        }
    }
}
