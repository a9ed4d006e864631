//! The order of shards, which does not depend on the order in which they were given.
//!
//! A sum of floats depends on the order of its terms in the last bits. So shards are sorted by what they are: by
//! their sums and, where these are equal, by their state.

use std::cmp::Ordering;

use super::Part;
use crate::learn::model::Inspect;
use crate::learn::tally::Tally;

/// The shards in an order of their own.
pub fn sorted<'a>(shards: &[Part<'a>]) -> Vec<Part<'a>> {
    let mut sorted = shards.to_vec();
    sorted.sort_by(compare);
    sorted
}

fn compare(one: &Part<'_>, other: &Part<'_>) -> Ordering {
    key(one.model.tally())
        .cmp(&key(other.model.tally()))
        .then_with(|| one.skipped.cmp(&other.skipped))
        .then_with(|| state(one.model).cmp(&state(other.model)))
        .then_with(|| names(one).cmp(&names(other)))
        .then_with(|| class_names(one).cmp(&class_names(other)))
}

/// The names of many classes.
fn class_names<'a>(part: &Part<'a>) -> Option<&'a [String]> {
    part.spec.space.schema.as_deref().map(|schema| schema.names.as_slice())
}

fn key(tally: &Tally) -> [u64; 6] {
    let Tally { rounds, features, importance, loss, mistakes, played, .. } = *tally;
    let [importance, loss, mistakes, played] =
        [importance, loss, mistakes, played].map(f64::to_bits);
    [rounds, features, importance, loss, mistakes, played]
}

/// All that a learner has learned, in bits. Asked for only if the sums are equal.
fn state(model: &dyn Inspect) -> (Vec<u32>, Vec<u32>, Vec<u64>, String) {
    let (slots, mut floats, mut sums) = (model.touched(), Vec::new(), Vec::new());
    for field in 0..model.fields().len() {
        model.copy_field(field, &slots, &mut floats);
    }
    model.copy_gradient_sums(&slots, &mut sums);
    let bits = floats.into_iter().map(f32::to_bits).collect();
    (slots, bits, sums.into_iter().map(f64::to_bits).collect(), model.shared().to_string())
}

/// The names by slot.
fn names(part: &Part<'_>) -> Vec<(u32, Vec<u8>)> {
    let Some(names) = part.names else { return Vec::new() };
    let named = |slot: u32| (slot, names.get(slot).unwrap_or_default().to_vec());
    names.slots().into_iter().map(named).collect()
}

/// The slots that any of the learners has touched, ascending.
pub fn touched(start: &dyn Inspect, shards: &[&dyn Inspect]) -> Vec<u32> {
    let mut all = start.touched();
    for shard in shards {
        all.append(&mut shard.touched());
        all.sort_unstable();
        all.dedup();
    }
    all
}
