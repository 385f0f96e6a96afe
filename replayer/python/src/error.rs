//! Errors of titr as exceptions.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use titr_replayer::cli::Failure;

pyo3::create_exception!(
    titr,
    Error,
    PyException,
    "An error of titr. Its text is the message of the command.\n\n\
     `file` is the path of the file at fault, and `line` the line in it, from 1; each is None if it is not known."
);

/// The exception of a failed command.
pub(crate) fn exception(py: Python<'_>, failure: impl Into<Failure>) -> PyErr {
    let failure = failure.into();
    let error = Error::new_err(failure.to_string());
    let (file, line) = failure.place().map_or((None, None), |(file, line)| (Some(file), line));
    let value = error.value(py);
    match value.setattr("file", file).and_then(|()| value.setattr("line", line)) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// An exception that is no failure of a command.
pub(crate) fn error(py: Python<'_>, message: String) -> PyErr {
    exception(py, Failure::Value(message))
}
