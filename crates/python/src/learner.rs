//! The Python class of the learner.

use std::path::PathBuf;

use lessregret_core::{self as core, Classes, How, InputError, SharedLearner, Spec};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::intervals;
use crate::errors::to_python;
use crate::examples::{Examples, Given, Outcomes, Request};
use crate::explained::{ExplanationParts, explained};
use crate::json::json;
use crate::late::{self, Play, Plays};
use crate::one;
use crate::stream::{Stream, name_of};
use crate::sums::{CertificateParts, SummaryParts, TallyParts, parts, summary_parts, tally_parts};

type Sums<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);
type Weights<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>);

/// A copy of the sums of a learner's certificate.
#[pyclass(frozen, module = "lessregret._core")]
pub struct SumsMark(core::SumsMark);

/// A learner with float32 slots, which many threads may share.
///
/// Nobody waits for a lock with the GIL: whoever holds the lock may want the GIL.
#[pyclass(frozen, module = "lessregret._core")]
pub struct Learner(pub SharedLearner);

#[pymethods]
impl Learner {
    /// Build a learner. `spec` is JSON; `low` and `high` give each slot a box of its own.
    #[new]
    #[pyo3(signature = (spec, low=None, high=None))]
    fn new(
        py: Python<'_>,
        spec: &str,
        low: Option<PyReadonlyArray1<'_, f32>>,
        high: Option<PyReadonlyArray1<'_, f32>>,
    ) -> PyResult<Self> {
        let intervals = intervals(low.as_ref(), high.as_ref())?;
        let learner = Spec::parse(spec).and_then(|spec| core::Learner::new(spec, intervals));
        learner.map(Learner::from).map_err(|error| to_python(py, error))
    }

    /// Read a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let loaded = py.detach(|| core::Learner::load(&path));
        loaded.map(Learner::from).map_err(|error| to_python(py, error))
    }

    /// Read a model from the bytes that `to_bytes` returned.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, content: &[u8]) -> PyResult<Self> {
        let loaded = py.detach(|| core::Learner::from_bytes(content));
        loaded.map(Learner::from).map_err(|error| to_python(py, error))
    }

    /// Write a model file atomically. A slim file holds only the weights.
    #[pyo3(signature = (path, slim=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, slim: bool) -> PyResult<()> {
        self.examine(py, |learner| learner.save(&path, slim)).map_err(|error| to_python(py, error))
    }

    /// The model file as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.examine(py, core::Learner::to_bytes);
        let bytes = bytes.map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The learner that these shards, which went on from a start, become; so many players go on from it.
    #[staticmethod]
    fn merge(
        py: Python<'_>,
        start: PyRef<'_, Learner>,
        shards: Vec<PyRef<'_, Learner>>,
        how: &str,
        players: u32,
    ) -> PyResult<Self> {
        let all: Vec<_> = [&start].into_iter().chain(&shards).map(|learner| &learner.0).collect();
        let merged = py.detach(|| {
            let how = How::named(how)?;
            SharedLearner::examine_all(&all, |all| {
                core::Learner::merge(all[0], &all[1..], how, players)
            })
        });
        merged.map(Learner::from).map_err(|error| to_python(py, error))
    }

    /// Set the names of the two classes, which the model file keeps.
    fn name_classes(&self, py: Python<'_>, negative: Option<String>, positive: String) {
        self.change(py, |learner| learner.name_classes(Classes { negative, positive }));
    }

    /// Set the names of many classes, which the model file keeps. The code of a class is the place of its name.
    fn name_many_classes(&self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        let named = self.change(py, |learner| learner.name_many_classes(names));
        named.map_err(|error| to_python(py, error))
    }

    /// Give classes their places.
    fn add_classes(&self, py: Python<'_>, codes: Vec<i32>) -> PyResult<()> {
        let added = self.change(py, |learner| learner.add_classes(&codes));
        added.map_err(|error| to_python(py, error))
    }

    /// The codes of the classes, in the order of their margins. None unless there may be more than two.
    fn classes(&self, py: Python<'_>) -> Option<Vec<i32>> {
        self.look(py, |learner| learner.model().classes().map(<[i32]>::to_vec))
    }

    /// The spec as JSON.
    #[getter]
    fn spec(&self, py: Python<'_>) -> String {
        self.look(py, |learner| json(learner.spec()))
    }

    /// The feature space as JSON.
    #[getter]
    fn space(&self, py: Python<'_>) -> String {
        self.look(py, |learner| json(learner.space()))
    }

    /// The number of bad lines skipped in all streams learned from.
    #[getter]
    fn skipped(&self, py: Python<'_>) -> u64 {
        self.look(py, core::Learner::skipped)
    }

    /// A hint of the number of features to come, for choosing the kind of memory.
    fn expect(&self, py: Python<'_>, features: u64) {
        self.change(py, |learner| learner.expect(features));
    }

    /// Play and absorb the examples of a source; returns their outcomes, computed before they were learned.
    #[pyo3(signature = (source, limit=None, order=None))]
    fn learn<'py>(
        &self,
        py: Python<'py>,
        source: Given<'py>,
        limit: Option<usize>,
        order: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<Outcomes> {
        let request = Request { given: source, limit, order };
        request.with(py, |source| self.0.learn(source)).map(Outcomes)
    }

    /// Predict the examples of a source and learn nothing.
    #[pyo3(signature = (source, limit=None, order=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        source: Given<'py>,
        limit: Option<usize>,
        order: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<Outcomes> {
        let request = Request { given: source, limit, order };
        request.with(py, |source| self.0.predict(source)).map(Outcomes)
    }

    /// Play and absorb the example of a dict; returns its margin, computed before it was learned. None, and nothing is
    /// learned, if the dict has other than numbers and words, or the learner other than plain names.
    #[pyo3(signature = (features, label, importance=1.0))]
    fn learn_one(
        &self,
        py: Python<'_>,
        features: &Bound<'_, PyAny>,
        label: f64,
        importance: f64,
    ) -> PyResult<Option<f64>> {
        let played = one::play(py, &self.0, features, Some((label, importance)));
        played.transpose().map_err(|error| to_python(py, error))
    }

    /// The margin of the example of a dict; None where [`Learner::learn_one`] learns nothing.
    fn predict_one(&self, py: Python<'_>, features: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let played = one::play(py, &self.0, features, None);
        played.transpose().map_err(|error| to_python(py, error))
    }

    /// Whether the learner learns from predictions whose labels come late.
    #[getter]
    fn learns_late(&self, py: Python<'_>) -> bool {
        self.look(py, core::Learner::learns_late)
    }

    /// Predict examples: for each the margin, and the bytes that [`Learner::learn_late`] will need.
    fn play_late<'py>(&self, py: Python<'py>, examples: &Examples) -> PyResult<Vec<Play<'py>>> {
        late::play(py, &self.0, examples)
    }

    /// Absorb examples that were predicted before, at the margins that were played.
    fn learn_late(&self, py: Python<'_>, examples: &Examples, kept: Plays) -> PyResult<Outcomes> {
        late::learn(py, &self.0, examples, &kept)
    }

    /// Explain the examples of a source: for each the margin, the label, the tag, the features as (slot, value,
    /// scaled value, part), the base margin, the mean label if labels are standardised, and what clipping added.
    #[pyo3(signature = (source, limit=None, order=None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        source: Given<'py>,
        limit: Option<usize>,
        order: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<Vec<ExplanationParts<'py>>> {
        explained(py, &self.0, &Request { given: source, limit, order })
    }

    /// The sums over the rounds: rounds, features, importance, loss, mistakes, played, energy, penalty and, if
    /// labels are standardised, their loss.
    fn tally(&self, py: Python<'_>) -> TallyParts {
        self.look(py, tally_parts)
    }

    /// Of one moment: the tally; the regret terms from the slots, which are spread, floor, theorem, touched, mixing
    /// cost, lanes, stack and certificate; and the number of skipped lines.
    fn totals(&self, py: Python<'_>) -> (TallyParts, SummaryParts, u64) {
        self.examine(py, |learner| {
            (tally_parts(learner), summary_parts(learner), learner.skipped())
        })
    }

    /// The certificate of the rounds since a mark: its offset, the norms of the gradient sums and of the weights,
    /// the sum and the weight of the intercept. None unless the sums are kept.
    fn certificate(&self, py: Python<'_>, since: &SumsMark) -> Option<CertificateParts> {
        self.examine(py, |learner| learner.certificate(&since.0)).map(parts)
    }

    /// A copy of the sums of the certificate, to certify the rounds after it.
    fn mark_sums(&self, py: Python<'_>) -> Option<SumsMark> {
        self.examine(py, |learner| learner.model().mark_sums()).map(SumsMark)
    }

    /// The touched slots and their gradient sums. None unless the sums are kept.
    fn gradient_sums<'py>(&self, py: Python<'py>) -> Option<Sums<'py>> {
        let (slots, sums) = self.examine(py, core::Learner::gradient_sums)?;
        Some((slots.into_pyarray(py), sums.into_pyarray(py)))
    }

    /// The touched slots of features, those followed by another one, and the slots with a name and with several.
    fn fill(&self, py: Python<'_>) -> (usize, usize, Option<(usize, usize)>) {
        self.examine(py, |learner| {
            let (touched, adjacent) = learner.table_fill();
            let named = learner.names().map(|names| (names.len(), names.collisions()));
            (touched, adjacent, named)
        })
    }

    /// The touched slots and their weights.
    fn weights<'py>(&self, py: Python<'py>) -> Weights<'py> {
        let (slots, weights) = self.examine(py, core::Learner::touched_weights);
        (slots.into_pyarray(py), weights.into_pyarray(py))
    }

    /// The weights that all slots of features would play.
    fn dense_weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let weights = self.examine(py, core::Learner::dense_weights);
        Ok(weights.map_err(|error| to_python(py, error))?.into_pyarray(py))
    }

    /// The weight that one slot would play.
    fn weight(&self, py: Python<'_>, slot: usize) -> PyResult<f32> {
        let (slots, weight) = self.look(py, |learner| {
            let slots = learner.space().slots();
            (slots, (slot < slots).then(|| learner.model().weight(slot)))
        });
        weight.ok_or_else(|| {
            let expected = format!("a slot below {slots}");
            to_python(py, InputError::argument("slot", slot, expected).into())
        })
    }

    /// The weights that one slot would play, one for each of many classes.
    fn class_weights(&self, py: Python<'_>, slot: usize) -> PyResult<Vec<f32>> {
        let weights = self.look(py, |learner| learner.class_weights(slot));
        weights.map_err(|error| to_python(py, error))
    }

    /// Add the names that a stream recorded to those already kept.
    fn keep_names(&self, py: Python<'_>, stream: &Stream) -> PyResult<()> {
        stream.with(py, |stream| self.0.change(|learner| learner.keep_names(stream)))
    }

    /// The name of a slot, if names were kept, and whether another name collides with it.
    fn name(&self, py: Python<'_>, slot: u32) -> Option<(String, bool)> {
        self.look(py, |learner| name_of(learner.names(), slot))
    }
}
