//! The machine that a command replays on.

use std::path::{Path, PathBuf};

use clap::Args;
use titr_platform::{Lever, Platform, PlatformError};

/// A platform file, and keys that are set.
#[derive(Debug, Args)]
pub(super) struct MachineArgs {
    /// The platform file: TOML, or SimGrid's XML; or, if no file has that name, a platform of one line, such as
    /// "torus:4x4x4 10Gbit/s 1us host:4".
    #[arg(short, long, value_name = "FILE")]
    platform: PathBuf,
    /// Sets a key of the platform, such as network.flow.preset=cm02. You can repeat this option.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The text of the platform, in place of the file, which then only gives the text a name.
    #[arg(skip)]
    pub(super) text: Option<String>,
}

impl MachineArgs {
    /// The platform file.
    pub(super) fn file(&self) -> &Path {
        &self.platform
    }

    /// The text of the platform file.
    pub(super) fn text(&self) -> Result<String, PlatformError> {
        match &self.text {
            Some(text) => Ok(text.clone()),
            None => Platform::text(&self.platform),
        }
    }

    /// The platform.
    pub(super) fn load(&self) -> Result<Platform, PlatformError> {
        self.load_with(&[])
    }

    /// The platform with further keys set.
    pub(super) fn load_with(&self, further: &[String]) -> Result<Platform, PlatformError> {
        let set = [&self.set, further].concat();
        match &self.text {
            Some(text) => Platform::parse(&self.platform, text.clone(), &set),
            None => Platform::load(&self.platform, &set),
        }
    }

    /// The platform with the values of keys multiplied by factors.
    pub(super) fn load_scaled(&self, factors: &[(String, f64)]) -> Result<Platform, PlatformError> {
        match &self.text {
            Some(text) => Platform::parse_scaled(&self.platform, text.clone(), &self.set, factors),
            None => Platform::load_scaled(&self.platform, &self.set, factors),
        }
    }

    /// The keys by which the machine could be faster.
    pub(super) fn levers(&self) -> Result<Vec<Lever>, PlatformError> {
        match &self.text {
            Some(text) => Platform::levers_in(&self.platform, text.clone(), &self.set),
            None => Platform::levers(&self.platform, &self.set),
        }
    }
}
