//! The bytes of files that Python opened, such as those of `lzma.open`.
//!
//! The GIL is taken only while bytes are read, by whichever thread needs them. At the exit of the interpreter no thread may
//! be inside Python, so an exit hook waits for reads that are under way, and later ones fail.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lessregret_core::{InputError, Waiting};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::to_python;

/// The most bytes to ask Python for at a time. Fewer calls for more would only hold the GIL longer.
const MOST: usize = 256 << 10;
/// The longest that the exit waits for a read; one from a pipe may never end.
const PATIENCE: Duration = Duration::from_secs(1);

static EXITING: AtomicBool = AtomicBool::new(false);
static READING: AtomicUsize = AtomicUsize::new(0);

/// A file given by its name, or as an object with `read`.
#[derive(FromPyObject)]
pub enum GivenFile {
    /// The name.
    Named(PathBuf),
    /// The object.
    Object(Py<PyAny>),
}

impl GivenFile {
    /// The file, to be opened when its turn comes. A named one may be followed.
    pub fn waiting(self, py: Python<'_>, follow: bool) -> PyResult<Waiting> {
        match self {
            GivenFile::Named(name) if follow => Ok(Waiting::Followed(name)),
            GivenFile::Named(name) => Ok(Waiting::Named(name)),
            GivenFile::Object(object) => {
                let (name, reader) = reader(py, object)?;
                Ok(Waiting::Given(name, reader))
            }
        }
    }
}

/// A reader of a Python file, and its name for messages.
pub fn reader(py: Python<'_>, object: Py<PyAny>) -> PyResult<(String, Box<dyn Read + Send>)> {
    let file = object.bind(py);
    if !file.hasattr("read")? {
        let found = file.get_type().name()?.to_string();
        let expected = "the name of a file, or an object with read";
        return Err(to_python(py, InputError::argument("files", found, expected).into()));
    }
    let name = match file.getattr("name") {
        Ok(name) => name.str()?.to_string(),
        Err(_) => "<file>".to_owned(),
    };
    wait_at_exit(py)?;
    Ok((name, Box::new(PythonFile(object))))
}

/// The bytes of a Python file.
struct PythonFile(Py<PyAny>);

impl Read for PythonFile {
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
        READING.fetch_add(1, Ordering::SeqCst);
        let outcome = match EXITING.load(Ordering::SeqCst) {
            true => Err(io::Error::other("Python is exiting")),
            false => Python::attach(|py| self.read_some(py, scratch)),
        };
        READING.fetch_sub(1, Ordering::SeqCst);
        outcome
    }
}

impl PythonFile {
    fn read_some(&self, py: Python<'_>, scratch: &mut [u8]) -> io::Result<usize> {
        let most = scratch.len().min(MOST);
        let read = self.0.call_method1(py, "read", (most,)).and_then(|bytes| {
            let bytes = bytes.bind(py).cast::<PyBytes>().map_err(|_| {
                PyTypeError::new_err("read() must return bytes; open the file in binary mode")
            })?;
            let bytes = bytes.as_bytes();
            let count = bytes.len().min(most);
            scratch[..count].copy_from_slice(&bytes[..count]);
            Ok(count)
        });
        read.map_err(|error| {
            if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                // It is raised when the call of the stream returns.
                error.restore(py);
                return io::Error::other("interrupted");
            }
            io::Error::other(error.value(py).to_string())
        })
    }
}

/// Let the exit of Python wait until no thread reads.
fn wait_at_exit(py: Python<'_>) -> PyResult<()> {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if REGISTERED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    let wait = wrap_pyfunction!(wait_for_reads, py)?;
    py.import("atexit")?.call_method1("register", (wait,)).map(|_| ())
}

#[pyfunction]
fn wait_for_reads(py: Python<'_>) {
    EXITING.store(true, Ordering::SeqCst);
    py.detach(|| {
        let start = Instant::now();
        while READING.load(Ordering::SeqCst) > 0 && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}
