//! What is wrong with a line, and where.

use thiserror::Error;

/// A line that is not in the grammar.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column {column}: {what}")]
pub struct ParseError {
    /// Where, counted in bytes from 1.
    pub column: usize,
    /// What was found and what was expected.
    pub what: String,
}
