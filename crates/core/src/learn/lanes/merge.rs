//! The learner with lanes, merged of shards that went on from one.

use serde_json::Value;

use super::Lanes;
use super::coin::{COIN, CoinLane};
use super::mixture::Mixture;
use super::model::State;
use super::stack::Stack;
use super::tallies::LaneTallies;
use crate::error::Result;
use crate::learn::frame::Boxes;
use crate::learn::merging::{Gathered, MergeOrder, merge, parsed, part_of, push};
use crate::learn::model::{Inspect, Merge};
use crate::learn::tally::StackTally;
use crate::rule::coin::{Coin, Shared, Slot as CoinSlot};
use crate::rule::{NewUnit, Rule, Slot};
use crate::simd::LANES;

impl<R: Rule, B: Boxes> Merge for Lanes<R, B> {
    /// The last steps are the start's: only a bound would ask for them.
    fn merge_shared(&self, shards: &[&dyn Inspect], order: &MergeOrder<'_>) -> Result<Value> {
        order.check::<R>()?;
        let start = self.state();
        let all: Vec<State<R::Shared>> = parsed(shards, |shared| shared)?;
        let rule = self.frame.rule;
        let lane = |lane: usize| {
            let own: Vec<_> = all.iter().map(|state| state.state[lane]).collect();
            rule.merge_shared(&start.state[lane], &own)
        };
        let merged = State {
            state: std::array::from_fn(lane),
            step: start.step,
            coin: Shared::merged(&start.coin, &each(&all, |state| state.coin)),
            lanes: LaneTallies::merged(&start.lanes, &each(&all, |state| state.lanes)),
            stack: Stack::merged(&start.stack, &each(&all, |state| state.stack)),
            stack_tally: StackTally::merged(
                &start.stack_tally,
                &each(&all, |state| state.stack_tally),
            ),
            mixture: Mixture::merged(
                &start.mixture,
                &each(&all, |state| state.mixture),
                order.players,
                self.frame.loss,
            ),
        };
        Ok(serde_json::to_value(merged).unwrap_or(Value::Null))
    }

    fn merge_slots(
        &self,
        shards: &[&dyn Inspect],
        slots: &[u32],
        shared: &Value,
        order: &MergeOrder<'_>,
    ) -> Result<Vec<Vec<f32>>> {
        let gathered = Gathered::new(self, shards, slots);
        let coin = CoinLane::from(part_of::<Shared>(shared, "coin")?).rule();
        let mut fields = vec![Vec::with_capacity(slots.len() * LANES); R::Slot::FIELDS.len()];
        let mut moved = Vec::new();
        for (k, &slot) in slots.iter().enumerate() {
            gathered.find_moved(k, &mut moved);
            if moved.len() < 2 {
                gathered.copy(moved.first().copied(), k, &mut fields);
                continue;
            }
            let line = Moved { order, gathered: &gathered, slot, k, moved: &moved };
            line.merge(self, shards, coin, &mut fields);
        }
        Ok(fields)
    }
}

/// A slot that several shards have moved.
struct Moved<'a> {
    order: &'a MergeOrder<'a>,
    gathered: &'a Gathered,
    slot: u32,
    /// Its place among the slots that were gathered.
    k: usize,
    moved: &'a [usize],
}

impl Moved<'_> {
    /// Append the fields of the merged slot, lane by lane.
    fn merge<R: Rule, B: Boxes>(
        &self,
        start: &Lanes<R, B>,
        shards: &[&dyn Inspect],
        coin: Coin,
        fields: &mut [Vec<f32>],
    ) {
        let merging = self.order.merging(self.slot);
        let units = self.units(start, shards, R::UNIT_VALUES);
        let lanes = if R::COIN_LANE { COIN } else { LANES };
        for lane in 0..lanes {
            let rule = start.rule_at(self.slot as usize, lane);
            let (first, all) = self.slots(lane, &units, shards.len(), |slot: R::Slot| slot);
            push(&merge(&rule, &merging, first, &all), fields);
        }
        if R::COIN_LANE {
            let units = self.units(start, shards, Coin::UNIT_VALUES);
            let (first, all) = self.slots(COIN, &units, shards.len(), bet::<R::Slot>);
            push(&merge(&coin, &merging, first, &all), fields);
        }
    }

    /// The changes of unit of the start and of those shards that have moved.
    fn units(&self, start: &dyn Inspect, shards: &[&dyn Inspect], unit: bool) -> Vec<NewUnit> {
        let moved = self.moved.iter().map(|&shard| shards[shard]);
        let all = std::iter::once(start).chain(moved);
        all.map(|model| self.order.unit(model.scales(), self.slot, unit)).collect()
    }

    /// The slots of the start and of all shards in a lane, with their changes of unit.
    fn slots<S: Slot, T: Copy>(
        &self,
        lane: usize,
        units: &[NewUnit],
        shards: usize,
        as_what: impl Fn(S) -> T,
    ) -> ((T, NewUnit), Vec<(T, NewUnit)>) {
        let start = (as_what(self.gathered.start(self.k, lane)), units[0]);
        let mut all = vec![start; shards];
        for (&shard, &unit) in self.moved.iter().zip(&units[1..]) {
            all[shard] = (as_what(self.gathered.slot(shard, self.k, lane)), unit);
        }
        (start, all)
    }
}

fn each<S, T>(all: &[State<S>], part: impl Fn(&State<S>) -> T) -> Vec<T> {
    all.iter().map(part).collect()
}

/// The two floats of a slot in the coin lane, as what they are there.
fn bet<S: Slot>(slot: S) -> CoinSlot {
    CoinSlot { reward: slot.get(0), stake: slot.get(1) }
}
