//! The learner with lanes as a [`Model`](crate::learn::model::Model), and its state in a model file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::coin::{COIN, CoinLane};
use super::mixture::Mixture;
use super::observe::Observer;
use super::round::rate_lanes;
use super::stack::Stack;
use super::{Coupling, Lanes};
use crate::error::Result;
use crate::example::{Ordered, Scales, SlotIndex, SlotLookup, TouchedSlots};
use crate::learn::dispatch;
use crate::learn::frame::Boxes;
use crate::learn::lanes::tallies::LaneTallies;
use crate::learn::model::{Chunks, Inspect, Learn, Predict};
use crate::learn::rounds;
use crate::learn::tally::{LaneSummary, SlotSummary, StackSummary, StackTally, Tally};
use crate::rule::coin::Shared;
use crate::rule::{Interval, Line, Rule, Slot, Step};
use crate::simd::{InstructionSet, Simd, WithSimd};
use crate::simd::{LANES, PerLane};

/// The state that does not belong to one coordinate, as in the model file.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State<S> {
    state: [S; LANES],
    step: [Step; LANES],
    coin: Shared,
    lanes: LaneTallies,
    stack: Stack,
    stack_tally: StackTally,
    mixture: Mixture,
}

impl<R: Rule, B: Boxes> Lanes<R, B> {
    fn met(&self) -> &TouchedSlots {
        self.table.index().met()
    }

    /// The slots whose line is not in its initial state.
    pub(super) fn moved(&self) -> impl Iterator<Item = usize> {
        self.met().slots().filter(|&slot| !self.is_line_untouched(slot))
    }

    fn is_line_untouched(&self, slot: usize) -> bool {
        self.table.line(slot).is_untouched()
    }

    /// The sum of the spreads in each lane, and the number of touched slots, in one loop over the slots.
    #[inline(always)]
    fn survey(&self) -> (PerLane, u64) {
        let (mut spreads, mut touched, steps) = ([0.0; LANES], 0, self.coupling.step);
        for slot in self.met().slots() {
            let (rule, line) = (self.frame.rule_at(slot), *self.table.line(slot));
            let (bits, mut terms) = (line.bits(), [0.0; LANES]);
            for lane in 0..LANES {
                let spread = rule.at(Self::RATES[lane]).spread(&line.get(lane), steps[lane]);
                // A slot that only other lanes have touched has no rate in this lane and adds nothing.
                terms[lane] = if bits[lane] == 0 { 0.0 } else { spread };
            }
            add(&mut spreads, &terms);
            touched += u64::from(!line.is_untouched());
        }
        (spreads, touched)
    }

    fn lane_summary(&self, lane: usize, share: f64, spread: f64) -> LaneSummary {
        let shared =
            self.frame.rule.at(Self::RATES[lane]).shared_spread(&self.coupling.state[lane]);
        let least = |slot: usize, sum: f64| self.rule_at(slot, lane).interval().least(sum);
        let floor = |sums: &Vec<PerLane>| {
            self.met().slots().map(|slot| least(slot, sums[slot][lane])).sum()
        };
        let tally = self.observer.lanes.of(lane);
        // The coin's game is on other values, so its bound says nothing of the game that the lanes play.
        if R::COIN_LANE && lane == COIN {
            return LaneSummary { rate: None, share, tally, spread: None, floor: None };
        }
        LaneSummary {
            rate: Some(f64::from(Self::RATES[lane])),
            share,
            tally,
            spread: (!self.frame.importance_aware).then_some(shared + spread),
            floor: self.frame.gradient_sums.as_ref().map(floor),
        }
    }
}

/// The loop over all slots, as work for [`InstructionSet::run`].
struct Survey<'a, R: Rule, B: Boxes>(&'a Lanes<R, B>);

impl<R: Rule, B: Boxes> WithSimd for Survey<'_, R, B> {
    type Output = (PerLane, u64);

    #[inline(always)]
    fn call<V: Simd>(self, _vectors: V) -> (PerLane, u64) {
        self.0.survey()
    }
}

impl<R: Rule, B: Boxes> Learn for Lanes<R, B> {
    fn learn(&mut self, examples: Ordered<'_>, margins: &mut Vec<f64>) -> Result<()> {
        rounds::learn(self, self.frame.penalty, examples, margins)
    }

    fn learn_chunks(&mut self, chunks: &mut dyn Chunks, margins: &mut Vec<f64>) -> Result<()> {
        self.learn_in_parallel(chunks, margins)
    }

    fn gains_from_helper(&self) -> bool {
        self.can_be_helped()
    }

    fn expect(&mut self, features: u64) {
        if self.table.expect(features) {
            self.frame.scales.expect_many();
        }
    }

    fn index(&self) -> Option<Arc<dyn SlotLookup>> {
        let index: Arc<dyn SlotLookup> = Arc::<SlotIndex>::clone(self.table.index());
        Some(index)
    }

    fn restore(&mut self, shared: Value, tally: Tally) -> std::result::Result<(), String> {
        if !shared.is_object() {
            return Err("the shared state is not an object".into());
        }
        let told = serde_json::from_value(shared).map_err(|error| error.to_string())?;
        let State { state, step, coin, lanes, stack, stack_tally, mixture } = told;
        self.coin = CoinLane::from(coin);
        self.coupling = Coupling { state, step };
        (self.observer.lanes, self.observer.mixture) = (lanes, mixture);
        (self.observer.stack, self.observer.stack_tally) = (stack, stack_tally);
        self.observer.tally = tally;
        Ok(())
    }

    fn scales_mut(&mut self) -> &mut Scales {
        &mut self.frame.scales
    }

    fn restore_field(&mut self, field: usize, slots: &[u32], floats: &[f32]) {
        for (&slot, floats) in slots.iter().zip(floats.as_chunks().0) {
            *self.table.meet(slot as usize).field_mut(field) = *floats;
        }
    }

    fn restore_gradient_sums(&mut self, slots: &[u32], sums: &[f64]) {
        self.frame.restore_gradient_sums(slots, sums.as_chunks().0);
    }
}

impl<R: Rule, B: Boxes> Predict for Lanes<R, B> {
    fn predict(&self, examples: Ordered<'_>, margins: &mut Vec<f64>) {
        dispatch::predict(self, examples, margins);
    }
}

impl<R: Rule, B: Boxes> Inspect for Lanes<R, B> {
    fn slots(&self) -> usize {
        self.table.index().slots()
    }

    fn scaled_weight(&self, slot: usize) -> f32 {
        let best = self.observer.mixture.best_lane(rate_lanes::<R>());
        self.rule_at(slot, best).weight(&self.table.line(slot).get(best), 1.0)
    }

    fn scales(&self) -> &Scales {
        &self.frame.scales
    }

    fn tally(&self) -> &Tally {
        &self.observer.tally
    }

    fn summary(&self) -> SlotSummary {
        let (spreads, touched) =
            InstructionSet::chosen().unwrap_or(InstructionSet::Portable).run(Survey(self));
        let shares = self.observer.mixture.shares(self.frame.loss);
        let lane = |lane: usize| self.lane_summary(lane, shares[lane], spreads[lane]);
        SlotSummary {
            touched,
            mixing_cost: Some(self.observer.mixture.cost(self.frame.loss)),
            lanes: (0..LANES).map(lane).collect(),
            stack: Some(StackSummary { share: shares[LANES], tally: self.observer.stack_tally }),
            ..SlotSummary::default()
        }
    }

    fn fields(&self) -> &'static [&'static str] {
        R::Slot::FIELDS
    }

    fn touched(&self) -> Vec<u32> {
        let is_touched =
            |&slot: &usize| !self.frame.is_untouched(slot) || !self.is_line_untouched(slot);
        let touched = self.met().slots().filter(is_touched).map(|slot| slot as u32);
        self.frame.with_silent(touched.collect())
    }

    fn weighted(&self) -> Vec<u32> {
        self.frame.weighted(self.met(), self.slots(), |slot| self.scaled_weight(slot))
    }

    fn lanes(&self) -> usize {
        LANES
    }

    fn copy_weights(&self, slots: &[u32], weights: &mut Vec<f32>) {
        weights.extend(slots.iter().map(|&slot| self.scaled_weight(slot as usize)));
    }

    fn copy_field(&self, field: usize, slots: &[u32], floats: &mut Vec<f32>) {
        for &slot in slots {
            floats.extend_from_slice(self.table.line(slot as usize).field(field));
        }
    }

    fn copy_gradient_sums(&self, slots: &[u32], sums: &mut Vec<f64>) {
        self.frame.copy_gradient_sums(slots, |lanes| sums.extend_from_slice(lanes));
    }

    fn intervals(&self) -> Option<&[Interval]> {
        self.frame.boxes.intervals()
    }

    fn shared(&self) -> Value {
        let (Coupling { state, step }, observer) = (self.coupling, &self.observer);
        let Observer { lanes, stack, stack_tally, mixture, .. } = *observer;
        let coin = self.coin.shared();
        let state = State { state, step, coin, lanes, stack, stack_tally, mixture };
        serde_json::to_value(state).unwrap_or(Value::Null)
    }
}

fn add(sums: &mut PerLane, terms: &PerLane) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}
