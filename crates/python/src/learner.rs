//! The learner as Python sees it.

use std::ops::Range;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;

use lessregret_core::model::Model;
use lessregret_core::names::Names;
use lessregret_core::rule::Interval;
use lessregret_core::snapshot::{self, Header, Loaded, Snapshot};
use lessregret_core::spec::Spec;
use lessregret_core::tally::{LaneStanding, LaneTally, Standing, Tally};
use lessregret_core::{Chunk, Error, Wishes};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{argument, to_python};
use crate::rows::{Rows, check_targets};
use crate::slices::{Floats, Indices};
use crate::stream::{Stream, fetch_numpy};

type Floats32<'py> = Bound<'py, PyArray1<f32>>;
type Floats64<'py> = Bound<'py, PyArray1<f64>>;
type Predicted<'py> = (Floats64<'py>, Floats32<'py>, Floats32<'py>, Vec<Bound<'py, PyBytes>>);

type Lane = (f64, f64, f64, f64, f64, Option<f64>, Option<f64>, f64);
type StandingParts = (Option<f64>, Option<f64>, Option<f64>, u64, Option<f64>, Vec<Lane>);

/// A learner in float32 slots.
#[pyclass(module = "lessregret._core")]
pub struct Learner {
    spec: Spec,
    model: Box<dyn Model>,
    names: Option<Names>,
    skipped: u64,
    slim: bool,
    chunk: Chunk,
}

#[pymethods]
impl Learner {
    /// `spec` is JSON; `low` and `high` give each slot a box of its own.
    #[new]
    #[pyo3(signature = (spec, low=None, high=None))]
    fn new(
        py: Python<'_>,
        spec: &str,
        low: Option<PyReadonlyArray1<'_, f32>>,
        high: Option<PyReadonlyArray1<'_, f32>>,
    ) -> PyResult<Self> {
        let spec = Spec::parse(spec).map_err(|error| to_python(py, error))?;
        let intervals = match (&low, &high) {
            (Some(low), Some(high)) => Some(zip_ends(low.as_slice()?, high.as_slice()?)),
            _ => None,
        };
        let model = spec.build(intervals).map_err(|error| to_python(py, error))?;
        Ok(Self::wrap(spec, model))
    }

    /// Read a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let loaded = py.detach(|| snapshot::load(&path));
        loaded.map(Self::from).map_err(|error| to_python(py, error))
    }

    /// Read a model from the bytes that `to_bytes` gave.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, content: &[u8]) -> PyResult<Self> {
        let loaded = snapshot::load_bytes(content, "<bytes>");
        loaded.map(Self::from).map_err(|error| to_python(py, error))
    }

    /// Write a model file, whole or not at all; a slim one holds only the weights.
    #[pyo3(signature = (path, slim=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, slim: bool) -> PyResult<()> {
        py.detach(|| snapshot::save(&path, self.snapshot(slim)))
            .map_err(|error| to_python(py, error))
    }

    /// The model file as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = snapshot::to_bytes(self.snapshot(false));
        let bytes = bytes.map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Whether this is a slim model, which predicts and does not learn.
    #[getter]
    fn slim(&self) -> bool {
        self.slim
    }

    /// The spec as JSON.
    #[getter]
    fn spec(&self) -> String {
        json(&self.spec)
    }

    /// The number of slots, that of the intercept included.
    #[getter]
    fn slots(&self) -> usize {
        self.model.slots()
    }

    /// Lines passed over in all streams learned from.
    #[getter]
    fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Be told how many features are to come, at a guess; memory is had accordingly.
    fn expect(&mut self, features: u64) {
        self.model.expect(features);
    }

    /// Play and absorb up to `limit` examples; the margins, none after the last example.
    fn learn_stream<'py>(
        &mut self,
        py: Python<'py>,
        stream: &Stream,
        limit: usize,
    ) -> PyResult<Floats64<'py>> {
        fetch_numpy(py);
        Ok(self.learn_next(py, stream, limit)?.into_pyarray(py))
    }

    /// Learn from up to `limit` examples; how many there were. Needs no numpy, which takes longer to
    /// be imported than a small file to be learned.
    fn teach_stream(&mut self, py: Python<'_>, stream: &Stream, limit: usize) -> PyResult<usize> {
        Ok(self.learn_next(py, stream, limit)?.len())
    }

    /// As `learn_stream`, with the labels and importances of the examples beside their margins.
    fn learn_labelled<'py>(
        &mut self,
        py: Python<'py>,
        stream: &Stream,
        limit: usize,
    ) -> PyResult<(Floats64<'py>, Floats32<'py>, Floats32<'py>)> {
        let margins = self.learn_stream(py, stream, limit)?;
        let labels: Vec<f32> = self.chunk.examples().map(|example| example.label).collect();
        let importances: Vec<f32> = self.chunk.examples().map(|each| each.importance).collect();
        Ok((margins, labels.into_pyarray(py), importances.into_pyarray(py)))
    }

    /// The margins of up to `limit` examples, and their labels, importances and tags.
    fn predict_stream<'py>(
        &self,
        py: Python<'py>,
        stream: &Stream,
        limit: usize,
    ) -> PyResult<Predicted<'py>> {
        fetch_numpy(py);
        let mut chunk = Chunk::new(self.spec.intercept_slot());
        stream.fill(py, &mut chunk, limit)?;
        let mut margins = Vec::new();
        py.detach(|| self.model.predict(&chunk, &mut margins));
        let labels: Vec<f32> = chunk.examples().map(|example| example.label).collect();
        let importances: Vec<f32> = chunk.examples().map(|example| example.importance).collect();
        let tags = (0..chunk.len()).map(|k| PyBytes::new(py, chunk.tag(k))).collect();
        let (labels, importances) = (labels.into_pyarray(py), importances.into_pyarray(py));
        Ok((margins.into_pyarray(py), labels, importances, tags))
    }

    /// Play and absorb the rows of a sparse matrix; the margins.
    fn learn_rows<'py>(
        &mut self,
        py: Python<'py>,
        indptr: Indices<'py>,
        indices: Indices<'py>,
        values: Floats<'py>,
        labels: PyReadonlyArray1<'py, f64>,
        importances: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Floats64<'py>> {
        let rows = Rows::new(py, &indptr, &indices, &values, self.spec.table.len())?;
        let importances = importances.as_ref().map(|given| given.as_slice()).transpose()?;
        let labels = labels.as_slice()?;
        check_targets(py, self.spec.loss, rows.len(), labels, importances)?;
        let importance = |row: usize| importances.map_or(1.0, |given| given[row] as f32);
        let target = |row: usize| (labels[row] as f32, importance(row));
        let mut margins = Vec::with_capacity(rows.len());
        let Learner { model, chunk, .. } = self;
        model.expect(rows.features() as u64);
        py.detach(|| {
            rows.chunks_ahead(chunk, target, |chunk| model.learn(chunk.into(), &mut margins))
        })
        .map_err(|error| to_python(py, error))?;
        Ok(margins.into_pyarray(py))
    }

    /// The margins of the rows of a sparse matrix.
    fn predict_rows<'py>(
        &self,
        py: Python<'py>,
        indptr: Indices<'py>,
        indices: Indices<'py>,
        values: Floats<'py>,
    ) -> PyResult<Floats64<'py>> {
        let rows = Rows::new(py, &indptr, &indices, &values, self.spec.table.len())?;
        let margins = py.detach(|| self.predict_parts(&rows));
        Ok(margins.map_err(|error| to_python(py, error))?.into_pyarray(py))
    }

    /// The sums so far.
    fn tally<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Tally { rounds, features, importance, loss, mistakes, played, energy, penalty } =
            *self.model.tally();
        let tally = PyDict::new(py);
        tally.set_item("rounds", rounds)?;
        tally.set_item("features", features)?;
        tally.set_item("importance", importance)?;
        tally.set_item("loss", loss)?;
        tally.set_item("mistakes", mistakes)?;
        tally.set_item("played", played)?;
        tally.set_item("energy", energy)?;
        tally.set_item("penalty", penalty)?;
        Ok(tally)
    }

    /// What the slots say about regret: spread, floor, theorem, touched, mixing cost and lanes.
    fn standing(&self, py: Python<'_>) -> StandingParts {
        let Standing { spread, floor, theorem, touched, mixing_cost, lanes } =
            py.detach(|| self.model.standing());
        let lanes = lanes.into_iter().map(|LaneStanding { rate, share, tally, spread, floor }| {
            let LaneTally { loss, played, energy, penalty } = tally;
            (rate, share, loss, played, energy, spread, floor, penalty)
        });
        (spread, floor, theorem, touched, mixing_cost, lanes.collect())
    }

    /// The touched slots and their weights.
    #[allow(clippy::type_complexity)]
    fn weights<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>) {
        let touched = self.model.pages().slots().filter(|&slot| !self.model.is_untouched(slot));
        let (slots, weights): (Vec<u32>, Vec<f32>) =
            touched.map(|slot| (slot as u32, self.model.weight(slot))).unzip();
        (slots.into_pyarray(py), weights.into_pyarray(py))
    }

    /// The weights that all slots of features would play.
    fn dense_weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        let weights = (0..self.spec.table.len()).map(|slot| self.model.weight(slot));
        weights.collect::<Vec<_>>().into_pyarray(py)
    }

    /// The weight that one slot would play.
    fn weight(&self, py: Python<'_>, slot: usize) -> PyResult<f32> {
        if slot < self.model.slots() {
            return Ok(self.model.weight(slot));
        }
        let expected = format!("a slot below {}", self.model.slots());
        Err(argument(py, "slot".into(), slot.to_string(), &expected))
    }

    /// Keep the names that a stream recorded, beside those already kept.
    fn keep_names(&mut self, stream: &Stream) {
        if let Some(met) = stream.names() {
            self.names.get_or_insert_default().merge(&met);
        }
    }

    /// The name of a slot, where names were kept, and whether another name met it too.
    fn name(&self, slot: u32) -> Option<(String, bool)> {
        let names = self.names.as_ref()?;
        let name = String::from_utf8_lossy(names.get(slot)?).into_owned();
        Some((name, names.collided(slot)))
    }
}

impl Learner {
    /// The margins of all rows, predicted on all cores; they do not depend on how rows are parted.
    fn predict_parts(&self, rows: &Rows<'_>) -> Result<Vec<f64>, Error> {
        thread::scope(|scope| {
            let predict = |part| scope.spawn(|| self.predict_part(rows, part));
            let workers: Vec<_> = rows.parts().into_iter().map(predict).collect();
            let mut margins = Vec::with_capacity(rows.len());
            for worker in workers {
                let part = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
                margins.extend(part?);
            }
            Ok(margins)
        })
    }

    fn predict_part(&self, rows: &Rows<'_>, part: Range<usize>) -> Result<Vec<f64>, Error> {
        let mut margins = Vec::with_capacity(part.len());
        let mut chunk = Chunk::new(self.spec.intercept_slot());
        let take = |chunk: &Chunk| {
            self.model.predict(chunk, &mut margins);
            Ok::<(), Error>(())
        };
        rows.chunks(part, &mut chunk, |_| (f32::NAN, 1.0), take)?;
        Ok(margins)
    }

    /// Learn from up to `limit` examples of a stream; the margins.
    fn learn_next(&mut self, py: Python<'_>, stream: &Stream, limit: usize) -> PyResult<Vec<f64>> {
        let mut margins = Vec::new();
        let before = stream.skipped_lines();
        let filled = stream.fill(py, &mut self.chunk, limit);
        self.skipped += stream.skipped_lines() - before;
        filled?;
        let Learner { model, chunk, .. } = self;
        py.detach(|| model.learn((&*chunk).into(), &mut margins))
            .map_err(|error| to_python(py, error))?;
        Ok(margins)
    }

    fn wrap(spec: Spec, model: Box<dyn Model>) -> Self {
        let wishes = Wishes { intercept: spec.intercept_slot(), places: model.places() };
        let chunk = Chunk::for_wishes(wishes);
        Learner { spec, model, names: None, skipped: 0, slim: false, chunk }
    }

    /// What a model file of this learner holds; what is slim stays slim.
    fn snapshot(&self, slim: bool) -> Snapshot<'_> {
        Snapshot {
            spec: &self.spec,
            model: &*self.model,
            skipped: self.skipped,
            names: self.names.as_ref(),
            slim: slim || self.slim,
        }
    }

    /// The model, for learning beside others.
    pub fn model(&mut self) -> &mut dyn Model {
        &mut *self.model
    }

    /// The spec.
    pub fn spec_ref(&self) -> &Spec {
        &self.spec
    }
}

impl From<Loaded> for Learner {
    fn from(Loaded { header, model, names }: Loaded) -> Self {
        let Header { spec, skipped, slim, .. } = header;
        Learner { names, skipped, slim, ..Learner::wrap(spec, model) }
    }
}

/// The metadata of a model file as JSON, read without its slots.
#[pyfunction]
pub fn read_model_header(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let header: Header = snapshot::read_header(&path).map_err(|error| to_python(py, error))?;
    Ok(json(&header))
}

fn zip_ends(low: &[f32], high: &[f32]) -> Vec<Interval> {
    low.iter().zip(high).map(|(&low, &high)| Interval { low, high }).collect()
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
