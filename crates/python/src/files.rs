//! Files that appear under their names when they are finished, including Arrow files of examples.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lessregret_core as core;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::json::json;
use crate::stream::Stream;

/// A file that is being written. It appears under its name when it is finished.
#[pyclass(module = "lessregret._core")]
pub struct AtomicFile(PathBuf, Option<core::AtomicFile>);

#[pymethods]
impl AtomicFile {
    /// Begin the file that will have the name `path`.
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let file = core::AtomicFile::create(&path).map_err(|error| unwritable(&path, &error))?;
        Ok(AtomicFile(path, Some(file)))
    }

    /// Write the next bytes.
    fn write(&mut self, py: Python<'_>, content: &[u8]) -> PyResult<()> {
        let AtomicFile(path, file) = self;
        let file = file.as_mut().ok_or_else(|| ended(path))?;
        py.detach(|| file.bytes.write_all(content)).map_err(|error| unwritable(path, &error))
    }

    /// Finish the file and give it its name.
    fn finish(&mut self, py: Python<'_>) -> PyResult<()> {
        let file = self.1.take().ok_or_else(|| ended(&self.0))?;
        py.detach(|| file.finish()).map_err(|error| unwritable(&self.0, &error))
    }

    /// Remove the file, unless it is finished.
    fn discard(&mut self) {
        self.1 = None;
    }
}

/// An Arrow file of examples that is being written. It appears under its name when it is finished.
#[pyclass(module = "lessregret._core")]
pub struct ArrowWriter(PathBuf, Option<core::ArrowWriter>);

#[pymethods]
impl ArrowWriter {
    /// Begin the file that will have the name `path`, for the feature space of a stream.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, stream: &Stream) -> PyResult<Self> {
        let space = stream.with(py, |stream| Ok(stream.space().clone()))?;
        let bits = space.bits().map_err(|error| to_python(py, error))?;
        let writer = core::ArrowWriter::create_for(&path, bits, space.namespaces)
            .map_err(|error| unwritable(&path, &error))?;
        Ok(ArrowWriter(path, Some(writer)))
    }

    /// Write the next examples of a stream, at most `limit`; returns their number.
    fn take(&mut self, py: Python<'_>, stream: &Stream, limit: usize) -> PyResult<usize> {
        let ArrowWriter(path, writer) = self;
        let writer = writer.as_mut().ok_or_else(|| ended(path))?;
        let written = stream.with(py, |stream| writer.take(stream, limit))?;
        written.map_err(|error| unwritable(path, &error))
    }

    /// Finish the file and give it its name; returns its number of examples, of features and of bytes.
    fn finish(&mut self, py: Python<'_>) -> PyResult<(u64, u64, u64)> {
        let writer = self.1.take().ok_or_else(|| ended(&self.0))?;
        let (examples, features) = (writer.examples(), writer.features());
        let bytes = py.detach(|| writer.finish()).map_err(|error| unwritable(&self.0, &error))?;
        Ok((examples, features, bytes))
    }

    /// Remove the file, unless it is finished.
    fn discard(&mut self) {
        self.1 = None;
    }
}

fn ended(path: &Path) -> PyErr {
    unwritable(path, &io::Error::other("the file is finished"))
}

fn unwritable(path: &Path, error: &io::Error) -> PyErr {
    let (number, path) = (error.raw_os_error().unwrap_or(0), path.display().to_string());
    // Rust appends the error number to the system's message; remove it.
    let reason = error.to_string().replace(&format!(" (os error {number})"), "");
    PyOSError::new_err((number, format!("cannot be written: {reason}"), path))
}

/// The metadata of a model file as JSON, read without its slots.
#[pyfunction]
pub fn read_model_header(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let header = core::read_header(&path).map_err(|error| to_python(py, error))?;
    Ok(json(&header))
}
