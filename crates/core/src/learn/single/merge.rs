//! The learner with one rate, merged of shards that went on from one.

use serde_json::{Value, json};

use super::Single;
use crate::error::Result;
use crate::learn::frame::Boxes;
use crate::learn::merging::{Gathered, MergeOrder, merge, parsed, part_of, push};
use crate::learn::model::{Inspect, Merge};
use crate::rule::{Rule, Slot};

impl<R: Rule, B: Boxes> Merge for Single<R, B> {
    /// The last step is the start's: only a bound would ask for it.
    fn merge_shared(&self, shards: &[&dyn Inspect], order: &MergeOrder<'_>) -> Result<Value> {
        order.check::<R>()?;
        let own = self.shared();
        let all: Vec<Value> = shards.iter().map(|shard| shard.shared()).collect();
        let mut others = all.iter().filter(|&shared| *shared != own);
        let first = others.next().unwrap_or(&own);
        if others.next().is_none() {
            return Ok(first.clone());
        }
        let states: Vec<R::Shared> = parsed(shards, |mut shared| shared["state"].take())?;
        Ok(json!({"state": self.frame.rule.merge_shared(&self.shared, &states), "step": self.step}))
    }

    fn merge_slots(
        &self,
        shards: &[&dyn Inspect],
        slots: &[u32],
        shared: &Value,
        order: &MergeOrder<'_>,
    ) -> Result<Vec<Vec<f32>>> {
        let gathered = Gathered::new(self, shards, slots);
        let known: R::Shared = part_of(shared, "state")?;
        let mut fields = vec![Vec::with_capacity(slots.len()); R::Slot::FIELDS.len()];
        let mut moved = Vec::new();
        for (k, &slot) in slots.iter().enumerate() {
            gathered.find_moved(k, &mut moved);
            if moved.len() < 2 {
                gathered.copy(moved.first().copied(), k, &mut fields);
                continue;
            }
            let unit = |model: &dyn Inspect| order.unit(model.scales(), slot, R::UNIT_VALUES);
            let start = (gathered.start(k, 0), unit(self));
            let mut all = vec![start; shards.len()];
            for &shard in &moved {
                all[shard] = (gathered.slot(shard, k, 0), unit(shards[shard]));
            }
            let rule = self.frame.rule_at(slot as usize).knowing(&known);
            push(&merge(&rule, &order.merging(slot), start, &all), &mut fields);
        }
        Ok(fields)
    }
}
