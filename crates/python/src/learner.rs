//! The Python class of the learner.

use std::path::PathBuf;

use lessregret_core::{
    self as core, Certificate, Classes, Explanation, Header, InputError, Interval, LaneSummary,
    LaneTally, Norms, SlotSummary, Spec, StackSummary, Tally,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::to_python;
use crate::examples::{Given, Outcomes, Request};
use crate::json::json;
use crate::stream::{Stream, name_of};

type TallyParts = (u64, u64, f64, f64, f64, f64, f64, f64, Option<f64>);
type Lane = (Option<f64>, f64, f64, f64, f64, Option<f64>, f64, Option<f64>);
type Stack = (f64, f64, f64);
type SummaryParts = (
    Option<f64>,
    Option<f64>,
    Option<f64>,
    u64,
    Option<f64>,
    Vec<Lane>,
    Option<Stack>,
    Option<CertificateParts>,
);
type ThreeNorms = (f64, f64, f64);
type CertificateParts = (f64, ThreeNorms, ThreeNorms, f64, f64);
type FeatureParts = (u32, f32, f32, f64);
type ExplanationParts<'py> = (f64, f32, Bound<'py, PyBytes>, Vec<FeatureParts>, Option<f64>, f64);
type Sums<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);
type Weights<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>);

/// A copy of the sums of a learner's certificate.
#[pyclass(frozen, module = "lessregret._core")]
pub struct SumsMark(core::SumsMark);

/// A learner with float32 slots.
#[pyclass(module = "lessregret._core")]
pub struct Learner(core::Learner);

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
        let intervals = match (&low, &high) {
            (Some(low), Some(high)) => Some(zip_ends(low.as_slice()?, high.as_slice()?)),
            _ => None,
        };
        let learner = Spec::parse(spec).and_then(|spec| core::Learner::new(spec, intervals));
        learner.map(Learner).map_err(|error| to_python(py, error))
    }

    /// Read a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let loaded = py.detach(|| core::Learner::load(&path));
        loaded.map(Learner).map_err(|error| to_python(py, error))
    }

    /// Read a model from the bytes that `to_bytes` returned.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, content: &[u8]) -> PyResult<Self> {
        core::Learner::from_bytes(content).map(Learner).map_err(|error| to_python(py, error))
    }

    /// Write a model file atomically. A slim file holds only the weights.
    #[pyo3(signature = (path, slim=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, slim: bool) -> PyResult<()> {
        py.detach(|| self.0.save(&path, slim)).map_err(|error| to_python(py, error))
    }

    /// The model file as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.to_bytes().map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Set the names of the two classes, which the model file keeps.
    fn name_classes(&mut self, negative: Option<String>, positive: String) {
        self.0.name_classes(Classes { negative, positive });
    }

    /// Set the names of many classes, which the model file keeps. The code of a class is the place of its name.
    fn name_many_classes(&mut self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        self.0.name_many_classes(names).map_err(|error| to_python(py, error))
    }

    /// Give classes their places.
    fn add_classes(&mut self, py: Python<'_>, codes: Vec<i32>) -> PyResult<()> {
        self.0.add_classes(&codes).map_err(|error| to_python(py, error))
    }

    /// The codes of the classes, in the order of their margins. None unless there may be more than two.
    fn classes(&self) -> Option<Vec<i32>> {
        self.0.model().classes().map(<[i32]>::to_vec)
    }

    /// The spec as JSON.
    #[getter]
    fn spec(&self) -> String {
        json(self.0.spec())
    }

    /// The feature space as JSON.
    #[getter]
    fn space(&self) -> String {
        json(self.0.space())
    }

    /// The number of bad lines skipped in all streams learned from.
    #[getter]
    fn skipped(&self) -> u64 {
        self.0.skipped()
    }

    /// A hint of the number of features to come, for choosing the kind of memory.
    fn expect(&mut self, features: u64) {
        self.0.expect(features);
    }

    /// Play and absorb the examples of a source; returns their outcomes, computed before they were learned.
    #[pyo3(signature = (source, limit=None, order=None))]
    fn learn<'py>(
        &mut self,
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

    /// Explain the examples of a source: for each the margin, the label, the tag, the features as (slot, value,
    /// scaled value, part), the mean label if labels are standardised, and what clipping added.
    #[pyo3(signature = (source, limit=None, order=None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        source: Given<'py>,
        limit: Option<usize>,
        order: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<Vec<ExplanationParts<'py>>> {
        let request = Request { given: source, limit, order };
        let found = request.with(py, |source| self.0.explain(source))?;
        let (outcomes, all) = (found.outcomes, found.explanations.into_iter().enumerate());
        let parts = |(k, one): (usize, Explanation)| {
            let features = one.features.into_iter().map(Into::into).collect();
            let (margin, tag) = (outcomes.margins[k], PyBytes::new(py, outcomes.tag(k)));
            (margin, outcomes.labels[k], tag, features, one.mean_label, one.clipping)
        };
        Ok(all.map(parts).collect())
    }

    /// The sums over the rounds: rounds, features, importance, loss, mistakes, played, energy, penalty and, if
    /// labels are standardised, their loss.
    fn tally(&self) -> TallyParts {
        let Tally { rounds, features, importance, loss, mistakes, played, energy, .. } =
            *self.0.model().tally();
        let Tally { penalty, standardised_loss, .. } = *self.0.model().tally();
        let own = self.0.space().standardises_labels().then_some(standardised_loss);
        (rounds, features, importance, loss, mistakes, played, energy, penalty, own)
    }

    /// The regret terms from the slots: spread, floor, theorem, touched, mixing cost, lanes, stack and certificate.
    fn summary(&self, py: Python<'_>) -> SummaryParts {
        let SlotSummary { spread, floor, theorem, certificate, touched, mixing_cost, lanes, stack } =
            py.detach(|| self.0.summary());
        let lanes = lanes.into_iter().map(|LaneSummary { rate, share, tally, spread }| {
            let LaneTally { loss, played, energy, penalty, standardised_loss } = tally;
            let own = self.0.space().standardises_labels().then_some(standardised_loss);
            (rate, share, loss, played, energy, spread, penalty, own)
        });
        let of_stack = |StackSummary { share, tally }| (share, tally.loss, tally.penalty);
        let (lanes, stack) = (lanes.collect(), stack.map(of_stack));
        (spread, floor, theorem, touched, mixing_cost, lanes, stack, certificate.map(parts))
    }

    /// The certificate of the rounds since a mark: its offset, the norms of the gradient sums and of the weights,
    /// the sum and the weight of the intercept. None unless the sums are kept.
    fn certificate(&self, py: Python<'_>, since: &SumsMark) -> Option<CertificateParts> {
        py.detach(|| self.0.certificate(&since.0)).map(parts)
    }

    /// A copy of the sums of the certificate, to certify the rounds after it.
    fn mark_sums(&self, py: Python<'_>) -> Option<SumsMark> {
        py.detach(|| self.0.model().mark_sums()).map(SumsMark)
    }

    /// The touched slots and their gradient sums. None unless the sums are kept.
    fn gradient_sums<'py>(&self, py: Python<'py>) -> Option<Sums<'py>> {
        let (slots, sums) = self.0.gradient_sums()?;
        Some((slots.into_pyarray(py), sums.into_pyarray(py)))
    }

    /// The touched slots of features, those followed by another one, and the slots with a name and with several.
    fn fill(&self, py: Python<'_>) -> (usize, usize, Option<(usize, usize)>) {
        let (touched, adjacent) = py.detach(|| self.0.table_fill());
        (touched, adjacent, self.0.names().map(|names| (names.len(), names.collisions())))
    }

    /// The touched slots and their weights.
    fn weights<'py>(&self, py: Python<'py>) -> Weights<'py> {
        let (slots, weights) = self.0.touched_weights();
        (slots.into_pyarray(py), weights.into_pyarray(py))
    }

    /// The weights that all slots of features would play.
    fn dense_weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let weights = self.0.dense_weights().map_err(|error| to_python(py, error))?;
        Ok(weights.into_pyarray(py))
    }

    /// The weight that one slot would play.
    fn weight(&self, py: Python<'_>, slot: usize) -> PyResult<f32> {
        let slots = self.0.space().slots();
        if slot < slots {
            return Ok(self.0.model().weight(slot));
        }
        let expected = format!("a slot below {slots}");
        Err(to_python(py, InputError::argument("slot", slot, expected).into()))
    }

    /// The weights that one slot would play, one for each of many classes.
    fn class_weights<'py>(
        &self,
        py: Python<'py>,
        slot: usize,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let weights = self.0.class_weights(slot).map_err(|error| to_python(py, error))?;
        Ok(weights.into_pyarray(py))
    }

    /// Add the names that a stream recorded to those already kept.
    fn keep_names(&mut self, py: Python<'_>, stream: &Stream) -> PyResult<()> {
        stream.with(py, |stream| self.0.keep_names(stream))
    }

    /// The name of a slot, if names were kept, and whether another name collides with it.
    fn name(&self, slot: u32) -> Option<(String, bool)> {
        name_of(self.0.names(), slot)
    }
}

fn parts(certificate: Certificate) -> CertificateParts {
    let norms = |Norms { l1, l2, max }: Norms| (l1, l2, max);
    let Certificate { offset, sums, weights, intercept_sum, intercept_weight } = certificate;
    (offset, norms(sums), norms(weights), intercept_sum, intercept_weight)
}

/// Let many learners learn from the same examples; returns the number of examples.
#[pyfunction]
#[pyo3(signature = (learners, source, limit=None, order=None))]
pub fn learn_many<'py>(
    py: Python<'py>,
    mut learners: Vec<PyRefMut<'py, Learner>>,
    source: Given<'py>,
    limit: Option<usize>,
    order: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<usize> {
    let mut cores: Vec<_> = learners.iter_mut().map(|learner| &mut learner.0).collect();
    Request { given: source, limit, order }.with(py, |source| core::learn_many(&mut cores, source))
}

/// The metadata of a model file as JSON, read without its slots.
#[pyfunction]
pub fn read_model_header(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let header: Header = core::read_header(&path).map_err(|error| to_python(py, error))?;
    Ok(json(&header))
}

fn zip_ends(low: &[f32], high: &[f32]) -> Vec<Interval> {
    low.iter().zip(high).map(|(&low, &high)| Interval { low, high }).collect()
}
