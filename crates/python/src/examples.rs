//! Examples kept in memory, to be learned from many times and by many learners.

use lessregret_core::example::Course;
use lessregret_core::loss::Loss;
use lessregret_core::spec::Spec;
use lessregret_core::together::learn_together;
use lessregret_core::{Chunk, Error};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::{argument, to_python};
use crate::learner::Learner;
use crate::rows::{Rows, check_targets};
use crate::slices::{Floats, Indices};
use crate::stream::Stream;

/// Examples in memory, hashed and checked for one spec's table, loss and intercept.
#[pyclass(module = "lessregret._core", frozen)]
pub struct Examples {
    spec: Spec,
    chunk: Chunk,
}

#[pymethods]
impl Examples {
    /// The next `limit` examples of a stream, or all that is left.
    #[staticmethod]
    #[pyo3(signature = (spec, stream, limit=None))]
    fn from_stream(
        py: Python<'_>,
        spec: &str,
        stream: &Stream,
        limit: Option<usize>,
    ) -> PyResult<Self> {
        let mut examples = Examples::empty(py, spec)?;
        let mut block = Chunk::new(examples.spec.intercept_slot());
        let mut left = limit.unwrap_or(usize::MAX);
        while left > 0 && stream.fill(py, &mut block, left)? > 0 {
            examples.chunk.append(&block);
            left -= block.len();
            py.check_signals()?;
        }
        Ok(examples)
    }

    /// The rows of a sparse matrix.
    #[staticmethod]
    fn from_rows<'py>(
        py: Python<'py>,
        spec: &str,
        indptr: Indices<'py>,
        indices: Indices<'py>,
        values: Floats<'py>,
        labels: PyReadonlyArray1<'py, f64>,
        importances: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Self> {
        let mut examples = Examples::empty(py, spec)?;
        let rows = Rows::new(py, &indptr, &indices, &values, examples.spec.table.len())?;
        let (labels, importances) = (labels.as_slice()?, importances.as_slice()?);
        check_targets(py, examples.spec.loss, rows.len(), labels, Some(importances))?;
        let target = |row: usize| (labels[row] as f32, importances[row] as f32);
        let mut block = Chunk::new(examples.spec.intercept_slot());
        let Examples { chunk, .. } = &mut examples;
        let append = |block: &Chunk| {
            chunk.append(block);
            Ok::<(), Error>(())
        };
        rows.chunks(0..rows.len(), &mut block, target, append)
            .map_err(|error| to_python(py, error))?;
        Ok(examples)
    }

    fn __len__(&self) -> usize {
        self.chunk.len()
    }

    /// The number of slots of the learners they are for.
    #[getter]
    pub fn slots(&self) -> usize {
        self.spec.slots()
    }

    /// Let a learner learn in the order given, or as the examples stand; the margins.
    #[pyo3(signature = (learner, order=None))]
    fn teach<'py>(
        &self,
        py: Python<'py>,
        learner: &mut Learner,
        order: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.check(py, learner)?;
        let order = order.as_ref().map(|order| order.as_slice()).transpose()?;
        self.check_order(py, order)?;
        let mut margins = Vec::with_capacity(self.chunk.len());
        let model = learner.model();
        py.detach(|| model.learn(Course::new(&self.chunk, order), &mut margins))
            .map_err(|error| to_python(py, error))?;
        Ok(margins.into_pyarray(py))
    }

    /// Let many learners learn side by side.
    #[pyo3(signature = (learners, order=None))]
    fn teach_together<'py>(
        &self,
        py: Python<'py>,
        mut learners: Vec<PyRefMut<'py, Learner>>,
        order: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<()> {
        learners.iter().try_for_each(|learner| self.check(py, learner))?;
        let order = order.as_ref().map(|order| order.as_slice()).transpose()?;
        self.check_order(py, order)?;
        let mut models: Vec<_> = learners.iter_mut().map(|learner| learner.model()).collect();
        py.detach(|| learn_together(&mut models, Course::new(&self.chunk, order)))
            .map_err(|error| to_python(py, error))
    }
}

impl Examples {
    /// The examples.
    pub fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    /// The loss with this name, if the labels were checked for one of its kind.
    pub fn loss_named(&self, py: Python<'_>, name: &str) -> PyResult<Loss> {
        let loss: Loss = serde_json::from_value(name.into())
            .map_err(|_| argument(py, "loss".into(), name.into(), "logistic, hinge or squared"))?;
        if loss.is_classification() == self.spec.loss.is_classification() {
            return Ok(loss);
        }
        let sentence = format!("the examples were read with labels for another loss than {name}");
        Err(to_python(py, Error::Spec(sentence)))
    }

    fn empty(py: Python<'_>, spec: &str) -> PyResult<Self> {
        let spec = Spec::parse(spec).map_err(|error| to_python(py, error))?;
        Ok(Examples { spec, chunk: Chunk::new(None) })
    }

    fn check(&self, py: Python<'_>, learner: &Learner) -> PyResult<()> {
        check_alike(py, &self.spec, learner.spec_ref())
    }

    fn check_order(&self, py: Python<'_>, order: Option<&[u32]>) -> PyResult<()> {
        let count = self.chunk.len();
        match order.unwrap_or(&[]).iter().find(|&&place| place as usize >= count) {
            None => Ok(()),
            Some(place) => {
                let expected = format!("places below {count}");
                Err(argument(py, "order".into(), place.to_string(), &expected))
            }
        }
    }
}

/// Learners of the same examples must hash and label alike.
fn check_alike(py: Python<'_>, one: &Spec, other: &Spec) -> PyResult<()> {
    let alike = one.table == other.table
        && one.intercept == other.intercept
        && one.loss.is_classification() == other.loss.is_classification();
    if alike {
        return Ok(());
    }
    let sentence = "learners of the same examples need the same table, intercept and labels";
    Err(to_python(py, Error::Spec(sentence.into())))
}

/// Read the next examples once and let every learner learn from them; how many there were.
#[pyfunction]
pub fn learn_stream_together<'py>(
    py: Python<'py>,
    mut learners: Vec<PyRefMut<'py, Learner>>,
    stream: &Stream,
    limit: usize,
) -> PyResult<usize> {
    let Some(first) = learners.first() else {
        return Ok(0);
    };
    let mut chunk = Chunk::new(first.spec_ref().intercept_slot());
    for learner in &learners {
        check_alike(py, first.spec_ref(), learner.spec_ref())?;
    }
    let count = stream.fill(py, &mut chunk, limit)?;
    let mut models: Vec<_> = learners.iter_mut().map(|learner| learner.model()).collect();
    py.detach(|| learn_together(&mut models, (&chunk).into()))
        .map_err(|error| to_python(py, error))?;
    Ok(count)
}
