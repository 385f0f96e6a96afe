//! Errors in a line of a trace, with their columns.

use thiserror::Error;

use crate::format::counted;

/// A line that is not in the grammar.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column {column}: {what}")]
pub struct ParseError {
    /// The column of the error, in bytes from 1.
    pub column: usize,
    /// The words that were found and that were expected.
    pub what: String,
}

/// A world as an error names it.
pub(super) fn world_of(ranks: u32) -> String {
    format!("a world of {}", counted(ranks, "rank", "ranks"))
}
