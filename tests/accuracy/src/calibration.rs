//! The platform that `titr-calibrate` has fitted to a star of the lab.

use std::error::Error;
use std::path::Path;

use toml::{Table, Value};

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

    /// The value of a key, such as `network.bandwidth`, as text without quotes.
    pub fn value(&self, key: &str) -> String {
        let mut names = key.split('.');
        let first = names.next().and_then(|name| self.0.get(name));
        let value = names.fold(first, |value, name| value?.get(name));
        match value {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_keys() {
        let calibration = Calibration("[mpi]\nrendezvous_duplex = false\neager_threshold = \"1 kB\"".parse().unwrap());
        let values = ["mpi.rendezvous_duplex", "mpi.eager_threshold", "mpi.none"].map(|key| calibration.value(key));
        assert_eq!(values, ["false", "1 kB", ""]);
    }
}
