//! The sources of examples for a learner.

use lessregret_core::{
    self as core, CrossedRows, Error, FeatureSpace, GroupedRows, Matrix, Source, Table,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{Floats, Indices, fetch_numpy};
use crate::errors::to_python;
use crate::json::json;
use crate::stream::Stream;

/// Bodies of fewer bytes are read with the GIL.
const SHORT: usize = 4096;

/// Examples kept in memory, to be learned from many times and by many learners.
#[pyclass(module = "lessregret._core", frozen)]
pub struct Examples(core::Examples);

#[pymethods]
impl Examples {
    /// The next `limit` examples of a stream, or all remaining ones.
    #[staticmethod]
    #[pyo3(signature = (stream, limit=None))]
    fn from_stream(py: Python<'_>, stream: &Stream, limit: Option<usize>) -> PyResult<Self> {
        stream.with(py, |stream| Source::Stream(stream, limit).collect()).map(Examples)
    }

    /// The rows of a sparse matrix.
    #[staticmethod]
    fn from_rows(py: Python<'_>, rows: &Rows) -> PyResult<Self> {
        rows.with(py, |source| source.collect().map(Examples).map_err(|error| to_python(py, error)))
    }

    fn __len__(&self) -> usize {
        self.0.chunk().len()
    }

    /// The feature space as JSON.
    #[getter]
    fn space(&self) -> String {
        json(self.0.space())
    }
}

/// Reads bodies of JSON for one feature space.
#[pyclass(module = "lessregret._core", frozen)]
pub struct JsonReader(FeatureSpace, Option<core::JsonReader>);

#[pymethods]
impl JsonReader {
    /// `space` is JSON.
    #[new]
    fn new(py: Python<'_>, space: &str) -> PyResult<Self> {
        let space = FeatureSpace::parse(space).map_err(|error| to_python(py, error))?;
        let reader = core::JsonReader::new(&space);
        Ok(JsonReader(space, reader))
    }

    /// The examples of a body, and whether there may be many. None if the body is not plain, or has more than `most`.
    fn read(
        &self,
        py: Python<'_>,
        body: &[u8],
        lines: bool,
        most: usize,
    ) -> Option<(Examples, bool)> {
        let JsonReader(space, reader) = self;
        let reader = reader.as_ref()?;
        let read = || core::Examples::of_json(space, reader, body, lines, most);
        // A short body takes less time than to let the GIL go.
        let read = if body.len() < SHORT { read() } else { py.detach(read) };
        read.map(|(examples, is_many)| (Examples(examples), is_many))
    }
}

impl Examples {
    /// The examples in the core.
    pub fn core(&self) -> &core::Examples {
        &self.0
    }
}

/// The rows of a sparse matrix, not copied. They are checked when they are used.
#[pyclass(module = "lessregret._core", frozen)]
pub struct Rows {
    space: FeatureSpace,
    arrays: [Py<PyAny>; 3],
    labels: Option<Py<PyArray1<f64>>>,
    importances: Option<Py<PyArray1<f64>>>,
    bases: Option<Py<PyArray1<f64>>>,
}

#[pymethods]
impl Rows {
    #[new]
    #[pyo3(signature = (space, indptr, indices, values, labels=None, importances=None, bases=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        space: &str,
        indptr: Py<PyAny>,
        indices: Py<PyAny>,
        values: Py<PyAny>,
        labels: Option<Py<PyArray1<f64>>>,
        importances: Option<Py<PyArray1<f64>>>,
        bases: Option<Py<PyArray1<f64>>>,
    ) -> PyResult<Self> {
        let space = FeatureSpace::parse(space).map_err(|error| to_python(py, error))?;
        Ok(Rows { space, arrays: [indptr, indices, values], labels, importances, bases })
    }

    /// The feature space as JSON.
    #[getter]
    fn space(&self) -> String {
        json(&self.space)
    }
}

impl Rows {
    /// Call a function with the rows as a source of examples.
    pub fn with<'py, T>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(Source<'_>) -> PyResult<T>,
    ) -> PyResult<T> {
        let [indptr, indices, values] = &self.arrays;
        let (indptr, indices): (Indices<'py>, Indices<'py>) =
            (indptr.bind(py).extract()?, indices.bind(py).extract()?);
        let values: Floats<'py> = values.bind(py).extract()?;
        let (indptr, indices, values) = (indptr.slice()?, indices.slice()?, values.slice()?);
        let readonly = |array: &Py<PyArray1<f64>>| array.bind(py).extract();
        type Column<'py> = Option<PyReadonlyArray1<'py, f64>>;
        let labels: Column<'py> = self.labels.as_ref().map(readonly).transpose()?;
        let importances: Column<'py> = self.importances.as_ref().map(readonly).transpose()?;
        let bases: Column<'py> = self.bases.as_ref().map(readonly).transpose()?;
        work(Source::Rows {
            matrix: Matrix { indptr, indices, values },
            labels: labels.as_ref().map(|labels| labels.as_slice()).transpose()?,
            importances: importances.as_ref().map(|given| given.as_slice()).transpose()?,
            bases: bases.as_ref().map(|given| given.as_slice()).transpose()?,
            space: self.space.clone(),
        })
    }
}

/// Any source of examples.
#[derive(FromPyObject)]
pub enum Given<'py> {
    /// A stream of files.
    Stream(PyRef<'py, Stream>),
    /// Examples in memory.
    Examples(PyRef<'py, Examples>),
    /// Rows in arrays.
    Rows(PyRef<'py, Rows>),
}

/// A source of examples, and the selection of examples from it.
pub struct Request<'py> {
    /// The source.
    pub given: Given<'py>,
    /// The most examples to read, if the source supports it.
    pub limit: Option<usize>,
    /// The order of the examples, if the source supports it.
    pub order: Option<PyReadonlyArray1<'py, u32>>,
}

impl Request<'_> {
    /// Call a function with the source, without the GIL.
    pub fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Source<'_>) -> core::Result<T> + Send,
    ) -> PyResult<T> {
        self.check(py)?;
        let limit = self.limit;
        // A copy: another thread may change the array after it was checked.
        let order =
            self.order.as_ref().map(|order| order.as_slice().map(<[u32]>::to_vec)).transpose()?;
        match &self.given {
            Given::Stream(stream) => stream.with(py, |stream| work(Source::Stream(stream, limit))),
            Given::Examples(examples) => {
                let examples = examples.core();
                py.detach(|| work(Source::Memory(examples, order.as_deref())))
                    .map_err(|error| to_python(py, error))
            }
            Given::Rows(rows) => rows.with(py, |source| {
                py.detach(|| work(source)).map_err(|error| to_python(py, error))
            }),
        }
    }

    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let refused = match (&self.given, self.limit, &self.order) {
            (Given::Examples(_) | Given::Rows(_), Some(_), _) => {
                "limit is for streams, which go on where they were left; leave it out"
            }
            (Given::Stream(_) | Given::Rows(_), _, Some(_)) => {
                "order is for examples kept in memory; leave it out, or use Examples.collect"
            }
            _ => return Ok(()),
        };
        Err(to_python(py, Error::Spec(refused.into())))
    }
}

/// The results of a pass. Arrays are created on access.
#[pyclass(module = "lessregret._core", frozen)]
pub struct Outcomes(pub core::Outcomes);

#[pymethods]
impl Outcomes {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The margins.
    #[getter]
    fn margins<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.margins.clone().into_pyarray(py)
    }

    /// The number of classes, if there may be more than two: so many margins stand together for each example.
    #[getter]
    fn classes(&self) -> Option<usize> {
        self.0.classes
    }

    /// The labels; NaN if an example has none.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        self.0.labels.clone().into_pyarray(py)
    }

    /// The importances.
    #[getter]
    fn importances<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        self.0.importances.clone().into_pyarray(py)
    }

    /// Σh, the mean label and Σh(y − mean)².
    fn label_sums(&self) -> (f64, f64, f64) {
        let core::LabelSums { importance, mean, squares } = self.0.label_sums();
        (importance, mean, squares)
    }

    /// The tags.
    #[getter]
    fn tags<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, pyo3::types::PyBytes>> {
        (0..self.0.len()).map(|k| pyo3::types::PyBytes::new(py, self.0.tag(k))).collect()
    }
}

/// The slots of named features in the default namespace, as Vowpal Wabbit would hash them.
#[pyfunction]
pub fn hash_features<'py>(
    py: Python<'py>,
    names: Vec<String>,
    bits: u32,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    Table::Bits(bits).check().map_err(|error| to_python(py, error))?;
    let slot = |name: &String| i64::from(core::hash::slot(name.as_bytes(), bits));
    Ok(names.iter().map(slot).collect::<Vec<_>>().into_pyarray(py))
}

type CsrArrays<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Check namespaces in JSON; returns them in their normal form.
#[pyfunction]
pub fn ordered_namespaces(py: Python<'_>, namespaces: &str) -> PyResult<String> {
    core::Namespaces::parse(namespaces)
        .map(|namespaces| json(&namespaces))
        .map_err(|error| to_python(py, error))
}

/// Rows of features in groups, with crosses after them. The arrays are those of [`GroupedRows`].
#[pyfunction]
pub fn cross_rows<'py>(
    py: Python<'py>,
    ends: PyReadonlyArray1<'py, i64>,
    slots: PyReadonlyArray1<'py, i64>,
    values: PyReadonlyArray1<'py, f64>,
    groups: usize,
    crosses: Vec<Vec<usize>>,
    bits: u32,
) -> PyResult<CsrArrays<'py>> {
    fetch_numpy(py);
    let (ends, slots, values) = (ends.as_slice()?, slots.as_slice()?, values.as_slice()?);
    let rows = GroupedRows { groups, ends, slots, values };
    let crossed = Table::Bits(bits).check().and_then(|()| CrossedRows::new(rows, &crosses, bits));
    let CrossedRows { indptr, slots, values } = crossed.map_err(|error| to_python(py, error))?;
    Ok((indptr.into_pyarray(py), slots.into_pyarray(py), values.into_pyarray(py)))
}
