//! The pages of results that are shown as they are: curves of traffic, and the difference of two replays.

use std::io;
use std::path::Path;

use serde::Serialize;

use super::{with_charts, write_page};

#[derive(Clone, Copy, Debug)]
pub(crate) enum ResultKind {
    Traffic,
    Difference,
}

impl ResultKind {
    /// Parts of the script, in the order in which they build on each other.
    pub(super) const fn scripts(self) -> [&'static str; 3] {
        match self {
            Self::Traffic => with_charts(concat!(include_str!("assets/curves.js"), include_str!("assets/traffic.js"))),
            Self::Difference => {
                with_charts(concat!(include_str!("assets/comparison.js"), include_str!("assets/diff.js")))
            }
        }
    }
}

#[derive(Serialize)]
struct ResultPage<'a, R> {
    version: &'static str,
    /// What the result is of.
    names: &'a [String],
    result: &'a R,
}

/// Writes the page of a result.
pub(crate) fn write_result(kind: ResultKind, names: &[String], result: &impl Serialize, path: &Path) -> io::Result<()> {
    let page = ResultPage { version: env!("CARGO_PKG_VERSION"), names, result };
    write_page(&page, &kind.scripts(), path)
}
