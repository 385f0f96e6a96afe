//! A file that is open only while it is read, for traces of more ranks than a process may have files open.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A file to be read from its beginning to its end.
#[derive(Debug)]
pub(super) struct TraceFile {
    path: PathBuf,
    /// How much was read.
    at: u64,
    open: Option<File>,
    /// Whether it stays open between two reads.
    stays: bool,
}

impl TraceFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.into(), at: 0, open: Some(File::open(path)?), stays: true })
    }

    /// The same file, closed between two reads from now on.
    pub(super) fn closing(self) -> Self {
        Self { open: None, stays: false, ..self }
    }

    pub(super) fn is_directory(&self) -> bool {
        self.open.as_ref().and_then(|file| file.metadata().ok()).is_some_and(|data| data.is_dir())
    }

    /// Back to the beginning.
    pub(super) fn rewind(&mut self) -> io::Result<()> {
        self.at = 0;
        self.open.as_mut().map_or(Ok(()), Seek::rewind)
    }
}

impl Read for TraceFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = match self.open.take() {
            Some(file) => file,
            None => {
                let mut file = File::open(&self.path)?;
                file.seek(SeekFrom::Start(self.at))?;
                file
            }
        };
        let read = file.read(buffer);
        self.at += *read.as_ref().unwrap_or(&0) as u64;
        self.open = self.stays.then_some(file);
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_is_closed_between_reads_reads_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        std::fs::write(&path, b"some text that takes several reads").unwrap();
        let mut file = TraceFile::open(&path).unwrap();
        let mut first = [0];
        file.read_exact(&mut first).unwrap();
        file.rewind().unwrap();
        let mut file = file.closing();
        let (mut text, mut piece) = (Vec::new(), [0; 7]);
        loop {
            match file.read(&mut piece).unwrap() {
                0 => break,
                read => text.extend_from_slice(&piece[..read]),
            }
            assert!(file.open.is_none());
        }
        assert_eq!(text, b"some text that takes several reads");
    }
}
