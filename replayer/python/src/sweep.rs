//! `titr.sweep`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};
use titr_replayer::cli::calls;
use titr_replayer::report::variations::VariedResult;
use titr_simulation::result::Efficiencies;

use crate::arguments::{Arguments, written};
use crate::interruptible;
use crate::table::{Columns, Table};

/// A key of the platform, and the values that it takes in turns.
struct Axis<'py> {
    key: String,
    values: Vec<Bound<'py, PyAny>>,
    /// The values as `--key` takes them.
    written: Vec<String>,
}

/// Replays a program on each combination of values of keys of a platform, several at the same time, and returns a table.
///
/// The table has a row for each combination, the values of the last key taking turns first: a column for each key, with the
/// value as it was given; simulated_time in seconds; uncertainty, parallel (the parallel efficiency), load_balance and
/// communication as fractions; messages; and bytes.
///
/// axes: keys and their values, such as {"network.latency": ["1us", "2us"], "hosts.cores": [1, 2]}.
/// jobs: the number of replays at the same time; by default the number of processors.
///
/// Everything else is as for titr.replay.
#[pyfunction]
#[pyo3(signature = (platform, trace, axes, *, set=None, what_if=None, **options))]
pub(crate) fn sweep(
    py: Python<'_>,
    platform: &Bound<'_, PyAny>,
    trace: &Bound<'_, PyAny>,
    axes: &Bound<'_, PyDict>,
    set: Option<&Bound<'_, PyAny>>,
    what_if: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Table> {
    let axes: Vec<Axis<'_>> = axes.iter().map(|(key, values)| Axis::of(&key, &values)).collect::<PyResult<_>>()?;
    let mut arguments = Arguments::of_replay(platform, trace, set, what_if, options)?;
    // Each word becomes the first.
    for axis in axes.iter().rev() {
        arguments = arguments.with(format!("--key={}={}", axis.key, axis.written.join(",")).into());
    }
    let inputs = arguments.inputs.clone();
    let all = interruptible::run(py, &arguments.inputs.stop, || calls::vary(&arguments.words, inputs))?.variations;

    // The number of rows in which the value of a key stays: one for the last.
    let mut stays = 1;
    let mut columns = Columns::default();
    let mut numbered: Vec<_> = Vec::new();
    for axis in axes.iter().rev() {
        numbered.push((axis, stays));
        stays *= axis.values.len();
    }
    for (axis, stays) in numbered.into_iter().rev() {
        columns = axis.column(columns, all.len(), stays)?;
    }
    let efficiency = |of: fn(&Efficiencies) -> f64| {
        all.iter().map(move |varied: &VariedResult| varied.result.efficiencies.as_ref().map(of))
    };
    columns
        .floats("simulated_time", all.iter().map(|varied| varied.result.simulated_time.0))
        .optional_floats("uncertainty", all.iter().map(|varied| varied.result.uncertainty))
        .optional_floats("parallel", efficiency(|found| found.parallel))
        .optional_floats("load_balance", efficiency(|found| found.load_balance))
        .optional_floats("communication", efficiency(|found| found.communication))
        .counts("messages", all.iter().map(|varied| varied.result.messages))
        .counts("bytes", all.iter().map(|varied| varied.result.bytes.0))
        .table()
}

impl<'py> Axis<'py> {
    fn of(key: &Bound<'py, PyAny>, values: &Bound<'py, PyAny>) -> PyResult<Self> {
        let key: String = key.extract()?;
        let values: Vec<Bound<'py, PyAny>> = values.try_iter()?.collect::<PyResult<_>>()?;
        if values.is_empty() {
            return Err(PyValueError::new_err(format!("the axis '{key}' has no values")));
        }
        let written = values.iter().map(|value| Ok(quoted(written(value)?))).collect::<PyResult<_>>()?;
        Ok(Self { key, values, written })
    }

    /// Adds the column of the key, in which each value stays for some rows.
    fn column(&self, columns: Columns, rows: usize, stays: usize) -> PyResult<Columns> {
        let all: Vec<&Bound<'py, PyAny>> =
            (0..rows).filter_map(|row| self.values.get(row / stays % self.values.len())).collect();
        let is_all = |is: &dyn Fn(&Bound<'py, PyAny>) -> bool| self.values.iter().all(is);
        let is_number = |value: &Bound<'py, PyAny>| {
            !value.is_instance_of::<PyBool>() && value.hasattr("__float__").unwrap_or(false)
        };
        if is_all(&|value| value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>()) {
            let values: Vec<i64> = all.iter().map(|value| value.extract()).collect::<PyResult<_>>()?;
            return Ok(columns.integers(&self.key, values.into_iter()));
        }
        if is_all(&|value| value.is_instance_of::<PyFloat>() || is_number(value)) {
            let values: Vec<f64> = all.iter().map(|value| value.extract()).collect::<PyResult<_>>()?;
            return Ok(columns.floats(&self.key, values.into_iter()));
        }
        let texts: Vec<String> = all.iter().map(|value| value.str()?.extract()).collect::<PyResult<_>>()?;
        Ok(columns.texts(&self.key, texts.iter()))
    }
}

/// A value that is not taken for several: in quotes if a comma in it would separate two.
fn quoted(value: String) -> String {
    let is_bracketed = value.starts_with(['[', '{', '"']);
    if value.contains(',') && !is_bracketed { serde_json::Value::from(value).to_string() } else { value }
}
