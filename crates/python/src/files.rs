//! Atomic file writes, including Arrow files of examples.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lessregret_core::{self as core, AtomicFile};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::stream::Stream;

/// Write a file atomically: afterwards it has this content, or, after an error, the old one.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, content: &[u8]) -> PyResult<()> {
    let written = py.detach(|| {
        let mut file = AtomicFile::create(&path)?;
        file.bytes.write_all(content)?;
        file.finish()
    });
    written.map_err(|error| unwritable(&path, &error))
}

/// An Arrow file of examples that is being written. It appears under its name when it is finished.
#[pyclass(module = "lessregret._core")]
pub struct ArrowWriter {
    path: PathBuf,
    writer: Option<core::ArrowWriter>,
}

#[pymethods]
impl ArrowWriter {
    /// Begin the file that will have the name `path`, for the feature space of a stream.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, stream: &Stream) -> PyResult<Self> {
        let bits = stream.with(py, |stream| stream.space().bits())?;
        let writer =
            core::ArrowWriter::create(&path, bits).map_err(|error| unwritable(&path, &error))?;
        Ok(ArrowWriter { path, writer: Some(writer) })
    }

    /// The number of examples written.
    #[getter]
    fn examples(&self) -> u64 {
        self.writer.as_ref().map_or(0, core::ArrowWriter::examples)
    }

    /// The number of features written.
    #[getter]
    fn features(&self) -> u64 {
        self.writer.as_ref().map_or(0, core::ArrowWriter::features)
    }

    /// Write the next examples of a stream, at most `limit`; returns their number.
    fn take(&mut self, py: Python<'_>, stream: &Stream, limit: usize) -> PyResult<usize> {
        let ArrowWriter { path, writer } = self;
        let writer = writer.as_mut().ok_or_else(|| ended(path))?;
        let written = stream.with(py, |stream| writer.take(stream, limit))?;
        written.map_err(|error| unwritable(path, &error))
    }

    /// Finish the file and give it its name; returns its length in bytes.
    fn finish(&mut self, py: Python<'_>) -> PyResult<u64> {
        let writer = self.writer.take().ok_or_else(|| ended(&self.path))?;
        py.detach(|| writer.finish()).map_err(|error| unwritable(&self.path, &error))
    }

    /// Remove the file, unless it is finished.
    fn discard(&mut self) {
        self.writer = None;
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
