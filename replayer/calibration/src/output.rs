//! Files that a calibration reads and writes.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use titr_common::trace::Trace;

use crate::calibration::Calibration;
use crate::compute::{ComputeRate, NoRate};

/// A file that cannot be written.
#[derive(Debug, Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct Unwritable {
    /// The file.
    pub path: PathBuf,
    /// The error of the operating system.
    pub source: io::Error,
}

/// Finds out whether a file can be written, which leaves it as it is, or empty if there was none.
///
/// # Errors
/// If it cannot be written.
pub fn check(path: &Path) -> Result<(), Unwritable> {
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.map(drop).map_err(|source| Unwritable { path: path.into(), source })
}

/// Writes a file.
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), Unwritable> {
    fs::write(path, text).map_err(|source| Unwritable { path: path.into(), source })
}

/// The compute rate of a traced program.
///
/// # Errors
/// If the trace cannot be read, or has no times.
pub fn rate(trace: &Path) -> Result<ComputeRate, NoRate> {
    ComputeRate::of(&Trace::open(trace)?)
}

impl Calibration {
    /// Writes the platform file, and the picture beside it, whose path is returned.
    ///
    /// # Errors
    /// If one of them cannot be written.
    pub fn write(&self, path: &Path) -> Result<PathBuf, Unwritable> {
        write(path, &self.cluster)?;
        let picture = path.with_extension("svg");
        write(&picture, &self.picture)?;
        Ok(picture)
    }
}
