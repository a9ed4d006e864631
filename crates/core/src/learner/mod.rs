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

mod model;
mod round;

use std::ops::Range;

use crate::eights::Eights;
use crate::error::Result;
use crate::example::{Chunk, Course, Example};
use crate::lesson::Pupil;
use crate::loss::Loss;
use crate::memory::{Table, zeroed};
use crate::model::{Boxes, Plan};
use crate::pages::Pages;
use crate::penalty::{Penalty, Whole};
use crate::rule::{Rule, Slot, Step};
use crate::scale::Scales;
use crate::sheet::Sheet;
use crate::tally::{BATCH, Round, Tally};
use crate::vectors::Portable;

/// A rule run on every coordinate.
pub struct Learner<R: Rule, B: Boxes> {
    loss: Loss,
    penalty: Penalty,
    importance_aware: bool,
    rule: R,
    boxes: B,
    slots: Table<R::Slot>,
    pages: Pages,
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

impl<R: Rule, B: Boxes> Learner<R, B> {
    /// A learner none of whose slots is touched.
    pub fn new(plan: Plan, rule: R, boxes: B) -> Result<Self> {
        let Plan { loss, penalty, importance_aware, scales, slots, certify, .. } = plan;
        let sums = if certify { Some(zeroed(slots)?) } else { None };
        Ok(Learner {
            loss,
            penalty,
            importance_aware,
            rule,
            boxes,
            slots: Table::zeroed(slots)?,
            pages: Pages::new(slots)?,
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
    fn teach_batch<E: Eights, const PENALISED: bool>(
        &mut self,
        eights: E,
        course: Course<'_>,
        batch: Range<usize>,
        room: &mut Room<R::Slot>,
    ) -> Result<()> {
        let Room { values, sheet, rounds } = room;
        // What the cache nearly holds need not be asked for.
        let asks = size_of_val(&self.slots[..]) > NEAR;
        let all_plain = self.scales.leave_all(&course);
        let before = self.tally.rounds + 1 - batch.start as u64;
        for k in batch {
            let Example { label, importance, slots, values: mut seen } = course.example(k);
            let plain = all_plain || self.scales.leave(&course.example(k));
            if !plain {
                seen = self.scales.prepare(&course.example(k), values)?.values;
            }
            let example = Example { label, importance, slots, values: seen };
            let number = before + k as u64;
            let ahead = k + AHEAD;
            let next = if asks && ahead < course.len() { course.example(ahead).slots } else { &[] };
            rounds.push(self.round::<E, PENALISED>(eights, number, &example, next, sheet)?);
            if !plain {
                self.scales.remember(&course.example(k));
            }
        }
        Ok(())
    }

    fn touched(&self) -> impl Iterator<Item = (usize, &R::Slot)> {
        let met = self.pages.slots().map(|slot| (slot, &self.slots[slot]));
        met.filter(|(_, state)| !state.is_untouched())
    }
}

/// Memory that is used again from example to example.
struct Room<S: Slot> {
    values: Vec<f32>,
    sheet: Sheet<S>,
    rounds: Vec<Round>,
}

impl<S: Slot> Default for Room<S> {
    fn default() -> Self {
        Room { values: Vec::new(), sheet: Sheet::default(), rounds: Vec::new() }
    }
}

impl<R: Rule, B: Boxes> Pupil for Learner<R, B> {
    #[inline(always)]
    fn learn_each<E: Eights, const PENALISED: bool>(
        &mut self,
        eights: E,
        course: Course<'_>,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        let mut room = Room::default();
        for start in (0..course.len()).step_by(BATCH) {
            let batch = start..course.len().min(start + BATCH);
            let taught = self.teach_batch::<E, PENALISED>(eights, course, batch, &mut room);
            self.tally.record_all(self.loss, &room.rounds);
            margins.extend(room.rounds.iter().map(|round| round.margin));
            room.rounds.clear();
            taught?;
        }
        Ok(())
    }

    #[inline(never)]
    fn learn_whole(&mut self, course: Course<'_>, margins: &mut Vec<f64>) -> Result<()> {
        let (mut whole, mut room, mut sheet) = (Whole::default(), Vec::new(), Sheet::default());
        for example in course.examples() {
            let seen = self.scales.prepare(&example, &mut room)?;
            let touched = self.touched().map(|(slot, _)| slot as u32);
            let completed = whole.complete(&seen, touched);
            let number = self.tally.rounds + 1;
            let round = self.round::<_, true>(Portable, number, &completed, &[], &mut sheet)?;
            self.scales.remember(&example);
            self.tally.record_all(self.loss, &[Round { features: example.slots.len(), ..round }]);
            margins.push(round.margin);
        }
        Ok(())
    }

    #[inline(always)]
    fn play_each<E: Eights>(&self, eights: E, chunk: &Chunk, margins: &mut Vec<f64>) {
        let (mut room, mut sheet) = (Vec::new(), Sheet::default());
        for k in 0..chunk.len() {
            let example = chunk.example(k);
            let seen = self.scales.normalise(&example, &mut room);
            margins.push(self.look::<_, false, false>(eights, &seen, &mut sheet).margin);
        }
    }
}
