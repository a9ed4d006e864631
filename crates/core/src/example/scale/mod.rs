//! The scale of a feature: how the value that rule and margin see is made from the value that was read.
//!
//! - [`largest`]: values are divided by the largest one met (`cap`, `full`);
//! - [`standard`]: values are centred and divided by their spread (`standard`);
//! - [`mod@line`]: how `standard` scales a feature, given its statistics; [`wide`]: eight features at a time;
//! - [`batch`]: many examples at once, before they are played;
//! - [`moments`]: these statistics, and where they are kept;
//! - [`merge`]: the statistics of learners that become one;
//! - [`labels`]: how `standard` scales labels that are numbers.
//!
//! A round calls [`Scales::prepare`], then [`Scales::remember`] when it was played. An error in between leaves
//! the scales as they were, so the same example can be learned again. A prediction calls
//! [`Scales::normalise`], which changes nothing. Features whose scaled value is 0 are left out of the scaled
//! example, because no rule expects a value of 0. Regret and bounds are those of the game on the scaled
//! examples. The twin is `python/lessregret/learners/scale.py`.

mod batch;
mod labels;
mod largest;
mod line;
mod merge;
mod moments;
mod standard;
mod wide;

use std::ops::Range;
use std::sync::Arc;

use super::{Chunk, Example, Ordered, SlotIndex};
use crate::error::Result;
use crate::spec::{FeatureSpace, Scale};
pub use batch::{ScaledBatch, Undo};
pub use labels::{Given, LabelScale, LabelStatistics, Units as LabelUnits};
use largest::Largest;
pub use moments::Moments;
pub use standard::Standard;

/// Memory for a scaled example, reused from example to example.
#[derive(Debug, Default)]
pub struct Scaled {
    slots: Vec<u32>,
    values: Vec<f32>,
    unit_values: Vec<f32>,
    /// The standard scale of each feature: x − centre, the square of the divisor, and the offset.
    parts: Vec<[f64; 3]>,
    /// Whether a feature is seen as it is.
    stays: Vec<bool>,
    /// Which feature is the intercept.
    intercept: Option<usize>,
}

/// The scales of all features.
#[derive(Debug)]
pub enum Scales {
    /// Values are not scaled.
    None,
    /// Values are divided by the largest one met.
    Largest(Largest),
    /// Values are centred and divided by their spread.
    Standard(Box<Standard>),
}

impl Scales {
    /// The scales of the features of a space in their initial state.
    pub fn new(space: &FeatureSpace) -> Result<Self> {
        // One slot more than the features have, for the intercept.
        let (slots, intercept) = (space.table.len() + 1, space.table.len() as u32);
        Ok(match space.scale {
            Scale::None => Scales::None,
            Scale::Cap | Scale::Full => Scales::Largest(Largest::new(space.scale, slots)?),
            Scale::Standard => {
                let labels = space.standardises_labels().then(|| LabelScale::new(space.labels));
                Scales::Standard(Box::new(Standard::new(slots, intercept, labels)))
            }
        })
    }

    /// Let the scales, which are in their initial state, use the index of a learner.
    pub fn share(&mut self, index: &Arc<SlotIndex>) {
        if let Scales::Standard(standard) = self {
            standard.table.share(Arc::clone(index));
        }
    }

    /// A hint that many features are to come.
    pub fn expect_many(&mut self) {
        if let Scales::Standard(standard) = self {
            standard.table.expect_many();
        }
    }

    /// The scales as those of largest values, if they are.
    pub fn largest(&mut self) -> Option<&mut Largest> {
        if let Scales::Largest(largest) = self { Some(largest) } else { None }
    }

    /// The scales as those of centred values, if they are.
    pub fn standard(&mut self) -> Option<&mut Standard> {
        if let Scales::Standard(standard) = self { Some(standard) } else { None }
    }

    /// The scale of the labels, if they are standardised.
    pub fn labels(&self) -> Option<&LabelScale> {
        if let Scales::Standard(standard) = self { standard.labels.as_ref() } else { None }
    }

    /// The scale of the labels, if they are standardised.
    #[inline(always)]
    pub fn labels_mut(&mut self) -> Option<&mut LabelScale> {
        if let Scales::Standard(standard) = self { standard.labels.as_mut() } else { None }
    }

    /// How margins become predictions in the user's units, if labels are standardised.
    pub fn label_units(&self) -> Option<LabelUnits> {
        self.labels().map(|labels| labels.units())
    }

    /// Convert margins into predictions in the user's units, if labels are standardised.
    pub fn to_predictions(&self, margins: &mut [f64]) {
        let Some(units) = self.label_units() else { return };
        for margin in margins {
            *margin = units.prediction(*margin);
        }
    }

    /// Whether the feature's scale is in its initial state.
    pub fn is_untouched(&self, slot: usize) -> bool {
        match self {
            Scales::None => true,
            Scales::Largest(largest) => largest.is_untouched(slot),
            Scales::Standard(standard) => standard.is_untouched(slot as u32),
        }
    }

    /// The slots, ascending, whose scale is kept although their feature may never have been played: its
    /// scaled value may have been 0 every time.
    pub fn silent_slots(&self) -> Vec<u32> {
        if let Scales::Standard(standard) = self { standard.slots() } else { Vec::new() }
    }

    /// The slots, ascending, that a prediction needs although their weight is 0.
    pub fn needed_slots(&self) -> Vec<u32> {
        if let Scales::Standard(standard) = self { standard.always() } else { Vec::new() }
    }

    /// The divisor of a slot, if values are divided by the largest one met.
    pub fn of(&self, slot: usize) -> f32 {
        if let Scales::Largest(largest) = self { largest.of(slot) } else { 1.0 }
    }

    /// The statistics of a slot after this many rounds; those of no values if none are kept.
    pub fn moments(&self, slot: u32, rounds: u64) -> Moments {
        if let Scales::Standard(standard) = self {
            standard.moments(slot, rounds).unwrap_or_default()
        } else {
            Moments::default()
        }
    }

    /// The weight per unit of the raw value, from the weights per unit of the scaled values; `unit` if these
    /// are the unit values. If labels are standardised, it is in the units of the labels.
    pub fn unscaled(&self, slot: usize, weight: &dyn Fn(usize) -> f32, unit: bool) -> f32 {
        match self {
            Scales::None => weight(slot),
            Scales::Largest(largest) => largest.unscaled(slot, weight(slot)),
            Scales::Standard(standard) => standard.unscaled(slot as u32, weight, unit),
        }
    }

    /// The scaled value per unit of the raw value, or the unit value if `unit`; 1 for a feature that has no scale.
    pub fn slope(&self, slot: u32, unit: bool) -> f64 {
        match self {
            Scales::None => 1.0,
            Scales::Largest(largest) => match largest.of(slot as usize) {
                0.0 => 1.0,
                largest => 1.0 / f64::from(largest),
            },
            Scales::Standard(standard) => standard.slope(slot, unit),
        }
    }

    /// The mean square of the scaled values of a feature, as far as it is known; 1 otherwise.
    pub fn typical_square(&self, slot: u32) -> f64 {
        if let Scales::Standard(standard) = self { standard.typical_square(slot) } else { 1.0 }
    }

    /// σ of the labels; 1 if they are not standardised.
    pub fn label_deviation(&self) -> f64 {
        self.label_units().map_or(1.0, |units| units.deviation)
    }

    /// The example with scaled values, for rule and margin. The scales are not updated.
    #[inline]
    pub fn normalise<'a>(&self, example: &Example<'a>, scratch: &'a mut Scaled) -> Example<'a> {
        match self {
            Scales::None => *example,
            Scales::Largest(largest) => largest.normalise(example, &mut scratch.values),
            Scales::Standard(standard) => standard.normalise(example, scratch),
        }
    }

    /// Scale the example that comes after `before` others, and allocate the memory to remember it. Not
    /// inlined, so that the loop over examples that need no scaling is compiled as if this path did not exist.
    #[inline(never)]
    pub fn prepare<'a>(
        &mut self,
        example: &Example<'a>,
        before: u64,
        scratch: &'a mut Scaled,
    ) -> Result<Example<'a>> {
        match self {
            Scales::None => Ok(*example),
            Scales::Largest(largest) => {
                largest.reserve(example)?;
                Ok(largest.normalise(example, &mut scratch.values))
            }
            Scales::Standard(standard) => standard.prepare(example, before, scratch),
        }
    }

    /// Update the scales by the example's values. Requires a call of [`Scales::prepare`] before.
    #[inline]
    pub fn remember(&mut self, example: &Example<'_>) {
        match self {
            Scales::None => {}
            Scales::Largest(largest) => largest.remember(example),
            Scales::Standard(standard) => standard.remember(example),
        }
    }

    /// Scale the examples of a chunk in order, exactly as a learner would; `before` is the number of examples
    /// before them.
    pub fn scale_chunk(&mut self, chunk: &mut Chunk, before: u64) -> Result<()> {
        let (mut scratch, mut scaled) = (Scaled::default(), Vec::new());
        for k in 0..chunk.len() {
            let example = chunk.example(k);
            if !self.leave(&example) {
                let seen = self.prepare(&example, before + k as u64, &mut scratch)?;
                spread(&example, &seen, &mut scaled);
                self.remember(&example);
                chunk.values_mut(k).copy_from_slice(&scaled);
            }
            if let Some(labels) = self.labels_mut() {
                let example = chunk.example(k);
                let label = labels.prepare(example.residual(), example.importance);
                chunk.set_residual(k, label);
                labels.remember();
            }
        }
        chunk.drop_all_zeros();
        Ok(())
    }

    /// Whether [`Scales::scale_batch`] can scale the next examples.
    pub fn can_scale_batch(&self) -> bool {
        matches!(self, Scales::Standard(standard) if standard.has_table)
    }

    /// Scale the examples `range` in order, exactly as [`Scales::prepare`] and [`Scales::remember`] would, and
    /// their labels; `before` is the number of examples before them. An error changes nothing.
    pub fn scale_batch(
        &mut self,
        examples: Ordered<'_>,
        range: Range<usize>,
        before: u64,
        batch: &mut ScaledBatch,
        undo: &mut Undo,
    ) -> Result<()> {
        match self {
            Scales::Standard(standard) => {
                standard.scale_batch(examples, range, before, batch, undo)
            }
            Scales::None | Scales::Largest(_) => Ok(()),
        }
    }

    /// Undo [`Scales::scale_batch`] for the examples `range`, the last ones of a batch. The last batch is undone
    /// first.
    pub fn undo(&mut self, examples: Ordered<'_>, range: Range<usize>, undo: &Undo) {
        if let Scales::Standard(standard) = self {
            standard.undo(examples, range, undo);
        }
    }

    /// Whether [`Scales::leave`] holds for all these examples.
    pub fn leave_all(&self, examples: &Ordered<'_>) -> bool {
        match self {
            Scales::None => true,
            Scales::Largest(largest) => largest.leave_all(examples),
            Scales::Standard(standard) => standard.leaves_ones() && !examples.is_any_not_one(),
        }
    }

    /// Whether the example needs no scaling and does not change the scales.
    #[inline(always)]
    pub fn leave(&self, example: &Example<'_>) -> bool {
        match self {
            Scales::None => true,
            Scales::Largest(largest) => largest.leave(example),
            Scales::Standard(standard) => standard.leaves_ones() && standard::is_ones(example),
        }
    }
}

/// The values that were seen, with a 0 for every feature of the example that was left out.
fn spread(example: &Example<'_>, seen: &Example<'_>, values: &mut Vec<f32>) {
    values.clear();
    let mut left = seen.slots.iter().zip(seen.values).peekable();
    for &slot in example.slots {
        let own = left.next_if(|&(&seen, _)| seen == slot);
        values.push(own.map_or(0.0, |(_, &value)| value));
    }
}
