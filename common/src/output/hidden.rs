//! Outputs that get their names when they are complete, and replace nothing.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::claims::{self, directory_of};
use super::temporary::Temporary;

/// A hidden directory beside an output, in which the output grows. Dropped, it is removed with all that is in it.
#[derive(Debug)]
pub struct HiddenDirectory {
    temporary: Temporary,
    /// The lock.
    _directory: File,
}

impl HiddenDirectory {
    /// Makes it beside `output`.
    ///
    /// # Errors
    /// If it cannot be made, or the output would be part of a trace that this command reads.
    pub fn beside(output: &Path) -> io::Result<Self> {
        claims::check(output)?;
        let new = |path: &Path| fs::create_dir(path).and_then(|()| File::open(path));
        let (directory, temporary) = Temporary::make(directory_of(output), new)?;
        Ok(Self { temporary, _directory: directory })
    }

    /// The path of this name in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.temporary.path().join(name)
    }
}

/// Gives a file or directory that is complete its name, unless something else has the name.
///
/// # Errors
/// If something has the name ([`ErrorKind::AlreadyExists`]), or the system does not rename.
pub fn give_name(complete: &Path, name: &Path) -> io::Result<()> {
    // A link replaces no file, whoever makes one at the same time. Not all file systems have links, and none of directories.
    let named = match fs::hard_link(complete, name) {
        Ok(()) => fs::remove_file(complete),
        Err(_) if fs::symlink_metadata(name).is_err() => fs::rename(complete, name),
        linked => linked,
    };
    named.map_err(|error| match error.kind() {
        ErrorKind::DirectoryNotEmpty => ErrorKind::AlreadyExists.into(),
        _ => error,
    })
}
