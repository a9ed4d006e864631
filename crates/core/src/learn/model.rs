//! What a model is to those outside: it learns, it predicts, it is inspected.

use std::sync::Arc;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::example::Scales;
use crate::example::{Ordered, SlotLookup};
use crate::learn::slim::SlimModel;
use crate::learn::tally::{SlotSummary, Tally};
use crate::rule::Interval;

/// A model that learns. Called once a chunk, never a feature.
pub trait Learn {
    /// Play and absorb every example; append the margins, each made before its example was learned.
    fn learn(&mut self, examples: Ordered<'_>, margins: &mut Vec<f64>) -> Result<()>;
    /// Be told how many features are to come, at a guess: memory is had accordingly.
    fn expect(&mut self, features: u64);
    /// What examples may be looked up in before they are learned from, where that helps.
    fn index(&self) -> Option<Arc<dyn SlotLookup>> {
        None
    }
    /// Put back what [`Inspect::shared`] and [`Inspect::tally`] gave.
    fn restore(&mut self, shared: Value, tally: Tally) -> std::result::Result<(), String>;
    /// The scales of the features, to be put back.
    fn scales_mut(&mut self) -> &mut Scales;
    /// Put back what [`Inspect::copy_field`] gave for these slots.
    fn restore_field(&mut self, field: usize, slots: &[u32], floats: &[f32]);
    /// Put back what [`Inspect::copy_gradient_sums`] gave for these slots.
    fn restore_gradient_sums(&mut self, slots: &[u32], sums: &[f64]);
}

/// A model that predicts. Called once a chunk, never a feature.
pub trait Predict: Send + Sync {
    /// Append the margins of the examples and learn nothing.
    fn predict(&self, examples: Ordered<'_>, margins: &mut Vec<f64>);
}

/// What ledgers, model files and readers of weights see of a model.
pub trait Inspect: Send + Sync {
    /// The number of slots.
    fn slots(&self) -> usize;
    /// The weight that a slot would play, per unit of the value.
    fn weight(&self, slot: usize) -> f32 {
        self.scales().unscaled(slot, self.scaled_weight(slot))
    }
    /// The weight that a slot would play, per unit of the scaled value.
    fn scaled_weight(&self, slot: usize) -> f32;
    /// The scales of the features.
    fn scales(&self) -> &Scales;
    /// The sums so far.
    fn tally(&self) -> &Tally;
    /// What the slots say about regret; walks over all of them.
    fn summary(&self) -> SlotSummary;
    /// The names of a slot's floats.
    fn fields(&self) -> &'static [&'static str];
    /// The slots that are not as they began, ascending.
    fn touched(&self) -> Vec<u32>;
    /// The slots whose weight is not 0, ascending.
    fn weighted(&self) -> Vec<u32>;
    /// How many lanes each slot has.
    fn lanes(&self) -> usize {
        1
    }
    /// Append the weights that these slots would play, per unit of the scaled value.
    fn copy_weights(&self, slots: &[u32], weights: &mut Vec<f32>);
    /// Append one field of these slots: slot by slot, and of each slot lane by lane.
    fn copy_field(&self, field: usize, slots: &[u32], floats: &mut Vec<f32>);
    /// Append the sums of the gradients of these slots, in the order of [`Inspect::copy_field`]; nothing
    /// where they are not kept.
    fn copy_gradient_sums(&self, slots: &[u32], sums: &mut Vec<f64>);
    /// The intervals, where each slot has its own.
    fn intervals(&self) -> Option<&[Interval]>;
    /// The state that coupled coordinates share, for the model file.
    fn shared(&self) -> Value;
}

/// A learner: it learns, predicts and can be inspected.
pub trait Model: Learn + Predict + Inspect {}

impl<M: Learn + Predict + Inspect> Model for M {}

/// What a model file holds: a learner, or weights that only predict.
pub enum AnyModel {
    /// A learner.
    Learner(Box<dyn Model>),
    /// The weights of a slim model.
    Slim(SlimModel),
}

impl AnyModel {
    /// The learner; an error if there are only weights.
    pub fn learner(&mut self) -> Result<&mut dyn Model> {
        match self {
            AnyModel::Learner(learner) => Ok(&mut **learner),
            AnyModel::Slim(_) => Err(Error::Spec(DOES_NOT_LEARN.into())),
        }
    }

    /// The model as one that predicts.
    pub fn predictor(&self) -> &dyn Predict {
        match self {
            AnyModel::Learner(learner) => &**learner,
            AnyModel::Slim(weights) => weights,
        }
    }

    /// The model as one that is looked at.
    pub fn inspected(&self) -> &dyn Inspect {
        match self {
            AnyModel::Learner(learner) => &**learner,
            AnyModel::Slim(weights) => weights,
        }
    }

    /// Whether there are only weights.
    pub fn is_slim(&self) -> bool {
        matches!(self, AnyModel::Slim(_))
    }

    /// What examples may be looked up in before they are learned from, where that helps.
    pub fn index(&self) -> Option<Arc<dyn SlotLookup>> {
        match self {
            AnyModel::Learner(learner) => learner.index(),
            AnyModel::Slim(_) => None,
        }
    }
}

const DOES_NOT_LEARN: &str =
    "a slim model predicts and does not learn; go on from the model it was made of";
