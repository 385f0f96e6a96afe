//! Names of the files in a trace directory.

use std::path::{Path, PathBuf};

use crate::event::Rank;

/// What every rank's stream ends with.
pub const STREAM_SUFFIX: &str = ".tit.gz";

/// A rank's stream.
#[must_use]
pub fn stream(directory: &Path, rank: Rank) -> PathBuf {
    directory.join(format!("rank-{:06}{STREAM_SUFFIX}", rank.0))
}

/// A rank's own entry of the manifest, until all ranks have ended.
#[must_use]
pub fn entry(directory: &Path, rank: Rank) -> PathBuf {
    directory.join(format!("rank-{:06}.json", rank.0))
}

/// The manifest.
#[must_use]
pub fn manifest(directory: &Path) -> PathBuf {
    directory.join("manifest.json")
}

/// A file with one byte for each rank that has ended.
#[must_use]
pub fn ended(directory: &Path) -> PathBuf {
    directory.join(".ended")
}
