//! `titr.Result`.

use std::path::PathBuf;

use pyo3::prelude::*;
use titr_analyses::{AnalysedResult, Findings, SegmentShare, WaitTime};
use titr_replayer::cli::calls::{self, Inputs};
use titr_replayer::report::Results;
use titr_simulation::StopRequest;
use titr_simulation::result::{LinkUse, Shares};

use crate::arguments::Arguments;
use crate::error::error;
use crate::interruptible;
use crate::matrix;
use crate::object::as_object;
use crate::observers::Recorded;
use crate::table::{Columns, Table};

/// The number of lines of the summary that stand for a result.
const SHOWN: usize = 6;

/// The result of a replay.
///
/// Times are seconds, sizes are bytes, and efficiencies, the use of links and the uncertainty are fractions.
#[pyclass(frozen, module = "titr")]
pub(crate) struct Result {
    pub(crate) result: AnalysedResult,
    pub(crate) recorded: Recorded,
    /// The arguments that the result came from, for further replays.
    pub(crate) arguments: Arguments,
}

#[pymethods]
impl Result {
    /// The predicted time in seconds.
    #[getter]
    fn simulated_time(&self) -> f64 {
        self.result.simulated_time.0
    }

    /// The standard deviation of the predicted time as a fraction of it; None if nothing is known of it.
    #[getter]
    fn uncertainty(&self) -> Option<f64> {
        self.result.uncertainty
    }

    /// What could not be simulated as in the program, a sentence each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.result.warnings.clone()
    }

    /// The parallel efficiency and its factors (parallel, load_balance, communication, serialisation, transfer) as fractions;
    /// None if no rank computes.
    #[getter]
    fn efficiencies<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.result.efficiencies.as_ref().map(|found| as_object(py, found)).transpose()
    }

    /// A row for each rank: rank, and its seconds of compute, send, recv, wait, file and collective, and finish, the time at
    /// which it ended.
    #[getter]
    fn ranks(&self) -> PyResult<Table> {
        let all = || self.result.per_rank.iter();
        let share = |of: fn(&Shares) -> f64| all().map(of);
        Columns::default()
            .numbers("rank", 0..self.result.per_rank.len() as u32)
            .floats("compute", share(|shares| shares.compute.0))
            .floats("send", share(|shares| shares.send.0))
            .floats("recv", share(|shares| shares.recv.0))
            .floats("wait", share(|shares| shares.wait.0))
            .floats("file", share(|shares| shares.file.0))
            .floats("collective", share(|shares| shares.collective.0))
            .floats("finish", share(|shares| shares.finish.0))
            .table()
    }

    /// A row for each link that carried anything, the busiest first: name, bytes, messages, and use, the fraction of what the
    /// link could have carried.
    #[getter]
    fn links(&self) -> PyResult<Table> {
        let all = || self.result.all_links.iter();
        Columns::default()
            .texts("name", all().map(|link: &LinkUse| &link.name))
            .counts("bytes", all().map(|link| link.bytes.0))
            .counts("messages", all().map(|link| link.messages))
            .floats("use", all().map(|link| link.utilization))
            .table()
    }

    /// A row for each message in the network, those of collectives included: from, to, bytes, departed and arrived in seconds,
    /// and whether it is in_collective. Needs observers=["messages"].
    #[getter]
    fn messages(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        recorded(py, self.recorded.messages.as_ref(), "messages")
    }

    /// A row for each state of a rank: rank, activity, begin and end in seconds. Needs observers=["states"].
    #[getter]
    fn states(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        recorded(py, self.recorded.states.as_ref(), "states")
    }

    /// A row for each pair of ranks with messages in the network, those of collectives included: from, to, messages, bytes.
    /// Needs analyses=["matrix"].
    #[getter]
    fn matrix(&self, py: Python<'_>) -> PyResult<Table> {
        matrix::table(self.found(py, "matrix", |found| found.matrix.as_ref())?)
    }

    /// The waiting of ranks, the longest first: rank, region, call_site, communicator, pattern, seconds. Needs
    /// analyses=["wait-states"].
    #[getter]
    fn wait_states(&self, py: Python<'_>) -> PyResult<Table> {
        let found = self.found(py, "wait-states", |found| found.wait_states.as_ref())?;
        let all = || found.waits.iter();
        let place = |of: fn(&WaitTime) -> Option<&str>| all().map(of);
        Columns::default()
            .numbers("rank", all().map(|wait| wait.rank))
            .categories("region", place(|wait| wait.place.region.as_deref()))
            .categories("call_site", place(|wait| wait.place.call_site.as_deref()))
            .optional_numbers("communicator", all().map(|wait| wait.communicator))
            .categories("pattern", all().map(|wait| Some(wait.pattern.to_string())))
            .floats("seconds", all().map(|wait| wait.seconds.0))
            .table()
    }

    /// The parts of the critical path, the longest first: rank, region, call_site, kind, seconds. The seconds add up to the
    /// predicted time. Needs analyses=["critical-path"].
    #[getter]
    fn critical_path(&self, py: Python<'_>) -> PyResult<Table> {
        let found = self.found(py, "critical-path", |found| found.critical_path.as_ref())?;
        let all = || found.segments.iter();
        let place = |of: fn(&SegmentShare) -> Option<&str>| all().map(of);
        Columns::default()
            .numbers("rank", all().map(|segment| segment.rank))
            .categories("region", place(|segment| segment.place.region.as_deref()))
            .categories("call_site", place(|segment| segment.place.call_site.as_deref()))
            .categories("kind", all().map(|segment| Some(segment.kind.to_string())))
            .floats("seconds", all().map(|segment| segment.seconds.0))
            .table()
    }

    /// The result as the text of a JSON object, as `titr replay --json` prints it.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&Results::Simulation(&self.result)).map_err(|wrong| error(py, wrong.to_string()))
    }

    /// The summary that `titr replay` prints.
    fn summary(&self) -> String {
        calls::summary(&self.result)
    }

    /// Replays once more, and writes a page for a browser (`titr replay --report`). `compare` is the path of an earlier result
    /// to compare with, as `json` returns it.
    #[pyo3(signature = (path, *, compare=None))]
    fn report(&self, py: Python<'_>, path: PathBuf, compare: Option<PathBuf>) -> PyResult<()> {
        let stop = StopRequest::default();
        let mut arguments = self.arguments.clone();
        for (option, file) in [("--report=", Some(path)), ("--compare=", compare)] {
            let Some(file) = file else { continue };
            let mut word = std::ffi::OsString::from(option);
            word.push(file);
            arguments = arguments.with(word);
        }
        let inputs = Inputs { stop: stop.clone(), ..arguments.inputs };
        interruptible::run(py, &stop, || calls::replay(&arguments.words, inputs, Vec::new()).map(drop))
    }

    /// Draws the time of each rank by activity, and returns the axes of matplotlib. `ax` are axes to draw into.
    #[pyo3(signature = (ax=None))]
    fn plot<'py>(slf: &Bound<'py, Self>, ax: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("titr._plot")?.call_method1("plot", (slf, ax))
    }

    fn __repr__(&self) -> String {
        self.summary().lines().take(SHOWN).collect::<Vec<_>>().join("\n")
    }

    fn _repr_html_(&self) -> String {
        let summary = escaped(&self.summary());
        let first: Vec<&str> = summary.lines().take(SHOWN).collect();
        format!("<pre>{}</pre><details><summary>More</summary><pre>{summary}</pre></details>", first.join("\n"))
    }
}

impl Result {
    /// The findings of an analysis.
    fn found<'a, T>(
        &'a self,
        py: Python<'_>,
        name: &str,
        of: impl FnOnce(&'a Findings) -> Option<&'a T>,
    ) -> PyResult<&'a T> {
        let found = self.result.analyses.as_ref().and_then(of);
        found.ok_or_else(|| error(py, format!("the analysis was not made: replay with analyses=[\"{name}\"]")))
    }
}

/// The table of an observer.
fn recorded(py: Python<'_>, table: Option<&Py<Table>>, name: &str) -> PyResult<Py<Table>> {
    let missing = || error(py, format!("{name} were not recorded: replay with observers=[\"{name}\"]"));
    table.map(|table| table.clone_ref(py)).ok_or_else(missing)
}

/// Text as a part of HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
