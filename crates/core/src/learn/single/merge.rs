//! The learner with one rate, merged of shards that went on from one.

use serde_json::Value;

use super::Single;
use crate::error::Result;
use crate::learn::frame::Boxes;
use crate::learn::merging::slots::Merger;
use crate::learn::merging::{MergeOrder, merged_coupling, part_of};
use crate::learn::model::{Inspect, Merge};
use crate::rule::Rule;

impl<R: Rule, B: Boxes> Merge for Single<R, B> {
    fn merge_shared(&self, shards: &[&dyn Inspect], order: &MergeOrder<'_>) -> Result<Value> {
        order.check::<R>()?;
        let all = shards.iter().map(|shard| shard.shared()).collect();
        merged_coupling(&self.frame.rule, self.shared(), all)
    }

    fn merge_slots(
        &self,
        shards: &[&dyn Inspect],
        slots: &[u32],
        shared: &Value,
        order: &MergeOrder<'_>,
    ) -> Result<Vec<Vec<f32>>> {
        let known: R::Shared = part_of(shared, "state")?;
        let rule_at = |slot: usize, _: usize| self.frame.rule_at(slot).knowing(&known);
        Ok(Merger { start: self, shards, order }.merged(slots, rule_at, None))
    }
}
