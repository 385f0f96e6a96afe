//! The file that has a rank's stream.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::directory;
use super::section::Section;
use super::template::StreamTemplate;
use crate::event::Rank;

/// A rank's stream on disk.
#[derive(Clone, Debug)]
pub(super) enum RankFile {
    Own(Section),
    /// A stream for several ranks.
    Template(Arc<StreamTemplate>),
}

impl RankFile {
    /// The path of the file in a directory, of which `rank` is the first rank.
    pub(super) fn path(&self, directory: &Path, rank: Rank) -> PathBuf {
        match self {
            Self::Own(_) => directory::stream(directory, rank),
            Self::Template(_) => directory::template(directory, rank),
        }
    }

    /// Whether `rank` is the first rank whose stream is in the file.
    pub(super) fn is_first(&self, rank: Rank) -> bool {
        match self {
            Self::Own(_) => true,
            Self::Template(template) => template.ranks().first() == rank,
        }
    }

    /// The bytes on disk.
    pub(super) fn section(&self) -> &Section {
        match self {
            Self::Own(file) => file,
            Self::Template(template) => template.file(),
        }
    }
}
