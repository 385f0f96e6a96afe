//! Unfinished outputs, so that an interrupted command can remove them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The unfinished places of this process.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A file, or the content of a directory, that is removed unless it is kept.
#[derive(Debug)]
pub(super) struct Temporary(PathBuf);

impl Temporary {
    /// Records that `path` is not finished.
    pub(super) fn new(path: PathBuf) -> Self {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Keeps the place, or does so under another name that it has by now.
    pub(super) fn keep(self) {
        forget(&self.0);
        std::mem::forget(self);
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        remove(&self.0);
        forget(&self.0);
    }
}

fn forget(path: &Path) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
}

/// Removes all that this process has not finished writing, for a process that is about to end.
pub fn remove_unfinished() {
    // A thread that holds the lock is in no hurry to write, and the process must end.
    let Ok(unfinished) = UNFINISHED.lock() else { return };
    unfinished.iter().for_each(|path| remove(path));
}

/// Best effort: an error that matters was already reported.
fn remove(path: &Path) {
    let Ok(entries) = fs::read_dir(path) else {
        let _ = fs::remove_file(path);
        return;
    };
    for entry in entries.flatten() {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let _ = if is_directory { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) };
    }
}
