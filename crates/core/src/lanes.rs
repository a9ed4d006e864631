//! The learner in eight lanes: one rule at eight rates, mixed, so that nobody need choose one.
//!
//! One round, for an example (x, y) with importance h:
//!
//! ```text
//! p_k      = Σ_i weight(slot_i,k, x_i) x_i            look, in every lane
//! p        = mixture of the p_k                       play
//! slot_i,k ← absorb(slot_i,k, x_i, h ℓ'(p_k, y) x_i)  for every feature, in every lane
//! ```
//!
//! The lanes share nothing but the example: each plays its own margin and absorbs its own gradient,
//! and holds the bits that a [`Learner`](crate::learner::Learner) at its rate would hold. A
//! coordinate's lanes lie on one cache line, field by field, so a feature costs one miss as with one
//! lane, and the loop over the lanes is vector instructions. With L2 (`penalty.rs`) each lane has its
//! own penalty, and the mixture's is their mean by the shares. Importance-aware updates
//! (`importance.rs`) are each lane's own, in a third walk.

use std::hint::black_box;

use lessregret_prefetch::prefetch;
use pulp::NullaryFnOnce;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::example::{Chunk, Course, Example};
use crate::faces::{Faces, Tails};
use crate::importance::push;
use crate::lane_tallies::LaneTallies;
use crate::learner::{Boxes, Model, diverged, is_sound};
use crate::loss::Loss;
use crate::memory::{Table, zeroed};
use crate::mixture::{LANES, Mixture, PerLane, RATES, Suffered};
use crate::pages::Pages;
use crate::penalty::{Penalty, Scope, Whole};
use crate::rule::{Interval, Line, Rule, Sight, Slot, Step};
use crate::scale::Scales;
use crate::sheet::{LaneSum, Sum};
use crate::tally::{LaneStanding, Outcome, Standing, Tally};
use crate::vectors::Path;

type LineOf<R> = <<R as Rule>::Slot as Slot>::Line;

/// A rule run on every coordinate in all lanes.
pub struct Lanes<R: Rule, B: Boxes> {
    loss: Loss,
    penalty: Penalty,
    importance_aware: bool,
    fixed_share: f64,
    rule: R,
    boxes: B,
    lines: Table<LineOf<R>>,
    pages: Pages,
    all_touched: bool,
    scales: Scales,
    gradient_sums: Option<Vec<PerLane>>,
    state: State<R::Shared>,
    tally: Tally,
}

/// What is not of one coordinate, as in the model file.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State<S> {
    state: [S; LANES],
    step: [Step; LANES],
    lanes: LaneTallies,
    mixture: Mixture,
}

/// What the first walk over an example's features found.
struct Look {
    margins: PerLane,
    /// For coupled rules only: so many numbers are not even set to 0 where nobody asks.
    sights: Option<[Sight; LANES]>,
    square_norm: f64,
    square_weights: PerLane,
}

/// What a round showed to the lanes before they learn from it.
struct Seen {
    round: u64,
    regression: bool,
    label: f64,
    importance: f64,
    shrink: f64,
    look: Look,
    /// importance · slope.
    slopes: PerLane,
}

impl Seen {
    /// What a lane saw; made where it is asked for, and of that only what is used.
    #[inline(always)]
    fn sight(&self, lane: usize) -> Sight {
        let gathered = self.look.sights.as_ref().map_or(Sight::default(), |sights| sights[lane]);
        Sight {
            round: self.round,
            regression: self.regression,
            label: self.label,
            margin: self.look.margins[lane],
            importance: self.importance,
            slope: self.slopes[lane],
            square_norm: self.look.square_norm,
            shrink: self.shrink,
            square_weights: self.look.square_weights[lane],
            ..gathered
        }
    }
}

impl<R: Rule, B: Boxes> Lanes<R, B> {
    /// A learner with this many slots, none of them touched; the rule's own rate is not used.
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
        let state = State {
            state: [R::Shared::default(); LANES],
            step: [Step::default(); LANES],
            lanes: LaneTallies::default(),
            mixture: Mixture::default(),
        };
        let (lines, pages) = (Table::zeroed(slots)?, Pages::new(slots)?);
        let tally = Tally::default();
        Ok(Lanes {
            loss,
            penalty,
            importance_aware: false,
            fixed_share: 0.0,
            rule,
            boxes,
            lines,
            pages,
            all_touched: false,
            scales,
            gradient_sums: sums,
            state,
            tally,
        })
    }

    /// The same with importance-aware updates, or without; for a rule that descends.
    pub fn importance_aware(self, importance_aware: bool) -> Self {
        Lanes { importance_aware, ..self }
    }

    /// The same with this part of every round's shares dealt out evenly.
    pub fn fixed_share(self, fixed_share: f64) -> Self {
        Lanes { fixed_share, ..self }
    }

    /// The rule of a slot in a lane.
    #[inline]
    fn rule_at(&self, slot: usize, lane: usize) -> R {
        self.boxes.rule(self.rule, slot).at(RATES[lane])
    }

    #[inline(always)]
    fn look<const LEARN: bool, const PENALISED: bool>(&self, example: &Example<'_>) -> Look {
        let (mut margins, mut square_weights) = (LaneSum::default(), LaneSum::default());
        let mut sights = (LEARN && R::COUPLED).then(|| [Sight::default(); LANES]);
        let (mut square_norm, lines) = (Sum::default(), &*self.lines);
        for (k, (&slot, &value)) in example.slots.iter().zip(example.values).enumerate() {
            let (slot, wide) = (slot as usize, f64::from(value));
            square_norm.add_one(k, wide * wide);
            let (rule, line) = (self.boxes.rule(self.rule, slot), &lines[slot]);
            let (mut products, mut squares) = ([0.0; LANES], [0.0; LANES]);
            for lane in 0..LANES {
                let weight = rule.at(RATES[lane]).weight(&line.get(lane), value);
                products[lane] = f64::from(weight) * wide;
                if PENALISED {
                    let weight = penalised(&line.get(lane), value, weight);
                    squares[lane] = weight * weight;
                }
            }
            margins.add(k, &products);
            if PENALISED {
                square_weights.add(k, &squares);
            }
            for (lane, sight) in sights.iter_mut().flatten().enumerate() {
                rule.at(RATES[lane]).look(&line.get(lane), value, sight);
            }
        }
        // What follows needs many registers; the sums of the walk shall not give theirs up for it.
        let margins = black_box(margins.totals());
        let (square_norm, square_weights) = (square_norm.total(), square_weights.totals());
        Look { margins, sights, square_norm, square_weights }
    }

    /// The second walk; ½ Σ g² η of every lane. Where weights are to STAY for now, Σ x² η.
    #[inline(always)]
    fn absorb<const STAY: bool, const PENALISED: bool>(
        &mut self,
        example: &Example<'_>,
        slopes: &PerLane,
    ) -> PerLane {
        // Copies, here and of the line, and loops of one kind of number: so they become vectors.
        let (rule, boxes, steps, slopes) = (self.rule, &self.boxes, self.state.step, *slopes);
        let mut sums = self.gradient_sums.as_deref_mut();
        let shrink = f64::from(example.importance) * self.penalty.l2;
        let (mut sum, lines) = (LaneSum::default(), &mut *self.lines);
        for (k, (&slot, &value)) in example.slots.iter().zip(example.values).enumerate() {
            let (slot, wide) = (slot as usize, f64::from(value));
            let rule = boxes.rule(rule, slot);
            let mut line = lines[slot];
            let mut gradients = slopes.map(|slope| (slope * wide) as f32);
            let mut rates = [0.0; LANES];
            for lane in 0..LANES {
                let (rule, step) = (rule.at(RATES[lane]), steps[lane]);
                let mut state = line.get(lane);
                let played = rule.weight(&state, value);
                if PENALISED {
                    let pull = shrink * penalised(&state, value, played);
                    gradients[lane] = (slopes[lane] * wide + pull) as f32;
                }
                rule.absorb(&mut state, value, gradients[lane], step);
                if STAY {
                    rule.place(&mut state, f64::from(played));
                }
                line.put(lane, state);
                rates[lane] = rule.rate_used(&state, step);
            }
            // If the compiler saw that this is where the line came from, it would store by mask only
            // the lanes that changed: 5 nanoseconds a feature more on an AMD EPYC.
            lines[black_box(slot)] = line;
            let mut terms = [0.0; LANES];
            for lane in 0..LANES {
                let factor = if STAY { wide } else { f64::from(gradients[lane]) };
                terms[lane] = factor * factor * f64::from(rates[lane]);
            }
            sum.add(k, &terms);
            if let Some(sums) = &mut sums {
                add(&mut sums[slot], &gradients.map(f64::from));
            }
        }
        let totals = sum.totals();
        if STAY { totals } else { totals.map(|total| 0.5 * total) }
    }

    /// Absorb, and then the third walk: every weight goes as far as the importance leads it. Not
    /// inlined, so that the way without it is compiled as if there were no other.
    #[inline(never)]
    fn follow(&mut self, example: &Example<'_>, margins: &PerLane, slopes: &PerLane) {
        let responses = self.absorb::<true, false>(example, slopes);
        let (label, importance) = (f64::from(example.label), f64::from(example.importance));
        let pushes: PerLane = std::array::from_fn(|lane| {
            push(self.loss, margins[lane], label, importance, responses[lane])
        });
        let steps = self.state.step;
        for (&slot, &value) in example.slots.iter().zip(example.values) {
            let slot = slot as usize;
            let rule = self.boxes.rule(self.rule, slot);
            let line = &mut self.lines[slot];
            for lane in 0..LANES {
                let (rule, mut state) = (rule.at(RATES[lane]), line.get(lane));
                let rate = f64::from(rule.rate_used(&state, steps[lane]));
                let weight = f64::from(rule.weight(&state, value));
                rule.place(&mut state, weight + pushes[lane] * rate * f64::from(value));
                line.put(lane, state);
            }
        }
    }

    #[inline(always)]
    fn round<const PENALISED: bool>(&mut self, example: &Example<'_>) -> Result<Outcome> {
        // Before the walk, whose misses they need not wait for; else the compiler has them later.
        let shares = black_box(self.state.mixture.shares(self.loss));
        let look = self.look::<true, PENALISED>(example);
        let (label, importance) = (f64::from(example.label), f64::from(example.importance));
        let tails = Tails::of(self.loss, &look.margins);
        let faces = Faces::of(self.loss, &look.margins, label, &tails);
        let seen = Seen {
            round: self.tally.rounds + 1,
            regression: !self.loss.is_classification(),
            label,
            importance,
            shrink: if PENALISED { importance * self.penalty.l2 } else { 0.0 },
            slopes: times(importance, faces.slopes),
            look,
        };
        self.check(example, &seen)?;
        let suffered = Suffered {
            lost: faces.values,
            penalties: if PENALISED { self.penalties(&seen.look) } else { [0.0; LANES] },
        };
        let outcome = self.mix(example, &shares, &seen.look.margins, &tails, &suffered);
        let energies = self.absorb_all::<PENALISED>(example, &seen);
        let mut played = [0.0; LANES];
        for (lane, played) in played.iter_mut().enumerate() {
            *played = seen.sight(lane).played();
        }
        self.state.lanes.add(importance, &suffered, &played, &energies);
        Ok(outcome)
    }

    #[inline(always)]
    fn penalties(&self, look: &Look) -> PerLane {
        look.square_weights.map(|squares| self.penalty.of(squares))
    }

    /// Play the mixture, and let it see what the lanes lost.
    #[inline(always)]
    fn mix(
        &mut self,
        example: &Example<'_>,
        shares: &PerLane,
        margins: &PerLane,
        tails: &Tails,
        suffered: &Suffered,
    ) -> Outcome {
        let (label, importance) = (f64::from(example.label), f64::from(example.importance));
        let (loss, mixture) = (self.loss, &mut self.state.mixture);
        let margin = mixture.margin(loss, shares, margins, tails);
        let own = loss.value(margin, label);
        let penalty = suffered.mean_penalty(shares);
        let counted = mixture.counted(loss, margins, label, suffered);
        let (fixed_share, penalised) = (self.fixed_share, self.penalty.l2 > 0.0);
        mixture.absorb(loss, &counted, own + penalty, importance, fixed_share, penalised);
        if loss == Loss::Squared && importance > 0.0 {
            mixture.meet(label);
        }
        Outcome {
            margin,
            loss: own,
            mistake: loss.is_mistake(margin, label),
            importance,
            penalty,
            played: 0.0,
            energy: 0.0,
            features: example.slots.len(),
        }
    }

    #[inline(always)]
    fn absorb_all<const PENALISED: bool>(&mut self, example: &Example<'_>, seen: &Seen) -> PerLane {
        if R::COUPLED {
            for (lane, &rate) in RATES.iter().enumerate() {
                let shared = &mut self.state.state[lane];
                self.state.step[lane] = self.rule.at(rate).step(shared, &seen.sight(lane));
            }
        } else if !PENALISED && seen.slopes.iter().all(|&slope| slope == 0.0) {
            return [0.0; LANES];
        }
        if R::DESCENDS && self.importance_aware {
            self.follow(example, &seen.look.margins, &seen.slopes);
            return [0.0; LANES];
        }
        self.absorb::<false, PENALISED>(example, &seen.slopes)
    }

    /// Play and absorb every example, by the machine's vector instructions.
    fn learn_each<const PENALISED: bool>(
        &mut self,
        course: Course<'_>,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        if !self.all_touched && self.pages.are_many_met() {
            self.lines.touch_all();
            self.all_touched = true;
        }
        let path = Path::chosen().map_err(Error::Spec)?;
        path.run(Lesson::<R, B, PENALISED> { lanes: self, course, margins })
    }

    #[inline(always)]
    fn teach<const PENALISED: bool>(
        &mut self,
        course: Course<'_>,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        let mut room = Vec::new();
        for k in 0..course.len() {
            if k + 1 < course.len() {
                self.ask_for(&course.example(k + 1));
            }
            let example = course.example(k);
            let plain = self.scales.leave(&example);
            let seen = if plain { example } else { self.scales.prepare(&example, &mut room)? };
            let outcome = self.round::<PENALISED>(&seen)?;
            if !plain {
                self.scales.remember(&example);
            }
            self.pages.meet_all(example.slots);
            self.tally.record(&outcome);
            margins.push(outcome.margin);
        }
        Ok(())
    }

    /// The same with the regulariser on every coordinate.
    #[inline(never)]
    fn learn_whole(&mut self, course: Course<'_>, margins: &mut Vec<f64>) -> Result<()> {
        let (mut whole, mut room) = (Whole::default(), Vec::new());
        for example in course.examples() {
            let seen = self.scales.prepare(&example, &mut room)?;
            let touched = self.touched().map(|slot| slot as u32);
            let completed = whole.complete(&seen, touched);
            let outcome = self.round::<true>(&completed)?;
            self.scales.remember(&example);
            self.pages.meet_all(example.slots);
            self.tally.record(&Outcome { features: example.slots.len(), ..outcome });
            margins.push(outcome.margin);
        }
        Ok(())
    }

    #[inline(always)]
    fn check(&self, example: &Example<'_>, seen: &Seen) -> Result<()> {
        let mut largest = [0; LANES];
        for (lane, largest) in largest.iter_mut().enumerate() {
            let square = if R::BOUNDED { seen.sight(lane).square_gradient() } else { 0.0 };
            *largest = size_bits(seen.look.margins[lane]).max(size_bits(square));
        }
        // All lanes at once, as `is_sound` would judge each.
        let all_sound = largest.into_iter().max() < Some(f32::INFINITY.to_bits());
        if all_sound { Ok(()) } else { self.refuse(example, seen) }
    }

    /// The error for the first lane whose round is not sound.
    #[cold]
    #[inline(always)]
    fn refuse(&self, example: &Example<'_>, seen: &Seen) -> Result<()> {
        // A plain loop, since closures would have `seen` written to memory in every round.
        for lane in 0..LANES {
            if !is_sound::<R>(&seen.sight(lane)) {
                return Err(diverged(example, seen.sight(lane), |slot| {
                    self.rule_at(slot, lane).weight(&self.lines[slot].get(lane), 1.0)
                }));
            }
        }
        Ok(())
    }

    fn touched(&self) -> impl Iterator<Item = usize> {
        self.pages.slots().filter(|&slot| !self.is_line_untouched(slot))
    }

    /// Have the lines of an example brought near while another is learned.
    #[inline(always)]
    fn ask_for(&self, example: &Example<'_>) {
        let lines = &*self.lines;
        for &slot in example.slots {
            prefetch(lines, slot as usize);
        }
    }

    fn is_line_untouched(&self, slot: usize) -> bool {
        self.lines[slot].is_untouched()
    }

    /// The sums of all lanes' spreads, and how many slots were touched, in one walk.
    #[inline(always)]
    fn survey(&self) -> (PerLane, u64) {
        let (mut spreads, mut touched, steps) = ([0.0; LANES], 0, self.state.step);
        for slot in self.pages.slots() {
            let (rule, line) = (self.boxes.rule(self.rule, slot), self.lines[slot]);
            let (bits, mut terms) = (line.bits(), [0.0; LANES]);
            for lane in 0..LANES {
                let spread = rule.at(RATES[lane]).spread(&line.get(lane), steps[lane]);
                // A slot of another lane's only has no rate, and nothing to add.
                terms[lane] = if bits[lane] == 0 { 0.0 } else { spread };
            }
            add(&mut spreads, &terms);
            touched += u64::from(!line.is_untouched());
        }
        (spreads, touched)
    }

    fn lane_standing(&self, lane: usize, share: f64, spread: f64) -> LaneStanding {
        let shared = self.rule.at(RATES[lane]).shared_spread(&self.state.state[lane]);
        let least = |slot: usize, sum: f64| self.rule_at(slot, lane).interval().least(sum);
        let floor = |sums: &Vec<PerLane>| {
            self.pages.slots().map(|slot| least(slot, sums[slot][lane])).sum()
        };
        LaneStanding {
            rate: f64::from(RATES[lane]),
            share,
            tally: self.state.lanes.of(lane),
            spread: (!self.importance_aware).then_some(shared + spread),
            floor: self.gradient_sums.as_ref().map(floor),
        }
    }
}

/// A walk over all slots, as work for [`Path::run`].
struct Survey<'a, R: Rule, B: Boxes>(&'a Lanes<R, B>);

impl<R: Rule, B: Boxes> NullaryFnOnce for Survey<'_, R, B> {
    type Output = (PerLane, u64);

    #[inline(always)]
    fn call(self) -> (PerLane, u64) {
        self.0.survey()
    }
}

/// Examples to be learned: work that is compiled for each set of instructions.
struct Lesson<'a, R: Rule, B: Boxes, const PENALISED: bool> {
    lanes: &'a mut Lanes<R, B>,
    course: Course<'a>,
    margins: &'a mut Vec<f64>,
}

impl<R: Rule, B: Boxes, const PENALISED: bool> NullaryFnOnce for Lesson<'_, R, B, PENALISED> {
    type Output = Result<()>;

    #[inline(always)]
    fn call(self) -> Result<()> {
        self.lanes.teach::<PENALISED>(self.course, self.margins)
    }
}

/// The weight that the regulariser acts on: that of a slot which only other lanes have touched, and
/// which is not in the example, it leaves alone, as it would in a learner of one lane.
#[inline]
fn penalised<S: Slot>(state: &S, value: f32, weight: f32) -> f64 {
    if value == 0.0 && state.is_untouched() { 0.0 } else { f64::from(weight) }
}

/// The size of a number in float32, as bits, which are ordered as sizes are; what is no finite number
/// is the largest.
#[inline(always)]
fn size_bits(number: f64) -> u32 {
    (number as f32).abs().to_bits()
}

#[inline(always)]
fn times(factor: f64, mut numbers: PerLane) -> PerLane {
    for number in &mut numbers {
        *number *= factor;
    }
    numbers
}

fn add(sums: &mut PerLane, terms: &PerLane) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}

impl<R: Rule, B: Boxes> Model for Lanes<R, B> {
    fn learn(&mut self, course: Course<'_>, margins: &mut Vec<f64>) -> Result<()> {
        match self.penalty {
            Penalty { l2: 0.0, .. } => self.learn_each::<false>(course, margins),
            Penalty { scope: Scope::Active, .. } => self.learn_each::<true>(course, margins),
            Penalty { scope: Scope::All, .. } => self.learn_whole(course, margins),
        }
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        let (mut room, mixture) = (Vec::new(), &self.state.mixture);
        let shares = mixture.shares(self.loss);
        for example in chunk.examples() {
            let look = self.look::<false, false>(&self.scales.normalise(&example, &mut room));
            let tails = Tails::of(self.loss, &look.margins);
            margins.push(mixture.margin(self.loss, &shares, &look.margins, &tails));
        }
    }

    fn slots(&self) -> usize {
        self.lines.len()
    }

    fn scaled_weight(&self, slot: usize) -> f32 {
        let best = self.state.mixture.best();
        self.rule_at(slot, best).weight(&self.lines[slot].get(best), 1.0)
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
        let (spreads, touched) = Path::chosen().unwrap_or(Path::Portable).run(Survey(self));
        let shares = self.state.mixture.shares(self.loss);
        let lane = |lane: usize| self.lane_standing(lane, shares[lane], spreads[lane]);
        Standing {
            touched,
            mixing_cost: Some(self.state.mixture.cost(self.loss)),
            lanes: (0..LANES).map(lane).collect(),
            ..Standing::default()
        }
    }

    fn fields(&self) -> &'static [&'static str] {
        R::Slot::FIELDS
    }

    fn is_untouched(&self, slot: usize) -> bool {
        let no_sum = |sums: &Vec<PerLane>| sums[slot] == [0.0; LANES];
        let no_sums = self.gradient_sums.as_ref().is_none_or(no_sum);
        no_sums && self.scales.is_untouched(slot) && self.is_line_untouched(slot)
    }

    fn lanes(&self) -> usize {
        LANES
    }

    fn field(&self, slot: usize, lane: usize, field: usize) -> f32 {
        self.lines[slot].get(lane).get(field)
    }

    fn gradient_sum(&self, slot: usize, lane: usize) -> Option<f64> {
        self.gradient_sums.as_ref().map(|sums| sums[slot][lane])
    }

    fn intervals(&self) -> Option<&[Interval]> {
        self.boxes.intervals()
    }

    fn shared(&self) -> Value {
        serde_json::to_value(self.state).unwrap_or(Value::Null)
    }

    fn restore(&mut self, shared: Value, tally: Tally) -> std::result::Result<(), String> {
        if !shared.is_object() {
            return Err("the shared state is not an object".into());
        }
        self.state = serde_json::from_value(shared).map_err(|error| error.to_string())?;
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

    fn set_field(&mut self, slot: usize, lane: usize, field: usize, value: f32) {
        self.pages.meet(slot);
        let mut state = self.lines[slot].get(lane);
        state.set(field, value);
        self.lines[slot].put(lane, state);
    }

    fn set_gradient_sum(&mut self, slot: usize, lane: usize, sum: f64) {
        if let Some(sums) = &mut self.gradient_sums {
            sums[slot][lane] = sum;
        }
    }
}
