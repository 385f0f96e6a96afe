//! Files that a command writes.
//!
//! An [`OutputFile`] is next to its final name until it is complete, and then replaces the previous file with that
//! name: a failing command or a full disk leaves the old file unchanged. An [`OutputDirectory`] is new or was empty,
//! and is restored to that state if the command fails. What a [`Command`] has opened for reading is no output.
//!
//! Errors name the file: `cannot write out.html: No space left on device`.

mod claims;
mod directory;
mod file;
mod temporary;

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use claims::{Clash, Command, IsPart, can_be_file, claim, read};
pub(crate) use claims::{Identity, identity};
pub use directory::{HiddenDirectory, OutputDirectory, give_name, make_directory};
pub use file::OutputFile;
pub use temporary::{begin, is_unfinished, remove_leftovers, remove_unfinished};

/// A place that cannot be written.
#[derive(Debug, Error)]
#[error("cannot write {}: {error}", path.display())]
pub(crate) struct Unwritable {
    /// The file or directory.
    pub path: PathBuf,
    /// The error of the operating system.
    pub error: io::Error,
}

/// The error with the place that cannot be written, once.
#[must_use]
pub fn named(path: &Path, error: io::Error) -> io::Error {
    match error.get_ref().is_some_and(|inner| inner.is::<Unwritable>() || inner.is::<Clash>()) {
        true => error,
        false => io::Error::new(error.kind(), Unwritable { path: path.into(), error }),
    }
}

#[cfg(test)]
mod tests;
