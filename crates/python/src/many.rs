//! Many learners on the same examples.

use lessregret_core as core;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::examples::{Given, Request};
use crate::learner::Learner;
use crate::metrics::Metrics;

/// Let many learners learn from the same examples; returns the number of examples. `metrics` has those of each learner,
/// or none.
#[pyfunction]
#[pyo3(signature = (learners, source, limit=None, order=None, metrics=Vec::new()))]
pub fn learn_many<'py>(
    py: Python<'py>,
    learners: Vec<PyRef<'py, Learner>>,
    source: Given<'py>,
    limit: Option<usize>,
    order: Option<PyReadonlyArray1<'py, u32>>,
    metrics: Vec<PyRef<'py, Metrics>>,
) -> PyResult<usize> {
    let cores: Vec<_> = learners.iter().map(|learner| &learner.0).collect();
    let metrics: Vec<_> = metrics.iter().map(|metrics| &metrics.0).collect();
    let request = Request { given: source, limit, order };
    request.with(py, |source| core::learn_many(&cores, &metrics, source))
}
