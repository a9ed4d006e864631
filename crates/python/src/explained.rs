//! Explanations as tuples.

use lessregret_core::{Explanation, SharedLearner};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::examples::Request;

type FeatureParts = (u32, f32, f32, f64);
/// Margin, label, tag, features, base margin, mean label and what clipping added.
pub type ExplanationParts<'py> =
    (f64, f32, Bound<'py, PyBytes>, Vec<FeatureParts>, f64, Option<f64>, f64);

/// What each feature of the examples gives to their predictions.
pub fn explained<'py>(
    py: Python<'py>,
    learner: &SharedLearner,
    request: &Request<'_>,
) -> PyResult<Vec<ExplanationParts<'py>>> {
    let found = request.with(py, |source| learner.explain(source))?;
    let (outcomes, all) = (found.outcomes, found.explanations.into_iter().enumerate());
    let parts = |(k, one): (usize, Explanation)| {
        let features = one.features.into_iter().map(Into::into).collect();
        let (margin, tag) = (outcomes.margins[k], PyBytes::new(py, outcomes.tag(k)));
        (margin, outcomes.labels[k], tag, features, one.base, one.mean_label, one.clipping)
    };
    Ok(all.map(parts).collect())
}
