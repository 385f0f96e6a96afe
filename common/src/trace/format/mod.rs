//! Recognises and opens traces of any format.
//!
//! To add a format, implement [`TraceFormat`] in a new file and name it in a list: the formats of titr and SimGrid are
//! in [`NATIVE`], those of other tools in the crate `titr-formats`. Every command accepts every format in these lists.

mod simgrid_index;
mod text;
mod titr;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::TraceError;
use super::lines::Lines;
use super::opened::Trace;
use crate::input;

/// A format that traces are read from.
pub trait TraceFormat: Sync {
    /// The name of the format.
    fn name(&self) -> &'static str;

    /// Whether `candidate` looks like a trace in this format. If so, later formats are not asked.
    fn recognises(&self, candidate: &Candidate) -> bool;

    /// Opens the trace at `paths`, which is recognised: finds out how many ranks it has, and that their events are there.
    ///
    /// # Errors
    /// If a file is missing, cannot be read, or is not of this format after all.
    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError>;
}

/// The formats that titr and SimGrid write. Any text file that is not one of events is taken for an index.
pub static NATIVE: &[&dyn TraceFormat] = &[&titr::Titr, &text::Text, &simgrid_index::SimgridIndex];

/// Opens the trace at `paths` in the first of `formats` that recognises it.
///
/// # Errors
/// If there is nothing at a path, no format recognises the trace, or the one that does cannot open it.
pub fn open<'a>(
    paths: &[impl AsRef<Path>],
    formats: impl IntoIterator<Item = &'a dyn TraceFormat>,
) -> Result<Trace, TraceError> {
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let candidate = Candidate::new(&paths)?;
    let mut names = Vec::new();
    for format in formats {
        if format.recognises(&candidate) {
            return format.open(&paths);
        }
        names.push(format.name());
    }
    let path = paths.first().map_or(PathBuf::new(), PathBuf::from);
    Err(TraceError::Directory { path, what: format!("in none of the formats {}", names.join(", ")) })
}

impl Trace {
    /// Opens a trace that titr or SimGrid wrote: a directory, an archive, an index, or a file with the events of all ranks.
    ///
    /// # Errors
    /// If a file is missing or is none of these.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        Self::open_all(&[path])
    }

    /// Opens a trace that titr or SimGrid wrote, or several directories and archives that hold the parts of one.
    ///
    /// # Errors
    /// If a file is missing or is none of these, or the parts do not make a whole.
    pub fn open_all(paths: &[impl AsRef<Path>]) -> Result<Self, TraceError> {
        open(paths, NATIVE.iter().copied())
    }
}

/// Number of bytes of a file by which a format can be recognised.
const HEAD: u64 = 512;

/// A possible trace: the paths given by the user, and the beginning of the file if there is one.
pub struct Candidate<'a> {
    paths: &'a [&'a Path],
    is_directory: bool,
    /// The first bytes of the file on disk, at most 512; none if there is no single file.
    pub head: Vec<u8>,
}

impl<'a> Candidate<'a> {
    /// The candidate at some paths.
    ///
    /// # Errors
    /// If there is nothing at the path, or it cannot be read.
    pub fn new(paths: &'a [&'a Path]) -> Result<Self, TraceError> {
        let [path] = paths else { return Ok(Self { paths, is_directory: false, head: Vec::new() }) };
        let about = fs::metadata(path).map_err(|error| TraceError::io(path)(input::with_near(path, error)))?;
        let is_directory = about.is_dir();
        let head = if is_directory { Vec::new() } else { head(path).map_err(TraceError::io(path))? };
        Ok(Self { paths, is_directory, head })
    }

    /// The path of the directory, where one directory is all there is.
    pub fn directory(&self) -> Option<&'a Path> {
        self.paths.first().copied().filter(|_| self.is_directory)
    }

    /// The path of the file, where one file is all there is.
    pub fn file(&self) -> Option<&'a Path> {
        match self.paths {
            [path] if !self.is_directory => Some(path),
            _ => None,
        }
    }

    /// The first line of the file that is not blank and no comment, unpacked where it is gzipped.
    pub fn first_line(&self) -> Result<Option<Vec<u8>>, TraceError> {
        let Some(path) = self.file() else { return Ok(None) };
        let mut lines = Lines::open(path)?;
        while let Some(text) = lines.next()? {
            if !text.trim_ascii().is_empty() && !text.starts_with(b"#") {
                return Ok(Some(text.to_vec()));
            }
        }
        Ok(None)
    }
}

fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}
