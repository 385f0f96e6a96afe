//! Tables that other libraries take without a copy (Arrow's PyCapsule interface).

use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, ListArray, RecordBatch,
    RecordBatchIterator, RecordBatchReader, StringArray, StructArray, UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::exceptions::{PyImportError, PyKeyError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

/// A table, in Arrow's memory format.
///
/// Libraries that speak Arrow take it without a copy: `pandas.DataFrame.from_arrow(table)`, `polars.DataFrame(table)`,
/// `pyarrow.table(table)`. `table.to_pandas()` makes a data frame of pandas with any of its versions.
#[pyclass(frozen, module = "titr")]
pub(crate) struct Table(RecordBatch);

/// Columns that become a table.
#[derive(Default)]
pub(crate) struct Columns(Vec<(String, ArrayRef)>);

impl Columns {
    /// Adds a column.
    pub(crate) fn with(mut self, name: &str, values: impl Array + 'static) -> Self {
        self.0.push((name.to_owned(), Arc::new(values)));
        self
    }

    /// Adds a column of ranks or other small numbers.
    pub(crate) fn numbers(self, name: &str, values: impl Iterator<Item = u32>) -> Self {
        self.with(name, UInt32Array::from_iter_values(values))
    }

    /// Adds a column of small numbers that may be absent.
    pub(crate) fn optional_numbers(self, name: &str, values: impl Iterator<Item = Option<u32>>) -> Self {
        self.with(name, UInt32Array::from_iter(values))
    }

    /// Adds a column of counts or sizes in bytes.
    pub(crate) fn counts(self, name: &str, values: impl Iterator<Item = u64>) -> Self {
        self.with(name, UInt64Array::from_iter_values(values))
    }

    /// Adds a column of signed numbers.
    pub(crate) fn integers(self, name: &str, values: impl Iterator<Item = i64>) -> Self {
        self.with(name, Int64Array::from_iter_values(values))
    }

    /// Adds a column of numbers, such as seconds.
    pub(crate) fn floats(self, name: &str, values: impl Iterator<Item = f64>) -> Self {
        self.with(name, Float64Array::from_iter_values(values))
    }

    /// Adds a column of numbers that may be absent.
    pub(crate) fn optional_floats(self, name: &str, values: impl Iterator<Item = Option<f64>>) -> Self {
        self.with(name, Float64Array::from_iter(values))
    }

    /// Adds a column of truth values.
    pub(crate) fn flags(self, name: &str, values: impl Iterator<Item = bool>) -> Self {
        self.with(name, BooleanArray::from_iter(values.map(Some)))
    }

    /// Adds a column of texts that differ from row to row.
    pub(crate) fn texts<T: AsRef<str>>(self, name: &str, values: impl Iterator<Item = T>) -> Self {
        self.with(name, StringArray::from_iter_values(values))
    }

    /// Adds a column of few different texts, each of which is kept once.
    pub(crate) fn categories<T: AsRef<str>>(self, name: &str, values: impl Iterator<Item = Option<T>>) -> Self {
        let values: Vec<Option<T>> = values.collect();
        let values = values.iter().map(|value| value.as_ref().map(T::as_ref));
        self.with(name, values.collect::<DictionaryArray<Int32Type>>())
    }

    /// The table of these columns.
    pub(crate) fn table(self) -> PyResult<Table> {
        let fields =
            self.0.iter().map(|(name, values)| Field::new(name, values.data_type().clone(), values.is_nullable()));
        let schema = Schema::new(fields.collect::<Vec<_>>());
        let columns = self.0.iter().map(|(_, values)| Arc::clone(values)).collect();
        RecordBatch::try_new(Arc::new(schema), columns).map(Table).map_err(unfit)
    }
}

/// An error of Arrow.
pub(crate) fn unfit(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// The schema as other libraries take it.
pub(crate) fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(schema).map_err(unfit)?, c"arrow_schema")
}

/// Batches as other libraries take them.
pub(crate) fn stream_capsule<'py>(
    py: Python<'py>,
    batches: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
}

impl From<RecordBatch> for Table {
    fn from(batch: RecordBatch) -> Self {
        Self(batch)
    }
}

#[pymethods]
impl Table {
    /// Arrow's PyCapsule interface: the table as a stream of one batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A table has one type. The interface permits to ignore a request for another.
        drop(requested_schema);
        stream_capsule(py, RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema()))
    }

    /// Arrow's PyCapsule interface: the table as one batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        let (array, _) = to_ffi(&StructArray::from(self.0.clone()).into_data()).map_err(unfit)?;
        Ok((schema_capsule(py, &self.0.schema())?, PyCapsule::new_with_value(py, array, c"arrow_array")?))
    }

    /// Arrow's PyCapsule interface: the names and types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.0.schema())
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The number of rows and of columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.0.num_rows(), self.0.num_columns())
    }

    /// The table as a data frame of pandas, with columns of NumPy's types.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let missing = |error: PyErr| {
            let message = "to_pandas needs pandas and pyarrow: pip install pandas pyarrow";
            if error.is_instance_of::<PyImportError>(py) { PyImportError::new_err(message) } else { error }
        };
        py.import("pandas").map_err(missing)?;
        py.import("pyarrow").map_err(missing)?.call_method1("table", (slf,))?.call_method0("to_pandas")
    }

    /// The table as a list of Python's values for each column.
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(slf.py());
        for name in slf.get().columns() {
            values.set_item(&name, slf.get().column(slf.py(), &name)?)?;
        }
        Ok(values)
    }

    /// A column as a list of Python's values.
    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyAny>> {
        self.column(py, column)
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        let schema = self.0.schema();
        let columns = schema.fields().iter().map(|field| format!("{}: {}", field.name(), field.data_type()));
        format!("titr.Table of {} rows ({})", self.0.num_rows(), columns.collect::<Vec<_>>().join(", "))
    }
}

impl Table {
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let array = self.0.column_by_name(name).ok_or_else(|| {
            PyKeyError::new_err(format!("there is no column '{name}': there are {}", self.columns().join(", ")))
        })?;
        values(py, array)
    }
}

/// The values of an array.
fn values<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyAny>> {
    macro_rules! list {
        ($($type:ty),+) => {
            $(if let Some(array) = array.as_any().downcast_ref::<$type>() {
                return Ok(array.iter().collect::<Vec<_>>().into_pyobject(py)?.into_any());
            })+
        };
    }
    list!(BooleanArray, UInt32Array, Int32Array, UInt64Array, Int64Array, Float64Array, StringArray);
    if let Some(words) = array
        .as_any()
        .downcast_ref::<DictionaryArray<Int32Type>>()
        .and_then(|array| array.downcast_dict::<StringArray>())
    {
        return Ok(words.into_iter().collect::<Vec<_>>().into_pyobject(py)?.into_any());
    }
    let Some(lists) = array.as_any().downcast_ref::<ListArray>() else {
        return Err(PyTypeError::new_err(format!("a column of {} has no list of values", array.data_type())));
    };
    let list = lists.iter().map(|list| list.map(|list| values(py, &*list)).transpose());
    Ok(list.collect::<PyResult<Vec<_>>>()?.into_pyobject(py)?.into_any())
}
