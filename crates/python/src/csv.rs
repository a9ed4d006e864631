//! Tables for Python: what their columns seem to be, and their cells as they are.

use std::path::Path;

use lessregret_core::{self as core, ByteSource, SampleSpec};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bytes::{GivenFile, reader};
use crate::errors::to_python;
use crate::json::json;
use crate::stream::{dialect, on_interrupt};

/// What the first rows of a table show about its columns, as JSON. What is read of standard input stays there for the
/// stream.
#[pyfunction]
#[pyo3(signature = (
    file, *, delimiter=",", header=true, column_names=None, missing=Vec::new(), rows=10_000, bad_lines="stop"
))]
#[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub fn sample_table(
    py: Python<'_>,
    file: GivenFile,
    delimiter: &str,
    header: bool,
    column_names: Option<Vec<String>>,
    missing: Vec<String>,
    rows: usize,
    bad_lines: &str,
) -> PyResult<String> {
    let dialect = dialect(py, delimiter, header)?;
    let skips = bad_lines == "skip";
    let spec = SampleSpec { dialect, names: column_names, missing, rows, skips };
    let given = match file {
        GivenFile::Named(name) => Ok(name),
        GivenFile::Object(object) => Err(reader(py, object)?),
    };
    let sampled = py.detach(|| match given {
        Ok(name) if name == Path::new("-") => {
            core::with_peeked_stdin(&on_interrupt(), |source| core::sample(source, &spec))
        }
        Ok(name) => core::sample(ByteSource::open(&name, &on_interrupt())?, &spec),
        Err((name, bytes)) => core::sample(ByteSource::new(&name, bytes, &on_interrupt())?, &spec),
    });
    finished(py, sampled).map(|summary| json(&summary))
}

/// The first bytes of a file, or of standard input without one: at most `most`, up to a newline if there is one. Those of
/// standard input stay there for the stream.
#[pyfunction]
pub fn peek_line<'py>(
    py: Python<'py>,
    file: Option<GivenFile>,
    most: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let given = match file {
        None => None,
        Some(GivenFile::Named(name)) => Some(Ok(name)),
        Some(GivenFile::Object(object)) => Some(Err(reader(py, object)?)),
    };
    let peeked = py.detach(|| match given {
        None => core::with_peeked_stdin(&on_interrupt(), |source| core::first_line(source, most)),
        Some(Ok(name)) => core::first_line(ByteSource::open(&name, &on_interrupt())?, most),
        Some(Err((name, bytes))) => {
            core::first_line(ByteSource::new(&name, bytes, &on_interrupt())?, most)
        }
    });
    finished(py, peeked).map(|bytes| PyBytes::new(py, &bytes))
}

fn finished<T>(py: Python<'_>, outcome: core::Result<T>) -> PyResult<T> {
    match PyErr::take(py) {
        Some(interrupt) => Err(interrupt),
        None => outcome.map_err(|error| to_python(py, error)),
    }
}

/// The cells of all records of a text, for tests.
#[pyfunction]
#[pyo3(signature = (text, delimiter=","))]
pub fn split_cells<'py>(
    py: Python<'py>,
    text: &[u8],
    delimiter: &str,
) -> PyResult<Vec<Vec<Bound<'py, PyBytes>>>> {
    let rows = core::all_cells(text, dialect(py, delimiter, false)?.delimiter);
    let rows = rows.map_err(|error| to_python(py, error.into()))?;
    let bytes = |cell: &Vec<u8>| PyBytes::new(py, cell);
    Ok(rows.iter().map(|row| row.iter().map(bytes).collect()).collect())
}
