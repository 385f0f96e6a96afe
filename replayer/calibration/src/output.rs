//! Input and output files of a calibration.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use titr_common::output::OutputFile;
use titr_common::trace::Trace;

use crate::calibration::Calibration;
use crate::compute::{ComputeRate, NoRate};

/// The compute rate of a traced program.
///
/// # Errors
/// If the trace cannot be read, or has no times.
pub fn rate(trace: &Path) -> Result<ComputeRate, NoRate> {
    ComputeRate::of(&Trace::open(trace)?)
}

/// The files that a calibration writes for a platform file at `path`: that file, and a picture beside it.
#[must_use]
pub fn files(path: &Path) -> [PathBuf; 2] {
    [path.to_owned(), path.with_extension("svg")]
}

impl Calibration {
    /// Writes the platform file, and the picture beside it, whose path is returned.
    ///
    /// # Errors
    /// If one of them cannot be written; both are then unchanged.
    pub fn write(&self, path: &Path) -> io::Result<PathBuf> {
        let [platform, picture] = files(path);
        let mut written = [OutputFile::create(&platform)?, OutputFile::create(&picture)?];
        for (file, text) in written.iter_mut().zip([&self.cluster, &self.picture]) {
            file.write_all(text.as_bytes())?;
        }
        written.iter_mut().try_for_each(OutputFile::finish)?;
        Ok(picture)
    }
}
