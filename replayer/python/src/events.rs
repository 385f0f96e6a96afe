//! `titr.Events`: the events of a trace as tables.

mod columns;
mod row;

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use titr_common::event::Rank;
use titr_common::trace::{EventSource, LocatedEvents, RankStream, Trace, TraceError};
use titr_replayer::cli::Failure;

use crate::error::exception;
use crate::table::{Table, schema_capsule, stream_capsule};
use columns::{EventColumns, schema};
use row::Row;

/// The events of a rank, or of all ranks, as tables.
///
/// Iterates over tables of some rows each, any number of times. Libraries that speak Arrow read all of them as a stream:
/// polars.DataFrame(events), pyarrow.table(events).
#[pyclass(frozen, module = "titr")]
pub(crate) struct Events {
    trace: Trace,
    ranks: Range<u32>,
    /// The places of the columns to keep.
    kept: Vec<usize>,
    batch_size: usize,
}

/// Reads events as tables.
#[pyclass(frozen, module = "titr")]
struct EventTables(Mutex<EventReader>);

struct EventReader {
    trace: Trace,
    /// The ranks that are not yet opened.
    ranks: Range<u32>,
    kept: Vec<usize>,
    batch_size: usize,
    rank: Rank,
    stream: Option<RankStream>,
    events: LocatedEvents,
    /// The number of `events` that are in a table.
    given: usize,
    columns: EventColumns,
}

impl Events {
    /// The events of a rank, or of all, with these columns or all.
    pub(crate) fn of(
        trace: Trace,
        rank: Option<Rank>,
        columns: Option<&[String]>,
        batch_size: usize,
    ) -> PyResult<Self> {
        let all = 0..trace.ranks();
        let ranks = match rank {
            Some(Rank(rank)) if !all.contains(&rank) => {
                return Err(PyIndexError::new_err(format!("there is no rank {rank} among its {}", all.end)));
            }
            Some(Rank(rank)) => rank..rank + 1,
            None => all,
        };
        if batch_size == 0 {
            return Err(PyValueError::new_err("batch_size must be at least 1"));
        }
        let schema = schema();
        let place = |name: &String| {
            schema.index_of(name).map_err(|_| {
                let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                PyValueError::new_err(format!("there is no column '{name}': there are {}", names.join(", ")))
            })
        };
        let kept = match columns {
            Some(names) => names.iter().map(place).collect::<PyResult<_>>()?,
            None => (0..schema.fields().len()).collect(),
        };
        Ok(Self { trace, ranks, kept, batch_size })
    }

    fn reader(&self) -> EventReader {
        EventReader {
            trace: self.trace.clone(),
            ranks: self.ranks.clone(),
            kept: self.kept.clone(),
            batch_size: self.batch_size,
            rank: Rank(0),
            stream: None,
            events: LocatedEvents::default(),
            given: 0,
            columns: EventColumns::default(),
        }
    }
}

#[pymethods]
impl Events {
    fn __iter__(&self) -> EventTables {
        EventTables(Mutex::new(self.reader()))
    }

    /// Arrow's PyCapsule interface: a stream that reads the trace as it is consumed.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        stream_capsule(py, self.reader())
    }

    /// Arrow's PyCapsule interface: the names and types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.reader().schema())
    }
}

#[pymethods]
impl EventTables {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let batch = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).next()).transpose();
        batch.map(|batch| batch.map(Table::from)).map_err(|error| exception(py, failure(error)))
    }
}

impl EventReader {
    /// The next table; `None` after the last event.
    fn batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        while self.columns.rows() < self.batch_size {
            if self.given == self.events.len()
                && !self.read().map_err(|error| ArrowError::ExternalError(error.into()))?
            {
                break;
            }
            let until = self.events.len().min(self.given + self.batch_size - self.columns.rows());
            for index in self.given..until {
                if let Some(event) = self.events.get(index) {
                    self.columns.push(self.rank, self.events.location(index), &Row::of(event));
                }
            }
            self.given = until;
        }
        (self.columns.rows() > 0).then(|| self.columns.take()?.project(&self.kept)).transpose()
    }

    /// Reads the next events; false if there are none.
    fn read(&mut self) -> Result<bool, TraceError> {
        self.events.clear();
        self.given = 0;
        loop {
            let stream = match &mut self.stream {
                Some(stream) => stream,
                None => {
                    let Some(rank) = self.ranks.next() else { return Ok(false) };
                    self.rank = Rank(rank);
                    self.stream.insert(self.trace.stream(Rank(rank))?)
                }
            };
            let has_more = stream.read(&mut self.events)?;
            if !has_more {
                self.stream = None;
            }
            if !self.events.is_empty() {
                return Ok(true);
            }
        }
    }
}

/// The failure behind an error of a stream.
fn failure(error: ArrowError) -> Failure {
    match error {
        ArrowError::ExternalError(source) => match source.downcast::<TraceError>() {
            Ok(error) => (*error).into(),
            Err(other) => Failure::Value(other.to_string()),
        },
        other => Failure::Value(other.to_string()),
    }
}

impl Iterator for EventReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

impl RecordBatchReader for EventReader {
    fn schema(&self) -> SchemaRef {
        schema().project(&self.kept).map_or_else(|_| schema(), Arc::new)
    }
}
