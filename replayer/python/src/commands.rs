//! The commands, as the wheel installs them.

use std::ffi::OsString;

use pyo3::prelude::*;
use titr_replayer::cli::calls;

/// Runs the command with the arguments of the process, and returns its exit status.
fn run(py: Python<'_>, name: &str) -> PyResult<u8> {
    let words: Vec<OsString> = py.import("sys")?.getattr("argv")?.extract()?;
    Ok(py.detach(|| calls::command(name, words.into_iter().skip(1).collect())))
}

/// The command titr.
#[pyfunction]
pub(crate) fn titr(py: Python<'_>) -> PyResult<u8> {
    run(py, "titr")
}

/// The command titr-replay.
#[pyfunction]
pub(crate) fn titr_replay(py: Python<'_>) -> PyResult<u8> {
    run(py, "titr-replay")
}
