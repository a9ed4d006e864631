//! The traits of a model: it learns, it predicts, it can be inspected.

use std::sync::Arc;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::example::Scales;
use crate::example::{Chunk, Example, Ordered, SlotLookup};
use crate::learn::certificate::{Certificate, SumsMark};
use crate::learn::explain::Explanation;
use crate::learn::frame::union;
use crate::learn::late::{Kept, cannot_learn_late};
use crate::learn::merging::MergeOrder;
use crate::learn::slim::SlimModel;
use crate::learn::tally::{SlotSummary, Tally};
use crate::rule::Interval;

/// Reads ahead for the time of one block. Says no, at once, if there is nothing to read now.
pub type ReadAhead = Box<dyn FnMut() -> bool + Send>;

/// A source of chunks.
pub trait Chunks {
    /// Replace the examples of a chunk by the next ones. Says whether there are any.
    fn fill(&mut self, chunk: &mut Chunk) -> bool;
    /// Note that a chunk was learned.
    fn learned(&mut self, chunk: &Chunk);
    /// Whether [`Chunks::fill`] would return at once.
    fn is_ready(&self) -> bool {
        true
    }
    /// Read ahead on this thread, as [`ReadAhead`] does.
    fn read_ahead(&mut self) -> bool {
        false
    }
    /// Reading ahead as work for another thread, if it is possible.
    fn assistant(&self) -> Option<ReadAhead> {
        None
    }
}

/// A model that learns. Called once per chunk, never per feature.
pub trait Learn {
    /// Play and absorb every example. Appends the margins, each computed before its example was learned. Those of many
    /// classes stand together for each example; where classes were met, the margins before get place for them.
    fn learn(&mut self, examples: Ordered<'_>, margins: &mut Vec<f64>) -> Result<()>;
    /// Learn from one chunk after another; may use one more thread. The result is bit-identical to that of
    /// [`Learn::learn`]. After an error the examples before it are learned, and none of the chunks after it.
    fn learn_chunks(&mut self, chunks: &mut dyn Chunks, margins: &mut Vec<f64>) -> Result<()> {
        let mut chunk = Chunk::default();
        while chunks.fill(&mut chunk) {
            self.learn((&chunk).into(), margins)?;
            chunks.learned(&chunk);
        }
        Ok(())
    }
    /// Whether [`Learn::learn_chunks`] is faster than one call of [`Learn::learn`] after another.
    fn gains_from_helper(&self) -> bool {
        false
    }
    /// Absorb examples that were played before, each as [`Predict::play_late`] kept it, at the margin that was played.
    fn learn_late(&mut self, _examples: Ordered<'_>, _played: &[Kept]) -> Result<()> {
        Err(cannot_learn_late())
    }
    /// A hint of the number of features to come, for choosing the kind of memory.
    fn expect(&mut self, features: u64);
    /// The index in which readers may look up the slots of examples before they are learned, if there is one.
    fn index(&self) -> Option<Arc<dyn SlotLookup>> {
        None
    }
    /// Give classes their places. They count from the next round on if classes are declared, and from their first
    /// example on if classes are found as they come.
    fn add_classes(&mut self, _codes: &[i32]) -> Result<()> {
        Err(Error::Spec("this learner has two classes or learns numbers, and gets no other".into()))
    }
    /// Get memory for these slots, before they are restored.
    fn make_room(&mut self, _slots: &[u32]) -> Result<()> {
        Ok(())
    }
    /// Restore what [`Inspect::shared`] and [`Inspect::tally`] returned.
    fn restore(&mut self, shared: Value, tally: Tally) -> std::result::Result<(), String>;
    /// The scales of the features, mutable, to be restored.
    fn scales_mut(&mut self) -> &mut Scales;
    /// Restore what [`Inspect::copy_field`] returned for these slots.
    fn restore_field(&mut self, field: usize, slots: &[u32], floats: &[f32]);
    /// Restore what [`Inspect::copy_gradient_sums`] returned for these slots.
    fn restore_gradient_sums(&mut self, slots: &[u32], sums: &[f64]);
}

/// A model that predicts. Called once per chunk, never per feature.
pub trait Predict: Send + Sync {
    /// Append the margins of the examples and learn nothing.
    fn predict(&self, examples: Ordered<'_>, margins: &mut Vec<f64>);
    /// Play an example, and keep what learning from it will need when its label comes late.
    fn play_late(&self, _example: &Example<'_>) -> Result<Kept> {
        Err(cannot_learn_late())
    }
    /// The parts of the prediction of one example, which add up to its margin.
    fn explain(&self, example: &Example<'_>) -> Explanation;
}

/// Read access to a model, for ledgers, model files and lists of weights.
pub trait Inspect: Merge + Send + Sync {
    /// The number of slots.
    fn slots(&self) -> usize;
    /// The weight that a slot would play, per unit of the raw value. That of the intercept includes the
    /// constants that scaling moves out of the other features.
    fn weight(&self, slot: usize) -> f32 {
        let weight = |slot: usize| self.scaled_weight(slot);
        self.scales().unscaled(slot, &weight, self.has_unit_values())
    }
    /// The codes of the classes, in the order of their margins; `None` unless there may be more than two.
    fn classes(&self) -> Option<&[i32]> {
        None
    }
    /// The number of margins of an example, and of weights and gradient sums of a slot.
    fn width(&self) -> usize {
        1
    }
    /// The weight that a slot would play for one of many classes, per unit of the raw value.
    fn class_weight(&self, slot: usize, _class: usize) -> f32 {
        self.weight(slot)
    }
    /// The weight that a slot would play, per unit of the scaled value.
    fn scaled_weight(&self, slot: usize) -> f32;
    /// The scales of the features.
    fn scales(&self) -> &Scales;
    /// Whether the weights are those of unit values.
    fn has_unit_values(&self) -> bool {
        false
    }
    /// Whether the model learns from predictions whose labels come late.
    fn learns_late(&self) -> bool {
        false
    }
    /// The sums over the rounds so far.
    fn tally(&self) -> &Tally;
    /// The parts of the regret bound that are computed from the slots. Loops over all of them.
    fn summary(&self, intercept: Option<u32>) -> SlotSummary;
    /// The certificate of the rounds since a mark, if the gradient sums are kept, with the intercept in this slot.
    fn certificate(&self, intercept: Option<u32>, since: &SumsMark) -> Option<Certificate>;
    /// A copy of the sums of the certificate, if they are kept.
    fn mark_sums(&self) -> Option<SumsMark>;
    /// Σ importance · loss in the game that the regret is of.
    fn game_loss(&self) -> f64 {
        let tally = self.tally();
        if self.scales().labels().is_some() { tally.standardised_loss } else { tally.loss }
    }
    /// The names of the floats in a slot.
    fn fields(&self) -> &'static [&'static str];
    /// The slots that are not in their initial state, ascending.
    fn touched(&self) -> Vec<u32>;
    /// The slots whose weight is not 0, ascending.
    fn weighted(&self) -> Vec<u32>;
    /// The slots that a prediction depends on, ascending.
    fn needed(&self) -> Vec<u32> {
        union(self.weighted(), self.scales().needed_slots())
    }
    /// The number of lanes of each slot.
    fn lanes(&self) -> usize {
        1
    }
    /// Append the weights that these slots would play, per unit of the scaled value.
    fn copy_weights(&self, slots: &[u32], weights: &mut Vec<f32>);
    /// Append one field of these slots: slot by slot, and lane by lane within a slot.
    fn copy_field(&self, field: usize, slots: &[u32], floats: &mut Vec<f32>);
    /// Append the gradient sums of these slots, in the order of [`Inspect::copy_field`]. Appends nothing if
    /// they are not kept.
    fn copy_gradient_sums(&self, slots: &[u32], sums: &mut Vec<f64>);
    /// The intervals, if each slot has its own.
    fn intervals(&self) -> Option<&[Interval]>;
    /// The state that coupled coordinates share, for the model file.
    fn shared(&self) -> Value;
}

/// How shards that went on from a learner become one with it. A learner that cannot be merged says so.
pub trait Merge {
    /// The shared state of the merged learner.
    fn merge_shared(&self, _shards: &[&dyn Inspect], _order: &MergeOrder<'_>) -> Result<Value> {
        Err(Error::Merge("this kind of learner cannot be merged yet".into()))
    }
    /// The fields of these slots of the merged learner, which has this shared state, each as
    /// [`Inspect::copy_field`] would append it.
    fn merge_slots(
        &self,
        _shards: &[&dyn Inspect],
        _slots: &[u32],
        _shared: &Value,
        _order: &MergeOrder<'_>,
    ) -> Result<Vec<Vec<f32>>> {
        Err(Error::Merge("this kind of learner cannot be merged yet".into()))
    }
}

/// A learner: it learns, predicts and can be inspected.
pub trait Model: Learn + Predict + Inspect {}

impl<M: Learn + Predict + Inspect> Model for M {}

/// The content of a model file: a learner, or a slim model that only predicts.
pub enum AnyModel {
    /// A learner.
    Learner(Box<dyn Model>),
    /// A slim model: weights only.
    Slim(SlimModel),
}

impl AnyModel {
    /// The learner; an error for a slim model.
    pub fn learner(&mut self) -> Result<&mut dyn Model> {
        match self {
            AnyModel::Learner(learner) => Ok(&mut **learner),
            AnyModel::Slim(_) => Err(Error::Spec(DOES_NOT_LEARN.into())),
        }
    }

    /// The model as [`Predict`].
    pub fn predictor(&self) -> &dyn Predict {
        match self {
            AnyModel::Learner(learner) => &**learner,
            AnyModel::Slim(weights) => weights,
        }
    }

    /// The model as [`Inspect`].
    pub fn inspected(&self) -> &dyn Inspect {
        match self {
            AnyModel::Learner(learner) => &**learner,
            AnyModel::Slim(weights) => weights,
        }
    }

    /// Whether this is a slim model.
    pub fn is_slim(&self) -> bool {
        matches!(self, AnyModel::Slim(_))
    }

    /// The index in which readers may look up the slots of examples before they are learned, if there is one.
    pub fn index(&self) -> Option<Arc<dyn SlotLookup>> {
        match self {
            AnyModel::Learner(learner) => learner.index(),
            AnyModel::Slim(_) => None,
        }
    }
}

const DOES_NOT_LEARN: &str =
    "a slim model predicts and does not learn; go on from the model it was made of";
