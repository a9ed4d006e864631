//! Feature names to slots, for examples that come as dictionaries.

use lessregret_core::hash;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

/// The slots of named features in the default namespace, as Vowpal Wabbit would hash them.
#[pyfunction]
pub fn hash_features<'py>(
    py: Python<'py>,
    names: Vec<String>,
    bits: u32,
) -> Bound<'py, PyArray1<i64>> {
    let mask = (1u64 << bits.min(31)) - 1;
    let slot = |name: &String| (hash::feature(name.as_bytes(), 0) & mask) as i64;
    names.iter().map(slot).collect::<Vec<_>>().into_pyarray(py)
}
