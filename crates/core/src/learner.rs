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

use std::hint::black_box;
use std::ops::Range;

use lessregret_prefetch::prefetch;
use serde_json::Value;

use crate::eights::Eights;
use crate::error::{Error, Result};
use crate::example::{Chunk, Course, Example};
use crate::importance::push;
use crate::lesson::{Pupil, teach};
use crate::loss::Loss;
use crate::memory::{Table, zeroed};
use crate::model::{Boxes, Model, diverged, is_sound};
use crate::pages::Pages;
use crate::penalty::{Penalty, Whole};
use crate::rule::{Interval, Line, Rule, Sight, Slot, Step};
use crate::scale::Scales;
use crate::sheet::{Group, Sheet, WIDTH, words};
use crate::sums::Sum;
use crate::tally::{BATCH, Round, Standing, Tally};
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

/// What the first walk over an example's features found.
struct Look {
    margin: f64,
    sight: Sight,
    square_weights: f64,
}

impl<R: Rule, B: Boxes> Learner<R, B> {
    /// A learner with this many slots, none of them touched.
    pub fn new(
        loss: Loss,
        penalty: Penalty,
        rule: R,
        boxes: B,
        scales: Scales,
        slots: usize,
        certify: bool,
    ) -> Result<Self> {
        let sums = if certify { Some(zeroed(slots)?) } else { None };
        Ok(Learner {
            loss,
            penalty,
            importance_aware: false,
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

    /// The same with importance-aware updates, or without; for a rule that descends, without L2.
    pub fn importance_aware(self, importance_aware: bool) -> Self {
        Learner { importance_aware, ..self }
    }

    #[inline]
    fn rule_at(&self, slot: usize) -> R {
        self.boxes.rule(self.rule, slot)
    }

    /// Walk over the features once: the margin and, for learning, what coupled rules want to see.
    ///
    /// Each walk through a sheet is of one kind of number and over copies, so that it becomes vectors.
    #[inline(always)]
    fn look<E: Eights, const LEARN: bool, const PENALISED: bool>(
        &self,
        eights: E,
        example: &Example<'_>,
        sheet: &mut Sheet<R::Slot>,
    ) -> Look {
        let (slots, values) = (example.slots.as_chunks().0, example.values.as_chunks().0);
        let ((full, rest), words) = (sheet.open(example), words(&self.slots));
        let mut sum = eights.all(0.0);
        for (group, (slots, values)) in full.iter_mut().zip(slots.iter().zip(values)) {
            // Else the compiler makes vectors of the first features of eight groups, then of the second.
            black_box(());
            group.fetch(eights, &self.slots, words, slots, values);
            sum = self.play(eights, group, sum);
        }
        if let Some(group) = rest {
            group.fetch_rest(eights, &self.slots, words, example);
            sum = self.play(eights, group, sum);
        }
        let margin = Sum::of(eights.each(sum)).total();
        let mut sight = Sight::default();
        if LEARN && R::COUPLED {
            for group in sheet.groups() {
                for k in 0..group.count {
                    let rule = self.rule_at(group.slots[k] as usize);
                    rule.look(&group.before.get(k), group.values[k], &mut sight);
                }
            }
        }
        let square_weights = if PENALISED { sheet.square_weights() } else { 0.0 };
        Look { margin, sight, square_weights }
    }

    /// Play a group: its Σ w x is added to the sum.
    #[inline(always)]
    fn play<E: Eights>(&self, eights: E, group: &mut Group<R::Slot>, sum: E::Eight) -> E::Eight {
        let Group { before, values, slots, mut played, .. } = *group;
        for k in 0..WIDTH {
            let rule = self.rule_at(slots[k] as usize);
            played[k] = rule.weight(&before.get(k), values[k]);
        }
        group.played = played;
        eights.add(sum, eights.multiply(eights.widen(played), eights.widen(values)))
    }

    /// The second walk, in the sheet: the gradient is `slope · value + shrink · weight` in every
    /// coordinate. Where weights are to STAY for now, all but they move.
    #[inline(always)]
    fn absorb<E: Eights, const PENALISED: bool, const STAY: bool>(
        &mut self,
        eights: E,
        sheet: &mut Sheet<R::Slot>,
        sight: &Sight,
    ) {
        let (step, slopes) = (self.step, eights.all(sight.slope));
        // In walks of their own: in one, each group waits for its root and quotient, and a processor has
        // not room for enough groups.
        for group in sheet.groups_mut() {
            let mut gradients = eights.narrow(eights.multiply(slopes, eights.widen(group.values)));
            if PENALISED {
                add_penalty(group, sight, &mut gradients);
            }
            group.gradients = gradients;
        }
        for group in sheet.groups_mut() {
            let Group { before, values, gradients, played, slots, .. } = *group;
            let (mut after, mut rates) = (before, gradients);
            for k in 0..WIDTH {
                let rule = self.rule_at(slots[k] as usize);
                let mut state = before.get(k);
                rule.absorb(&mut state, values[k], gradients[k], step);
                if STAY && gradients[k] != 0.0 {
                    rule.place(&mut state, f64::from(played[k]));
                }
                // A coordinate rule is promised a gradient; here one may have none on its own.
                if PENALISED && !R::COUPLED && gradients[k] == 0.0 {
                    state = before.get(k);
                }
                after.put(k, state);
                rates[k] = rule.rate_used(&state, step);
            }
            (group.after, group.rates) = (after, rates);
        }
        if self.gradient_sums.is_some() {
            self.sum_gradients(sheet);
        }
    }

    #[inline(never)]
    fn sum_gradients(&mut self, sheet: &Sheet<R::Slot>) {
        let Some(sums) = &mut self.gradient_sums else { return };
        for group in sheet.groups() {
            for k in 0..group.count {
                sums[group.slots[k] as usize] += f64::from(group.gradients[k]);
            }
        }
    }

    /// Absorb in place; ½ Σ g² η.
    #[inline(always)]
    fn descend<E: Eights, const PENALISED: bool>(
        &mut self,
        eights: E,
        sheet: &mut Sheet<R::Slot>,
        sight: &Sight,
    ) -> f64 {
        self.absorb::<E, PENALISED, false>(eights, sheet, sight);
        sheet.put_back(eights, &mut self.slots);
        if R::BOUNDED { 0.5 * sheet.energy::<E, false>(eights) } else { 0.0 }
    }

    /// Absorb, and then the third walk: every weight goes as far as the importance leads it. Not
    /// inlined, so that the way without it is compiled as if there were no other.
    #[inline(never)]
    fn follow<E: Eights>(&mut self, eights: E, sheet: &mut Sheet<R::Slot>, sight: &Sight) {
        self.absorb::<E, false, true>(eights, sheet, sight);
        let Sight { margin, label, importance, slope, .. } = *sight;
        if slope != 0.0 {
            let response = sheet.energy::<E, true>(eights);
            let push = push(self.loss, margin, label, importance, response);
            for group in sheet.groups_mut() {
                for k in 0..group.count {
                    let rule = self.rule_at(group.slots[k] as usize);
                    let (mut state, value) = (group.after.get(k), group.values[k]);
                    let weight = f64::from(rule.weight(&state, value));
                    let way = push * f64::from(group.rates[k]) * f64::from(value);
                    rule.place(&mut state, weight + way);
                    group.after.put(k, state);
                }
            }
        }
        sheet.put_back(eights, &mut self.slots);
    }

    #[inline(always)]
    fn round<E: Eights, const PENALISED: bool>(
        &mut self,
        eights: E,
        number: u64,
        example: &Example<'_>,
        next: &[u32],
        sheet: &mut Sheet<R::Slot>,
    ) -> Result<Round> {
        let look = self.look::<E, true, PENALISED>(eights, example, sheet);
        let (label, importance) = (f64::from(example.label), f64::from(example.importance));
        let margin = look.margin;
        let slope = importance * self.loss.slope(margin, label);
        // What does not need the slope stands here, to be done while the processor waits for it.
        let square_norm = sheet.square_norm(eights);
        if sheet.is_any_new(eights) {
            self.pages.meet_all(example.slots);
        }
        self.ask_for(next);
        let sight = Sight {
            round: number,
            regression: !self.loss.is_classification(),
            label,
            margin,
            importance,
            slope,
            square_norm,
            shrink: if PENALISED { importance * self.penalty.l2 } else { 0.0 },
            square_weights: look.square_weights,
            ..look.sight
        };
        self.check(example, &sight)?;
        if R::COUPLED {
            self.step = self.rule.step(&mut self.shared, &sight);
        }
        let energy = if !R::COUPLED && !PENALISED && slope == 0.0 {
            0.0
        } else if R::DESCENDS && self.importance_aware {
            self.follow(eights, sheet, &sight);
            0.0
        } else {
            self.descend::<E, PENALISED>(eights, sheet, &sight)
        };
        Ok(Round {
            label,
            margin,
            importance,
            penalty: if PENALISED { self.penalty.of(sight.square_weights) } else { 0.0 },
            played: sight.played(),
            energy,
            features: example.slots.len(),
        })
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

    /// Refuse a round whose gradient would not fit into a float32 slot, before it is learned.
    #[inline]
    fn check(&self, example: &Example<'_>, sight: &Sight) -> Result<()> {
        if is_sound::<R>(sight) {
            return Ok(());
        }
        Err(diverged(example, *sight, |slot| self.scaled_weight(slot)))
    }

    /// Have the slots of an example brought near while another is learned.
    #[inline]
    fn ask_for(&self, slots: &[u32]) {
        for &slot in slots {
            prefetch(&self.slots, slot as usize);
        }
    }

    fn touched(&self) -> impl Iterator<Item = (usize, &R::Slot)> {
        let met = self.pages.slots().map(|slot| (slot, &self.slots[slot]));
        met.filter(|(_, state)| !state.is_untouched())
    }

    /// Σ_i min(a_i G_i, b_i G_i).
    fn floor(&self) -> Option<f64> {
        let sums = self.gradient_sums.as_ref()?;
        let least = |slot: usize| self.rule_at(slot).interval().least(sums[slot]);
        Some(self.pages.slots().map(least).sum())
    }
}

/// The gradients once more, with that of the regulariser.
#[inline(always)]
fn add_penalty<S: Slot>(group: &Group<S>, sight: &Sight, gradients: &mut [f32; WIDTH]) {
    for (k, gradient) in gradients.iter_mut().enumerate().take(group.count) {
        let of_loss = sight.slope * f64::from(group.values[k]);
        *gradient = (of_loss + sight.shrink * f64::from(group.played[k])) as f32;
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
}

impl<R: Rule, B: Boxes> Model for Learner<R, B> {
    fn learn(&mut self, course: Course<'_>, margins: &mut Vec<f64>) -> Result<()> {
        if !R::LEARNS {
            let cure = "go on from the model it was made of";
            return Err(Error::Spec(format!("a slim model predicts and does not learn; {cure}")));
        }
        teach(self, self.penalty, course, margins)
    }

    fn expect(&mut self, features: u64) {
        self.slots.expect(features);
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        let (mut room, mut sheet) = (Vec::new(), Sheet::default());
        for example in chunk.examples() {
            let seen = self.scales.normalise(&example, &mut room);
            margins.push(self.look::<_, false, false>(Portable, &seen, &mut sheet).margin);
        }
    }

    fn slots(&self) -> usize {
        self.slots.len()
    }

    fn scaled_weight(&self, slot: usize) -> f32 {
        self.rule_at(slot).weight(&self.slots[slot], 1.0)
    }

    fn scales(&self) -> &Scales {
        &self.scales
    }

    fn scales_mut(&mut self) -> &mut Scales {
        &mut self.scales
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn standing(&self) -> Standing {
        let shared = &self.shared;
        let mut standing = Standing {
            floor: self.floor(),
            theorem: self.rule.shared_theorem(shared),
            ..Standing::default()
        };
        let mut spread = self.rule.shared_spread(shared);
        for (slot, state) in self.touched() {
            let rule = self.rule_at(slot);
            if R::BOUNDED {
                spread += rule.spread(state, self.step);
            }
            if let Some(term) = rule.theorem(state) {
                *standing.theorem.get_or_insert(0.0) += term;
            }
            standing.touched += 1;
        }
        if self.importance_aware {
            return Standing { theorem: None, ..standing };
        }
        standing.spread = R::BOUNDED.then_some(spread);
        standing
    }

    fn fields(&self) -> &'static [&'static str] {
        R::Slot::FIELDS
    }

    fn is_untouched(&self, slot: usize) -> bool {
        // A gradient too small to move a slot still counts in its sum.
        let no_sum = self.gradient_sum(slot, 0).is_none_or(|sum| sum == 0.0);
        // So does a value that told nothing but its size.
        let no_scale = self.scales.is_untouched(slot);
        no_sum && no_scale && self.slots[slot].is_untouched()
    }

    fn field(&self, slot: usize, _lane: usize, field: usize) -> f32 {
        self.slots[slot].get(field)
    }

    fn gradient_sum(&self, slot: usize, _lane: usize) -> Option<f64> {
        self.gradient_sums.as_ref().map(|sums| sums[slot])
    }

    fn intervals(&self) -> Option<&[Interval]> {
        self.boxes.intervals()
    }

    fn shared(&self) -> Value {
        serde_json::json!({
            "state": serde_json::to_value(self.shared).unwrap_or(Value::Null),
            "step": self.step,
        })
    }

    fn restore(&mut self, shared: Value, tally: Tally) -> std::result::Result<(), String> {
        let Value::Object(mut parts) = shared else {
            return Err("the shared state is not an object".into());
        };
        let mut take = |name: &str| parts.remove(name).unwrap_or(Value::Null);
        let parsed = serde_json::from_value(take("state")).map_err(|error| error.to_string())?;
        let step = serde_json::from_value(take("step")).map_err(|error| error.to_string())?;
        self.shared = parsed;
        self.step = step;
        self.tally = tally;
        Ok(())
    }

    fn pages(&self) -> &Pages {
        &self.pages
    }

    fn rests_at_zero(&self) -> bool {
        let unmet = R::Slot::default();
        self.boxes.intervals().is_none() && self.rule.weight(&unmet, 1.0) == 0.0
    }

    fn set_field(&mut self, slot: usize, _lane: usize, field: usize, value: f32) {
        self.pages.meet(slot);
        self.slots[slot].set(field, value);
    }

    fn set_gradient_sum(&mut self, slot: usize, _lane: usize, sum: f64) {
        if let Some(sums) = &mut self.gradient_sums {
            sums[slot] = sum;
        }
    }
}
