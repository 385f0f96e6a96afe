//! The platform that `titr-calibrate` has fitted to a star of the lab.

use std::error::Error;
use std::path::Path;

use toml::Table;

/// A platform that was fitted, as it was written.
#[derive(Clone, Debug)]
pub struct Calibration(Table);

impl Calibration {
    /// Reads the platform.
    pub fn read(file: &Path) -> Result<Self, Box<dyn Error>> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Self(text.parse().map_err(|error| format!("{}: {error}", file.display()))?))
    }

    /// The whole platform.
    pub fn platform(&self) -> Table {
        self.0.clone()
    }
}
