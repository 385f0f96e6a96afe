//! A range of a file: a rank's stream, in its own file or in an archive.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::Crc;

use super::error::TraceError;
use crate::input;

/// Number of bytes that are copied at a time.
const PIECE: usize = 256 << 10;
/// Files shorter than this are read once, at the first look.
const SHORT: usize = 512;

/// Bytes of a file, to be read from their beginning. A clone reads for itself.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The name of the file.
    name: PathBuf,
    file: Handle,
    /// The position of the next byte, and the end.
    at: u64,
    end: u64,
}

#[derive(Clone, Debug, Default)]
enum Handle {
    /// Open, and shared by all sections in it.
    Open(Arc<File>),
    /// Opened for each look: a process may have fewer files open than a trace has ranks.
    #[default]
    Closed,
    /// All bytes of a short file.
    Short(Arc<[u8]>),
}

impl Section {
    /// The section that is all of a file.
    pub(super) fn open(path: &Path) -> Result<Self, TraceError> {
        let file = input::open(path).map_err(TraceError::io(path))?;
        Ok(Self { name: path.into(), file: Handle::Open(Arc::new(file)), at: 0, end: u64::MAX })
    }

    /// The section that is all of a file, which is not kept open.
    pub(super) fn closed(path: PathBuf) -> Self {
        Self { name: path, file: Handle::Closed, at: 0, end: u64::MAX }
    }

    /// A part of a file, of the name that it has there.
    pub(super) fn within(file: &Arc<File>, name: PathBuf, at: u64, length: u64) -> Self {
        Self { name, file: Handle::Open(Arc::clone(file)), at, end: at.saturating_add(length) }
    }

    /// The same section on an open file.
    pub(super) fn kept_open(&self) -> Result<Self, TraceError> {
        match self.file {
            Handle::Open(_) | Handle::Short(_) => Ok(self.clone()),
            Handle::Closed => Self::open(&self.name),
        }
    }

    /// The first byte, if there is one. It is read with the rest of a short file, which is not opened again.
    pub(super) fn first(&mut self) -> io::Result<Option<u8>> {
        let (mut bytes, mut looked) = (Vec::with_capacity(SHORT), self.clone());
        if let Handle::Closed = self.file {
            looked.file = Handle::Open(Arc::new(File::open(&self.name)?));
        }
        looked.take(SHORT as u64).read_to_end(&mut bytes)?;
        let first = bytes.first().copied();
        if bytes.len() < SHORT && self.at == 0 && matches!(self.file, Handle::Closed) {
            (self.end, self.file) = (bytes.len() as u64, Handle::Short(bytes.into()));
        }
        Ok(first)
    }

    /// The name of the file.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Whether it is known to have no more bytes.
    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.end
    }

    /// Goes back by as many bytes as were read too many.
    pub(super) fn back(&mut self, bytes: u64) {
        self.at = self.at.saturating_sub(bytes);
    }

    /// Bytes from here to the end.
    ///
    /// # Errors
    /// If the system does not tell.
    pub(crate) fn remaining(&self) -> io::Result<u64> {
        let file = match &self.file {
            Handle::Open(file) => file.metadata()?.len(),
            Handle::Closed => std::fs::metadata(&self.name)?.len(),
            Handle::Short(bytes) => bytes.len() as u64,
        };
        Ok(file.min(self.end).saturating_sub(self.at))
    }

    /// Reads the rest piece by piece.
    ///
    /// # Errors
    /// If it cannot be read, or `take` fails.
    pub(crate) fn read_pieces(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Result<(), TraceError>,
    ) -> Result<(), TraceError> {
        let mut piece = vec![0; PIECE];
        loop {
            match self.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(read) => take(&piece[..read])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TraceError::io(&self.name)(error)),
            }
        }
    }

    /// Reads it to its end, and returns its checksum.
    pub fn checksum(mut self) -> Result<u32, TraceError> {
        let mut crc = Crc::new();
        self.read_pieces(|bytes| {
            crc.update(bytes);
            Ok(())
        })?;
        Ok(crc.sum())
    }
}

impl Read for Section {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let buffer = &mut buffer[..wanted];
        let read = match &self.file {
            _ if wanted == 0 => 0,
            Handle::Open(file) => file.read_at(buffer, self.at)?,
            Handle::Closed => File::open(&self.name)?.read_at(buffer, self.at)?,
            Handle::Short(bytes) => bytes.get(self.at as usize..).unwrap_or_default().read(buffer)?,
        };
        self.at += read as u64;
        Ok(read)
    }
}
