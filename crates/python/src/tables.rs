//! Tables of other Python libraries, whose columns are Arrow arrays.
//!
//! `crates/capsule` takes them from Python, and `crates/arrow` borrows their columns.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use lessregret_arrow::ArrowTable;
use lessregret_core::{Batches, Error, InputError, TableColumn};
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::errors::to_python;
use crate::json::json;

/// A table that others hold, or give batch by batch; it can be read once.
#[pyclass(module = "lessregret._core", frozen)]
pub struct Table {
    /// The name of the table, for messages.
    pub name: String,
    inner: Mutex<Option<ArrowTable>>,
}

#[pymethods]
impl Table {
    /// The table of an object with `__arrow_c_stream__` or `__arrow_c_array__`.
    #[new]
    fn new(object: &Bound<'_, PyAny>, name: String) -> PyResult<Self> {
        let Some(reader) = lessregret_capsule::reader(object)? else {
            let found = format!("an object of type '{}'", object.get_type().name()?);
            let expected = "a table with __arrow_c_stream__, such as a data frame";
            let error = InputError::argument(name, found, expected);
            return Err(to_python(object.py(), error.into()));
        };
        Ok(Table { name, inner: Mutex::new(Some(ArrowTable::new(reader))) })
    }

    /// The table of columns of text. `batches` gives lists of columns, whose cells are strings or None.
    #[staticmethod]
    fn of_texts(names: Vec<String>, batches: Py<PyIterator>, name: String) -> Self {
        let field = |name: &String| Field::new(name, DataType::Utf8, true);
        let schema = Arc::new(Schema::new(names.iter().map(field).collect::<Vec<_>>()));
        let table = ArrowTable::new(Box::new(Texts { batches, schema }));
        Table { name, inner: Mutex::new(Some(table)) }
    }

    /// The names and the Arrow types of the columns.
    #[getter]
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let named = |column: &TableColumn| (column.name.clone(), column.type_name.clone());
        self.with(py, |table| Ok(table.columns().iter().map(named).collect()))
    }

    /// What the columns seem to be, as JSON, from the first `rows` rows, which stay in the table.
    #[pyo3(signature = (missing, rows=10_000))]
    fn sample(&self, py: Python<'_>, missing: Vec<String>, rows: usize) -> PyResult<String> {
        self.with(py, |table| {
            let sampled = table.sample(&missing, rows);
            let sampled = sampled.map_err(|reason| broken(&self.name, reason))?;
            Ok(json(&sampled))
        })
    }
}

impl Table {
    /// The batches, which the table does not have any more.
    pub fn take(&self, py: Python<'_>) -> PyResult<Box<dyn Batches>> {
        let taken = self.inner.lock().unwrap_or_else(PoisonError::into_inner).take();
        let table = taken.ok_or_else(|| to_python(py, used(&self.name)))?;
        Ok(Box::new(table))
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut ArrowTable) -> lessregret_core::Result<T> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.as_mut().ok_or_else(|| used(&self.name)).and_then(work)
        });
        done.map_err(|error| to_python(py, error))
    }
}

/// Batches of text that Python makes.
struct Texts {
    batches: Py<PyIterator>,
    schema: SchemaRef,
}

impl Iterator for Texts {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let columns = Python::attach(|py| {
            let next = self.batches.bind(py).clone().next()?;
            let columns = next.and_then(|columns| columns.extract::<Vec<Vec<Option<String>>>>());
            Some(columns.map_err(|error| ArrowError::CDataInterface(error.value(py).to_string())))
        })?;
        let array = |column| Arc::new(StringArray::from(column)) as ArrayRef;
        Some(columns.and_then(|columns| {
            let arrays = columns.into_iter().map(array).collect();
            RecordBatch::try_new(Arc::clone(&self.schema), arrays)
        }))
    }
}

impl RecordBatchReader for Texts {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

fn used(name: &str) -> Error {
    Error::Spec(format!("{name}: the table was read already; make it again from its object"))
}

fn broken(name: &str, reason: String) -> Error {
    let found = format!("trouble ({reason})");
    InputError::argument(name, found, "a table that can be read").into()
}
