//! Arguments of Python's functions as words of a command line.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};
use titr_replayer::cli::calls::Inputs;

use crate::platform::Document;
use crate::trace::places;

/// Options that print or write the result, which Python has.
const OF_OUTPUT: [&str; 7] = ["json", "csv", "format", "quiet", "time", "report", "compare"];

/// What a command is called with.
#[derive(Clone)]
pub(crate) struct Arguments {
    pub(crate) words: Vec<OsString>,
    pub(crate) inputs: Inputs,
}

impl Arguments {
    /// The arguments for a replay of `trace` on `platform`, with keys of the platform that are set, hypotheses, and any further
    /// options of the command.
    pub(crate) fn of_replay(
        platform: &Bound<'_, PyAny>,
        trace: &Bound<'_, PyAny>,
        set: Option<&Bound<'_, PyAny>>,
        what_if: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut inputs = Inputs::default();
        let mut words: Vec<OsString> = vec!["--quiet".into()];
        let (name, text) = Document::of(platform)?.named("platform");
        words.extend(["--platform".into(), name]);
        inputs.platform = text;
        if let Some(what_if) = what_if {
            match Document::of(what_if)? {
                Document::File(path) => words.extend(["--what-if".into(), path.into()]),
                Document::Text(text) => inputs.what_if = Some(text),
            }
        }
        for setting in set.map(settings).transpose()?.into_iter().flatten() {
            words.extend(["--set".into(), setting.into()]);
        }
        for (key, value) in options.into_iter().flatten() {
            let key: String = key.extract()?;
            if OF_OUTPUT.contains(&&*key) {
                let message = format!("'{key}' is an option of the command only: the result has methods for its forms");
                return Err(PyTypeError::new_err(message));
            }
            option(&key.replace('_', "-"), &value, &mut words)?;
        }
        words.push("--".into());
        words.extend(places(trace)?.into_iter().map(OsString::from));
        Ok(Self { words, inputs })
    }

    /// Puts an option before the others.
    pub(crate) fn with(mut self, option: OsString) -> Self {
        self.words.insert(0, option);
        self
    }
}

/// Settings of keys, `KEY=VALUE`, from a dictionary or a list of texts.
fn settings(set: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let Ok(keys) = set.cast::<PyDict>() else { return set.extract() };
    keys.iter().map(|(key, value)| Ok(format!("{}={}", key.extract::<String>()?, written(&value)?))).collect()
}

/// A value of a key of the platform as `--set` takes it.
pub(crate) fn written(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyDict>() {
        let value =
            if value.is_instance_of::<PyTuple>() { &value.py().get_type::<PyList>().call1((value,))? } else { value };
        let json: String = value.py().import("json")?.call_method1("dumps", (value,))?.extract()?;
        return Ok(json);
    }
    value.str()?.extract()
}

/// Appends an option of a command: nothing if it is false or `None`, and one for each value of a list.
fn option(name: &str, value: &Bound<'_, PyAny>, words: &mut Vec<OsString>) -> PyResult<()> {
    if let Ok(flag) = value.cast::<PyBool>() {
        if flag.is_true() {
            words.push(format!("--{name}").into());
        }
        return Ok(());
    }
    if value.is_none() {
        return Ok(());
    }
    let is_one =
        value.is_instance_of::<PyString>() || !(value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>());
    if !is_one {
        return value.try_iter()?.try_for_each(|value| option(name, &value?, words));
    }
    let mut word: OsString = format!("--{name}=").into();
    match value.hasattr("__fspath__")? {
        true => word.push(value.extract::<PathBuf>()?),
        false => word.push(value.str()?.extract::<String>()?),
    }
    words.push(word);
    Ok(())
}

/// The names in a list, or the only one.
pub(crate) fn several(names: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match names.cast::<PyString>() {
        Ok(name) => Ok(vec![name.extract()?]),
        Err(_) => names.try_iter()?.map(|name| name?.extract()).collect(),
    }
}
