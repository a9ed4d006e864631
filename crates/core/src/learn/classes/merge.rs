//! The learner of many classes, merged of shards that went on from one and whose classes have the same places.

use serde_json::Value;

use super::Classes;
use crate::error::Result;
use crate::learn::frame::Boxes;
use crate::learn::lanes::merge::merged_coin;
use crate::learn::lanes::model::State;
use crate::learn::merging::slots::Merger;
use crate::learn::merging::{MergeOrder, merged_coupling, parsed, part_of};
use crate::learn::model::{Inspect, Merge};
use crate::rule::Rule;

impl<R: Rule, B: Boxes, const AUTO: bool> Merge for Classes<R, B, AUTO> {
    fn merge_shared(&self, shards: &[&dyn Inspect], order: &MergeOrder<'_>) -> Result<Value> {
        order.check::<R>()?;
        let all: Vec<Value> = shards.iter().map(|shard| without_classes(*shard)).collect();
        let mut merged = if AUTO {
            let all: Vec<State<R::Shared>> = parsed(all)?;
            let start: Vec<State<R::Shared>> = parsed(vec![without_classes(self)])?;
            let (rule, loss) = (&self.frame.rule, self.observer.loss);
            let merged = start[0].merged(&all, rule, order.players, loss);
            serde_json::to_value(merged).unwrap_or(Value::Null)
        } else {
            merged_coupling(&self.frame.rule, without_classes(self), all)?
        };
        merged["classes"] = serde_json::to_value(order.classes).unwrap_or(Value::Null);
        Ok(merged)
    }

    fn merge_slots(
        &self,
        shards: &[&dyn Inspect],
        slots: &[u32],
        shared: &Value,
        order: &MergeOrder<'_>,
    ) -> Result<Vec<Vec<f32>>> {
        let merger = Merger { start: self, shards, order };
        if AUTO {
            let coin = Self::HAS_COIN.then(|| merged_coin(shared)).transpose()?;
            let rule_at = |slot: usize, lane| Self::of_lane(self.frame.rule_at(slot), lane);
            return Ok(merger.merged(slots, rule_at, coin));
        }
        let known: R::Shared = part_of(shared, "state")?;
        let rule_at = |slot: usize, _: usize| self.frame.rule_at(slot).knowing(&known);
        Ok(merger.merged(slots, rule_at, None))
    }
}

/// The shared state, but for the classes, of which the merged learner has those of all learners.
fn without_classes(model: &dyn Inspect) -> Value {
    let mut shared = model.shared();
    if let Some(parts) = shared.as_object_mut() {
        parts.remove("classes");
    }
    shared
}
