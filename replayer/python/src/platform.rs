//! Platforms as Python has them: the path of a file, the text of one, or a dictionary.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A document that a command reads, as an argument.
pub(crate) enum Document {
    /// A file.
    File(PathBuf),
    /// The text of a file.
    Text(String),
}

impl Document {
    /// The document in a path, a text of several lines, or a dictionary.
    pub(crate) fn of(argument: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(tables) = argument.cast::<PyDict>() {
            return Ok(Self::Text(as_toml(tables)?));
        }
        if let Ok(text) = argument.extract::<String>()
            && text.contains('\n')
        {
            return Ok(Self::Text(text));
        }
        let wrong = |_| PyTypeError::new_err("expected a path, a text of several lines, or a dict");
        argument.extract().map(Self::File).map_err(wrong)
    }

    /// The word that names the document to a command, and the text if it is in no file.
    pub(crate) fn named(self, name: &str) -> (OsString, Option<String>) {
        match self {
            Self::File(path) => (path.into(), None),
            Self::Text(text) => (name.into(), Some(text)),
        }
    }
}

/// Nested dictionaries as TOML.
fn as_toml(tables: &Bound<'_, PyDict>) -> PyResult<String> {
    let json: String = tables.py().import("json")?.call_method1("dumps", (tables,))?.extract()?;
    let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(format!("not a TOML document: {error}"));
    let value: serde_json::Value = serde_json::from_str(&json).map_err(|error| wrong(&error))?;
    toml::to_string(&value).map_err(|error| wrong(&error))
}
