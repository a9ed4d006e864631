//! Passes over examples for the best fixed point in hindsight.

use lessregret_core::{self as core, InputError, Loss};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadwriteArray1, ToPyArray};
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::examples::Examples;

/// The features that occur, numbered without gaps.
#[pyclass(module = "lessregret._core")]
pub struct Columns(core::Columns);

#[pymethods]
impl Columns {
    #[new]
    fn new(py: Python<'_>, slots: usize) -> PyResult<Self> {
        core::Columns::new(slots).map(Columns).map_err(|error| to_python(py, error))
    }

    /// Number the features that the first `count` examples, or all, have for the first time.
    #[pyo3(signature = (examples, count=None))]
    fn meet(&mut self, py: Python<'_>, examples: &Examples, count: Option<usize>) -> PyResult<()> {
        let slots = examples.core().space().slots();
        check_length(py, "slots of the examples", slots, self.0.capacity())?;
        let count = count.unwrap_or(usize::MAX);
        py.detach(|| self.0.meet(examples.core().chunk().examples().take(count)));
        Ok(())
    }

    /// The slot of each column.
    fn slots<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        self.0.slots().to_vec().into_pyarray(py)
    }

    /// Σ h over the examples in which each column is active.
    fn importances<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.importances().to_vec().into_pyarray(py)
    }

    /// The first `count` examples of importance above 0, or all, as rows over these columns, with the label and the
    /// importance of each. Nothing is merged.
    #[pyo3(signature = (examples, count=None))]
    fn rows<'py>(&self, py: Python<'py>, examples: &Examples, count: Option<usize>) -> Rows<'py> {
        let count = count.unwrap_or(usize::MAX);
        let rows = py.detach(|| self.0.rows(examples.core().chunk().examples().take(count)));
        let features = (
            rows.ends.into_pyarray(py),
            rows.columns.into_pyarray(py),
            rows.values.into_pyarray(py),
        );
        (features, rows.labels.into_pyarray(py), rows.importances.into_pyarray(py))
    }

    /// Σ h over all examples.
    #[getter]
    fn total(&self) -> f64 {
        self.0.total()
    }
}

/// Examples as rows over columns, those with the same features merged.
#[pyclass(module = "lessregret._core", frozen)]
pub struct Problem(core::Problem);

type In<'py> = PyReadonlyArray1<'py, f64>;
type Out<'py> = PyReadwriteArray1<'py, f64>;
type Array<'py, T> = Bound<'py, PyArray1<T>>;
type Rows<'py> = (Features<'py>, Array<'py, f32>, Array<'py, f32>);
type Features<'py> = (Array<'py, usize>, Array<'py, u32>, Array<'py, f32>);

#[pymethods]
impl Problem {
    /// Merge the first `count` examples, or all, for a loss that fits their labels.
    #[new]
    #[pyo3(signature = (columns, examples, loss, count=None))]
    fn new(
        py: Python<'_>,
        columns: &Columns,
        examples: &Examples,
        loss: &str,
        count: Option<usize>,
    ) -> PyResult<Self> {
        let loss = Loss::named(loss)
            .and_then(|loss| examples.core().space().check_loss(loss).map(|()| loss));
        let loss = loss.map_err(|error| to_python(py, error))?;
        let chosen = || examples.core().chunk().examples().take(count.unwrap_or(usize::MAX));
        Ok(Problem(py.detach(|| core::Problem::new(loss, &columns.0, chosen()))))
    }

    /// The number of distinct rows.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// Whether any row has a base margin.
    #[getter]
    fn has_bases(&self) -> bool {
        self.0.has_bases()
    }

    /// The rows (ends, columns, values), and the importance of the labels +1 and −1 in each.
    fn labelled<'py>(&self, py: Python<'py>) -> (Features<'py>, [Array<'py, f64>; 2]) {
        let (ends, columns, values) = self.0.features();
        let features = (ends.to_pyarray(py), columns.to_pyarray(py), values.to_pyarray(py));
        (features, self.0.classes().map(|class| class.into_pyarray(py)))
    }

    /// Add the gradient at `point` to `gradient`; returns loss, smooth loss, dual and curvatures.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        point: In<'py>,
        temperature: f64,
        mut gradient: Out<'py>,
    ) -> PyResult<(f64, f64, f64, Array<'py, f64>)> {
        let (point, gradient) = (point.as_slice()?, gradient.as_slice_mut()?);
        self.check_widths(py, [point.len(), gradient.len()])?;
        let mut curvatures = vec![0.0; self.0.rows()];
        let sums = py.detach(|| self.0.evaluate(point, temperature, gradient, &mut curvatures));
        Ok((sums.loss, sums.smooth, sums.dual, curvatures.into_pyarray(py)))
    }

    /// Add the diagonal of the Hessian with these curvatures to `diagonal`.
    fn diagonal(&self, py: Python<'_>, curvatures: In<'_>, mut diagonal: Out<'_>) -> PyResult<()> {
        let (curvatures, diagonal) = (curvatures.as_slice()?, diagonal.as_slice_mut()?);
        check_length(py, "curvatures", curvatures.len(), self.0.rows())?;
        self.check_widths(py, [diagonal.len()])?;
        py.detach(|| self.0.diagonal(curvatures, diagonal));
        Ok(())
    }

    /// Add the Hessian with these curvatures times `direction` to `product`.
    fn times<'py>(
        &self,
        py: Python<'py>,
        curvatures: In<'py>,
        direction: In<'py>,
        mut product: Out<'py>,
    ) -> PyResult<()> {
        let (curvatures, direction) = (curvatures.as_slice()?, direction.as_slice()?);
        let product = product.as_slice_mut()?;
        check_length(py, "curvatures", curvatures.len(), self.0.rows())?;
        self.check_widths(py, [direction.len(), product.len()])?;
        py.detach(|| self.0.times(curvatures, direction, product));
        Ok(())
    }
}

impl Problem {
    fn check_widths<const N: usize>(&self, py: Python<'_>, found: [usize; N]) -> PyResult<()> {
        found.into_iter().try_for_each(|found| check_length(py, "entries", found, self.0.width()))
    }
}

fn check_length(py: Python<'_>, what: &str, found: usize, expected: usize) -> PyResult<()> {
    if found == expected {
        return Ok(());
    }
    Err(to_python(py, InputError::argument(what, found, expected.to_string()).into()))
}
