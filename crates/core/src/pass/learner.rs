//! The learner with its spec, its slots and the names of its features.

use std::ops::Range;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::{io, thread};

use super::outcomes::{Explained, Outcomes};
use super::source::{Checked, Source};
use crate::alloc::reserved;
use crate::error::{Error, InputError, Result};
use crate::example::{Chunk, Names, Ordered, Requirements};
use crate::learn::certificate::{Certificate, SumsMark};
use crate::learn::many;
use crate::learn::model::{AnyModel, Chunks, Inspect, ReadAhead};
use crate::learn::tally::SlotSummary;
use crate::read::rows::Rows;
use crate::read::stream::Stream;
use crate::rule::Interval;
use crate::snapshot::{self, Header, Loaded, Snapshot};
use crate::spec::{Classes, FeatureSpace, Spec};

/// The number of examples between two checks for interrupts.
const BLOCK: usize = 1 << 14;

/// A learner and the names of its features.
pub struct Learner {
    spec: Spec,
    model: AnyModel,
    names: Option<Names>,
    skipped: u64,
    chunk: Chunk,
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

    /// Play and absorb the examples; returns their outcomes, computed before they were learned.
    ///
    /// If an error stops the pass, the examples before it are learned.
    pub fn learn(&mut self, source: Source<'_>) -> Result<Outcomes> {
        // A slim model is an error before anything is read.
        self.model.learner()?;
        match source.check_learnable(&self.spec.space)? {
            Checked::Stream(stream, Some(limit)) => self.learn_block(stream, limit),
            Checked::Stream(stream, None) => self.learn_stream(stream),
            Checked::Memory(examples, order) => {
                self.learn_ordered(examples.ordered(order, self.requirements().zeros)?)
            }
            Checked::Rows(rows) => self.learn_rows(&rows),
        }
    }

    /// Predict the examples and learn nothing.
    pub fn predict(&self, source: Source<'_>) -> Result<Outcomes> {
        match source.check_readable(&self.spec.space)? {
            Checked::Stream(stream, Some(limit)) => self.predict_block(stream, limit),
            Checked::Stream(stream, None) => self.predict_stream(stream),
            Checked::Memory(examples, order) => {
                self.predict_ordered(examples.ordered(order, self.requirements().zeros)?)
            }
            Checked::Rows(rows) => self.predict_rows(&rows),
        }
    }

    /// What each feature of the examples gives to their predictions. Learns nothing.
    pub fn explain(&self, source: Source<'_>) -> Result<Explained> {
        let mut all = Explained::default();
        if self.spec.classes.is_some() {
            return Err(Error::Spec(
                "explain splits one margin, and each of many classes has its own; look at the weights of a class".into(),
            ));
        }
        match source.check_readable(&self.spec.space)? {
            Checked::Stream(stream, limit) => {
                let mut chunk = Chunk::for_requirements(self.requirements());
                while stream.fill(&mut chunk, limit.unwrap_or(BLOCK))? > 0 {
                    self.explain_ordered((&chunk).into(), &mut all);
                    stream.check_interrupt()?;
                    if limit.is_some() {
                        break;
                    }
                }
            }
            Checked::Memory(examples, order) => {
                let examples = examples.ordered(order, self.requirements().zeros)?;
                self.explain_ordered(examples, &mut all);
            }
            Checked::Rows(rows) => {
                let mut chunk = Chunk::for_requirements(self.requirements());
                rows.chunks(0..rows.len(), &mut chunk, |chunk| {
                    self.explain_ordered(chunk.into(), &mut all);
                    Ok(())
                })?;
            }
        }
        Ok(all)
    }

    fn explain_ordered(&self, examples: Ordered<'_>, all: &mut Explained) {
        let model = self.model.predictor();
        model.predict(examples, &mut all.outcomes.margins);
        all.outcomes.note(examples);
        all.explanations.extend(examples.examples().map(|example| model.explain(&example)));
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

    /// The number of bad lines skipped in all streams learned from.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Whether this is a slim model, which predicts and does not learn.
    pub fn is_slim(&self) -> bool {
        self.model.is_slim()
    }

    fn learn_stream(&mut self, stream: &mut Stream) -> Result<Outcomes> {
        every_block(stream, |stream| self.learn_block(stream, BLOCK))
    }

    /// Learn from the next examples of a stream, at most `limit`: all that are there, or a chunk of a pipe.
    ///
    /// After the first chunk an error is left to the next call, so that the outcomes before it are not lost.
    fn learn_block(&mut self, stream: &mut Stream, limit: usize) -> Result<Outcomes> {
        let mut outcomes = Outcomes::default();
        let mut left = limit - self.fill(stream, limit)?;
        loop {
            let may_help = left > 0 && stream.has_threads() && stream.goes_on();
            let learned = match self.model.learner()? {
                model if may_help && model.gains_from_helper() => {
                    self.learn_blocks(stream, std::mem::take(&mut left), &mut outcomes)
                }
                model => model.learn((&self.chunk).into(), &mut outcomes.margins).map(|()| {
                    outcomes.note_chunk(&self.chunk);
                }),
            };
            let count = outcomes.labels.len();
            outcomes.margins.truncate(count * self.model().width());
            outcomes.classes = self.model().classes().map(<[_]>::len);
            match learned {
                Err(error) if count > 0 && !stream.is_interrupted() => stream.fail(error),
                learned => learned?,
            }
            if left == 0 || !stream.goes_on() {
                return Ok(outcomes);
            }
            match self.fill(stream, left) {
                Err(error) if stream.is_interrupted() => return Err(error),
                Err(_) | Ok(0) => return Ok(outcomes),
                Ok(filled) => left -= filled,
            }
        }
    }

    /// Replace the examples of the chunk by the next ones.
    fn fill(&mut self, stream: &mut Stream, limit: usize) -> Result<usize> {
        let before = stream.skipped();
        let filled = stream.fill(&mut self.chunk, limit);
        self.skipped += stream.skipped() - before;
        filled
    }

    /// Learn from the chunk and from what follows in the stream, at most `left` more examples.
    fn learn_blocks(
        &mut self,
        stream: &mut Stream,
        left: usize,
        outcomes: &mut Outcomes,
    ) -> Result<()> {
        let Learner { model, chunk, skipped, .. } = self;
        let (mut margins, is_first) = (std::mem::take(&mut outcomes.margins), true);
        let mut blocks =
            Blocks { stream, first: chunk, is_first, left, skipped, outcomes, failed: None };
        let learned = model.learner()?.learn_chunks(&mut blocks, &mut margins);
        let failed = blocks.failed;
        outcomes.margins = margins;
        learned.and(failed.map_or(Ok(()), Err))
    }

    fn learn_ordered(&mut self, examples: Ordered<'_>) -> Result<Outcomes> {
        let mut outcomes = Outcomes::default();
        self.model.learner()?.learn(examples, &mut outcomes.margins)?;
        outcomes.note(examples);
        outcomes.classes = self.model().classes().map(<[_]>::len);
        Ok(outcomes)
    }

    fn learn_rows(&mut self, rows: &Rows<'_>) -> Result<Outcomes> {
        let mut outcomes = Outcomes::with_capacity(rows.len());
        let Learner { model, chunk, .. } = self;
        let model = model.learner()?;
        model.expect(rows.features() as u64);
        rows.chunks_ahead(chunk, |chunk| {
            model.learn(chunk.into(), &mut outcomes.margins)?;
            outcomes.note_chunk(chunk);
            Ok(())
        })?;
        outcomes.classes = self.model().classes().map(<[_]>::len);
        Ok(outcomes)
    }

    fn predict_stream(&self, stream: &mut Stream) -> Result<Outcomes> {
        every_block(stream, |stream| self.predict_block(stream, usize::MAX))
    }

    fn predict_block(&self, stream: &mut Stream, limit: usize) -> Result<Outcomes> {
        let mut chunk = Chunk::for_requirements(self.requirements());
        stream.fill(&mut chunk, limit)?;
        self.predict_ordered((&chunk).into())
    }

    fn predict_ordered(&self, examples: Ordered<'_>) -> Result<Outcomes> {
        let mut outcomes = Outcomes::default();
        self.model.predictor().predict(examples, &mut outcomes.margins);
        outcomes.note(examples);
        outcomes.classes = self.model().classes().map(<[_]>::len);
        Ok(outcomes)
    }

    /// Predict on all cores. The result does not depend on how the rows are divided.
    fn predict_rows(&self, rows: &Rows<'_>) -> Result<Outcomes> {
        thread::scope(|scope| {
            let predict = |part| scope.spawn(|| self.predict_part(rows, part));
            let workers: Vec<_> = rows.parts().into_iter().map(predict).collect();
            let mut all = Outcomes::with_capacity(rows.len());
            for worker in workers {
                let part = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
                all.append(&part?);
            }
            Ok(all)
        })
    }

    fn predict_part(&self, rows: &Rows<'_>, part: Range<usize>) -> Result<Outcomes> {
        let mut outcomes = Outcomes::with_capacity(part.len());
        let mut chunk = Chunk::for_requirements(self.requirements());
        rows.chunks(part, &mut chunk, |chunk| {
            self.model.predictor().predict(chunk.into(), &mut outcomes.margins);
            outcomes.note_chunk(chunk);
            Ok(())
        })?;
        outcomes.classes = self.model().classes().map(<[_]>::len);
        Ok(outcomes)
    }

    fn wrap(spec: Spec, model: AnyModel) -> Self {
        let requirements = Requirements { index: model.index(), ..Requirements::of(&spec.space) };
        let chunk = Chunk::for_requirements(requirements);
        Learner { spec, model, names: None, skipped: 0, chunk }
    }

    /// What the learner requires of examples, without an index.
    fn requirements(&self) -> Requirements {
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

/// Append the weight of a slot, or one for each class.
fn push_weights(model: &dyn Inspect, slot: usize, weights: &mut Vec<f32>) {
    match model.classes() {
        None => weights.push(model.weight(slot)),
        Some(classes) => {
            weights.extend((0..classes.len()).map(|class| model.class_weight(slot, class)));
        }
    }
}

/// The blocks of a stream that follow without waiting, the first of them already read.
struct Blocks<'a> {
    stream: &'a mut Stream,
    first: &'a mut Chunk,
    is_first: bool,
    /// The number of examples that may still be read.
    left: usize,
    skipped: &'a mut u64,
    outcomes: &'a mut Outcomes,
    /// Why the stream ended early.
    failed: Option<Error>,
}

impl Chunks for Blocks<'_> {
    fn fill(&mut self, chunk: &mut Chunk) -> bool {
        chunk.restart(self.first.requirements().clone());
        if std::mem::take(&mut self.is_first) {
            chunk.swap_examples(self.first);
            return true;
        }
        if self.left == 0 || !self.stream.goes_on() {
            return false;
        }
        let before = self.stream.skipped();
        let filled = self.stream.fill(chunk, self.left);
        *self.skipped += self.stream.skipped() - before;
        match filled {
            Ok(filled) => self.left -= filled,
            Err(error) => self.failed = Some(error),
        }
        !chunk.is_empty()
    }

    fn learned(&mut self, chunk: &Chunk) {
        self.outcomes.note_chunk(chunk);
    }

    fn is_ready(&self) -> bool {
        self.is_first || self.left == 0 || self.stream.is_ready()
    }

    fn read_ahead(&mut self) -> bool {
        self.stream.parse_ahead()
    }

    fn assistant(&self) -> Option<ReadAhead> {
        let mut assistant = self.stream.assistant()?;
        Some(Box::new(move || assistant.parse_block()))
    }
}

impl From<Loaded> for Learner {
    fn from(Loaded { header, model, names }: Loaded) -> Self {
        let Header { spec, skipped, .. } = header;
        Learner { names, skipped, ..Learner::wrap(spec, model) }
    }
}

/// The outcomes of all blocks that are left of a stream; an interrupt ends them between two blocks.
fn every_block(
    stream: &mut Stream,
    mut next: impl FnMut(&mut Stream) -> Result<Outcomes>,
) -> Result<Outcomes> {
    let mut all = Outcomes::default();
    loop {
        let block = next(stream)?;
        if block.is_empty() {
            return Ok(all);
        }
        all.append(&block);
        stream.check_interrupt()?;
    }
}

/// Let many learners learn from the same examples; returns the number of examples.
///
/// Examples are read once. The state of each learner is bit-identical to that of a run alone.
pub fn learn_many(learners: &mut [&mut Learner], source: Source<'_>) -> Result<usize> {
    let Some(first) = learners.first() else {
        return Ok(0);
    };
    let space = first.spec.space.clone();
    for learner in &mut *learners {
        learner.model.learner()?;
        source.check_space(&learner.spec.space)?;
    }
    let zeros = learners.iter().any(|learner| learner.requirements().zeros);
    let requirements = Requirements { intercept: space.intercept_slot(), zeros, index: None };
    let mut chunk = Chunk::for_requirements(requirements);
    match source.check_learnable(&space)? {
        Checked::Stream(stream, limit) => {
            let mut count = 0;
            while stream.fill(&mut chunk, limit.unwrap_or(usize::MAX))? > 0 {
                count += learn_chunk(learners, &chunk)?;
                stream.check_interrupt()?;
                if limit.is_some() {
                    break;
                }
            }
            Ok(count)
        }
        Checked::Memory(examples, order) => {
            let ordered = |zeros| examples.ordered(order, zeros);
            learn_all(learners, ordered(true)?, ordered(false)?)
        }
        Checked::Rows(rows) => {
            rows.chunks(0..rows.len(), &mut chunk, |chunk| {
                learn_chunk(learners, chunk).map(|_| ())
            })?;
            Ok(rows.len())
        }
    }
}

fn learn_chunk(learners: &mut [&mut Learner], chunk: &Chunk) -> Result<usize> {
    let differ = learners.iter().any(|learner| !learner.requirements().zeros);
    if !(chunk.is_any_zero() && differ) {
        return learn_all(learners, chunk.into(), chunk.into());
    }
    let mut without = chunk.clone();
    without.drop_all_zeros();
    learn_all(learners, chunk.into(), (&without).into())
}

/// Let every learner learn from the examples with zeros or without, as it requires.
fn learn_all(
    learners: &mut [&mut Learner],
    with_zeros: Ordered<'_>,
    without: Ordered<'_>,
) -> Result<usize> {
    for (zeros, examples) in [(true, with_zeros), (false, without)] {
        let own = learners.iter_mut().filter(|learner| learner.requirements().zeros == zeros);
        let models = own.map(|learner| learner.model.learner());
        many::learn_many(&mut models.collect::<Result<Vec<_>>>()?, examples)?;
    }
    Ok(without.len())
}
