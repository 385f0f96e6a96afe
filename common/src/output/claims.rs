//! The files that a command reads and writes: checks that no file is both, and that none is written twice.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::file::{directory_of, open};
use crate::trace::directory;

/// An output that would destroy a file that the command needs.
#[derive(Debug, Error, PartialEq, Eq)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum Clash {
    #[error("{} is an input of this command and its output: nothing is written; name another file", output.display())]
    IsInput { output: PathBuf },
    #[error(
        "{} would become a file of the trace in {}, which this command reads: nothing is written; name another file",
        output.display(), trace.display()
    )]
    InTrace { output: PathBuf, trace: PathBuf },
    #[error(
        "{} and {} are one file, and it would be written twice: nothing is written; name another file",
        first.display(), second.display()
    )]
    Twice { first: PathBuf, second: PathBuf },
}

/// The identity of a file, independent of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    /// Device and inode of a regular file.
    Inode(u64, u64),
    /// The name of a file that is not there yet, in its directory's own name.
    Name(PathBuf),
}

/// The inputs and outputs of a command. Pipes and devices may be named as often as one likes.
#[derive(Debug, Default)]
pub struct Claims {
    inputs: Vec<Identity>,
    directories: Vec<PathBuf>,
    outputs: Vec<(PathBuf, Identity)>,
}

impl Claims {
    /// Claims of a command that reads nothing yet, and prints on standard output.
    #[must_use]
    pub fn new() -> Self {
        let printed = open(io::stdout().as_fd()).ok().flatten().and_then(|found| identity(&found));
        let outputs = printed.map(|identity| (PathBuf::from("standard output"), identity));
        Self { outputs: Vec::from_iter(outputs), ..Self::default() }
    }

    /// Records that the command reads `path`: a file, or the files of a trace in a directory.
    ///
    /// # Errors
    /// If standard output goes there.
    pub fn read(&mut self, path: &Path) -> Result<(), Clash> {
        let Ok(found) = fs::metadata(path) else { return Ok(()) };
        if found.is_dir() {
            self.directories.extend(fs::canonicalize(path));
        }
        let Some(identity) = identity(&found) else { return Ok(()) };
        if let Some((output, _)) = self.outputs.iter().find(|(_, other)| *other == identity) {
            return Err(Clash::IsInput { output: output.clone() });
        }
        self.inputs.push(identity);
        Ok(())
    }

    /// Records that the command is going to write `path`.
    ///
    /// # Errors
    /// If the command reads that file, or writes it for another purpose.
    pub fn write(&mut self, path: &Path) -> Result<(), Clash> {
        let own = |path: &Path| path.starts_with("/proc") || path.starts_with("/dev");
        let Some(resolved) = resolved(path) else { return Ok(()) };
        let identity = match fs::metadata(&resolved) {
            Ok(found) => identity(&found),
            Err(_) => Some(Identity::Name(resolved.clone())),
        };
        let Some(identity) = identity else { return Ok(()) };
        if self.inputs.contains(&identity) {
            return Err(Clash::IsInput { output: path.into() });
        }
        let is_part = |trace: &&PathBuf| resolved.strip_prefix(trace).is_ok_and(directory::is_part);
        if let Some(trace) = self.directories.iter().find(is_part) {
            return Err(Clash::InTrace { output: path.into(), trace: trace.clone() });
        }
        let twice = self.outputs.iter().find(|(_, other)| *other == identity);
        if let Some((first, _)) = twice.filter(|_| !own(path)) {
            return Err(Clash::Twice { first: first.clone(), second: path.into() });
        }
        self.outputs.push((path.into(), identity));
        Ok(())
    }
}

fn identity(found: &fs::Metadata) -> Option<Identity> {
    found.is_file().then(|| Identity::Inode(found.dev(), found.ino()))
}

/// The path without links; `None` if its directory is not there.
fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(resolved) = fs::canonicalize(path) {
        return Some(resolved);
    }
    let path = fs::read_link(path).map_or_else(|_| path.to_owned(), |next| directory_of(path).join(next));
    Some(fs::canonicalize(directory_of(&path)).ok()?.join(path.file_name()?))
}
