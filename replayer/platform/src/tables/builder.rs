//! What the meaning of all tables needs.

use std::path::Path;

use titr_document::{Mistake, Source};
use toml::Spanned;

/// Gives the tables of a file their meaning.
pub(super) struct Builder<'a> {
    pub(super) source: &'a Source,
    /// The file, from which other files are found.
    pub(super) path: &'a Path,
}

impl Builder<'_> {
    pub(super) fn wrong<T>(&self, written: &Spanned<T>, message: impl Into<String>) -> Mistake {
        self.source.wrong(written, message)
    }
}
