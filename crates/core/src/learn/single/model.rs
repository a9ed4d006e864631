//! The learner with one rate as a [`Model`](crate::learn::model::Model), and its state in a model file.

use serde_json::Value;

use super::{Single, late};
use crate::error::Result;
use crate::example::{Example, Ordered, Scaled, Scales};
use crate::learn::certificate::{Certificate, Measure, SumsMark};
use crate::learn::dispatch;
use crate::learn::explain::Explanation;
use crate::learn::frame::Boxes;
use crate::learn::late::Kept;
use crate::learn::model::{Inspect, Learn, Predict};
use crate::learn::rounds;
use crate::learn::single::gather::Gathered;
use crate::learn::tally::{SlotSummary, Tally};
use crate::rule::{Interval, Rule, Slot};
use crate::simd::Portable;

impl<R: Rule, B: Boxes> Single<R, B> {
    /// Σ_i min(a_i G_i, b_i G_i): the minimum of the linearised loss over the feasible set, if there is one.
    fn floor(&self) -> Option<f64> {
        if !R::BOUNDED {
            return None;
        }
        let sums = self.gradient_sums.as_ref()?;
        let least = |slot: usize| self.frame.rule_at(slot).interval().least(sums[slot]);
        Some(self.met.slots().map(least).sum())
    }
}

impl<R: Rule, B: Boxes> Single<R, B> {
    /// Whether the gradient sum and the scale of a slot are in their initial state.
    fn is_untouched(&self, slot: usize) -> bool {
        // A gradient too small to change a slot still counts in its sum. A value that changed only the scale
        // counts, too.
        let has_sum = self.gradient_sums.as_ref().is_some_and(|sums| sums[slot] != 0.0);
        !has_sum && self.frame.is_untouched(slot)
    }

    /// The offset of the certificate.
    fn offset(&self) -> f64 {
        self.game_loss() + self.tally.penalty - self.tally.played
    }
}

impl<R: Rule, B: Boxes> Learn for Single<R, B> {
    fn learn(&mut self, examples: Ordered<'_>, margins: &mut Vec<f64>) -> Result<()> {
        rounds::learn(self, self.frame.penalty, examples, margins)
    }

    fn learn_late(&mut self, examples: Ordered<'_>, played: &[Kept]) -> Result<()> {
        late::learn(self, examples, played)
    }

    fn expect(&mut self, features: u64) {
        self.slots.expect(features);
    }

    fn restore(&mut self, shared: Value, tally: Tally) -> std::result::Result<(), String> {
        let Value::Object(mut parts) = shared else {
            return Err("the shared state is not an object".into());
        };
        let mut take = |name: &str| parts.remove(name).unwrap_or(Value::Null);
        let parsed = serde_json::from_value(take("state")).map_err(|error| error.to_string())?;
        let step = serde_json::from_value(take("step")).map_err(|error| error.to_string())?;
        self.shared = parsed;
        self.frame.rule = self.frame.rule.knowing(&self.shared);
        self.step = step;
        self.tally = tally;
        Ok(())
    }

    fn scales_mut(&mut self) -> &mut Scales {
        &mut self.frame.scales
    }

    fn restore_field(&mut self, field: usize, slots: &[u32], floats: &[f32]) {
        self.met.meet_all(slots);
        for (&slot, &float) in slots.iter().zip(floats) {
            self.slots[slot as usize].set(field, float);
        }
    }

    fn restore_gradient_sums(&mut self, slots: &[u32], sums: &[f64]) {
        let Some(kept) = &mut self.gradient_sums else { return };
        for (&slot, &sum) in slots.iter().zip(sums) {
            kept[slot as usize] = sum;
        }
    }
}

impl<R: Rule, B: Boxes> Predict for Single<R, B> {
    fn predict(&self, examples: Ordered<'_>, margins: &mut Vec<f64>) {
        dispatch::predict(self, examples, margins);
    }

    fn play_late(&self, example: &Example<'_>) -> Result<Kept> {
        late::play(self, example)
    }

    fn explain(&self, example: &Example<'_>) -> Explanation {
        let (mut scratch, mut gathered, mut clipped) =
            (Scaled::default(), Gathered::default(), Vec::new());
        let seen = self.frame.scales.normalise(example, &mut scratch);
        let seen = seen.played_by::<R>(&mut clipped);
        self.look::<_, false, false>(Portable, &seen, &mut gathered);
        Explanation::of(example, &seen, &gathered.parts()).in_units(self.frame.scales.label_units())
    }
}

impl<R: Rule, B: Boxes> Inspect for Single<R, B> {
    fn slots(&self) -> usize {
        self.slots.len()
    }

    fn scaled_weight(&self, slot: usize) -> f32 {
        self.frame.rule_at(slot).weight(&self.slots[slot], 1.0)
    }

    fn scales(&self) -> &Scales {
        &self.frame.scales
    }

    fn has_unit_values(&self) -> bool {
        R::UNIT_VALUES
    }

    fn learns_late(&self) -> bool {
        late::check(self).is_ok()
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn summary(&self, intercept: Option<u32>) -> SlotSummary {
        let shared = &self.shared;
        let mut summary = SlotSummary {
            floor: self.floor(),
            certificate: self.certificate(intercept, &SumsMark::default()),
            theorem: self.frame.rule.shared_theorem(shared),
            ..SlotSummary::default()
        };
        let mut spread = self.frame.rule.shared_spread(shared);
        for (slot, state) in self.moved() {
            let rule = self.frame.rule_at(slot);
            if R::BOUNDED {
                spread += rule.spread(state, self.step);
            }
            if let Some(term) = rule.theorem(state) {
                *summary.theorem.get_or_insert(0.0) += term;
            }
            summary.touched += 1;
        }
        if self.frame.importance_aware || self.tally.merges > 0 || self.tally.late > 0 {
            return SlotSummary { theorem: None, ..summary };
        }
        summary.spread = (R::BOUNDED && self.frame.rule.is_proved(shared)).then_some(spread);
        summary
    }

    fn certificate(&self, intercept: Option<u32>, since: &SumsMark) -> Option<Certificate> {
        let sums = self.gradient_sums.as_ref()?;
        let mut measure = Measure::new(self.offset() - since.offset, intercept);
        for slot in self.met.slots() {
            measure.add(slot, since.sum(slot, sums[slot]), self.scaled_weight(slot));
        }
        Some(measure.finish())
    }

    fn mark_sums(&self) -> Option<SumsMark> {
        let sums = self.gradient_sums.as_ref()?.clone();
        Some(SumsMark { offset: self.offset(), sums, width: None })
    }

    fn fields(&self) -> &'static [&'static str] {
        R::Slot::FIELDS
    }

    fn touched(&self) -> Vec<u32> {
        let is_touched =
            |&slot: &usize| !self.is_untouched(slot) || !self.slots[slot].is_untouched();
        let touched = self.met.slots().filter(is_touched).map(|slot| slot as u32);
        self.frame.with_silent(touched.collect())
    }

    fn weighted(&self) -> Vec<u32> {
        self.frame.weighted(&self.met, self.slots.len(), |slot| self.scaled_weight(slot))
    }

    fn copy_weights(&self, slots: &[u32], weights: &mut Vec<f32>) {
        weights.extend(slots.iter().map(|&slot| self.scaled_weight(slot as usize)));
    }

    fn copy_field(&self, field: usize, slots: &[u32], floats: &mut Vec<f32>) {
        floats.extend(slots.iter().map(|&slot| self.slots[slot as usize].get(field)));
    }

    fn copy_gradient_sums(&self, slots: &[u32], sums: &mut Vec<f64>) {
        let Some(kept) = &self.gradient_sums else { return };
        sums.extend(slots.iter().map(|&slot| kept[slot as usize]));
    }

    fn intervals(&self) -> Option<&[Interval]> {
        self.frame.boxes.intervals()
    }

    fn shared(&self) -> Value {
        serde_json::json!({
            "state": serde_json::to_value(self.shared).unwrap_or(Value::Null),
            "step": self.step,
        })
    }
}
