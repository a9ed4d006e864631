//! Tables of other Python libraries, whose columns are Arrow arrays.
//!
//! The arrays are borrowed as those of the core, type by type; nothing is copied but float16 and narrow decimals.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types as arrow;
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{
    Array as _, ArrayRef, ArrowNativeTypeOp, RecordBatch, RecordBatchReader, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit as ArrowUnit};
use lessregret_capsule::Reader;
use lessregret_core::{
    Array, Batch, Batches, Bits, Content, Error, InputError, Kind, SampledColumn, TableColumn,
    TimeUnit, Values, sample_batches,
};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use serde_json::json;

use crate::errors::to_python;

/// The number of most frequent values that a sample tells.
const FREQUENT: usize = 100;

/// A table that others hold, or give batch by batch; it can be read once.
#[pyclass(module = "lessregret._core", frozen)]
pub struct Table {
    /// The name of the table, for messages.
    pub name: String,
    inner: Mutex<Option<Imported>>,
}

/// The batches that are not read yet, after those that were read for a sample.
struct Imported {
    reader: Reader,
    ahead: VecDeque<RecordBatch>,
    columns: Vec<TableColumn>,
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
        let columns = reader.schema().fields().iter().map(|field| column(field)).collect();
        let imported = Imported { reader, ahead: VecDeque::new(), columns };
        Ok(Table { name, inner: Mutex::new(Some(imported)) })
    }

    /// The table of columns of text. `batches` gives lists of columns, whose cells are strings or None.
    #[staticmethod]
    fn of_texts(names: Vec<String>, batches: Py<PyIterator>, name: String) -> Self {
        let field = |name: &String| Field::new(name, DataType::Utf8, true);
        let schema = Arc::new(Schema::new(names.iter().map(field).collect::<Vec<_>>()));
        let columns = schema.fields().iter().map(|field| column(field)).collect();
        let reader: Reader = Box::new(Texts { batches, schema });
        let imported = Imported { reader, ahead: VecDeque::new(), columns };
        Table { name, inner: Mutex::new(Some(imported)) }
    }

    /// The names and the Arrow types of the columns.
    #[getter]
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let named = |column: &TableColumn| (column.name.clone(), column.type_name.clone());
        self.with(py, |table| Ok(table.columns.iter().map(named).collect()))
    }

    /// What the columns seem to be, as JSON, from the first `rows` rows, which stay in the table.
    #[pyo3(signature = (missing, rows=10_000))]
    fn sample(&self, py: Python<'_>, missing: Vec<String>, rows: usize) -> PyResult<String> {
        self.with(py, |table| {
            let batches = table.first(rows).map_err(|reason| broken(&self.name, reason))?;
            let sampled = sample_batches(&table.columns, &batches, &missing, rows);
            Ok(json!(sampled.iter().map(described).collect::<Vec<_>>()).to_string())
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
        work: impl FnOnce(&mut Imported) -> lessregret_core::Result<T> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.as_mut().ok_or_else(|| used(&self.name)).and_then(work)
        });
        done.map_err(|error| to_python(py, error))
    }
}

impl Imported {
    /// The batches with the first rows; they are given again.
    fn first(&mut self, rows: usize) -> Result<Vec<Arc<dyn Batch>>, String> {
        while self.ahead.iter().map(RecordBatch::num_rows).sum::<usize>() < rows {
            match self.reader.next() {
                Some(batch) => self.ahead.push_back(batch.map_err(|error| reason(&error))?),
                None => break,
            }
        }
        let shared = |batch: &RecordBatch| Arc::new(Rows(batch.clone())) as Arc<dyn Batch>;
        Ok(self.ahead.iter().map(shared).collect())
    }
}

impl Batches for Imported {
    fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    fn next_batch(&mut self) -> Result<Option<Arc<dyn Batch>>, String> {
        let next = match self.ahead.pop_front() {
            Some(batch) => Some(batch),
            None => self.reader.next().transpose().map_err(|error| reason(&error))?,
        };
        Ok(next.map(|batch| Arc::new(Rows(batch)) as Arc<dyn Batch>))
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

/// A record batch.
#[derive(Debug)]
struct Rows(RecordBatch);

impl Batch for Rows {
    fn rows(&self) -> usize {
        self.0.num_rows()
    }

    fn column(&self, column: usize, rows: Range<usize>) -> Array<'_> {
        array(self.0.column(column), rows)
    }
}

fn column(field: &Field) -> TableColumn {
    let of = field.data_type();
    TableColumn {
        name: field.name().clone(),
        type_name: of.to_string(),
        content: content(of),
        is_dictionary: matches!(of, DataType::Dictionary(..)),
    }
}

fn content(of: &DataType) -> Content {
    match of {
        DataType::Null => Content::Nothing,
        DataType::Decimal256(..) => Content::Other,
        of if of.is_numeric() || *of == DataType::Boolean => Content::Numbers,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Content::Text,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Content::Text,
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Content::Times,
        DataType::Dictionary(_, values) => match &**values {
            DataType::Dictionary(..) => Content::Other,
            values => content(values),
        },
        _ => Content::Other,
    }
}

/// Some rows of an array, borrowed.
fn array(from: &ArrayRef, rows: Range<usize>) -> Array<'_> {
    let present = from
        .nulls()
        .filter(|nulls| nulls.null_count() > 0)
        .map(|nulls| Bits { bytes: nulls.validity(), offset: nulls.offset() + rows.start });
    Array { present, values: values(from, rows) }
}

fn values(from: &ArrayRef, rows: Range<usize>) -> Values<'_> {
    match from.data_type() {
        DataType::Boolean => {
            let flags = from.as_boolean().values();
            Values::Flags(Bits { bytes: flags.values(), offset: flags.offset() + rows.start })
        }
        DataType::Int8 => Values::Int8(numbers::<arrow::Int8Type>(from, rows)),
        DataType::Int16 => Values::Int16(numbers::<arrow::Int16Type>(from, rows)),
        DataType::Int32 => Values::Int32(numbers::<arrow::Int32Type>(from, rows)),
        DataType::Int64 => Values::Int64(numbers::<arrow::Int64Type>(from, rows)),
        DataType::UInt8 => Values::UInt8(numbers::<arrow::UInt8Type>(from, rows)),
        DataType::UInt16 => Values::UInt16(numbers::<arrow::UInt16Type>(from, rows)),
        DataType::UInt32 => Values::UInt32(numbers::<arrow::UInt32Type>(from, rows)),
        DataType::UInt64 => Values::UInt64(numbers::<arrow::UInt64Type>(from, rows)),
        DataType::Float16 => {
            let halves = numbers::<arrow::Float16Type>(from, rows);
            Values::Float32(halves.iter().map(|half| half.to_f32()).collect())
        }
        DataType::Float32 => Values::Float32(numbers::<arrow::Float32Type>(from, rows).into()),
        DataType::Float64 => Values::Float64(numbers::<arrow::Float64Type>(from, rows)),
        DataType::Decimal32(_, scale) => decimals::<arrow::Decimal32Type>(from, rows, *scale),
        DataType::Decimal64(_, scale) => decimals::<arrow::Decimal64Type>(from, rows, *scale),
        DataType::Decimal128(_, scale) => {
            let digits = Cow::Borrowed(numbers::<arrow::Decimal128Type>(from, rows));
            Values::Decimal { digits, scale: *scale }
        }
        DataType::Date32 => Values::Days(numbers::<arrow::Date32Type>(from, rows)),
        DataType::Date64 => Values::DateMillis(numbers::<arrow::Date64Type>(from, rows)),
        DataType::Timestamp(unit, _) => times(from, rows, *unit),
        DataType::Dictionary(..) => dictionary(from, rows),
        _ => text(from, rows),
    }
}

fn text(from: &ArrayRef, rows: Range<usize>) -> Values<'_> {
    match from.data_type() {
        DataType::Utf8 => {
            let from = from.as_string::<i32>();
            let ends = &from.value_offsets()[rows.start..=rows.end];
            Values::Text { ends, bytes: from.value_data() }
        }
        DataType::LargeUtf8 => {
            let from = from.as_string::<i64>();
            let ends = &from.value_offsets()[rows.start..=rows.end];
            Values::LargeText { ends, bytes: from.value_data() }
        }
        DataType::Binary => {
            let from = from.as_binary::<i32>();
            let ends = &from.value_offsets()[rows.start..=rows.end];
            Values::Text { ends, bytes: from.value_data() }
        }
        DataType::LargeBinary => {
            let from = from.as_binary::<i64>();
            let ends = &from.value_offsets()[rows.start..=rows.end];
            Values::LargeText { ends, bytes: from.value_data() }
        }
        DataType::Utf8View => {
            let from = from.as_string_view();
            let buffers = from.data_buffers().iter().map(|buffer| buffer.as_slice()).collect();
            Values::TextViews { views: &from.views()[rows], buffers }
        }
        DataType::BinaryView => {
            let from = from.as_binary_view();
            let buffers = from.data_buffers().iter().map(|buffer| buffer.as_slice()).collect();
            Values::TextViews { views: &from.views()[rows], buffers }
        }
        // Null; other types are refused when the table is matched to the schema.
        _ => Values::Missing,
    }
}

fn numbers<T: ArrowPrimitiveType>(from: &ArrayRef, rows: Range<usize>) -> &[T::Native] {
    &from.as_primitive::<T>().values()[rows]
}

fn decimals<T: ArrowPrimitiveType>(from: &ArrayRef, rows: Range<usize>, scale: i8) -> Values<'_>
where
    T::Native: ArrowNativeTypeOp + Into<i128>,
{
    let digits = numbers::<T>(from, rows).iter().map(|&digits| digits.into()).collect();
    Values::Decimal { digits, scale }
}

fn times(from: &ArrayRef, rows: Range<usize>, unit: ArrowUnit) -> Values<'_> {
    let (ticks, unit) = match unit {
        ArrowUnit::Second => (numbers::<arrow::TimestampSecondType>(from, rows), TimeUnit::Second),
        ArrowUnit::Millisecond => {
            (numbers::<arrow::TimestampMillisecondType>(from, rows), TimeUnit::Millisecond)
        }
        ArrowUnit::Microsecond => {
            (numbers::<arrow::TimestampMicrosecondType>(from, rows), TimeUnit::Microsecond)
        }
        ArrowUnit::Nanosecond => {
            (numbers::<arrow::TimestampNanosecondType>(from, rows), TimeUnit::Nanosecond)
        }
    };
    Values::Times { ticks, unit }
}

fn dictionary(from: &ArrayRef, rows: Range<usize>) -> Values<'_> {
    let from = from.as_any_dictionary();
    let keys = from.keys();
    let values = from.values();
    let keys = match keys.data_type() {
        DataType::Int8 => Values::Int8(&keys.as_primitive::<arrow::Int8Type>().values()[rows]),
        DataType::Int16 => Values::Int16(&keys.as_primitive::<arrow::Int16Type>().values()[rows]),
        DataType::Int32 => Values::Int32(&keys.as_primitive::<arrow::Int32Type>().values()[rows]),
        DataType::UInt8 => Values::UInt8(&keys.as_primitive::<arrow::UInt8Type>().values()[rows]),
        DataType::UInt16 => {
            Values::UInt16(&keys.as_primitive::<arrow::UInt16Type>().values()[rows])
        }
        DataType::UInt32 => {
            Values::UInt32(&keys.as_primitive::<arrow::UInt32Type>().values()[rows])
        }
        DataType::UInt64 => {
            Values::UInt64(&keys.as_primitive::<arrow::UInt64Type>().values()[rows])
        }
        _ => Values::Int64(&keys.as_primitive::<arrow::Int64Type>().values()[rows]),
    };
    let keys = Box::new(Array { present: None, values: keys });
    Values::Dictionary { keys, values: Box::new(array(values, 0..values.len())) }
}

/// A column of a sample as JSON.
fn described(SampledColumn { name, kind, seen }: &SampledColumn) -> serde_json::Value {
    let text = |(value, count): (&[u8], u64)| (String::from_utf8_lossy(value).into_owned(), count);
    let frequent: Vec<_> = seen.most_frequent().into_iter().take(FREQUENT).map(text).collect();
    json!({
        "name": name,
        "kind": kind,
        "cells": seen.cells,
        "missing": seen.missing,
        "different": seen.values.len(),
        "cut": seen.is_cut(),
        "range": seen.range.filter(|_| *kind == Kind::Number),
        "frequent": frequent,
    })
}

fn used(name: &str) -> Error {
    Error::Spec(format!("{name}: the table was read already; make it again from its object"))
}

fn broken(name: &str, reason: String) -> Error {
    let found = format!("trouble ({reason})");
    InputError::argument(name, found, "a table that can be read").into()
}

/// What the library that gives the batches says, in one line.
fn reason(error: &ArrowError) -> String {
    let text = error.to_string();
    let text = text.split_once("Producer error: ").map_or(text.as_str(), |(_, told)| told);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
