//! Takes tables from other Python libraries, through the Arrow PyCapsule interface.
//!
//! An object with `__arrow_c_stream__` gives a capsule with a pointer to a C struct, whose functions give batches of
//! columns; one with `__arrow_c_array__` gives two capsules, which are one batch. The columns are not copied.
//!
//! That a pointer is what the name of its capsule says cannot be checked: it is trusted, as all who use the interface
//! do. These are the only unsafe lines. See <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The batches of a table.
pub type Reader = Box<dyn RecordBatchReader + Send>;

/// The batches of an object, or `None` if it offers none. They may be read on any thread.
pub fn reader(object: &Bound<'_, PyAny>) -> PyResult<Option<Reader>> {
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        return stream(&capsule.cast_into()?).map(Some);
    }
    if object.hasattr("__arrow_c_array__")? {
        let capsules = object.call_method0("__arrow_c_array__")?;
        let (schema, array) = capsules.extract()?;
        return batch(&schema, &array).map(Some);
    }
    Ok(None)
}

fn stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<Reader> {
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: by its name, the capsule points to such a struct, which is initialised. It is moved out: what stays
    // behind is marked as released, so the capsule does not release it again.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) };
    Ok(Box::new(RecordBatchStreamReader::try_new(stream).map_err(wrong)?))
}

fn batch(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<Reader> {
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?;
    let array = array.pointer_checked(Some(c"arrow_array"))?;
    // SAFETY: by their names, the capsules point to such structs, which are initialised. Both are moved out, as above.
    let (schema, array) = unsafe {
        let schema = FFI_ArrowSchema::from_raw(schema.cast().as_ptr());
        (schema, FFI_ArrowArray::from_raw(array.cast().as_ptr()))
    };
    // SAFETY: the array is of this schema; who exports them together says so.
    let data = unsafe { from_ffi(array, &schema) }.map_err(wrong)?;
    if !matches!(data.data_type(), DataType::Struct(_)) {
        let found = data.data_type();
        return Err(PyValueError::new_err(format!("expected a table, found an array of {found}")));
    }
    let rows = StructArray::from(data);
    if rows.null_count() > 0 {
        return Err(PyValueError::new_err("expected rows that are all there, found null rows"));
    }
    let batch = RecordBatch::from(rows);
    let schema = batch.schema();
    Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
}

fn wrong(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
