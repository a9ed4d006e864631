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
use crate::example::{Example, Ordered, Scales, SlotIndex, SlotLookup, TouchedSlots};
use crate::learn::certificate::{Certificate, Measure, SumsMark};
use crate::learn::dispatch;
use crate::learn::explain::Explanation;
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
pub(in crate::learn) struct State<S> {
    pub state: [S; LANES],
    pub step: [Step; LANES],
    pub coin: Shared,
    pub lanes: LaneTallies,
    pub stack: Stack,
    pub stack_tally: StackTally,
    pub mixture: Mixture,
}

impl<R: Rule, B: Boxes> Lanes<R, B> {
    /// The state that does not belong to one coordinate.
    pub(super) fn state(&self) -> State<R::Shared> {
        let (Coupling { state, step }, observer) = (self.coupling, &self.observer);
        let Observer { lanes, stack, stack_tally, mixture, .. } = *observer;
        State { state, step, coin: self.coin.shared(), lanes, stack, stack_tally, mixture }
    }

    /// Whether learners were merged on the way to this one, so that no bound holds.
    fn is_merged(&self) -> bool {
        self.observer.tally.merges > 0
    }

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

    /// Whether the gradient sum and the scale of a slot are in their initial state.
    fn is_beside_untouched(&self, slot: usize) -> bool {
        // A gradient too small to change a slot still counts in its sum. A value that changed only the scale
        // counts, too.
        let sums = self.observer.gradient_sums.as_ref();
        let has_sum = sums.is_some_and(|sums| sums[self.place(slot)] != 0.0);
        !has_sum && self.frame.is_untouched(slot)
    }

    /// The offset of the certificate: the penalty of the mixture has no part in it.
    fn offset(&self) -> f64 {
        self.game_loss() - self.observer.tally.played
    }

    /// The position of the line of a slot, which is the place of its gradient sum.
    fn place(&self, slot: usize) -> usize {
        self.table.index().find(slot as u32) as usize
    }

    /// The numbers of the ledger that are sums over the slots, in one loop.
    #[inline(always)]
    fn survey(&self, intercept: Option<u32>) -> Survey {
        let mut all = Survey::new(Measure::new(self.offset(), intercept));
        let (steps, best, sums) =
            (self.coupling.step, self.best_by_loss(), self.observer.gradient_sums.as_deref());
        for slot in self.met().slots() {
            let (rule, place) = (self.frame.rule_at(slot), self.place(slot));
            let line = self.table.lines()[place];
            let (bits, mut terms) = (line.bits(), [0.0; LANES]);
            for lane in 0..LANES {
                let spread = rule.at(Self::RATES[lane]).spread(&line.get(lane), steps[lane]);
                // A slot that only other lanes have touched has no rate in this lane and adds nothing.
                terms[lane] = if bits[lane] == 0 { 0.0 } else { spread };
            }
            add(&mut all.spreads, &terms);
            all.touched += u64::from(!line.is_untouched());
            if let Some(sums) = sums {
                let weight = rule.at(Self::RATES[best]).weight(&line.get(best), 1.0);
                all.measure.add(slot, sums[place], weight);
                all.floor += rule.interval().least(sums[place]);
            }
        }
        all
    }

    /// The lane, other than the coin, that lost least in the game that the regret is of.
    fn best_by_loss(&self) -> usize {
        let standardised = self.frame.scales.labels().is_some();
        self.observer.lanes.least_total(rate_lanes::<R>(), standardised)
    }

    fn lane_summary(&self, lane: usize, share: f64, spread: f64) -> LaneSummary {
        let shared =
            self.frame.rule.at(Self::RATES[lane]).shared_spread(&self.coupling.state[lane]);
        let tally = self.observer.lanes.of(lane);
        // The coin's game is on other values, so its bound says nothing of the game that the lanes play.
        if R::COIN_LANE && lane == COIN {
            return LaneSummary { rate: None, share, tally, spread: None };
        }
        LaneSummary {
            rate: Some(f64::from(Self::RATES[lane])),
            share,
            tally,
            spread: (!self.frame.importance_aware && !self.is_merged()).then_some(shared + spread),
        }
    }
}

/// Numbers of the ledger that are sums over the slots.
struct Survey {
    /// The sum of the spreads in each lane.
    spreads: PerLane,
    /// The number of touched slots.
    touched: u64,
    /// Σ_i min(a_i G_i, b_i G_i): the minimum of the linearised loss of the mixture over the feasible set.
    floor: f64,
    measure: Measure,
}

impl Survey {
    fn new(measure: Measure) -> Self {
        Survey { spreads: [0.0; LANES], touched: 0, floor: 0.0, measure }
    }
}

/// The loop over all slots, as work for [`InstructionSet::run`].
struct SurveyCall<'a, R: Rule, B: Boxes>(&'a Lanes<R, B>, Option<u32>);

impl<R: Rule, B: Boxes> WithSimd for SurveyCall<'_, R, B> {
    type Output = Survey;

    #[inline(always)]
    fn call<V: Simd>(self, _vectors: V) -> Survey {
        self.0.survey(self.1)
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
        let Some(kept) = &mut self.observer.gradient_sums else { return };
        for (&slot, &sum) in slots.iter().zip(sums) {
            kept[self.table.index().meet(slot) as usize] = sum;
        }
    }
}

impl<R: Rule, B: Boxes> Predict for Lanes<R, B> {
    fn predict(&self, examples: Ordered<'_>, margins: &mut Vec<f64>) {
        dispatch::predict(self, examples, margins);
    }

    fn explain(&self, example: &Example<'_>) -> Explanation {
        self.parts_of(example)
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

    fn summary(&self, intercept: Option<u32>) -> SlotSummary {
        let instructions = InstructionSet::chosen().unwrap_or(InstructionSet::Portable);
        let Survey { spreads, touched, floor, measure } =
            instructions.run(SurveyCall(self, intercept));
        let (shares, certified) =
            (self.observer.mixture.shares(self.frame.loss), self.observer.gradient_sums.is_some());
        let lane = |lane: usize| self.lane_summary(lane, shares[lane], spreads[lane]);
        SlotSummary {
            floor: certified.then_some(floor),
            certificate: certified.then(|| measure.finish()),
            touched,
            mixing_cost: (!self.is_merged()).then(|| self.observer.mixture.cost(self.frame.loss)),
            lanes: (0..LANES).map(lane).collect(),
            stack: Some(StackSummary { share: shares[LANES], tally: self.observer.stack_tally }),
            ..SlotSummary::default()
        }
    }

    fn certificate(&self, intercept: Option<u32>, since: &SumsMark) -> Option<Certificate> {
        let sums = self.observer.gradient_sums.as_ref()?;
        let (best, mut measure) =
            (self.best_by_loss(), Measure::new(self.offset() - since.offset, intercept));
        for slot in self.met().slots() {
            let place = self.place(slot);
            let line = &self.table.lines()[place];
            let weight = self.rule_at(slot, best).weight(&line.get(best), 1.0);
            measure.add(slot, since.sum(place, sums[place]), weight);
        }
        Some(measure.finish())
    }

    fn mark_sums(&self) -> Option<SumsMark> {
        let sums = self.observer.gradient_sums.as_ref()?;
        let sums = sums[..=self.table.index().last() as usize].to_vec();
        Some(SumsMark { offset: self.offset(), sums, width: None })
    }

    fn fields(&self) -> &'static [&'static str] {
        R::Slot::FIELDS
    }

    fn touched(&self) -> Vec<u32> {
        let is_touched =
            |&slot: &usize| !self.is_beside_untouched(slot) || !self.is_line_untouched(slot);
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
        let Some(kept) = &self.observer.gradient_sums else { return };
        sums.extend(slots.iter().map(|&slot| kept[self.place(slot as usize)]));
    }

    fn intervals(&self) -> Option<&[Interval]> {
        self.frame.boxes.intervals()
    }

    fn shared(&self) -> Value {
        serde_json::to_value(self.state()).unwrap_or(Value::Null)
    }
}

fn add(sums: &mut PerLane, terms: &PerLane) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}
