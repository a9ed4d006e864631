//! The learner of many classes as a [`Model`](crate::learn::model::Model), and its state in a model file.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::absorb::Betting;
use super::mix::Observer;
use super::{Classes, Coupling};
use crate::error::Result;
use crate::example::{Example, Ordered, Scales, SlotIndex, SlotLookup, TouchedSlots};
use crate::learn::certificate::{Certificate, Measure, SumsMark};
use crate::learn::dispatch;
use crate::learn::explain::Explanation;
use crate::learn::frame::Boxes;
use crate::learn::lanes::coin::COIN;
use crate::learn::model::{Inspect, Learn, Predict};
use crate::learn::rounds;
use crate::learn::tally::{LaneSummary, SlotSummary, StackSummary, Tally};
use crate::rule::{Interval, Line, Rule, Slot};
use crate::simd::{LANES, PerLane};

/// The number of features from which on huge pages are used (`learn/table/compact.rs`).
const MANY: u64 = 1 << 17;

impl<R: Rule, B: Boxes, const AUTO: bool> Classes<R, B, AUTO> {
    /// The number of lanes that have a rate.
    const RATE_LANES: usize = if Self::HAS_COIN { COIN } else { LANES };

    fn met(&self) -> &TouchedSlots {
        self.table.index().met()
    }

    /// The slots whose lines are not in their initial state.
    pub(super) fn moved(&self) -> impl Iterator<Item = usize> {
        self.met().slots().filter(|&slot| self.is_moved(slot))
    }

    fn is_moved(&self, slot: usize) -> bool {
        let block = self.table.block(self.position(slot as u32));
        !block.iter().all(|line| line.is_untouched())
    }

    /// The line of a class in a block, and its place in the line, for a lane.
    fn place_of(&self, class: usize, lane: usize) -> (usize, usize) {
        match AUTO {
            true if Self::HAS_COIN && lane == COIN => {
                (self.capacity + class / LANES, class % LANES)
            }
            true => (class, lane),
            false => (class / LANES, class % LANES),
        }
    }

    fn slot_of(&self, slot: usize, class: usize, lane: usize) -> R::Slot {
        let (line, place) = self.place_of(class, lane);
        self.table.block(self.position(slot as u32))[line].get(place)
    }

    /// The weight of a class in a lane with a rate; at one rate there is no other.
    pub(super) fn weight_in(&self, slot: usize, class: usize, lane: usize) -> f32 {
        let rule = Self::of_lane(self.frame.rule_at(slot), lane);
        rule.weight(&self.slot_of(slot, class, lane), 1.0)
    }

    /// The lane whose weights stand for the mixture's; 0 at one rate.
    fn shown_lane(&self) -> usize {
        if AUTO { self.observer.mixture.best_lane(Self::RATE_LANES) } else { 0 }
    }

    /// The lane, other than the coin, that lost least; 0 at one rate.
    fn best_by_loss(&self) -> usize {
        if AUTO { self.observer.lanes.least_total(Self::RATE_LANES, false) } else { 0 }
    }

    /// The offset of the certificate.
    fn offset(&self) -> f64 {
        self.observer.tally.loss - self.observer.tally.played
    }

    /// Whether learners were merged on the way to this one, so that no bound holds.
    fn is_merged(&self) -> bool {
        self.observer.tally.merges > 0
    }

    /// The place of the first gradient sum of a slot.
    fn first_sum(&self, slot: usize) -> usize {
        self.position(slot as u32) as usize * self.capacity
    }

    /// Σ D²/(2η) over all coordinates, in every lane, and the closed form of the theorem if there is one.
    fn spreads(&self) -> (PerLane, Option<f64>) {
        let (mut spreads, mut theorem) = ([0.0; LANES], None);
        let lanes = if AUTO { Self::RATE_LANES } else { 1 };
        for slot in self.moved() {
            let rule = self.frame.rule_at(slot);
            for (class, lane) in (0..self.known.len()).flat_map(|c| (0..lanes).map(move |l| (c, l)))
            {
                let state = self.slot_of(slot, class, lane);
                if state.is_untouched() {
                    continue;
                }
                let rule = Self::of_lane(rule, lane);
                spreads[lane] += rule.spread(&state, self.coupling.step[lane]);
                if let (false, Some(term)) = (AUTO, rule.theorem(&state)) {
                    *theorem.get_or_insert(0.0) += term;
                }
            }
        }
        (spreads, theorem)
    }

    /// Σ min(a G, b G): the minimum of the linearised loss over the feasible set.
    fn floor(&self, sums: &[f64]) -> f64 {
        let of_slot = |slot: usize| -> f64 {
            let (interval, start) = (self.frame.rule_at(slot).interval(), self.first_sum(slot));
            sums[start..start + self.known.len()].iter().map(|&sum| interval.least(sum)).sum()
        };
        self.met().slots().map(of_slot).sum()
    }

    fn lane_summary(&self, lane: usize, share: f64, spread: f64) -> LaneSummary {
        let tally = self.observer.lanes.of(lane);
        // The coin's game is on other values, so its bound says nothing of the game that the lanes play.
        if Self::HAS_COIN && lane == COIN {
            return LaneSummary { rate: None, share, tally, spread: None };
        }
        let rule = Self::of_lane(self.frame.rule, lane);
        let shared = rule.shared_spread(&self.coupling.state[lane]);
        let rate = Some(f64::from(Self::RATES[lane]));
        LaneSummary { rate, share, tally, spread: (!self.is_merged()).then_some(shared + spread) }
    }

    fn summary_of_lanes(&self, spreads: &PerLane) -> SlotSummary {
        let Observer { loss, mixture, stack_tally, .. } = &self.observer;
        let shares = mixture.shares(*loss);
        let lane = |lane: usize| self.lane_summary(lane, shares[lane], spreads[lane]);
        SlotSummary {
            mixing_cost: (!self.is_merged()).then(|| mixture.cost(*loss)),
            lanes: (0..LANES).map(lane).collect(),
            stack: Some(StackSummary { share: shares[LANES], tally: *stack_tally }),
            ..SlotSummary::default()
        }
    }

    fn summary_of_one(&self, spread: f64, theorem: Option<f64>) -> SlotSummary {
        if self.is_merged() {
            return SlotSummary::default();
        }
        let (rule, shared) = (self.frame.rule, &self.coupling.state[0]);
        let spread = spread + rule.shared_spread(shared);
        let of_all = rule.shared_theorem(shared);
        SlotSummary {
            spread: rule.is_proved(shared).then_some(spread),
            theorem: of_all.or(theorem),
            ..SlotSummary::default()
        }
    }
}

impl<R: Rule, B: Boxes, const AUTO: bool> Learn for Classes<R, B, AUTO> {
    fn learn(&mut self, examples: Ordered<'_>, margins: &mut Vec<f64>) -> Result<()> {
        self.width = self.known.len();
        let learned = rounds::learn(self, self.frame.penalty, examples, margins);
        self.widen_rows(margins);
        learned
    }

    fn expect(&mut self, features: u64) {
        if features > MANY {
            self.table.use_huge_pages();
            self.frame.scales.expect_many();
        }
    }

    fn index(&self) -> Option<Arc<dyn SlotLookup>> {
        let index: Arc<dyn SlotLookup> = Arc::<SlotIndex>::clone(self.table.index());
        Some(index)
    }

    fn add_classes(&mut self, codes: &[i32]) -> Result<()> {
        let auto = self.known.is_auto();
        codes.iter().try_for_each(|&code| self.add_class(code, !auto).map(|_| ()))
    }

    fn restore(&mut self, shared: Value, tally: Tally) -> std::result::Result<(), String> {
        let Value::Object(mut parts) = shared else {
            return Err("the shared state is not an object".into());
        };
        self.known.restore(part(&mut parts, "classes")?)?;
        if self.known.len() > self.capacity {
            self.widen(self.known.len()).map_err(|error| error.to_string())?;
        }
        self.width = self.known.len();
        self.observer.tally = tally;
        if !AUTO {
            let (state, step) = (part(&mut parts, "state")?, part(&mut parts, "step")?);
            (self.coupling.state[0], self.coupling.step[0]) = (state, step);
            self.frame.rule = self.frame.rule.knowing(&state);
            return Ok(());
        }
        let (state, step) = (part(&mut parts, "state")?, part(&mut parts, "step")?);
        self.coupling = Coupling { state, step };
        self.coin = Betting::from(part::<crate::rule::coin::Shared>(&mut parts, "coin")?);
        self.observer.lanes = part(&mut parts, "lanes")?;
        self.observer.stack = part(&mut parts, "stack")?;
        self.observer.stack_tally = part(&mut parts, "stack_tally")?;
        self.observer.mixture = part(&mut parts, "mixture")?;
        Ok(())
    }

    fn scales_mut(&mut self) -> &mut Scales {
        &mut self.frame.scales
    }

    fn make_room(&mut self, slots: &[u32]) -> Result<()> {
        for &slot in slots {
            self.table.index().meet(slot);
        }
        self.commit_memory()
    }

    fn restore_field(&mut self, field: usize, slots: &[u32], floats: &[f32]) {
        let lanes = self.lanes().max(1);
        for (&slot, floats) in slots.iter().zip(floats.chunks(lanes)) {
            let position = self.position(slot);
            for (k, &float) in floats.iter().enumerate() {
                let (class, lane) = if AUTO { (k / LANES, k % LANES) } else { (k, 0) };
                let (line, place) = self.place_of(class, lane);
                self.table.block_mut(position)[line].field_mut(field)[place] = float;
            }
        }
    }

    fn restore_gradient_sums(&mut self, slots: &[u32], sums: &[f64]) {
        let width = self.width().max(1);
        for (&slot, own) in slots.iter().zip(sums.chunks(width)) {
            let start = self.first_sum(slot as usize);
            if let Some(kept) = &mut self.gradient_sums {
                kept[start..start + own.len()].copy_from_slice(own);
            }
        }
    }
}

fn part<T: DeserializeOwned>(
    parts: &mut Map<String, Value>,
    name: &str,
) -> std::result::Result<T, String> {
    let part = parts.remove(name).unwrap_or(Value::Null);
    serde_json::from_value(part).map_err(|error| format!("'shared.{name}': {error}"))
}

impl<R: Rule, B: Boxes, const AUTO: bool> Predict for Classes<R, B, AUTO> {
    fn predict(&self, examples: Ordered<'_>, margins: &mut Vec<f64>) {
        dispatch::predict(self, examples, margins);
    }

    /// Never called: a prediction of many classes has no parts that add up to one margin (`pass/learner.rs`).
    fn explain(&self, example: &Example<'_>) -> Explanation {
        Explanation::of(example, example, &vec![0.0; example.slots.len()])
    }
}

impl<R: Rule, B: Boxes, const AUTO: bool> Inspect for Classes<R, B, AUTO> {
    fn slots(&self) -> usize {
        self.table.index().slots()
    }

    fn classes(&self) -> Option<&[i32]> {
        Some(self.known.codes())
    }

    fn width(&self) -> usize {
        self.known.len()
    }

    fn class_weight(&self, slot: usize, class: usize) -> f32 {
        let lane = self.shown_lane();
        let weight = |slot: usize| self.weight_in(slot, class, lane);
        self.frame.scales.unscaled(slot, &weight, self.has_unit_values())
    }

    /// The weight of the first class.
    fn scaled_weight(&self, slot: usize) -> f32 {
        if self.known.len() == 0 { 0.0 } else { self.weight_in(slot, 0, self.shown_lane()) }
    }

    fn scales(&self) -> &Scales {
        &self.frame.scales
    }

    fn has_unit_values(&self) -> bool {
        !AUTO && R::UNIT_VALUES
    }

    fn tally(&self) -> &Tally {
        &self.observer.tally
    }

    fn summary(&self, intercept: Option<u32>) -> SlotSummary {
        let (spreads, theorem) = self.spreads();
        let summary = match AUTO {
            true => self.summary_of_lanes(&spreads),
            false => self.summary_of_one(spreads[0], theorem),
        };
        let sums = self.gradient_sums.as_deref();
        SlotSummary {
            floor: sums.map(|sums| self.floor(sums)),
            certificate: self.certificate(intercept, &SumsMark::default()),
            touched: self.moved().count() as u64,
            ..summary
        }
    }

    fn certificate(&self, intercept: Option<u32>, since: &SumsMark) -> Option<Certificate> {
        let sums = self.gradient_sums.as_ref()?;
        let (best, classes) = (self.best_by_loss(), self.known.len());
        let mut measure = Measure::new(self.offset() - since.offset, intercept);
        // Classes that were met since then had no sums: the places of a mark are those of its own table.
        let before = since.width.unwrap_or(self.capacity);
        for slot in self.met().slots() {
            for class in 0..classes {
                let own = sums[self.first_sum(slot) + class];
                let place = self.position(slot as u32) as usize * before + class;
                let then = if class < before { since.sum(place, own) } else { own };
                measure.add_class(slot, then, self.weight_in(slot, class, best));
            }
        }
        Some(measure.finish())
    }

    fn mark_sums(&self) -> Option<SumsMark> {
        let sums = self.gradient_sums.as_ref()?.clone();
        Some(SumsMark { offset: self.offset(), sums, width: Some(self.capacity) })
    }

    fn fields(&self) -> &'static [&'static str] {
        R::Slot::FIELDS
    }

    fn touched(&self) -> Vec<u32> {
        let has_sum = |slot: usize| {
            let start = self.first_sum(slot);
            let own = self.gradient_sums.as_ref().map(|sums| &sums[start..start + self.capacity]);
            own.is_some_and(|own| own.iter().any(|&sum| sum != 0.0))
        };
        let is_touched =
            |&slot: &usize| self.is_moved(slot) || has_sum(slot) || !self.frame.is_untouched(slot);
        let touched = self.met().slots().filter(is_touched).map(|slot| slot as u32);
        self.frame.with_silent(touched.collect())
    }

    fn weighted(&self) -> Vec<u32> {
        let lane = self.shown_lane();
        let largest = |slot: usize| {
            let size = |class: usize| self.weight_in(slot, class, lane).abs();
            (0..self.known.len()).map(size).fold(0.0, f32::max)
        };
        self.frame.weighted(self.met(), self.slots(), largest)
    }

    fn lanes(&self) -> usize {
        self.known.len() * if AUTO { LANES } else { 1 }
    }

    fn copy_weights(&self, slots: &[u32], weights: &mut Vec<f32>) {
        let (lane, classes) = (self.shown_lane(), self.known.len());
        for &slot in slots {
            weights.extend((0..classes).map(|class| self.weight_in(slot as usize, class, lane)));
        }
    }

    fn copy_field(&self, field: usize, slots: &[u32], floats: &mut Vec<f32>) {
        let lanes = if AUTO { LANES } else { 1 };
        for &slot in slots {
            let block = self.table.block(self.position(slot));
            for (class, lane) in (0..self.known.len()).flat_map(|c| (0..lanes).map(move |l| (c, l)))
            {
                let (line, place) = self.place_of(class, lane);
                floats.push(block[line].field(field)[place]);
            }
        }
    }

    fn copy_gradient_sums(&self, slots: &[u32], sums: &mut Vec<f64>) {
        let Some(kept) = &self.gradient_sums else { return };
        for &slot in slots {
            let start = self.first_sum(slot as usize);
            sums.extend_from_slice(&kept[start..start + self.known.len()]);
        }
    }

    fn intervals(&self) -> Option<&[Interval]> {
        self.frame.boxes.intervals()
    }

    fn shared(&self) -> Value {
        let (Coupling { state, step }, classes) = (self.coupling, self.known.written());
        if !AUTO {
            return json!({ "state": state[0], "step": step[0], "classes": classes });
        }
        let Observer { lanes, stack, stack_tally, mixture, .. } = &self.observer;
        json!({
            "state": state,
            "step": step,
            "coin": self.coin.shared,
            "lanes": lanes,
            "stack": stack,
            "stack_tally": stack_tally,
            "mixture": mixture,
            "classes": classes,
        })
    }
}
