//! `titr.Trace`.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use titr_common::event::Rank;
use titr_formats::input;
use titr_replayer::inspect::{Inventory, TraceInfo, sent_by};

use crate::error::exception;
use crate::events::Events;
use crate::interruptible;
use crate::matrix;
use crate::object::as_object;
use crate::table::Table;

/// An opened trace: the events of each rank of an MPI program.
#[pyclass(frozen, module = "titr")]
pub(crate) struct Trace {
    places: Vec<PathBuf>,
    trace: titr_common::trace::Trace,
}

/// Opens a trace: a directory, an archive, a file, or a list of the parts of one.
///
/// partial: whether a trace that is torn, of a program that was killed or still runs, ends where it is torn; otherwise, to read
/// that far is an error.
#[pyfunction]
#[pyo3(signature = (trace, *, partial=false))]
pub(crate) fn open(py: Python<'_>, trace: &Bound<'_, PyAny>, partial: bool) -> PyResult<Trace> {
    let places = places(trace)?;
    let paths: Vec<_> = places.iter().map(PathBuf::as_path).collect();
    let opened = input::open_one(&paths).and_then(|trace| trace.partial_unless_empty(partial));
    Ok(Trace { trace: opened.map_err(|error| exception(py, error))?, places })
}

#[pymethods]
impl Trace {
    /// The number of ranks.
    #[getter]
    fn ranks(&self) -> u32 {
        self.trace.ranks()
    }

    /// The manifest, which says how the trace was recorded, as dicts and lists; None if the trace has none.
    #[getter]
    fn manifest<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.trace.manifest().map(|manifest| as_object(py, manifest)).transpose()
    }

    /// Reads the trace, and returns what it contains: the object that `titr info --json` prints.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let source = self.trace.clone().partial(true);
        let mut inventory = Inventory { ranks: source.ranks(), ..Inventory::default() };
        for rank in (0..source.ranks()).map(Rank) {
            interruptible::step(py, || inventory.add(source.stream(rank)?))?;
        }
        let untranslated = self.trace.untranslated();
        as_object(
            py,
            &TraceInfo { inventory: &inventory, manifest: self.trace.manifest(), untranslated: &untranslated },
        )
    }

    /// The events of a rank, or of all ranks one after another, in their order: an iterable of tables with up to `batch_size`
    /// rows, and a stream for libraries that speak Arrow: polars.DataFrame(trace.events(0)).
    ///
    /// A row is an event. Its columns, each absent where the event has no such thing:
    /// rank, thread; line, in the file of the rank; kind, the word of the event, such as "isend";
    /// peer, the destination of a send, the source of a receive, the root of a collective, the target of an access;
    /// source, of the second half of a sendrecv; tag;
    /// bytes that the rank gives, or that a receive has room for; received, the bytes that a collective, an access or the second
    /// half of a sendrecv gets; volume, of computation, in instructions or as the manifest's counter says; seconds, of a sleep;
    /// communicator; requests, a list of their numbers; begin and end of a call in nanoseconds, in extended traces;
    /// name, of a region or a function.
    ///
    /// columns: the names of the columns to keep.
    #[pyo3(signature = (rank=None, *, columns=None, batch_size=65536))]
    fn events(&self, rank: Option<u32>, columns: Option<Vec<String>>, batch_size: usize) -> PyResult<Events> {
        Events::of(self.trace.clone(), rank.map(Rank), columns.as_deref(), batch_size)
    }

    /// The communication matrix of the messages outside of collectives: from, to, messages, bytes.
    fn matrix(&self, py: Python<'_>) -> PyResult<Table> {
        let mut pairs = Vec::new();
        for rank in (0..self.trace.ranks()).map(Rank) {
            pairs.extend(interruptible::step(py, || sent_by(&self.trace, rank))?);
        }
        matrix::table(&pairs)
    }

    fn __repr__(&self) -> String {
        let places: Vec<_> = self.places.iter().map(|place| place.display().to_string()).collect();
        format!("titr.Trace of {} ranks ({})", self.trace.ranks(), places.join(", "))
    }
}

/// The paths of a trace: one, several, or those of an opened one.
pub(crate) fn places(trace: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    if let Ok(opened) = trace.cast::<Trace>() {
        return Ok(opened.get().places.clone());
    }
    if let Ok(path) = trace.extract() {
        return Ok(vec![path]);
    }
    let wrong = |_| PyTypeError::new_err("expected the path of a trace, a list of paths, or an opened trace");
    trace.extract().map_err(wrong)
}
