//! The learner with lanes, merged of shards that went on from one.

use serde_json::Value;

use super::Lanes;
use super::coin::CoinLane;
use super::mixture::Mixture;
use super::model::State;
use super::stack::Stack;
use super::tallies::LaneTallies;
use crate::error::Result;
use crate::learn::frame::Boxes;
use crate::learn::merging::slots::Merger;
use crate::learn::merging::{MergeOrder, parsed, part_of};
use crate::learn::model::{Inspect, Merge};
use crate::learn::tally::StackTally;
use crate::loss::Loss;
use crate::rule::Rule;
use crate::rule::coin::{Coin, Shared};

impl<R: Rule, B: Boxes> Merge for Lanes<R, B> {
    fn merge_shared(&self, shards: &[&dyn Inspect], order: &MergeOrder<'_>) -> Result<Value> {
        order.check::<R>()?;
        let all: Vec<State<R::Shared>> =
            parsed(shards.iter().map(|shard| shard.shared()).collect())?;
        let merged = self.state().merged(&all, &self.frame.rule, order.players, self.frame.loss);
        Ok(serde_json::to_value(merged).unwrap_or(Value::Null))
    }

    fn merge_slots(
        &self,
        shards: &[&dyn Inspect],
        slots: &[u32],
        shared: &Value,
        order: &MergeOrder<'_>,
    ) -> Result<Vec<Vec<f32>>> {
        let coin = R::COIN_LANE.then(|| merged_coin(shared)).transpose()?;
        let rule_at = |slot: usize, lane: usize| self.rule_at(slot, lane);
        Ok(Merger { start: self, shards, order }.merged(slots, rule_at, coin))
    }
}

/// The rule of the coin lane of a merged learner with this shared state.
pub(in crate::learn) fn merged_coin(shared: &Value) -> Result<Coin> {
    Ok(CoinLane::from(part_of::<Shared>(shared, "coin")?).rule())
}

impl<S: Copy> State<S> {
    /// The state of one learner, from those of shards that went on from this one. The last steps are the start's: only
    /// a bound would ask for them.
    pub(in crate::learn) fn merged<R: Rule<Shared = S>>(
        &self,
        all: &[Self],
        rule: &R,
        players: u32,
        loss: Loss,
    ) -> Self {
        let lane = |lane: usize| {
            let own: Vec<_> = all.iter().map(|state| state.state[lane]).collect();
            rule.merge_shared(&self.state[lane], &own)
        };
        State {
            state: std::array::from_fn(lane),
            step: self.step,
            coin: Shared::merged(&self.coin, &each(all, |state| state.coin)),
            lanes: LaneTallies::merged(&self.lanes, &each(all, |state| state.lanes)),
            stack: Stack::merged(&self.stack, &each(all, |state| state.stack)),
            stack_tally: StackTally::merged(
                &self.stack_tally,
                &each(all, |state| state.stack_tally),
            ),
            mixture: Mixture::merged(
                &self.mixture,
                &each(all, |state| state.mixture),
                players,
                loss,
            ),
        }
    }
}

fn each<S, T>(all: &[State<S>], part: impl Fn(&State<S>) -> T) -> Vec<T> {
    all.iter().map(part).collect()
}
