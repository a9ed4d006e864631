//! Lanes as a [`Model`]: what they tell of themselves, and what a model file keeps of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Coupling, Lanes};
use crate::error::Result;
use crate::example::{Chunk, Course};
use crate::lane_tallies::LaneTallies;
use crate::lesson::{ask, teach};
use crate::mixture::{LANES, Mixture, PerLane, RATES};
use crate::model::{Boxes, Model};
use crate::pages::Pages;
use crate::places::Places;
use crate::rule::{Interval, Line, Rule, Slot, Step};
use crate::scale::Scales;
use crate::tally::{LaneStanding, Standing, Tally};
use crate::vectors::{Path, Vectors, Work};

/// What is not of one coordinate, as in the model file.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State<S> {
    state: [S; LANES],
    step: [Step; LANES],
    lanes: LaneTallies,
    mixture: Mixture,
}

impl<R: Rule, B: Boxes> Lanes<R, B> {
    pub(super) fn touched(&self) -> impl Iterator<Item = usize> {
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

impl<R: Rule, B: Boxes> Work for Survey<'_, R, B> {
    type Output = (PerLane, u64);

    #[inline(always)]
    fn call<V: Vectors>(self, _vectors: V) -> (PerLane, u64) {
        self.0.survey()
    }
}

impl<R: Rule, B: Boxes> Model for Lanes<R, B> {
    fn learn(&mut self, course: Course<'_>, margins: &mut Vec<f64>) -> Result<()> {
        teach(self, self.penalty, course, margins)
    }

    fn expect(&mut self, features: u64) {
        self.shelf.expect(features);
    }

    fn places(&self) -> Option<Arc<Places>> {
        Some(Arc::clone(self.shelf.places()))
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        ask(self, chunk, margins);
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

fn add(sums: &mut PerLane, terms: &PerLane) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}
