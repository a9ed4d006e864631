//! Examples written as Arrow files.

use std::io;
use std::path::{Path, PathBuf};

use lessregret_core::Chunk;
use lessregret_core::arrow::write::Writer;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::errors::argument;
use crate::stream::Stream;

/// An Arrow file of examples; it stands in its place once it is finished.
#[pyclass(module = "lessregret._core")]
pub struct ArrowWriter {
    path: PathBuf,
    writer: Option<Writer>,
    chunk: Chunk,
}

#[pymethods]
impl ArrowWriter {
    /// Begin the file that will stand at `path`, for streams with so many bits.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, bits: u32) -> PyResult<Self> {
        if !(1..=31).contains(&bits) {
            return Err(argument(py, "bits".into(), bits.to_string(), "1 to 31"));
        }
        let writer = Writer::create(&path, bits).map_err(|error| unwritable(&path, &error))?;
        Ok(ArrowWriter { path, writer: Some(writer), chunk: Chunk::new(None) })
    }

    /// How many examples were written.
    #[getter]
    fn examples(&self) -> u64 {
        self.writer.as_ref().map_or(0, Writer::examples)
    }

    /// How many features they have.
    #[getter]
    fn features(&self) -> u64 {
        self.writer.as_ref().map_or(0, Writer::features)
    }

    /// Write the next examples of a stream, at most `limit`; how many there were.
    fn take(&mut self, py: Python<'_>, stream: &Stream, limit: usize) -> PyResult<usize> {
        let ArrowWriter { path, writer, chunk } = self;
        let writer = writer.as_mut().ok_or_else(|| ended(path))?;
        let count = stream.fill(py, chunk, limit)?;
        py.detach(|| writer.write(chunk)).map_err(|error| unwritable(path, &error))?;
        Ok(count)
    }

    /// Put the file in its place; its length in bytes.
    fn finish(&mut self, py: Python<'_>) -> PyResult<u64> {
        let writer = self.writer.take().ok_or_else(|| ended(&self.path))?;
        py.detach(|| writer.finish()).map_err(|error| unwritable(&self.path, &error))
    }

    /// Leave nothing behind, unless it is finished.
    fn discard(&mut self) {
        self.writer = None;
    }
}

fn ended(path: &Path) -> PyErr {
    unwritable(path, &io::Error::other("the file is finished"))
}

fn unwritable(path: &Path, error: &io::Error) -> PyErr {
    let reason = format!("cannot be written: {error}");
    PyOSError::new_err((error.raw_os_error().unwrap_or(0), reason, path.to_owned()))
}
