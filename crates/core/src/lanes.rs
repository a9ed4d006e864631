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
use std::ops::Range;
use std::sync::Arc;

use pulp::NullaryFnOnce;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::audience::{Audience, BATCH, Round, Rounds};
use crate::error::{Error, Result};
use crate::example::{Chunk, Course, Example};
use crate::faces::{Tails, slopes};
use crate::importance::push;
use crate::lane_tallies::LaneTallies;
use crate::learner::{Boxes, Model, diverged, is_sound};
use crate::loss::Loss;
use crate::memory::zeroed;
use crate::mixture::{LANES, Mixture, PerLane, RATES};
use crate::pages::Pages;
use crate::penalty::{Penalty, Scope, Whole};
use crate::places::Places;
use crate::rule::{Interval, Line, Rule, Sight, Slot, Step};
use crate::scale::Scales;
use crate::sheet::{LaneSum, Sum};
use crate::shelf::Shelf;
use crate::tally::{LaneStanding, Standing, Tally};
use crate::vectors::Path;

type LineOf<R> = <<R as Rule>::Slot as Slot>::Line;

/// A rule run on every coordinate in all lanes.
pub struct Lanes<R: Rule, B: Boxes> {
    loss: Loss,
    penalty: Penalty,
    importance_aware: bool,
    rule: R,
    boxes: B,
    shelf: Shelf<LineOf<R>>,
    scales: Scales,
    gradient_sums: Option<Vec<PerLane>>,
    coupling: Coupling<R::Shared>,
    audience: Audience,
}

/// What the coordinates of each lane share.
#[derive(Clone, Copy, Default)]
struct Coupling<S> {
    state: [S; LANES],
    step: [Step; LANES],
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
        let audience = Audience::new(loss, penalty.l2 > 0.0);
        Ok(Lanes {
            loss,
            penalty,
            importance_aware: false,
            rule,
            boxes,
            shelf: Shelf::new(slots)?,
            scales,
            gradient_sums: sums,
            coupling: Coupling::default(),
            audience,
        })
    }

    /// The same with importance-aware updates, or without; for a rule that descends.
    pub fn importance_aware(self, importance_aware: bool) -> Self {
        Lanes { importance_aware, ..self }
    }

    /// The same with this part of every round's shares dealt out evenly.
    pub fn fixed_share(self, fixed_share: f64) -> Self {
        let audience = self.audience.fixed_share(fixed_share);
        Lanes { audience, ..self }
    }

    /// The rule of a slot in a lane.
    #[inline]
    fn rule_at(&self, slot: usize, lane: usize) -> R {
        self.boxes.rule(self.rule, slot).at(RATES[lane])
    }

    #[inline(always)]
    fn look<const LEARN: bool, const PENALISED: bool>(
        &self,
        example: &Example<'_>,
        places: &[u32],
    ) -> Look {
        let (mut margins, mut square_weights) = (LaneSum::default(), LaneSum::default());
        let mut sights = (LEARN && R::COUPLED).then(|| [Sight::default(); LANES]);
        let (mut square_norm, lines) = (Sum::default(), self.shelf.lines());
        for (k, (&slot, &value)) in example.slots.iter().zip(example.values).enumerate() {
            let (slot, wide) = (slot as usize, f64::from(value));
            square_norm.add_one(k, wide * wide);
            let (rule, line) = (self.boxes.rule(self.rule, slot), &lines[places[k] as usize]);
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
        places: &[u32],
        slopes: &PerLane,
    ) -> PerLane {
        // Copies, here and of the line, and loops of one kind of number: so they become vectors.
        let (rule, boxes, steps, slopes) = (self.rule, &self.boxes, self.coupling.step, *slopes);
        let mut sums = self.gradient_sums.as_deref_mut();
        let shrink = f64::from(example.importance) * self.penalty.l2;
        let (mut sum, lines) = (LaneSum::default(), self.shelf.lines_mut());
        for (k, (&slot, &value)) in example.slots.iter().zip(example.values).enumerate() {
            let (slot, wide) = (slot as usize, f64::from(value));
            let (rule, place) = (boxes.rule(rule, slot), places[k] as usize);
            let mut line = lines[place];
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
            lines[black_box(place)] = line;
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
    fn follow(
        &mut self,
        example: &Example<'_>,
        places: &[u32],
        margins: &PerLane,
        slopes: &PerLane,
    ) {
        let responses = self.absorb::<true, false>(example, places, slopes);
        let (label, importance) = (f64::from(example.label), f64::from(example.importance));
        let pushes: PerLane = std::array::from_fn(|lane| {
            push(self.loss, margins[lane], label, importance, responses[lane])
        });
        let steps = self.coupling.step;
        for (k, (&slot, &value)) in example.slots.iter().zip(example.values).enumerate() {
            let rule = self.boxes.rule(self.rule, slot as usize);
            let line = &mut self.shelf.lines_mut()[places[k] as usize];
            for lane in 0..LANES {
                let (rule, mut state) = (rule.at(RATES[lane]), line.get(lane));
                let rate = f64::from(rule.rate_used(&state, steps[lane]));
                let weight = f64::from(rule.weight(&state, value));
                rule.place(&mut state, weight + pushes[lane] * rate * f64::from(value));
                line.put(lane, state);
            }
        }
    }

    /// Let every lane play and learn.
    #[inline(always)]
    fn round<const PENALISED: bool>(
        &mut self,
        number: u64,
        example: &Example<'_>,
        places: &[u32],
    ) -> Result<Round> {
        let look = self.look::<true, PENALISED>(example, places);
        let (label, importance) = (f64::from(example.label), f64::from(example.importance));
        let tails = Tails::of(self.loss, &look.margins);
        let seen = Seen {
            round: number,
            regression: !self.loss.is_classification(),
            label,
            importance,
            shrink: if PENALISED { importance * self.penalty.l2 } else { 0.0 },
            slopes: times(importance, slopes(self.loss, &look.margins, label, &tails)),
            look,
        };
        self.check(example, &seen)?;
        let mut played = [0.0; LANES];
        for (lane, played) in played.iter_mut().enumerate() {
            *played = seen.sight(lane).played();
        }
        Ok(Round {
            label,
            importance,
            features: example.slots.len(),
            margins: seen.look.margins,
            tails,
            penalties: if PENALISED { self.penalties(&seen.look) } else { [0.0; LANES] },
            played,
            energies: self.absorb_all::<PENALISED>(example, places, &seen),
        })
    }

    #[inline(always)]
    fn penalties(&self, look: &Look) -> PerLane {
        look.square_weights.map(|squares| self.penalty.of(squares))
    }

    #[inline(always)]
    fn absorb_all<const PENALISED: bool>(
        &mut self,
        example: &Example<'_>,
        places: &[u32],
        seen: &Seen,
    ) -> PerLane {
        if R::COUPLED {
            for (lane, &rate) in RATES.iter().enumerate() {
                let shared = &mut self.coupling.state[lane];
                self.coupling.step[lane] = self.rule.at(rate).step(shared, &seen.sight(lane));
            }
        } else if !PENALISED && seen.slopes.iter().all(|&slope| slope == 0.0) {
            return [0.0; LANES];
        }
        if R::DESCENDS && self.importance_aware {
            self.follow(example, places, &seen.look.margins, &seen.slopes);
            return [0.0; LANES];
        }
        self.absorb::<false, PENALISED>(example, places, &seen.slopes)
    }

    /// Play and absorb every example, by the machine's vector instructions.
    fn learn_each<const PENALISED: bool>(
        &mut self,
        course: Course<'_>,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        let path = Path::chosen().map_err(Error::Spec)?;
        path.run(Lesson::<R, B, PENALISED> { lanes: self, course, margins })
    }

    #[inline(always)]
    fn teach<const PENALISED: bool>(
        &mut self,
        course: Course<'_>,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        let mut room = Room::default();
        for start in (0..course.len()).step_by(BATCH) {
            let batch = start..course.len().min(start + BATCH);
            let taught = self.teach_batch::<PENALISED>(course, batch, &mut room);
            self.audience.watch(&mut room.rounds, margins);
            taught?;
        }
        Ok(())
    }

    #[inline(always)]
    fn teach_batch<const PENALISED: bool>(
        &mut self,
        course: Course<'_>,
        batch: Range<usize>,
        room: &mut Room,
    ) -> Result<()> {
        let Room { values, places, rounds } = room;
        self.place(course, batch.clone(), places);
        let (mut places, last) = (&places[..], batch.end - 1);
        let before = self.audience.tally.rounds + 1 - batch.start as u64;
        for k in batch {
            let example = course.example(k);
            let (own, others) = places.split_at(example.slots.len());
            if k < last {
                self.shelf.ask_for(&others[..course.example(k + 1).slots.len()]);
            }
            places = others;
            let plain = self.scales.leave(&example);
            let seen = if plain { example } else { self.scales.prepare(&example, values)? };
            rounds.push(self.round::<PENALISED>(before + k as u64, &seen, own)?);
            if !plain {
                self.scales.remember(&example);
            }
        }
        Ok(())
    }

    /// Find the lines of some examples, and have those of the first brought near.
    #[inline(always)]
    fn place(&mut self, course: Course<'_>, batch: Range<usize>, places: &mut Vec<u32>) {
        places.clear();
        let known = self.shelf.places();
        for k in batch.clone() {
            match course.places(k, known) {
                Some(found) => places.extend_from_slice(found),
                None => known.meet_all(course.example(k).slots, places),
            }
        }
        self.shelf.have_memory();
        self.shelf.ask_for(&places[..course.example(batch.start).slots.len()]);
    }

    /// The same with the regulariser on every coordinate.
    #[inline(never)]
    fn learn_whole(&mut self, course: Course<'_>, margins: &mut Vec<f64>) -> Result<()> {
        let (mut whole, mut room) = (Whole::default(), Room::default());
        for example in course.examples() {
            let seen = self.scales.prepare(&example, &mut room.values)?;
            let touched = self.touched().map(|slot| slot as u32);
            let completed = whole.complete(&seen, touched);
            let number = self.audience.tally.rounds + 1;
            room.places.clear();
            self.shelf.places().meet_all(completed.slots, &mut room.places);
            self.shelf.have_memory();
            let round = self.round::<true>(number, &completed, &room.places)?;
            self.scales.remember(&example);
            room.rounds.push(Round { features: example.slots.len(), ..round });
            self.audience.watch(&mut room.rounds, margins);
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
                    self.rule_at(slot, lane).weight(&self.shelf.line(slot).get(lane), 1.0)
                }));
            }
        }
        Ok(())
    }

    fn touched(&self) -> impl Iterator<Item = usize> {
        self.shelf.places().pages().slots().filter(|&slot| !self.is_line_untouched(slot))
    }

    fn is_line_untouched(&self, slot: usize) -> bool {
        self.shelf.line(slot).is_untouched()
    }

    /// The sums of all lanes' spreads, and how many slots were touched, in one walk.
    #[inline(always)]
    fn survey(&self) -> (PerLane, u64) {
        let (mut spreads, mut touched, steps) = ([0.0; LANES], 0, self.coupling.step);
        for slot in self.shelf.places().pages().slots() {
            let (rule, line) = (self.boxes.rule(self.rule, slot), *self.shelf.line(slot));
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
        let shared = self.rule.at(RATES[lane]).shared_spread(&self.coupling.state[lane]);
        let least = |slot: usize, sum: f64| self.rule_at(slot, lane).interval().least(sum);
        let floor = |sums: &Vec<PerLane>| {
            self.shelf.places().pages().slots().map(|slot| least(slot, sums[slot][lane])).sum()
        };
        LaneStanding {
            rate: f64::from(RATES[lane]),
            share,
            tally: self.audience.lanes.of(lane),
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

/// Memory that is used again from example to example.
#[derive(Default)]
struct Room {
    values: Vec<f32>,
    places: Vec<u32>,
    rounds: Rounds,
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

    fn expect(&mut self, features: u64) {
        self.shelf.expect(features);
    }

    fn places(&self) -> Option<Arc<Places>> {
        Some(Arc::clone(self.shelf.places()))
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        let (mut room, mut places) = (Vec::new(), Vec::new());
        let mixture = &self.audience.mixture;
        let shares = mixture.shares(self.loss);
        for example in chunk.examples() {
            places.clear();
            places.extend(example.slots.iter().map(|&slot| self.shelf.places().find(slot)));
            let seen = self.scales.normalise(&example, &mut room);
            let look = self.look::<false, false>(&seen, &places);
            let tails = Tails::of(self.loss, &look.margins);
            margins.push(mixture.margin(self.loss, &shares, &look.margins, &tails));
        }
    }

    fn slots(&self) -> usize {
        self.shelf.places().slots()
    }

    fn scaled_weight(&self, slot: usize) -> f32 {
        let best = self.audience.mixture.best();
        self.rule_at(slot, best).weight(&self.shelf.line(slot).get(best), 1.0)
    }

    fn scales(&self) -> &Scales {
        &self.scales
    }

    fn scales_mut(&mut self) -> &mut Scales {
        &mut self.scales
    }

    fn tally(&self) -> &Tally {
        &self.audience.tally
    }

    fn standing(&self) -> Standing {
        let (spreads, touched) = Path::chosen().unwrap_or(Path::Portable).run(Survey(self));
        let shares = self.audience.mixture.shares(self.loss);
        let lane = |lane: usize| self.lane_standing(lane, shares[lane], spreads[lane]);
        Standing {
            touched,
            mixing_cost: Some(self.audience.mixture.cost(self.loss)),
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
        self.shelf.line(slot).get(lane).get(field)
    }

    fn gradient_sum(&self, slot: usize, lane: usize) -> Option<f64> {
        self.gradient_sums.as_ref().map(|sums| sums[slot][lane])
    }

    fn intervals(&self) -> Option<&[Interval]> {
        self.boxes.intervals()
    }

    fn shared(&self) -> Value {
        let (Coupling { state, step }, audience) = (self.coupling, &self.audience);
        let state = State { state, step, lanes: audience.lanes, mixture: audience.mixture };
        serde_json::to_value(state).unwrap_or(Value::Null)
    }

    fn restore(&mut self, shared: Value, tally: Tally) -> std::result::Result<(), String> {
        if !shared.is_object() {
            return Err("the shared state is not an object".into());
        }
        let told = serde_json::from_value(shared).map_err(|error| error.to_string())?;
        let State { state, step, lanes, mixture } = told;
        self.coupling = Coupling { state, step };
        (self.audience.lanes, self.audience.mixture) = (lanes, mixture);
        self.audience.tally = tally;
        Ok(())
    }

    fn pages(&self) -> &Pages {
        self.shelf.places().pages()
    }

    fn rests_at_zero(&self) -> bool {
        let unmet = R::Slot::default();
        self.boxes.intervals().is_none() && self.rule.weight(&unmet, 1.0) == 0.0
    }

    fn set_field(&mut self, slot: usize, lane: usize, field: usize, value: f32) {
        let line = self.shelf.meet(slot);
        let mut state = line.get(lane);
        state.set(field, value);
        line.put(lane, state);
    }

    fn set_gradient_sum(&mut self, slot: usize, lane: usize, sum: f64) {
        if let Some(sums) = &mut self.gradient_sums {
            sums[slot][lane] = sum;
        }
    }
}
