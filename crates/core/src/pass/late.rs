//! Predictions whose labels come late: played now, learned from later.

use super::learner::Learner;
use super::outcomes::Outcomes;
use super::shared::SharedLearner;
use crate::error::Result;
use crate::learn::late::Kept;
use crate::read::memory::Examples;

impl Learner {
    /// Whether the learner learns from old predictions.
    pub fn learns_late(&self) -> bool {
        self.model().learns_late()
    }

    fn play_late(&self, examples: &Examples) -> Result<Vec<Kept>> {
        self.space().check_readable(examples.space())?;
        let examples = examples.ordered(None, self.requirements().zeros)?;
        examples.examples().map(|example| self.model.predictor().play_late(&example)).collect()
    }

    fn learn_late(&mut self, examples: &Examples, played: &[Kept]) -> Result<Outcomes> {
        self.space().check_learnable(examples.space())?;
        let examples = examples.ordered(None, self.requirements().zeros)?;
        self.model.learner()?.learn_late(examples, played)?;
        let mut outcomes = Outcomes::default();
        outcomes.note(examples);
        outcomes.margins.extend(played.iter().map(|played| played.margin));
        Ok(outcomes)
    }
}

impl SharedLearner {
    /// Predict examples, all by the learner of one moment, and keep what learning from them will need.
    pub fn play_late(&self, examples: &Examples) -> Result<Vec<Kept>> {
        self.look(|learner| learner.play_late(examples))
    }

    /// Learn from examples that were played before, at the margins that were played. After an error the examples
    /// before it are learned.
    pub fn learn_late(&self, examples: &Examples, played: &[Kept]) -> Result<Outcomes> {
        self.change(|learner| learner.learn_late(examples, played))
    }
}
