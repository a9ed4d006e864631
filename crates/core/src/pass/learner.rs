//! The learner with its spec, its slots and the names of its features.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::access::{Alone, Look};
use super::outcomes::{Explained, Outcomes};
use super::source::Source;
use super::{learning, predicting};
use crate::alloc::reserved;
use crate::error::{Error, InputError, Result};
use crate::example::{Chunk, Names, Requirements};
use crate::learn::certificate::{Certificate, SumsMark};
use crate::learn::model::{AnyModel, Inspect};
use crate::learn::tally::SlotSummary;
use crate::merge::{How, Merged, Part, merge};
use crate::read::stream::Stream;
use crate::rule::Interval;
use crate::snapshot::{self, Header, Loaded, Snapshot};
use crate::spec::{Classes, FeatureSpace, Spec};

/// A learner and the names of its features.
pub struct Learner {
    spec: Spec,
    pub(super) model: AnyModel,
    names: Option<Names>,
    pub(super) skipped: u64,
}

impl Learner {
    /// The learner of a spec, in its initial state. `intervals`, if given, has one interval for each slot.
    pub fn new(spec: Spec, intervals: Option<Vec<Interval>>) -> Result<Self> {
        let model = spec.build(intervals)?;
        Ok(Learner::wrap(spec, AnyModel::Learner(model)))
    }

    /// Read a model file.
    pub fn load(path: &Path) -> Result<Self> {
        snapshot::load(path).map(Learner::from)
    }

    /// Read a model from the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        snapshot::load_bytes(bytes, "<bytes>").map(Learner::from)
    }

    /// Write a model file atomically. A slim file holds only the weights.
    pub fn save(&self, path: &Path, slim: bool) -> Result<()> {
        if slim && self.spec.classes.is_some() {
            return Err(Error::Spec(
                "a slim file holds one weight a feature, and many classes need more; leave out slim".into(),
            ));
        }
        snapshot::save(path, self.snapshot(slim))
    }

    /// The model file as bytes.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        snapshot::to_bytes(self.snapshot(false))
    }

    /// The learner that these shards, which went on from a start, become. So many players go on from it.
    pub fn merge(start: &Learner, shards: &[&Learner], how: How, players: u32) -> Result<Learner> {
        let names: Vec<_> = (1..=shards.len()).map(|number| format!("shard {number}")).collect();
        let parts = shards.iter().zip(&names).map(|(shard, name)| shard.part(name));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let Merged { spec, model, names, skipped } =
            merge(start.part("the start")?, &parts, how, players)?;
        Ok(Learner { names, skipped, ..Learner::wrap(spec, AnyModel::Learner(model)) })
    }

    fn part<'a>(&'a self, name: &'a str) -> Result<Part<'a>> {
        if self.is_slim() {
            return Err(Error::Merge(format!(
                "{name} is a slim model, which has weights only; merge the models that slim ones were made of"
            )));
        }
        let (spec, model, names) = (&self.spec, self.model(), self.names.as_ref());
        Ok(Part { name, spec, model, names, skipped: self.skipped })
    }

    /// Play and absorb the examples; returns their outcomes, computed before they were learned.
    ///
    /// If an error stops the pass, the examples before it are learned.
    pub fn learn(&mut self, source: Source<'_>) -> Result<Outcomes> {
        learning::learn(&Alone::new(self), source)
    }

    /// Predict the examples and learn nothing.
    pub fn predict(&self, source: Source<'_>) -> Result<Outcomes> {
        predicting::predict(self, source)
    }

    /// What each feature of the examples gives to their predictions. Learns nothing.
    pub fn explain(&self, source: Source<'_>) -> Result<Explained> {
        predicting::explain(self, source)
    }

    /// Add the names that a stream recorded to those already kept.
    pub fn keep_names(&mut self, stream: &Stream) -> Result<()> {
        self.spec.space.check_readable(stream.space())?;
        if let Some(met) = stream.names() {
            self.names.get_or_insert_default().merge(met);
        }
        Ok(())
    }

    /// The names of the features, if they are kept.
    pub fn names(&self) -> Option<&Names> {
        self.names.as_ref()
    }

    /// A hint of the number of features to come, for choosing the kind of memory.
    pub fn expect(&mut self, features: u64) {
        if let AnyModel::Learner(learner) = &mut self.model {
            learner.expect(features);
        }
    }

    /// The spec of the learner.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The feature space, which examples must share.
    pub fn space(&self) -> &FeatureSpace {
        &self.spec.space
    }

    /// Set the names of the two classes in the feature space.
    pub fn name_classes(&mut self, classes: Classes) {
        let space = &mut self.spec.space;
        let mut schema = space.schema.as_deref().cloned().unwrap_or_default();
        schema.classes = Some(classes);
        space.schema = Some(Arc::new(schema));
    }

    /// Set the names of many classes: the code of a class is the place of its name.
    pub fn name_many_classes(&mut self, names: Vec<String>) -> Result<()> {
        let codes: Vec<i32> = (0..names.len() as i32).collect();
        self.model.learner()?.add_classes(&codes)?;
        let space = &mut self.spec.space;
        let mut schema = space.schema.as_deref().cloned().unwrap_or_default();
        schema.names = names;
        space.schema = Some(Arc::new(schema));
        Ok(())
    }

    /// Give classes their places, which they keep.
    pub fn add_classes(&mut self, codes: &[i32]) -> Result<()> {
        self.model.learner()?.add_classes(codes)
    }

    /// The model, for inspection.
    pub fn model(&self) -> &dyn Inspect {
        self.model.inspected()
    }

    /// The regret terms that are computed from the slots.
    pub fn summary(&self) -> SlotSummary {
        self.model().summary(self.spec.space.intercept_slot())
    }

    /// The certificate of the rounds since a mark, if the gradient sums are kept.
    pub fn certificate(&self, since: &SumsMark) -> Option<Certificate> {
        self.model().certificate(self.spec.space.intercept_slot(), since)
    }

    /// The touched slots and their gradient sums, if these are kept.
    pub fn gradient_sums(&self) -> Option<(Vec<u32>, Vec<f64>)> {
        if !self.spec.certify || self.is_slim() {
            return None;
        }
        let (touched, mut sums) = (self.model().touched(), Vec::new());
        self.model().copy_gradient_sums(&touched, &mut sums);
        Some((touched, sums))
    }

    /// How many slots of features are touched, and how many of these are followed by another touched one.
    pub fn table_fill(&self) -> (usize, usize) {
        let (mut touched, features) = (self.model().touched(), self.spec.space.table.len());
        touched.retain(|&slot| (slot as usize) < features);
        let adjacent = touched.windows(2).filter(|pair| pair[1] - pair[0] == 1).count();
        (touched.len(), adjacent)
    }

    /// The touched slots and their weights, of many classes one for each class.
    pub fn touched_weights(&self) -> (Vec<u32>, Vec<f32>) {
        let (model, touched) = (self.model(), self.model().touched());
        let mut weights = Vec::new();
        for &slot in &touched {
            push_weights(model, slot as usize, &mut weights);
        }
        (touched, weights)
    }

    /// The weights that all slots of features would play, of many classes one for each class.
    pub fn dense_weights(&self) -> Result<Vec<f32>> {
        let (model, slots) = (self.model(), self.spec.space.table.len());
        let mut weights = reserved(slots * model.width())?;
        for slot in 0..slots {
            push_weights(model, slot, &mut weights);
        }
        Ok(weights)
    }

    /// The weights that one slot would play, one for each of many classes.
    pub fn class_weights(&self, slot: usize) -> Result<Vec<f32>> {
        let (slots, model) = (self.spec.space.slots(), self.model());
        if slot >= slots {
            let expected = format!("a slot below {slots}");
            return Err(InputError::argument("slot", slot, expected).into());
        }
        Ok((0..model.width()).map(|class| model.class_weight(slot, class)).collect())
    }

    /// The number of classes, if there may be more than two.
    pub(super) fn classes(&self) -> Option<usize> {
        self.model().classes().map(<[_]>::len)
    }

    /// The number of bad lines skipped in all streams learned from.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Whether this is a slim model, which predicts and does not learn.
    pub fn is_slim(&self) -> bool {
        self.model.is_slim()
    }

    fn wrap(spec: Spec, model: AnyModel) -> Self {
        Learner { spec, model, names: None, skipped: 0 }
    }

    /// An empty chunk for examples to learn from.
    pub(super) fn chunk(&self) -> Chunk {
        let requirements = Requirements { index: self.model.index(), ..self.requirements() };
        Chunk::for_requirements(requirements)
    }

    /// What the learner requires of examples, without an index.
    pub(super) fn requirements(&self) -> Requirements {
        Requirements::of(&self.spec.space)
    }

    /// The content of a model file of this learner. A slim model stays slim.
    fn snapshot(&self, slim: bool) -> Snapshot<'_> {
        Snapshot {
            spec: &self.spec,
            model: self.model(),
            skipped: self.skipped,
            names: self.names.as_ref(),
            slim: slim || self.is_slim(),
        }
    }
}

impl Look for Learner {
    fn look<T>(&self, look: impl FnOnce(&Learner) -> T) -> T {
        look(self)
    }
}

impl From<Loaded> for Learner {
    fn from(Loaded { header, model, names }: Loaded) -> Self {
        let Header { spec, skipped, .. } = header;
        Learner { names, skipped, ..Learner::wrap(spec, model) }
    }
}

/// Append the weight of a slot, or one for each class.
fn push_weights(model: &dyn Inspect, slot: usize, weights: &mut Vec<f32>) {
    match model.classes() {
        None => weights.push(model.weight(slot)),
        Some(classes) => {
            weights.extend((0..classes.len()).map(|class| model.class_weight(slot, class)));
        }
    }
}
