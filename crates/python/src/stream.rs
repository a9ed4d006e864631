//! The Python class of a stream of examples from files.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use lessregret_core::{
    self as core, BadLines, Dialect, Error, FeatureSpace, Format, InputError, Names, StreamSpec,
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::fetch_numpy;
use crate::bytes::GivenFile;
use crate::errors::to_python;
use crate::json::json;
use crate::tables::Table;

/// Examples read from files, one after another.
#[pyclass(module = "lessregret._core", frozen)]
pub struct Stream {
    // Python may share the object between threads, but a reader of bytes is not `Sync`.
    inner: Mutex<core::Stream>,
    /// Apart, so that a signal's handler need not wait for whoever reads.
    stop: core::Stop,
}

type Arrays<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray1<f32>>,
    Vec<Bound<'py, PyBytes>>,
);

#[pymethods]
impl Stream {
    /// Open a stream of files, given by their names or as objects with `read`. `space` is JSON; `bad_lines` is 'stop' or
    /// 'skip'; without `threads` all cores are used. `delimiter`, `header` and `column_names` are for format 'csv'.
    #[new]
    #[pyo3(signature = (
        files, space, *, format="auto", bad_lines="stop", names=false, threads=None, delimiter=",", header=true,
        column_names=None, by=Vec::new(), unlabelled=false, follow=false,
    ))]
    #[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn new(
        py: Python<'_>,
        files: Vec<GivenFile>,
        space: &str,
        format: &str,
        bad_lines: &str,
        names: bool,
        threads: Option<usize>,
        delimiter: &str,
        header: bool,
        column_names: Option<Vec<String>>,
        by: Vec<String>,
        unlabelled: bool,
        follow: bool,
    ) -> PyResult<Self> {
        let space = FeatureSpace::parse(space).map_err(|error| to_python(py, error))?;
        space.bits().map_err(|error| to_python(py, error))?;
        let spec = StreamSpec {
            format: match format {
                "csv" => Format::Csv(dialect(py, delimiter, header)?),
                format => choose(py, "format", format, &FORMATS)?,
            },
            space,
            bad_lines: choose(py, "bad_lines", bad_lines, &BAD_LINES)?,
            names,
        };
        let threads = checked_threads(py, threads)?;
        let files =
            files.into_iter().map(|file| file.waiting(py, follow)).collect::<PyResult<_>>()?;
        let stream = core::Stream::new(files, spec).threads(threads).on_interrupt(check_signals);
        let stream = stream.by(by).unlabelled(unlabelled);
        let stream = match column_names {
            Some(names) => stream.column_names(names),
            None => stream,
        };
        Ok(stream.into())
    }

    /// The examples of a table, which is used up. `space` is JSON and has a schema.
    #[staticmethod]
    #[pyo3(signature = (table, space, *, bad_lines="stop", names=false, threads=None, by=Vec::new(), unlabelled=false))]
    #[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
    fn over_table(
        py: Python<'_>,
        table: &Table,
        space: &str,
        bad_lines: &str,
        names: bool,
        threads: Option<usize>,
        by: Vec<String>,
        unlabelled: bool,
    ) -> PyResult<Self> {
        let space = FeatureSpace::parse(space).map_err(|error| to_python(py, error))?;
        let bad_lines = choose(py, "bad_lines", bad_lines, &BAD_LINES)?;
        let spec = StreamSpec { format: Format::Auto, space, bad_lines, names };
        let threads = checked_threads(py, threads)?;
        let stream = core::Stream::over_table_by(&table.name, table.take(py)?, spec, by);
        let stream = stream.map_err(|error| to_python(py, error))?;
        let stream = stream.threads(threads).on_interrupt(check_signals);
        Ok(stream.unlabelled(unlabelled).into())
    }

    /// Stop reading: there are no more examples, as if the files had ended. Waits for nobody.
    fn stop(&self) {
        self.stop.set();
    }

    /// The feature space as JSON.
    #[getter]
    fn space(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |stream| Ok(json(stream.space())))
    }

    /// Multiply the importance of negatives by 1/kept.
    fn negatives_kept(&self, py: Python<'_>, kept: f64) -> PyResult<()> {
        self.with(py, |stream| stream.negatives_kept(kept))
    }

    /// The number of bad lines skipped so far.
    #[getter]
    fn skipped(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |stream| Ok(stream.skipped()))
    }

    /// The error of the first skipped line.
    #[getter]
    fn first_skipped(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |stream| Ok(stream.first_skipped().map(ToString::to_string)))
    }

    /// The columns of the tables read so far that the schema does not have.
    #[getter]
    fn ignored_columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |stream| Ok(stream.ignored_columns().to_vec()))
    }

    /// The number of bytes read from the files, in their compressed form.
    #[getter]
    fn bytes_read(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |stream| Ok(stream.bytes_read()))
    }

    /// The name of a slot, if names are recorded, and whether another name collides with it.
    fn name(&self, py: Python<'_>, slot: u32) -> PyResult<Option<(String, bool)>> {
        self.with(py, |stream| Ok(name_of(stream.names(), slot)))
    }

    /// Up to `limit` examples as row pointers, slots, values, labels, importances, base margins (none if all are 0) and
    /// tags. Values of 0 are left out unless `zeros` is set.
    #[pyo3(signature = (limit, zeros=false))]
    fn read<'py>(&self, py: Python<'py>, limit: usize, zeros: bool) -> PyResult<Arrays<'py>> {
        fetch_numpy(py);
        let arrays = self.with(py, |stream| stream.read_arrays(limit, zeros))?;
        let tags = arrays.tags.iter().map(|tag| PyBytes::new(py, tag)).collect();
        Ok((
            arrays.indptr.into_pyarray(py),
            arrays.slots.into_pyarray(py),
            arrays.values.into_pyarray(py),
            arrays.labels.into_pyarray(py),
            arrays.importances.into_pyarray(py),
            arrays.bases.into_pyarray(py),
            tags,
        ))
    }
}

impl From<core::Stream> for Stream {
    fn from(stream: core::Stream) -> Self {
        Stream { stop: stream.stop(), inner: Mutex::new(stream) }
    }
}

impl Stream {
    /// Call a function with the stream, without the GIL; an interrupt is raised.
    pub fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut core::Stream) -> core::Result<T> + Send,
    ) -> PyResult<T> {
        let done =
            py.detach(|| work(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner)));
        match PyErr::take(py) {
            Some(interrupt) => Err(interrupt),
            None => done.map_err(|error| to_python(py, error)),
        }
    }
}

/// The name of a slot in a record of names, and whether another name collides with it.
pub fn name_of(names: Option<&Names>, slot: u32) -> Option<(String, bool)> {
    let (name, collided) = (names?.get(slot)?, names?.collided(slot));
    Some((String::from_utf8_lossy(name).into_owned(), collided))
}

/// Let Python handle a signal such as Ctrl-C. Its exception is left for `with` to raise.
pub fn check_signals() -> io::Result<()> {
    Python::attach(|py| {
        py.check_signals().map_err(|interrupt| {
            interrupt.restore(py);
            io::Error::other("interrupted")
        })
    })
}

/// What the core calls while it waits for bytes.
pub fn on_interrupt() -> core::OnInterrupt {
    Arc::new(check_signals)
}

/// The requested number of threads, or the number of cores.
fn checked_threads(py: Python<'_>, threads: Option<usize>) -> PyResult<usize> {
    match threads {
        Some(0) => Err(to_python(py, InputError::argument("threads", 0, "1 or more").into())),
        Some(threads) => Ok(threads),
        None => Ok(thread::available_parallelism().map_or(1, usize::from)),
    }
}

/// How tables are written. The delimiter is one ASCII character.
pub fn dialect(py: Python<'_>, delimiter: &str, header: bool) -> PyResult<Dialect> {
    match delimiter.as_bytes() {
        &[delimiter] => {
            let dialect = Dialect { delimiter, header };
            dialect.check().map(|()| dialect).map_err(|error| to_python(py, error))
        }
        _ => {
            let sentence = format!(
                "the delimiter of a table must be one ASCII character, found '{}'",
                delimiter.escape_default()
            );
            Err(to_python(py, Error::Spec(sentence)))
        }
    }
}

const FORMATS: [(&str, Format); 3] =
    [("auto", Format::Auto), ("svmlight", Format::Svmlight), ("vw", Format::Vw)];
const BAD_LINES: [(&str, BadLines); 2] = [("stop", BadLines::Stop), ("skip", BadLines::Skip)];

fn choose<T: Copy>(py: Python<'_>, what: &str, word: &str, table: &[(&str, T)]) -> PyResult<T> {
    if let Some((_, choice)) = table.iter().find(|(name, _)| *name == word) {
        return Ok(*choice);
    }
    let mut words: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    words.extend((what == "format").then_some("csv"));
    let sentence = format!("{what} must be one of {}, found '{word}'", words.join(", "));
    Err(to_python(py, Error::Spec(sentence)))
}
