//! The core's errors as the exceptions of `lessregret.errors`.

use lessregret_core::{Error, InputError};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

/// The exception for an error of the core.
pub fn to_python(py: Python<'_>, error: Error) -> PyErr {
    let exception = match error {
        Error::Input(InputError { file, line, column, found, expected }) => {
            make(py, "InputError", (file, line, column, found, expected))
        }
        Error::Spec(sentence) => make(py, "SpecError", (sentence,)),
        Error::Merge(sentence) => make(py, "MergeError", (sentence,)),
        Error::Memory(sentence) => make(py, "OutOfMemoryError", (sentence,)),
        Error::ModelFile { file, reason } => make(py, "ModelFileError", (file, reason)),
        Error::Diverged { round, slot, what } => make(py, "DivergedError", (round, slot, what)),
    };
    exception.unwrap_or_else(|failure| failure)
}

fn make<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyResult<PyErr> {
    let class = py.import("lessregret.errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call1(arguments)?))
}
