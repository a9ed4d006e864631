//! Examples in chunks: written by the readers, read by the learners.
//!
//! A [`Chunk`] holds many examples as flat arrays, so that blocks are handed over, not single examples, and
//! nothing is allocated per example. Three invariants hold for every finished example, whoever wrote it, and
//! the learner relies on them:
//!
//! 1. no slot occurs twice: a coordinate plays once a round, else its gradient would be split in
//!    two and the regret bounds would not hold. Features that share a slot are added up;
//! 2. no value is zero, so dense and sparse data are the same examples; unless the learner requires zeros
//!    ([`Requirements::zeros`]), to which an explicit zero is a value;
//! 3. every value is finite (the writer checks, because it can name the position of a bad one).

mod chunk;
mod cross;
mod crossed_rows;
mod duplicates;
mod fields;
pub mod hash;
mod index;
mod names;
mod order;
mod requirements;
mod scale;
mod sizes;
mod touched;

pub use chunk::{Arrays, Chunk};
pub use cross::{Crossed, Group, MOST_CROSSED, crossed_count, for_each_crossed};
pub use crossed_rows::{CrossedRows, GroupedRows};
pub use fields::{fields, push_fields};
pub use index::SlotIndex;
pub use names::{Name, Names};
pub use order::Ordered;
pub use requirements::{Requirements, SlotLookup};
pub use scale::{Given, LabelStatistics, LabelUnits, Moments, Scaled, ScaledBatch, Scales, Undo};
pub use sizes::ValueSizes;
pub use touched::TouchedSlots;

use crate::rule::Rule;

/// One example, borrowed from a chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Example<'a> {
    /// +1 or -1 for classification, any finite number for regression; NaN if there is none.
    pub label: f32,
    /// The importance: how many rounds this one counts for, at least 0.
    pub importance: f32,
    /// The base margin: what the margin is before any feature is added, mostly 0.
    pub base: f32,
    /// The slots of the features, each once.
    pub slots: &'a [u32],
    /// The values of the features, none of them zero unless zeros are required.
    pub values: &'a [f32],
    /// The values as the rule `coin` sees them before it clips them to ±1: divided by their size also where
    /// that is below 1. Those of `values` for every scale but `standard`.
    pub unit_values: &'a [f32],
}

impl<'a> Example<'a> {
    /// The label without the base margin, for losses of the difference between label and margin.
    #[inline(always)]
    pub fn residual(&self) -> f64 {
        f64::from(self.label) - f64::from(self.base)
    }

    /// The example with the values that a rule plays on.
    #[inline(always)]
    pub fn played_by<R: Rule>(&self, clipped: &'a mut Vec<f32>) -> Example<'a> {
        if R::UNIT_VALUES { self.with_unit_values(clipped) } else { *self }
    }

    /// The example with the unit values, clipped to ±1, in place of the values.
    pub fn with_unit_values(&self, clipped: &'a mut Vec<f32>) -> Example<'a> {
        clipped.clear();
        clipped.extend(self.unit_values.iter().map(|value| value.clamp(-1.0, 1.0)));
        Example { values: clipped, ..*self }
    }
}
