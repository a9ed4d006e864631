//! Tables whose columns are Arrow arrays, as the core reads them.
//!
//! ```text
//! record batches ─[`ArrowTable`]─▶ batches of the core ─array by array, borrowed─▶ views
//! ```
//!
//! The arrays are borrowed, type by type; nothing is copied but float16 and narrow decimals. Text is taken as bytes,
//! so text of others that is not UTF-8 does no harm.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types as arrow;
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{Array as _, ArrayRef, ArrowNativeTypeOp, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, TimeUnit as ArrowUnit};
use lessregret_core::{
    Array, Batch, Batches, Bits, Content, TableColumn, TableSummary, TimeUnit, Values,
    sample_batches,
};

/// The batches of a table.
pub type Reader = Box<dyn RecordBatchReader + Send>;

/// The batches that are not read yet, after those that were read for a sample.
pub struct ArrowTable {
    reader: Reader,
    ahead: VecDeque<RecordBatch>,
    columns: Vec<TableColumn>,
}

impl ArrowTable {
    /// The table whose batches a reader gives.
    pub fn new(reader: Reader) -> Self {
        let columns = reader.schema().fields().iter().map(|field| column(field)).collect();
        ArrowTable { reader, ahead: VecDeque::new(), columns }
    }

    /// What the columns seem to be, from the first rows, which stay in the table.
    pub fn sample(&mut self, missing: &[String], rows: usize) -> Result<TableSummary, String> {
        let batches = self.first(rows)?;
        Ok(sample_batches(&self.columns, &batches, missing, rows))
    }

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

impl Batches for ArrowTable {
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

/// What the library that gives the batches says, in one line.
fn reason(error: &ArrowError) -> String {
    let text = error.to_string();
    let text = text.split_once("Producer error: ").map_or(text.as_str(), |(_, told)| told);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
