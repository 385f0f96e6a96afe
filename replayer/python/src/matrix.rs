//! Communication matrices as tables.

use pyo3::prelude::*;
use titr_analyses::Pair;

use crate::table::{Columns, Table};

/// A row for each pair of ranks.
pub(crate) fn table(pairs: &[Pair]) -> PyResult<Table> {
    Columns::default()
        .numbers("from", pairs.iter().map(|pair| pair.from))
        .numbers("to", pairs.iter().map(|pair| pair.to))
        .counts("messages", pairs.iter().map(|pair| pair.messages))
        .counts("bytes", pairs.iter().map(|pair| pair.bytes.0))
        .table()
}
