//! `titr.replay`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use titr_replayer::cli::calls;

use crate::arguments::{Arguments, several};
use crate::interruptible;
use crate::observers::Observers;
use crate::result::Result;

/// Predicts how long a traced program takes on a machine.
///
/// platform: the path of a platform file (titr's TOML or SimGrid's XML), its text, one line, or a dict of its tables.
/// trace: the path of a trace, a list of paths of its parts, or an opened trace.
/// set: keys of the platform with their values, such as {"network.bandwidth": "40 Gbit/s", "hosts.cores": 2}.
/// what_if: the path of a file of hypotheses, its text, or a dict: {"change": [{"kind": "balance-compute"}]}.
/// analyses: the analyses to make, of "critical-path", "wait-states" and "matrix".
/// observers: what to record one by one: "messages", "states".
///
/// Any other option of `titr replay --help` is a keyword argument, with _ in place of -: compute="timed", partial=True,
/// runs=5, suggest=True. The interpreter is free for other threads meanwhile, and Ctrl-C ends the replay.
///
/// Raises titr.Error with the message of the command.
#[pyfunction]
#[pyo3(signature = (platform, trace, *, set=None, what_if=None, analyses=None, observers=None, **options))]
#[pyo3(text_signature = "(platform, trace, *, set=None, what_if=None, analyses=(), observers=(), **options)")]
#[allow(clippy::too_many_arguments, reason = "as Python's function has them")]
pub(crate) fn replay(
    py: Python<'_>,
    platform: &Bound<'_, PyAny>,
    trace: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyAny>>,
    what_if: Option<&Bound<'_, PyAny>>,
    analyses: Option<&Bound<'_, PyAny>>,
    observers: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Result> {
    let arguments = Arguments::of_replay(platform, trace, set, what_if, options)?;
    let analyses = analyses.map(several).transpose()?.unwrap_or_default();
    let arguments =
        analyses.into_iter().fold(arguments, |arguments, name| arguments.with(format!("--analyse={name}").into()));
    let mut observers = Observers::named(&observers.map(several).transpose()?.unwrap_or_default())?;
    let inputs = arguments.inputs.clone();
    let result =
        interruptible::run(py, &arguments.inputs.stop, || calls::replay(&arguments.words, inputs, observers.list()))?;
    Ok(Result { result, recorded: observers.tables(py)?, arguments })
}
