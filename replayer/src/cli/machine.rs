//! The machine that a command replays on.

use std::path::PathBuf;

use clap::Args;
use titr_platform::{Lever, Platform, PlatformError};

/// A platform file, and keys that are set.
#[derive(Debug, Args)]
pub(super) struct MachineArgs {
    /// The platform file: TOML, or SimGrid's XML; - reads it from standard input; or, if no file has that name, a platform of one
    /// line, such as "torus:4x4x4 10Gbit/s 1us host:4".
    #[arg(short, long, value_name = "FILE")]
    pub(super) platform: PathBuf,
    /// Sets a key of the platform, such as network.flow.preset=cm02. You can repeat this option.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,
}

impl MachineArgs {
    /// The text of the platform file.
    pub(super) fn text(&self) -> Result<String, PlatformError> {
        Platform::text(&self.platform)
    }

    /// The platform.
    pub(super) fn load(&self) -> Result<Platform, PlatformError> {
        self.load_with(&[])
    }

    /// The platform with further keys set.
    pub(super) fn load_with(&self, further: &[String]) -> Result<Platform, PlatformError> {
        Platform::load(&self.platform, &[&self.set, further].concat())
    }

    /// The platform with the values of keys multiplied by factors.
    pub(super) fn load_scaled(&self, factors: &[(String, f64)]) -> Result<Platform, PlatformError> {
        Platform::parse_scaled(&self.platform, self.text()?, &self.set, factors)
    }

    /// The keys by which the machine could be faster.
    pub(super) fn levers(&self) -> Result<Vec<Lever>, PlatformError> {
        Platform::levers(&self.platform, &self.set)
    }
}
