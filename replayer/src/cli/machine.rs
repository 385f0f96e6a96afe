//! The machine that a command replays on.

use std::path::{Path, PathBuf};

use clap::Args;
use titr_common::output::{Claims, Clash};
use titr_platform::{Lever, Platform, PlatformError, Policy};

/// A platform file, and keys that are set.
#[derive(Debug, Args)]
pub(super) struct MachineArgs {
    /// The platform file: TOML, or SimGrid's XML.
    #[arg(short, long, value_name = "FILE")]
    platform: PathBuf,
    /// Sets a key of the platform, such as network.flow.preset=cm02. You can repeat this option.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl MachineArgs {
    /// The platform file.
    pub(super) fn file(&self) -> &Path {
        &self.platform
    }

    /// The platform.
    pub(super) fn load(&self) -> Result<Platform, PlatformError> {
        self.load_with(&[])
    }

    /// The platform with further keys set.
    pub(super) fn load_with(&self, further: &[String]) -> Result<Platform, PlatformError> {
        Platform::load(&self.platform, &[&self.set, further].concat())
    }

    /// The keys by which the machine could be faster.
    pub(super) fn levers(&self) -> Result<Vec<Lever>, PlatformError> {
        Platform::levers(&self.platform, &self.set)
    }

    /// Claims the files that `platform` was read from.
    pub(super) fn claim(&self, platform: &Platform, claims: &mut Claims) -> Result<(), Clash> {
        let placement = match &platform.policy {
            Policy::Explicit { file, .. } => Some(file.as_path()),
            Policy::Block | Policy::RoundRobin | Policy::Random { .. } | Policy::Assigned { .. } => None,
        };
        let profiles = platform.profiles.iter().map(PathBuf::as_path);
        [Some(self.file()), placement].into_iter().flatten().chain(profiles).try_for_each(|path| claims.read(path))
    }
}
