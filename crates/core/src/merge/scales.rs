//! The scales of the merged learner.

use crate::error::Result;
use crate::example::{LabelStatistics, Moments, Scales};
use crate::learn::model::Inspect;

/// Give the scales of a new learner, after so many rounds, what all learners know.
pub fn restore(
    scales: &mut Scales,
    start: &dyn Inspect,
    shards: &[&dyn Inspect],
    slots: &[u32],
    rounds: u64,
) -> Result<()> {
    restore_labels(scales, start, shards);
    if let Some(largest) = scales.largest() {
        for &slot in slots {
            let of = |model: &dyn Inspect| model.scales().of(slot as usize);
            let most = shards.iter().fold(of(start), |most, shard| most.max(of(*shard)));
            let knows = |model: &dyn Inspect| !model.scales().is_untouched(slot as usize);
            if knows(start) || shards.iter().any(|shard| knows(*shard)) {
                largest.set(slot as usize, most)?;
            }
        }
    }
    if let Some(standard) = scales.standard() {
        let merged = merged_moments(start, shards, slots, rounds);
        standard.restore(rounds, slots, &merged)?;
    }
    Ok(())
}

fn restore_labels(scales: &mut Scales, start: &dyn Inspect, shards: &[&dyn Inspect]) {
    let of = |model: &dyn Inspect| -> LabelStatistics {
        model.scales().labels().map(|labels| labels.statistics()).unwrap_or_default()
    };
    let all: Vec<_> = shards.iter().map(|shard| of(*shard)).collect();
    if let Some(labels) = scales.labels_mut() {
        labels.restore(LabelStatistics::merged(of(start), &all));
    }
}

/// The statistics of the values of these slots. If all values of all learners were 1, only those of the features
/// that were in every example are kept, as a learner keeps them.
fn merged_moments(
    start: &dyn Inspect,
    shards: &[&dyn Inspect],
    slots: &[u32],
    rounds: u64,
) -> Vec<Moments> {
    let of = |model: &dyn Inspect, slot: u32| model.scales().moments(slot, model.tally().rounds);
    let merged = |&slot: &u32| {
        let all: Vec<_> = shards.iter().map(|shard| of(*shard, slot)).collect();
        Moments::merged(of(start, slot), &all)
    };
    let mut merged: Vec<_> = slots.iter().map(merged).collect();
    let is_plain = |model: &&dyn Inspect| {
        slots.iter().all(|&slot| {
            let own = of(*model, slot);
            own.count == 0.0 || own == Moments::of(1.0, model.tally().rounds)
        })
    };
    if is_plain(&start) && shards.iter().all(is_plain) {
        for moments in &mut merged {
            if moments.count != rounds as f64 {
                *moments = Moments::default();
            }
        }
    }
    merged
}
