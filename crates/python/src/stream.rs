//! Files as streams of examples.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;

use lessregret_core::names::Names;
use lessregret_core::scale::{Scale, Scales};
use lessregret_core::stream::{self, BadLines, StreamSpec};
use lessregret_core::text::{Format, Labels};
use lessregret_core::{Chunk, Error};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::sync::OnceExt;
use pyo3::types::PyBytes;

use crate::errors::{argument, to_python};

/// Examples read from files, one after another.
#[pyclass(module = "lessregret._core")]
pub struct Stream {
    // Python may hold the object in many threads; a reader of bytes is not made for that.
    inner: Mutex<Scaled>,
}

/// A stream, and what its values are divided by.
struct Scaled {
    stream: stream::Stream,
    scales: Scales,
}

impl Scaled {
    fn fill(&mut self, chunk: &mut Chunk, limit: usize) -> Result<usize, Error> {
        let filled = self.stream.fill(chunk, limit)?;
        self.scales.scale_chunk(chunk)?;
        Ok(filled)
    }
}

type Arrays<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray1<f32>>,
    Vec<Bound<'py, PyBytes>>,
);

#[pymethods]
impl Stream {
    /// `labels` is 'binary', 'real' or 'ignored'; `bad_lines` is 'stop' or 'skip'; without `threads` all
    /// cores read.
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    #[new]
    #[pyo3(signature = (files, *, bits, format="auto", labels="real", bad_lines="stop", names=false, scale="none", threads=None))]
    fn new(
        py: Python<'_>,
        files: Vec<PathBuf>,
        bits: u32,
        format: &str,
        labels: &str,
        bad_lines: &str,
        names: bool,
        scale: &str,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let spec = StreamSpec {
            format: choose(py, "format", format, &FORMATS)?,
            labels: choose(py, "labels", labels, &LABELS)?,
            bad_lines: choose(py, "bad_lines", bad_lines, &BAD_LINES)?,
            bits,
            names,
        };
        let threads = checked_threads(py, threads)?;
        let stream = stream::Stream::open(files, spec).threads(threads).on_interrupt(check_signals);
        let scale = choose(py, "scale", scale, &SCALES)?;
        // One more than the features have: the intercept's.
        let slots = (1 << bits.min(31)) + 1;
        let scales = Scales::new(scale, slots).map_err(|error| to_python(py, error))?;
        Ok(Stream { inner: Mutex::new(Scaled { stream, scales }) })
    }

    /// Lines passed over so far.
    #[getter]
    fn skipped(&self) -> u64 {
        self.skipped_lines()
    }

    /// What was wrong with the first line passed over.
    #[getter]
    fn first_skipped(&self) -> Option<String> {
        self.lock().stream.first_skipped().map(ToString::to_string)
    }

    /// Bytes read from the files, compressed as they are.
    #[getter]
    fn bytes_read(&self) -> u64 {
        self.lock().stream.bytes_read()
    }

    /// Up to `limit` examples as row pointers, slots, values, labels, importances and tags.
    fn read<'py>(&self, py: Python<'py>, limit: usize) -> PyResult<Arrays<'py>> {
        fetch_numpy(py);
        let mut chunk = Chunk::new(None);
        self.fill(py, &mut chunk, limit)?;
        let mut indptr = vec![0];
        let (mut slots, mut values) = (Vec::new(), Vec::new());
        for example in chunk.examples() {
            slots.extend_from_slice(example.slots);
            values.extend_from_slice(example.values);
            indptr.push(slots.len() as i64);
        }
        let labels: Vec<f32> = chunk.examples().map(|example| example.label).collect();
        let importances: Vec<f32> = chunk.examples().map(|example| example.importance).collect();
        let tags = (0..chunk.len()).map(|k| PyBytes::new(py, chunk.tag(k))).collect();
        Ok((
            indptr.into_pyarray(py),
            slots.into_pyarray(py),
            values.into_pyarray(py),
            labels.into_pyarray(py),
            importances.into_pyarray(py),
            tags,
        ))
    }
}

impl Stream {
    /// The next examples, read without holding up other Python threads.
    pub fn fill(&self, py: Python<'_>, chunk: &mut Chunk, limit: usize) -> PyResult<usize> {
        let filled = py.detach(|| self.lock().fill(chunk, limit));
        match PyErr::take(py) {
            Some(interrupt) => Err(interrupt),
            None => filled.map_err(|error| to_python(py, error)),
        }
    }

    /// Lines passed over so far.
    pub fn skipped_lines(&self) -> u64 {
        self.lock().stream.skipped()
    }

    /// The names met so far, if they are recorded.
    pub fn names(&self) -> Option<Names> {
        self.lock().stream.names().cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Scaled> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Fetch numpy's interface, once, in a thread of its own.
///
/// The first array made would fetch it by running Python, and panic where that is interrupted;
/// Python answers signals in its main thread only.
pub fn fetch_numpy(py: Python<'_>) {
    static FETCHED: Once = Once::new();
    let fetch = || Python::attach(|py| drop(PyArray1::<f64>::from_vec(py, vec![])));
    FETCHED.call_once_py_attached(py, || {
        // Should it fail, the first array made says why.
        let _ = py.detach(|| thread::spawn(fetch).join());
    });
}

/// Let Python answer a signal, such as that of Ctrl-C; its exception is left for `fill` to find.
fn check_signals() -> io::Result<()> {
    Python::attach(|py| {
        py.check_signals().map_err(|interrupt| {
            interrupt.restore(py);
            io::Error::other("interrupted")
        })
    })
}

/// The number of threads asked for, or of all cores.
fn checked_threads(py: Python<'_>, threads: Option<usize>) -> PyResult<usize> {
    match threads {
        Some(0) => Err(argument(py, "threads".into(), "0".into(), "1 or more")),
        Some(threads) => Ok(threads),
        None => Ok(thread::available_parallelism().map_or(1, usize::from)),
    }
}

const FORMATS: [(&str, Format); 3] =
    [("auto", Format::Auto), ("svmlight", Format::Svmlight), ("vw", Format::Vw)];
const LABELS: [(&str, Labels); 3] =
    [("binary", Labels::Binary), ("real", Labels::Real), ("ignored", Labels::Ignored)];
const BAD_LINES: [(&str, BadLines); 2] = [("stop", BadLines::Stop), ("skip", BadLines::Skip)];

const SCALES: [(&str, Scale); 3] =
    [("none", Scale::None), ("cap", Scale::Cap), ("full", Scale::Full)];

fn choose<T: Copy>(py: Python<'_>, what: &str, word: &str, table: &[(&str, T)]) -> PyResult<T> {
    if let Some((_, choice)) = table.iter().find(|(name, _)| *name == word) {
        return Ok(*choice);
    }
    let words: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    let sentence = format!("{what} must be one of {}, found '{word}'", words.join(", "));
    Err(to_python(py, Error::Spec(sentence)))
}
