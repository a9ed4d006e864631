//! Many learners on the same examples.

use lessregret_core as core;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::examples::{Given, Request};
use crate::learner::Learner;

/// Let many learners learn from the same examples; returns the number of examples.
#[pyfunction]
#[pyo3(signature = (learners, source, limit=None, order=None))]
pub fn learn_many<'py>(
    py: Python<'py>,
    learners: Vec<PyRef<'py, Learner>>,
    source: Given<'py>,
    limit: Option<usize>,
    order: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<usize> {
    let cores: Vec<_> = learners.iter().map(|learner| &learner.0).collect();
    Request { given: source, limit, order }.with(py, |source| core::learn_many(&cores, source))
}
