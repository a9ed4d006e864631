//! The learner with one rate, merged of shards that went on from one.

use serde_json::{Value, json};

use super::Single;
use crate::error::{Error, Result};
use crate::learn::frame::Boxes;
use crate::learn::merging::{Gathered, MergeOrder, push};
use crate::learn::model::Inspect;
use crate::rule::{Rule, Slot};

impl<R: Rule, B: Boxes> Single<R, B> {
    /// The shared state of the merged learner. The last step is the start's: only a bound would ask for it.
    pub(super) fn merged_shared(
        &self,
        shards: &[&dyn Inspect],
        order: &MergeOrder<'_>,
    ) -> Result<Value> {
        order.check::<R>()?;
        let shared: Vec<Value> = shards.iter().map(|shard| shard.shared()).collect();
        let parsed = shared.iter().map(|shared| serde_json::from_value(shared["state"].clone()));
        let states: Vec<R::Shared> = parsed
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| Error::Merge(format!("the shared states differ in kind: {error}")))?;
        let own = self.shared();
        let mut others = shared.iter().filter(|&shared| *shared != own);
        let first = others.next().unwrap_or(&own);
        if others.next().is_none() {
            return Ok(first.clone());
        }
        Ok(json!({"state": self.frame.rule.merge_shared(&self.shared, &states), "step": self.step}))
    }

    /// The fields of these slots of the merged learner.
    pub(super) fn merged_slots(
        &self,
        shards: &[&dyn Inspect],
        slots: &[u32],
        order: &MergeOrder<'_>,
    ) -> Vec<Vec<f32>> {
        let gathered = Gathered::new(shards, slots);
        let mut fields = vec![Vec::with_capacity(slots.len()); R::Slot::FIELDS.len()];
        for (k, &slot) in slots.iter().enumerate() {
            let rule = self.frame.rule_at(slot as usize);
            let all = shards.iter().enumerate();
            let all: Vec<_> =
                all.map(|(shard, model)| (gathered.slot(shard, k, 0), model.scales())).collect();
            let start = (&self.slots[slot as usize], &self.frame.scales);
            push(&order.merge(&rule, slot, start, &all), &mut fields);
        }
        fields
    }
}
