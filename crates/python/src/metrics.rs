//! The Python classes of progressive metrics.

use std::sync::{Mutex, MutexGuard, PoisonError};

use lessregret_core::{
    self as core, Area, CellParts, ClassSums, Loss, Played, PlayedClasses, Sums,
};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::to_python;
use crate::examples::Outcomes;

/// Examples, importance, loss, mistakes, predicted, the mean and the squares of the labels, squared and absolute error.
type SumsParts = (u64, f64, f64, f64, f64, f64, f64, f64, f64);
type Cells = Vec<CellParts>;
type Reduced<'py> = (Bound<'py, PyAny>, (String, SumsParts, Cells));
type Slice<'py> = (Bound<'py, PyBytes>, SumsParts);

/// The metrics of a run, and of its end.
#[pyclass(frozen, module = "lessregret._core")]
pub struct Metrics(pub Mutex<core::Metrics>);

#[pymethods]
impl Metrics {
    /// Metrics of no rounds, for predictions of a learner with this loss.
    #[new]
    fn new(py: Python<'_>, loss: &str) -> PyResult<Self> {
        let loss = Loss::named(loss).map_err(|error| to_python(py, error))?;
        Ok(Metrics(Mutex::new(core::Metrics::new(loss))))
    }

    /// The metrics that `__reduce__` took apart, without marks.
    #[staticmethod]
    fn restored(py: Python<'_>, loss: &str, sums: SumsParts, cells: Cells) -> PyResult<Self> {
        let loss = Loss::named(loss).map_err(|error| to_python(py, error))?;
        Ok(Metrics(Mutex::new(core::Metrics::restored(loss, whole(sums), &cells))))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let (loss, sums, cells) = locked(&self.0).state();
        let restored = py.get_type::<Metrics>().getattr("restored")?;
        Ok((restored, (loss.name().to_owned(), parts(sums), cells)))
    }

    /// Add the rounds of a pass.
    fn add(&self, outcomes: &Outcomes) {
        locked(&self.0).add(outcomes.0.played());
    }

    /// Add rounds from arrays of equal length: labels −1 and 1, or numbers.
    fn add_arrays(
        &self,
        margins: PyReadonlyArray1<'_, f64>,
        labels: PyReadonlyArray1<'_, f32>,
        importances: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<()> {
        let (margins, labels) = (margins.as_slice()?, labels.as_slice()?);
        locked(&self.0).add(Played { margins, labels, importances: importances.as_slice()? });
        Ok(())
    }

    /// Let the end of the run begin at the mark before this one.
    fn mark(&self) {
        locked(&self.0).mark();
    }

    /// The sums over all rounds, or over the end of the run.
    fn sums(&self, end: bool) -> SumsParts {
        parts(locked(&self.0).sums(end))
    }

    /// The AUC of all rounds, or of the end of the run, and the most by which it is wrong.
    fn area(&self, end: bool) -> Option<(f64, f64)> {
        locked(&self.0).area(end).map(|Area { auc, error }| (auc, error))
    }
}

/// Examples, importance, loss, ranks, observed, predicted, hits, and label, prediction and importance of confusions.
type ClassParts = (u64, f64, f64, Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>, Vec<(usize, usize, f64)>);

/// The metrics of a run of many classes, and of its end.
#[pyclass(frozen, module = "lessregret._core")]
pub struct ClassMetrics(Mutex<core::ClassMetrics>);

#[pymethods]
impl ClassMetrics {
    /// Metrics of no rounds, for predictions of a learner with this loss.
    #[new]
    fn new(py: Python<'_>, loss: &str) -> PyResult<Self> {
        let loss = Loss::named(loss).map_err(|error| to_python(py, error))?;
        Ok(ClassMetrics(Mutex::new(core::ClassMetrics::new(loss))))
    }

    /// Add the rounds of a pass, of classes with these codes.
    fn add(&self, outcomes: &Outcomes, codes: Vec<i32>) {
        locked(&self.0).add(outcomes.0.played_classes(&codes));
    }

    /// Add rounds from arrays: a margin for each class, and the code of a class as label.
    fn add_arrays(
        &self,
        codes: Vec<i32>,
        margins: PyReadonlyArray1<'_, f64>,
        labels: PyReadonlyArray1<'_, f32>,
        importances: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<()> {
        let (codes, margins, labels) = (&codes[..], margins.as_slice()?, labels.as_slice()?);
        let importances = importances.as_slice()?;
        locked(&self.0).add(PlayedClasses { codes, margins, labels, importances });
        Ok(())
    }

    /// Let the end of the run begin at the mark before this one.
    fn mark(&self) {
        locked(&self.0).mark();
    }

    /// The sums over all rounds, or over the end of the run.
    fn sums(&self, end: bool) -> ClassParts {
        let sums = locked(&self.0).sums(end);
        let ClassSums { examples, importance, loss, ranks, confusions, .. } = sums;
        let confusions = confusions.into_iter().map(|((label, guess), h)| (label, guess, h));
        let (ranks, confusions) = (ranks.to_vec(), confusions.collect());
        let (observed, predicted, hits) = (sums.observed, sums.predicted, sums.hits);
        (examples, importance, loss, ranks, observed, predicted, hits, confusions)
    }
}

/// The sums of the rounds with equal values of a column.
#[pyclass(frozen, module = "lessregret._core")]
pub struct Slices(Mutex<core::Slices>);

#[pymethods]
impl Slices {
    /// Slices of so many columns, for predictions of a learner with this loss.
    #[new]
    fn new(py: Python<'_>, loss: &str, columns: usize) -> PyResult<Self> {
        let loss = Loss::named(loss).map_err(|error| to_python(py, error))?;
        Ok(Slices(Mutex::new(core::Slices::new(loss, columns))))
    }

    /// Add the rounds of a pass over a stream that reads these columns.
    fn add(&self, outcomes: &Outcomes) {
        locked(&self.0).add(outcomes.0.played(), |k| outcomes.0.tag(k));
    }

    /// The values of a column with their sums, and the sums of further values.
    fn column<'py>(&self, py: Python<'py>, number: usize) -> (Vec<Slice<'py>>, SumsParts) {
        let slices = locked(&self.0);
        let (found, others) = slices.column(number);
        let told = |(value, sums)| (PyBytes::new(py, value), parts(sums));
        (found.into_iter().map(told).collect(), parts(others))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn parts(sums: Sums) -> SumsParts {
    let Sums { examples, importance, loss, mistakes, predicted, .. } = sums;
    let Sums { label_mean, label_squares, squared_error, absolute_error, .. } = sums;
    let labels = (label_mean, label_squares);
    let errors = (squared_error, absolute_error);
    (examples, importance, loss, mistakes, predicted, labels.0, labels.1, errors.0, errors.1)
}

fn whole(parts: SumsParts) -> Sums {
    let (examples, importance, loss, mistakes, predicted, .., squared_error, absolute_error) =
        parts;
    let (label_mean, label_squares) = (parts.5, parts.6);
    Sums {
        examples,
        importance,
        loss,
        mistakes,
        predicted,
        label_mean,
        label_squares,
        squared_error,
        absolute_error,
    }
}
