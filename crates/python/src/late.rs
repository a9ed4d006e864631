//! Predictions whose labels come late, as bytes.

use lessregret_core::{self as core, Kept, SharedLearner};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::errors::to_python;
use crate::examples::{Examples, Outcomes};

/// A margin, and what is kept until the label comes.
pub type Play<'py> = (f64, Bound<'py, PyBytes>);

/// What was kept of all plays.
pub type Plays = Vec<PyBackedBytes>;

/// Predict examples.
pub fn play<'py>(
    py: Python<'py>,
    learner: &SharedLearner,
    examples: &Examples,
) -> PyResult<Vec<Play<'py>>> {
    let kept = py.detach(|| learner.play_late(examples.core()));
    let kept = kept.map_err(|error| to_python(py, error))?;
    Ok(kept.iter().map(|kept| (kept.margin, PyBytes::new(py, &kept.to_bytes()))).collect())
}

/// Absorb examples that were predicted before.
pub fn learn(
    py: Python<'_>,
    learner: &SharedLearner,
    examples: &Examples,
    played: &[PyBackedBytes],
) -> PyResult<Outcomes> {
    let learned = py.detach(|| {
        let kept = played.iter().map(|bytes| Kept::from_bytes(bytes));
        learner.learn_late(examples.core(), &kept.collect::<core::Result<Vec<_>>>()?)
    });
    learned.map(Outcomes).map_err(|error| to_python(py, error))
}
