//! The learner with lanes, merged of shards that went on from one.

use serde_json::Value;

use super::Lanes;
use super::coin::COIN;
use super::mixture::Mixture;
use super::model::State;
use super::stack::Stack;
use super::tallies::LaneTallies;
use crate::error::{Error, Result};
use crate::learn::frame::Boxes;
use crate::learn::merging::{Gathered, MergeOrder, push};
use crate::learn::model::Inspect;
use crate::learn::tally::StackTally;
use crate::rule::coin::{Coin, Shared, Slot as CoinSlot, WEALTH};
use crate::rule::{Interval, Line, Rule, Slot};
use crate::simd::LANES;

impl<R: Rule, B: Boxes> Lanes<R, B> {
    /// The shared state of the merged learner. The last steps are the start's: only a bound would ask for them.
    pub(super) fn merged_shared(
        &self,
        shards: &[&dyn Inspect],
        order: &MergeOrder<'_>,
    ) -> Result<Value> {
        order.check::<R>()?;
        let start = self.state();
        let parsed = shards.iter().map(|shard| serde_json::from_value(shard.shared()));
        let all: Vec<State<R::Shared>> = parsed
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| Error::Merge(format!("the shared states differ in kind: {error}")))?;
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
            stack: Stack::merged(&start.stack, &each(&all, |state| state.stack), order.how),
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

    /// The fields of these slots of the merged learner, lane by lane.
    pub(super) fn merged_slots(
        &self,
        shards: &[&dyn Inspect],
        slots: &[u32],
        order: &MergeOrder<'_>,
    ) -> Vec<Vec<f32>> {
        let gathered = Gathered::new(shards, slots);
        let mut fields = vec![Vec::with_capacity(slots.len() * LANES); R::Slot::FIELDS.len()];
        for (k, &slot) in slots.iter().enumerate() {
            let line = self.table.line(slot as usize);
            for lane in 0..LANES {
                let all = shards.iter().enumerate();
                let all = all.map(|(shard, model)| {
                    (gathered.slot::<R::Slot>(shard, k, lane), model.scales())
                });
                let (all, start): (Vec<_>, _) = (all.collect(), line.get(lane));
                let scales = &self.frame.scales;
                if R::COIN_LANE && lane == COIN {
                    let all: Vec<_> = all.iter().map(|(own, scales)| (bet(own), *scales)).collect();
                    let coin = Coin::new(WEALTH, Interval::EVERYWHERE);
                    push(&order.merge(&coin, slot, (&bet(&start), scales), &all), &mut fields);
                } else {
                    let rule = self.rule_at(slot as usize, lane);
                    push(&order.merge(&rule, slot, (&start, scales), &all), &mut fields);
                }
            }
        }
        fields
    }
}

fn each<S, T>(all: &[State<S>], part: impl Fn(&State<S>) -> T) -> Vec<T> {
    all.iter().map(part).collect()
}

/// The two floats of a slot in the coin lane, as what they are there.
fn bet<S: Slot>(slot: &S) -> CoinSlot {
    CoinSlot { reward: slot.get(0), stake: slot.get(1) }
}
