//! Numpy arrays of one of two types, passed to the core as slices.

use std::sync::Once;
use std::thread;

use lessregret_core::{Interval, Slice};
use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::sync::OnceExt;

/// A numpy array of one of two types.
#[derive(FromPyObject)]
pub enum Either<'py, A: Element, B: Element> {
    /// The narrow type.
    Narrow(PyReadonlyArray1<'py, A>),
    /// The wide type.
    Wide(PyReadonlyArray1<'py, B>),
}

/// 32- or 64-bit indices.
pub type Indices<'py> = Either<'py, i32, i64>;
/// 32- or 64-bit floats.
pub type Floats<'py> = Either<'py, f32, f64>;

impl<'py, A: Element, B: Element> Either<'py, A, B> {
    /// The entries.
    pub fn slice(&self) -> PyResult<Slice<'_, A, B>> {
        Ok(match self {
            Either::Narrow(array) => Slice::Narrow(array.as_slice()?),
            Either::Wide(array) => Slice::Wide(array.as_slice()?),
        })
    }
}

/// Load numpy's C API, once, in a thread of its own.
///
/// Otherwise the first array created would load it by running Python code, and panic if that is interrupted.
/// Python handles signals in its main thread only.
pub fn fetch_numpy(py: Python<'_>) {
    static FETCHED: Once = Once::new();
    let fetch = || Python::attach(|py| drop(PyArray1::<f64>::from_vec(py, vec![])));
    FETCHED.call_once_py_attached(py, || {
        // If it fails, creating the first array reports the error.
        let _ = py.detach(|| thread::spawn(fetch).join());
    });
}

/// The intervals with these ends, if there are ends.
pub fn intervals(
    low: Option<&PyReadonlyArray1<'_, f32>>,
    high: Option<&PyReadonlyArray1<'_, f32>>,
) -> PyResult<Option<Vec<Interval>>> {
    let (Some(low), Some(high)) = (low, high) else { return Ok(None) };
    let ends = low.as_slice()?.iter().zip(high.as_slice()?);
    Ok(Some(ends.map(|(&low, &high)| Interval { low, high }).collect()))
}
