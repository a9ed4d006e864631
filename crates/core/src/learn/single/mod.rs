//! The learner: plays each example before it learns from it.
//!
//! One round of Lemma 2's composite, for an example (x, y) with importance h:
//!
//! ```text
//! p      = Σ_i weight(slot_i, x_i) x_i           look, then play
//! s      = h ℓ'(p, y)                            the gradient in the margin
//! slot_i ← absorb(slot_i, x_i, s x_i, step)      for every feature i
//! ```
//!
//! With L2 (`penalty.rs`) the gradient is s x_i + hλ w_i. Such a learner has loops of its own, chosen
//! once a call: the others pay nothing for it. Importance-aware updates (`importance.rs`) need a third
//! walk: only when every slot has absorbed its gradient are the rates known that say how far the weights
//! go.
//!
//! Slots are float32, one array; margins, losses and all sums are float64, added in an order that
//! depends on nothing but the place of a feature in its example, so that a run gives the same bits
//! however its examples are cut into chunks. Cost: the slots of an example are fetched into a sheet
//! (`sheet.rs`), walked over there, eight features at a time, and put back; nothing is put back where the
//! slope is zero (and the rule is not coupled).

mod gather;
mod model;
mod round;

use std::ops::Range;

use crate::alloc::{Table, zeroed};
use crate::error::Result;
use crate::example::Scales;
use crate::example::{Example, Ordered};
use crate::learn::dispatch::{Kernel, PlayKernel};
use crate::learn::model::{Boxes, Plan};
use crate::learn::penalty::{Penalty, WithTouched};
use crate::learn::single::gather::Gathered;
use crate::learn::table::touched::TouchedSlots;
use crate::learn::tally::{BATCH, Round, Tally};
use crate::loss::Loss;
use crate::rule::{Rule, Slot, Step};
use crate::simd::Portable;
use crate::simd::f64x8::F64x8;

/// A rule run on every coordinate.
pub struct Single<R: Rule, B: Boxes> {
    loss: Loss,
    penalty: Penalty,
    importance_aware: bool,
    rule: R,
    boxes: B,
    slots: Table<R::Slot>,
    met: TouchedSlots,
    scales: Scales,
    gradient_sums: Option<Vec<f64>>,
    shared: R::Shared,
    step: Step,
    tally: Tally,
}

/// The slots of an example are asked for while so many before it are still to be learned: after the time
/// of one, memory is not there yet.
const AHEAD: usize = 2;

/// Bytes of a table that are soon in a core's own cache.
const NEAR: usize = 1 << 20;

impl<R: Rule, B: Boxes> Single<R, B> {
    /// A learner none of whose slots is touched.
    pub fn new(plan: Plan, rule: R, boxes: B) -> Result<Self> {
        let Plan { loss, penalty, importance_aware, scales, slots, certify, .. } = plan;
        let sums = if certify { Some(zeroed(slots)?) } else { None };
        Ok(Single {
            loss,
            penalty,
            importance_aware,
            rule,
            boxes,
            slots: Table::zeroed(slots)?,
            met: TouchedSlots::new(slots)?,
            scales,
            gradient_sums: sums,
            shared: R::Shared::default(),
            step: Step::default(),
            tally: Tally::default(),
        })
    }

    #[inline]
    fn rule_at(&self, slot: usize) -> R {
        self.boxes.rule(self.rule, slot)
    }

    #[inline(always)]
    fn learn_batch<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        examples: Ordered<'_>,
        batch: Range<usize>,
        scratch: &mut Scratch<R::Slot>,
    ) -> Result<()> {
        let Scratch { values, gathered, rounds } = scratch;
        // What the cache nearly holds need not be asked for.
        let asks = size_of_val(&self.slots[..]) > NEAR;
        let all_plain = self.scales.leave_all(&examples);
        let before = self.tally.rounds + 1 - batch.start as u64;
        for k in batch {
            let Example { label, importance, slots, values: mut seen } = examples.example(k);
            let plain = all_plain || self.scales.leave(&examples.example(k));
            if !plain {
                seen = self.scales.prepare(&examples.example(k), values)?.values;
            }
            let example = Example { label, importance, slots, values: seen };
            let number = before + k as u64;
            let ahead = k + AHEAD;
            let next =
                if asks && ahead < examples.len() { examples.example(ahead).slots } else { &[] };
            rounds.push(self.round::<E, PENALISED>(simd, number, &example, next, gathered)?);
            if !plain {
                self.scales.remember(&examples.example(k));
            }
        }
        Ok(())
    }

    /// The slots that are not as they began.
    fn moved(&self) -> impl Iterator<Item = (usize, &R::Slot)> {
        let met = self.met.slots().map(|slot| (slot, &self.slots[slot]));
        met.filter(|(_, state)| !state.is_untouched())
    }
}

/// Memory that is used again from example to example.
struct Scratch<S: Slot> {
    values: Vec<f32>,
    gathered: Gathered<S>,
    rounds: Vec<Round>,
}

impl<S: Slot> Default for Scratch<S> {
    fn default() -> Self {
        Scratch { values: Vec::new(), gathered: Gathered::default(), rounds: Vec::new() }
    }
}

impl<R: Rule, B: Boxes> PlayKernel for Single<R, B> {
    #[inline(always)]
    fn play_each<E: F64x8>(&self, simd: E, examples: Ordered<'_>, margins: &mut Vec<f64>) {
        let (mut scratch, mut gathered) = (Vec::new(), Gathered::default());
        for k in 0..examples.len() {
            let example = examples.example(k);
            let seen = self.scales.normalise(&example, &mut scratch);
            margins.push(self.look::<_, false, false>(simd, &seen, &mut gathered).margin);
        }
    }
}

impl<R: Rule, B: Boxes> Kernel for Single<R, B> {
    #[inline(always)]
    fn learn_each<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        examples: Ordered<'_>,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        let mut scratch = Scratch::default();
        for start in (0..examples.len()).step_by(BATCH) {
            let batch = start..examples.len().min(start + BATCH);
            let taught = self.learn_batch::<E, PENALISED>(simd, examples, batch, &mut scratch);
            self.tally.record_all(self.loss, &scratch.rounds);
            margins.extend(scratch.rounds.iter().map(|round| round.margin));
            scratch.rounds.clear();
            taught?;
        }
        Ok(())
    }

    #[inline(never)]
    fn learn_whole(&mut self, examples: Ordered<'_>, margins: &mut Vec<f64>) -> Result<()> {
        let (mut whole, mut scratch, mut gathered) =
            (WithTouched::default(), Vec::new(), Gathered::default());
        for example in examples.examples() {
            let seen = self.scales.prepare(&example, &mut scratch)?;
            let touched = self.moved().map(|(slot, _)| slot as u32);
            let completed = whole.complete(&seen, touched);
            let number = self.tally.rounds + 1;
            let round = self.round::<_, true>(Portable, number, &completed, &[], &mut gathered)?;
            self.scales.remember(&example);
            self.tally.record_all(self.loss, &[Round { features: example.slots.len(), ..round }]);
            margins.push(round.margin);
        }
        Ok(())
    }
}
