//! Directories that a command fills, and outputs that get their names when they are complete, and replace nothing.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::claims::{self, directory_of};
use super::named;
use super::temporary::Temporary;

/// A directory that holds something already.
#[derive(Debug, Error)]
#[error(
    "{}: there is something in it already, and nothing is overwritten: name another directory, or remove it",
    .0.display()
)]
struct Occupied(PathBuf);

/// Makes a directory, and those that it is in, where they are missing.
///
/// # Errors
/// If it cannot be made; a file in its place is named.
pub fn make_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path).map_err(|error| match path.ancestors().find(|place| place.is_file()) {
        Some(file) => {
            let what = format!("{} is a file, and a directory is written here: name another place", file.display());
            named(path, io::Error::new(error.kind(), what))
        }
        None => named(path, error),
    })
}

/// A directory that is being filled. Dropped before it is finished, it is missing or empty as it was before.
#[derive(Debug)]
pub struct OutputDirectory {
    path: PathBuf,
    /// The directories that were made for it, the outermost first.
    made: Vec<PathBuf>,
    content: Option<Temporary>,
    /// Open and locked as long as this process fills it.
    _lock: File,
}

impl OutputDirectory {
    /// Makes the directory at `path`, or takes the one there if it is empty.
    ///
    /// # Errors
    /// If the directory holds something ([`ErrorKind::DirectoryNotEmpty`]), is an input, cannot be made, or another process fills it.
    pub fn create(path: &Path) -> io::Result<Self> {
        let missing = path.ancestors().take_while(|place| *place != Path::new("") && !place.exists());
        let mut made: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        made.reverse();
        let failed = |error| named(path, error);
        claims::check(path)?;
        make_directory(path)?;
        let lock = File::open(path).map_err(failed)?;
        // Where there are no locks, nobody is told.
        if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            let what = "another process is writing to it: wait until it ends, or name another directory";
            return Err(failed(io::Error::new(ErrorKind::ResourceBusy, what)));
        }
        if fs::read_dir(path).map_err(failed)?.next().is_some() {
            return Err(io::Error::new(ErrorKind::DirectoryNotEmpty, Occupied(path.into())));
        }
        Ok(Self { path: path.into(), made, content: Some(Temporary::content(path.into())), _lock: lock })
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the directory with all that is in it.
    pub fn finish(mut self) {
        self.made.clear();
        if let Some(content) = self.content.take() {
            content.keep();
        }
    }
}

impl Drop for OutputDirectory {
    fn drop(&mut self) {
        drop(self.content.take());
        for path in self.made.iter().rev() {
            let _ = fs::remove_dir(path);
        }
    }
}

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
