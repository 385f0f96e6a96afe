//! Files whose errors name their path.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file whose errors name its path. Small writes are gathered.
pub(super) struct NamedFile {
    path: PathBuf,
    file: BufWriter<File>,
}

impl NamedFile {
    /// A new and empty file.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = File::create(path).map_err(|error| at(path, error))?;
        Ok(Self { path: path.into(), file: BufWriter::new(file) })
    }
}

impl Write for NamedFile {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.file.write(text).map_err(|error| at(&self.path, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| at(&self.path, error))
    }
}

fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
