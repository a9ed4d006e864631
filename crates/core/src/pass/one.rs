//! One example at a time: no thread, no array, and memory that is used again.
//!
//! ```text
//! one.start(learner)   push the features   one.finish(label)   learner.learn_one(one) or predict_one(one)
//! ```
//!
//! The bits are those of the same example in a batch. Cost: that of the round, and two uncontended locks.

use super::learner::Learner;
use super::shared::SharedLearner;
use crate::error::Result;
use crate::example::Chunk;
use crate::read::rows::Targets;

/// An example that is being written, and the memory for it.
#[derive(Default)]
pub struct One {
    chunk: Chunk,
    margins: Vec<f64>,
    /// The label and the importance, to be checked.
    target: Option<(f64, f64)>,
}

impl One {
    /// Begin an example for a learner.
    pub fn start(&mut self, learner: &SharedLearner) {
        self.chunk.restart(learner.requirements().clone());
        self.margins.clear();
    }

    /// Add a feature. A value that is not finite is an error of the caller.
    pub fn push(&mut self, slot: u32, value: f32) {
        self.chunk.push(slot, value);
    }

    /// The example is complete; without a label and an importance it can only be predicted.
    pub fn finish(&mut self, target: Option<(f64, f64)>) {
        self.target = target;
        let (label, importance) = target.unwrap_or((f64::NAN, 1.0));
        self.chunk.finish(label as f32, importance as f32, b"");
    }

    fn learn(&mut self, learner: &mut Learner) -> Result<f64> {
        let (label, importance) = self.target.unwrap_or((f64::NAN, 1.0));
        Targets::new(learner.space().labels, 1, Some(&[label]), Some(&[importance]), None)?;
        learner.model.learner()?.learn((&self.chunk).into(), &mut self.margins)?;
        Ok(self.margins[0])
    }

    fn predict(&mut self, learner: &Learner) -> f64 {
        learner.model.predictor().predict((&self.chunk).into(), &mut self.margins);
        self.margins[0]
    }
}

impl SharedLearner {
    /// Play and absorb one example; returns its margin, computed before it was learned.
    pub fn learn_one(&self, one: &mut One) -> Result<f64> {
        self.change(|learner| one.learn(learner))
    }

    /// [`SharedLearner::learn_one`], unless that would mean to wait.
    pub fn try_learn_one(&self, one: &mut One) -> Option<Result<f64>> {
        self.try_change(|learner| one.learn(learner))
    }

    /// The margin of one example.
    pub fn predict_one(&self, one: &mut One) -> f64 {
        self.look(|learner| one.predict(learner))
    }

    /// [`SharedLearner::predict_one`], unless that would mean to wait.
    pub fn try_predict_one(&self, one: &mut One) -> Option<f64> {
        self.try_look(|learner| one.predict(learner))
    }
}
