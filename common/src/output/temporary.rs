//! Unfinished outputs, so that an interrupted command can remove them, and what follows a killed one does so.
//!
//! A temporary file or directory is locked while its process writes it. The system ends the lock with the process, however
//! that ends and on whichever machine it was, so what nobody has locked is abandoned. Where a file system has no locks,
//! nothing is known, and nothing is removed.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The unfinished places of this process.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

const PREFIX: &str = ".titr-";
const SUFFIX: &str = ".unfinished";

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file or directory with a hidden name, or the content of a directory, that is removed unless it is kept.
#[derive(Debug)]
pub(super) struct Temporary(PathBuf);

impl Temporary {
    /// Records that the content of the directory `path` is not finished.
    pub(super) fn content(path: PathBuf) -> Self {
        unfinished().insert(path.clone());
        Self(path)
    }

    /// Makes a file or directory in `directory`, under a name that is free. It is locked until the file that is returned
    /// is closed. Removes what killed processes have left there, at the first time.
    pub(super) fn make(directory: &Path, make: impl Fn(&Path) -> io::Result<File>) -> io::Result<(File, Self)> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        static CLEARED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
        if CLEARED.lock().unwrap_or_else(PoisonError::into_inner).insert(directory.to_owned()) {
            remove_leftovers(directory);
        }
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!("{PREFIX}{}-{number}{SUFFIX}", std::process::id()));
            // Once the process is about to end, nothing is begun.
            let mut unfinished = unfinished();
            match make(&path) {
                Ok(made) => {
                    // Before it was locked, another process may have found it abandoned.
                    let is_lost = matches!(made.try_lock(), Err(TryLockError::WouldBlock))
                        || fs::symlink_metadata(&path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
                    if !is_lost {
                        unfinished.insert(path.clone());
                        return Ok((made, Self(path)));
                    }
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                // A directory was removed before it was opened.
                Err(error) if error.kind() == ErrorKind::NotFound && directory.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Keeps the place, or does so under another name that it has by now.
    pub(super) fn keep(self) {
        unfinished().remove(&self.0);
        std::mem::forget(self);
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        remove(&self.0);
        unfinished().remove(&self.0);
    }
}

/// Begins a file in a directory that is not finished, unless this process removes those: then, it waits for the end.
pub fn begin<T>(file: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let _unfinished = unfinished();
    file()
}

/// Removes all that this process has not finished writing, for a process that is about to end: its other threads begin and
/// finish nothing any more.
pub fn remove_unfinished() {
    let unfinished = unfinished();
    unfinished.iter().for_each(|path| remove(path));
    std::mem::forget(unfinished);
}

/// Removes what processes that were killed have left in a directory, as far as that is possible.
pub fn remove_leftovers(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_unfinished(&entry.path())) {
        // A lock on a network's file system is for those who may write.
        let opened = match entry.file_type() {
            Ok(kind) if kind.is_dir() => File::open(entry.path()),
            Ok(kind) if kind.is_file() => OpenOptions::new().write(true).open(entry.path()),
            _ => continue,
        };
        let Ok(file) = opened else { continue };
        if file.try_lock().is_ok() {
            let _ = remove_entry(&entry);
        }
    }
}

/// Whether a path is the one of an output that is not finished.
#[must_use]
pub fn is_unfinished(path: &Path) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let name =
        path.file_name().and_then(|name| name.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.split_once('-'));
    name.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// Best effort: an error that matters was already reported.
fn remove(path: &Path) {
    loop {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let removed = entries.filter(|entry| remove_entry(entry).is_ok()).count();
        let is_gone = is_unfinished(path) && fs::remove_file(path).or_else(|_| fs::remove_dir(path)).is_ok();
        // Other threads may still fill a directory.
        if is_gone || removed == 0 {
            return;
        }
    }
}

fn remove_entry(entry: &DirEntry) -> io::Result<()> {
    if entry.file_type()?.is_dir() { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) }
}
