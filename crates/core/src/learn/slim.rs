//! The slim model: weights that are enough to predict, without the state to learn.
//!
//! ```text
//! p = b + Σ_i w_i x̂_i    x̂_i the scaled value, b the base margin
//! ```
//!
//! If labels are standardised, the prediction is b + clip(μ + σ Σ_i w_i x̂_i, A, B) (`example/scale/labels.rs`).
//!
//! The sum is added up in the same order as in a learner. So a slim model made from a learner with one rate
//! predicts bit-identical margins. Cost: four bytes a slot, and a bit.

use serde_json::{Value, json};

use super::certificate::{Certificate, SumsMark};
use super::dispatch::{self, PlayKernel};
use super::explain::Explanation;
use super::frame::nonzero;
use super::model::{Inspect, Merge, Predict};
use super::tally::{SlotSummary, Tally};
use crate::alloc::Table;
use crate::error::Result;
use crate::example::{Example, Ordered, Scaled, Scales, TouchedSlots};
use crate::rule::{Interval, Step};
use crate::simd::LANES;
use crate::simd::f64x8::F64x8;
use crate::simd::sums::Sum;

/// A model of weights only, which predicts and does not learn.
pub struct SlimModel {
    weights: Table<f32>,
    met: TouchedSlots,
    scales: Scales,
    unit_values: bool,
    tally: Tally,
}

impl SlimModel {
    /// A model with all weights 0. `tally` is that of the learner it was made from, and `unit_values` tells
    /// whether its rule plays on unit values.
    pub fn new(slots: usize, scales: Scales, unit_values: bool, tally: Tally) -> Result<Self> {
        let (weights, met) = (Table::zeroed(slots)?, TouchedSlots::new(slots)?);
        Ok(SlimModel { weights, met, scales, unit_values, tally })
    }

    /// Restore what [`Inspect::copy_weights`] returned for these slots.
    pub fn restore_weights(&mut self, slots: &[u32], weights: &[f32]) {
        self.met.meet_all(slots);
        for (&slot, &weight) in slots.iter().zip(weights) {
            self.weights[slot as usize] = weight;
        }
    }

    /// The scales of the features, mutable, to be restored.
    pub fn scales_mut(&mut self) -> &mut Scales {
        &mut self.scales
    }

    /// The example with the values that the weights are for.
    #[inline(always)]
    fn seen<'a>(
        &self,
        example: &Example<'a>,
        scratch: &'a mut Scaled,
        clipped: &'a mut Vec<f32>,
    ) -> Example<'a> {
        let seen = self.scales.normalise(example, scratch);
        if self.unit_values { seen.with_unit_values(clipped) } else { seen }
    }

    /// The value that a slim model file has for the shared state of coupled coordinates.
    pub fn no_shared() -> Value {
        json!({ "state": null, "step": Step::default() })
    }
}

impl PlayKernel for SlimModel {
    #[inline(always)]
    fn play_each<E: F64x8>(&self, simd: E, examples: Ordered<'_>, margins: &mut Vec<f64>) {
        let (mut scratch, mut clipped, start) = (Scaled::default(), Vec::new(), margins.len());
        for k in 0..examples.len() {
            let example = examples.example(k);
            let seen = self.seen(&example, &mut scratch, &mut clipped);
            let mut sum = simd.splat(0.0);
            for (slots, values) in seen.slots.chunks(LANES).zip(seen.values.chunks(LANES)) {
                let (mut weights, mut factors) = ([0.0; LANES], [0.0; LANES]);
                for (place, (&slot, &value)) in slots.iter().zip(values).enumerate() {
                    (weights[place], factors[place]) = (self.weights[slot as usize], value);
                }
                sum = simd.add(sum, simd.multiply(simd.widen(weights), simd.widen(factors)));
            }
            margins.push(Sum::of(simd.to_array(sum)).total());
        }
        self.scales.to_predictions(&mut margins[start..]);
        examples.add_bases(&mut margins[start..]);
    }
}

impl Predict for SlimModel {
    fn predict(&self, examples: Ordered<'_>, margins: &mut Vec<f64>) {
        dispatch::predict(self, examples, margins);
    }

    fn explain(&self, example: &Example<'_>) -> Explanation {
        let (mut scratch, mut clipped) = (Scaled::default(), Vec::new());
        let seen = self.seen(example, &mut scratch, &mut clipped);
        let features = seen.slots.iter().zip(seen.values);
        let part = |(&slot, &value)| f64::from(self.weights[slot as usize]) * f64::from(value);
        let parts: Vec<f64> = features.map(part).collect();
        Explanation::of(example, &seen, &parts).in_units(self.scales.label_units())
    }
}

impl Merge for SlimModel {}

impl Inspect for SlimModel {
    fn slots(&self) -> usize {
        self.weights.len()
    }

    fn scaled_weight(&self, slot: usize) -> f32 {
        self.weights[slot]
    }

    fn scales(&self) -> &Scales {
        &self.scales
    }

    fn has_unit_values(&self) -> bool {
        self.unit_values
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn summary(&self, _intercept: Option<u32>) -> SlotSummary {
        let touched = self.met.slots().filter(|&slot| self.weights[slot].to_bits() != 0).count();
        SlotSummary { touched: touched as u64, ..SlotSummary::default() }
    }

    fn fields(&self) -> &'static [&'static str] {
        &["weight"]
    }

    fn touched(&self) -> Vec<u32> {
        let is_touched =
            |&slot: &usize| !self.scales.is_untouched(slot) || self.weights[slot].to_bits() != 0;
        self.met.slots().filter(is_touched).map(|slot| slot as u32).collect()
    }

    fn weighted(&self) -> Vec<u32> {
        nonzero(self.met.slots(), |slot| self.weights[slot])
    }

    fn copy_weights(&self, slots: &[u32], weights: &mut Vec<f32>) {
        weights.extend(slots.iter().map(|&slot| self.weights[slot as usize]));
    }

    fn copy_field(&self, _field: usize, slots: &[u32], floats: &mut Vec<f32>) {
        self.copy_weights(slots, floats);
    }

    fn certificate(&self, _: Option<u32>, _: &SumsMark) -> Option<Certificate> {
        None
    }

    fn mark_sums(&self) -> Option<SumsMark> {
        None
    }

    fn copy_gradient_sums(&self, _slots: &[u32], _sums: &mut Vec<f64>) {}

    fn intervals(&self) -> Option<&[Interval]> {
        None
    }

    fn shared(&self) -> Value {
        SlimModel::no_shared()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Chunk;
    use crate::learn::model::AnyModel;

    const SLOTS: usize = 40;

    fn weight(slot: usize) -> f32 {
        1.0 / (slot as f32 + 3.0)
    }

    fn model() -> Result<SlimModel> {
        let mut model = SlimModel::new(SLOTS, Scales::None, false, Tally::default())?;
        let slots: Vec<u32> = (0..SLOTS as u32).collect();
        let weights: Vec<f32> = (0..SLOTS).map(weight).collect();
        model.restore_weights(&slots, &weights);
        Ok(model)
    }

    #[test]
    fn margins_are_summed_in_the_order_of_a_learner() -> Result<()> {
        let mut chunk = Chunk::new(None);
        for features in 0..SLOTS {
            (0..features).for_each(|slot| chunk.push(slot as u32, 0.7));
            chunk.finish(1.0, 1.0, b"");
        }
        let mut margins = Vec::new();
        model()?.predict((&chunk).into(), &mut margins);
        for (features, margin) in margins.into_iter().enumerate() {
            let mut sum = Sum::default();
            for slot in 0..features {
                sum.add_one(slot, f64::from(weight(slot)) * f64::from(0.7f32));
            }
            assert_eq!(margin.to_bits(), sum.total().to_bits(), "{features}");
        }
        Ok(())
    }

    #[test]
    fn a_slim_model_refuses_to_learn() -> Result<()> {
        let told = AnyModel::Slim(model()?).learner().map(|_| ()).unwrap_err().to_string();
        assert_eq!(
            told,
            "a slim model predicts and does not learn; go on from the model it was made of"
        );
        Ok(())
    }
}
