//! Data as Python's objects.

use pyo3::prelude::*;
use serde::Serialize;

use crate::error::error;

/// Data as dictionaries and lists, with the names that its JSON has.
pub(crate) fn as_object<'py>(py: Python<'py>, data: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_string(data).map_err(|wrong| error(py, wrong.to_string()))?;
    py.import("json")?.call_method1("loads", (json,))
}
