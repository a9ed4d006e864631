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
//! once a call: the others pay nothing for it. The same goes for values that are scaled (`scale.rs`),
//! and for importance-aware updates (`importance.rs`), which need a third walk: only when every slot
//! has absorbed its gradient are the rates known that say how far the weights go.
//!
//! Slots are float32, one array; margins, losses and all sums are float64, added in the order of the
//! features, so that a run gives the same bits however its examples are cut into chunks. Cost: two
//! walks over the features of an example, the second only where the slope is not zero (or the rule is
//! coupled).

use lessregret_prefetch::prefetch;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::example::{Chunk, Example};
use crate::importance::push;
use crate::loss::Loss;
use crate::memory::zeroed;
use crate::pages::Pages;
use crate::penalty::{Penalty, Scope, Whole};
use crate::rule::{Interval, Rule, Sight, Slot, Step};
use crate::scale::Scales;
use crate::tally::{Outcome, Standing, Tally};

/// The feasible set of every coordinate.
pub trait Boxes: Send + Sync + 'static {
    /// The rule as it is for this slot.
    fn rule<R: Rule>(&self, rule: R, slot: usize) -> R;
    /// The intervals, where each slot has its own.
    fn intervals(&self) -> Option<&[Interval]>;
}

/// All coordinates have the rule's own interval.
pub struct Uniform;

impl Boxes for Uniform {
    #[inline]
    fn rule<R: Rule>(&self, rule: R, _slot: usize) -> R {
        rule
    }
    fn intervals(&self) -> Option<&[Interval]> {
        None
    }
}

impl Boxes for Vec<Interval> {
    #[inline]
    fn rule<R: Rule>(&self, rule: R, slot: usize) -> R {
        rule.within(self[slot])
    }
    fn intervals(&self) -> Option<&[Interval]> {
        Some(self)
    }
}

/// The object-safe face of a learner: crossed once a chunk, never a feature.
pub trait Model: Send + Sync {
    /// Play and absorb every example; append the margins, each made before its example was learned.
    fn learn(
        &mut self,
        examples: &mut dyn Iterator<Item = Example<'_>>,
        margins: &mut Vec<f64>,
    ) -> Result<()>;
    /// Append the margins of the examples and learn nothing.
    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>);
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
    /// The scales of the features, to be put back.
    fn scales_mut(&mut self) -> &mut Scales;
    /// The sums so far.
    fn tally(&self) -> &Tally;
    /// What the slots say about regret; walks over all of them.
    fn standing(&self) -> Standing;
    /// The names of a slot's floats.
    fn fields(&self) -> &'static [&'static str];
    /// The slots that may have been touched, by their pages.
    fn pages(&self) -> &Pages;
    /// Whether every slot that was never met plays 0, as it does where its box holds 0.
    fn rests_at_zero(&self) -> bool;
    /// Whether a slot is as it began.
    fn is_untouched(&self, slot: usize) -> bool;
    /// How many lanes each slot has.
    fn lanes(&self) -> usize {
        1
    }
    /// One float of a slot in one lane.
    fn field(&self, slot: usize, lane: usize, field: usize) -> f32;
    /// The sum of the gradients of a slot in one lane, where it is kept.
    fn gradient_sum(&self, slot: usize, lane: usize) -> Option<f64>;
    /// The intervals, where each slot has its own.
    fn intervals(&self) -> Option<&[Interval]>;
    /// The state that coupled coordinates share, for the model file.
    fn shared(&self) -> Value;
    /// Put back what [`Model::shared`] and [`Model::tally`] gave.
    fn restore(&mut self, shared: Value, tally: Tally) -> std::result::Result<(), String>;
    /// Put back one float of a slot in one lane.
    fn set_field(&mut self, slot: usize, lane: usize, field: usize, value: f32);
    /// Put back the sum of the gradients of a slot in one lane.
    fn set_gradient_sum(&mut self, slot: usize, lane: usize, sum: f64);
}

/// A rule run on every coordinate.
pub struct Learner<R: Rule, B: Boxes> {
    loss: Loss,
    penalty: Penalty,
    importance_aware: bool,
    rule: R,
    boxes: B,
    slots: Vec<R::Slot>,
    pages: Pages,
    scales: Scales,
    gradient_sums: Option<Vec<f64>>,
    shared: R::Shared,
    step: Step,
    tally: Tally,
}

/// What the first walk over an example's features found.
struct Look {
    margin: f64,
    sight: Sight,
    square_norm: f64,
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
            slots: zeroed(slots)?,
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
    fn look<const LEARN: bool, const PENALISED: bool>(&self, example: &Example<'_>) -> Look {
        let mut look =
            Look { margin: 0.0, sight: Sight::default(), square_norm: 0.0, square_weights: 0.0 };
        for (&slot, &value) in example.slots.iter().zip(example.values) {
            let (slot, wide) = (slot as usize, f64::from(value));
            look.square_norm += wide * wide;
            let (rule, state) = (self.rule_at(slot), &self.slots[slot]);
            let weight = f64::from(rule.weight(state, value));
            look.margin += weight * wide;
            if PENALISED {
                look.square_weights += weight * weight;
            }
            if LEARN && R::COUPLED {
                rule.look(state, value, &mut look.sight);
            }
        }
        look
    }

    /// The second walk: the gradient is `slope · value + shrink · weight` in every coordinate.
    ///
    /// It gives ½ Σ g² η. Where weights are to STAY for now it gives Σ x² η, the response.
    fn absorb<const PENALISED: bool, const STAY: bool>(
        &mut self,
        example: &Example<'_>,
        sight: &Sight,
    ) -> f64 {
        if R::COUPLED {
            self.step = self.rule.step(&mut self.shared, sight);
        } else if !PENALISED && sight.slope == 0.0 {
            return 0.0;
        }
        let step = self.step;
        let mut sum = 0.0;
        for (&slot, &value) in example.slots.iter().zip(example.values) {
            let slot = slot as usize;
            let rule = self.rule_at(slot);
            let state = &mut self.slots[slot];
            let played = rule.weight(state, value);
            let mut gradient = sight.slope * f64::from(value);
            if PENALISED {
                gradient += sight.shrink * f64::from(played);
            }
            let gradient = gradient as f32;
            // A coordinate rule is promised a gradient; here a coordinate may have none on its own.
            if PENALISED && !R::COUPLED && gradient == 0.0 {
                continue;
            }
            rule.absorb(state, value, gradient, step);
            if !R::BOUNDED {
                continue;
            }
            if STAY && gradient != 0.0 {
                rule.place(state, f64::from(played));
            }
            let gradient = f64::from(gradient);
            let factor = if STAY { f64::from(value) } else { gradient };
            sum += factor * factor * f64::from(rule.rate_used(state, step));
            if let Some(sums) = &mut self.gradient_sums {
                sums[slot] += gradient;
            }
        }
        if STAY { sum } else { 0.5 * sum }
    }

    /// Absorb, and then the third walk: every weight goes as far as the importance leads it.
    fn follow(&mut self, example: &Example<'_>, sight: &Sight) {
        let response = self.absorb::<false, true>(example, sight);
        let Sight { margin, label, importance, slope, .. } = *sight;
        if slope == 0.0 {
            return;
        }
        let push = push(self.loss, margin, label, importance, response);
        for (&slot, &value) in example.slots.iter().zip(example.values) {
            let slot = slot as usize;
            let rule = self.rule_at(slot);
            let state = &mut self.slots[slot];
            let rate = f64::from(rule.rate_used(state, self.step));
            let weight = f64::from(rule.weight(state, value));
            rule.place(state, weight + push * rate * f64::from(value));
        }
    }

    fn round<const PENALISED: bool, const AWARE: bool>(
        &mut self,
        example: &Example<'_>,
    ) -> Result<Outcome> {
        let look = self.look::<true, PENALISED>(example);
        let (label, importance) = (f64::from(example.label), f64::from(example.importance));
        let margin = look.margin;
        let slope = importance * self.loss.slope(margin, label);
        let sight = Sight {
            round: self.tally.rounds + 1,
            regression: !self.loss.is_classification(),
            label,
            margin,
            importance,
            slope,
            square_norm: look.square_norm,
            shrink: if PENALISED { importance * self.penalty.l2 } else { 0.0 },
            square_weights: look.square_weights,
            ..look.sight
        };
        self.check(example, &sight)?;
        let energy = if AWARE {
            self.follow(example, &sight);
            0.0
        } else {
            self.absorb::<PENALISED, false>(example, &sight)
        };
        Ok(Outcome {
            margin,
            loss: self.loss.value(margin, label),
            mistake: self.loss.is_mistake(margin, label),
            importance,
            penalty: if PENALISED { self.penalty.of(sight.square_weights) } else { 0.0 },
            played: sight.played(),
            energy,
            features: example.slots.len(),
        })
    }

    /// Refuse a round whose gradient would not fit into a float32 slot, before it is learned.
    #[inline]
    fn check(&self, example: &Example<'_>, sight: &Sight) -> Result<()> {
        if is_sound::<R>(sight) {
            return Ok(());
        }
        Err(diverged(example, *sight, |slot| self.scaled_weight(slot)))
    }

    /// Play and absorb every example. Not inlined, so that each kind of learner is compiled as if
    /// there were no other.
    #[inline(never)]
    fn learn_each<const PENALISED: bool, const SCALED: bool, const AWARE: bool>(
        &mut self,
        examples: &mut dyn Iterator<Item = Example<'_>>,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        let (mut room, mut next) = (Vec::new(), examples.next());
        while let Some(example) = next {
            next = examples.next();
            self.ask_for(next.as_ref());
            let seen = if SCALED { self.normalise(&example, &mut room)? } else { example };
            let outcome = self.round::<PENALISED, AWARE>(&seen)?;
            if SCALED {
                self.scales.remember(&example);
            }
            self.pages.meet_all(example.slots);
            self.tally.record(&outcome);
            margins.push(outcome.margin);
        }
        Ok(())
    }

    /// Have the slots of an example brought near while another is learned.
    #[inline]
    fn ask_for(&self, example: Option<&Example<'_>>) {
        for &slot in example.map_or(&[][..], |example| example.slots) {
            prefetch(&self.slots, slot as usize);
        }
    }

    /// The example as it is to be played, and the memory for its scales.
    fn normalise<'a>(
        &mut self,
        example: &Example<'a>,
        room: &'a mut Vec<f32>,
    ) -> Result<Example<'a>> {
        self.scales.make_room(example)?;
        Ok(self.scales.normalise(example, room))
    }

    /// The same with the regulariser on every coordinate.
    #[inline(never)]
    fn learn_whole(
        &mut self,
        examples: &mut dyn Iterator<Item = Example<'_>>,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        let (mut whole, mut room) = (Whole::default(), Vec::new());
        for example in examples {
            let seen = self.normalise(&example, &mut room)?;
            let touched = self.touched().map(|(slot, _)| slot as u32);
            let outcome = self.round::<true, false>(&whole.complete(&seen, touched))?;
            self.scales.remember(&example);
            self.pages.meet_all(example.slots);
            self.tally.record(&Outcome { features: example.slots.len(), ..outcome });
            margins.push(outcome.margin);
        }
        Ok(())
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

/// Whether margin and gradient of a round fit into float32.
#[inline]
pub(crate) fn is_sound<R: Rule>(sight: &Sight) -> bool {
    let finite = |number: f64| (number as f32).is_finite();
    finite(sight.margin) && (!R::BOUNDED || finite(sight.square_gradient()))
}

/// The error for a round that is not sound; `weight` gives the weight that a slot played.
#[cold]
#[inline(never)]
pub(crate) fn diverged(
    example: &Example<'_>,
    sight: Sight,
    weight: impl Fn(usize) -> f32,
) -> Error {
    let (margin, norm) = (sight.margin, sight.square_gradient().sqrt());
    let margin_fits = (margin as f32).is_finite();
    let what = match margin_fits {
        true => format!("the gradient has length {norm:.2e}, too large to square in float32"),
        false => format!("the margin is {margin:.2e}, too large for a float32"),
    };
    let part = |k: usize| {
        let value = f64::from(example.values[k]);
        let weight = f64::from(weight(example.slots[k] as usize));
        if margin_fits { sight.slope * value + sight.shrink * weight } else { value }.abs()
    };
    let largest = (0..example.slots.len()).max_by(|&a, &b| part(a).total_cmp(&part(b)));
    let slot = largest.map_or(0, |k| example.slots[k]);
    Error::Diverged { round: sight.round, slot, what }
}

impl<R: Rule, B: Boxes> Model for Learner<R, B> {
    fn learn(
        &mut self,
        examples: &mut dyn Iterator<Item = Example<'_>>,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        if !R::LEARNS {
            let cure = "go on from the model it was made of";
            return Err(Error::Spec(format!("a slim model predicts and does not learn; {cure}")));
        }
        if R::DESCENDS && self.importance_aware {
            return self.learn_each::<false, true, true>(examples, margins);
        }
        match (self.penalty, self.scales.are_used()) {
            (Penalty { l2: 0.0, .. }, false) => {
                self.learn_each::<false, false, false>(examples, margins)
            }
            (Penalty { l2: 0.0, .. }, true) => {
                self.learn_each::<false, true, false>(examples, margins)
            }
            (Penalty { scope: Scope::Active, .. }, _) => {
                self.learn_each::<true, true, false>(examples, margins)
            }
            (Penalty { scope: Scope::All, .. }, _) => self.learn_whole(examples, margins),
        }
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        let mut room = Vec::new();
        for example in chunk.examples() {
            let seen = self.scales.normalise(&example, &mut room);
            margins.push(self.look::<false, false>(&seen).margin);
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
