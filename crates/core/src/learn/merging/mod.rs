//! What learners share that are merged: the order to merge them, their units, and the slots of a rule.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::example::Scales;
use crate::learn::model::Inspect;
use crate::rule::merging::How;
use crate::rule::{Merges, Merging, NewUnit, Rule, Slot};

/// How learners are to be merged.
pub struct MergeOrder<'a> {
    /// The way to merge weights.
    pub how: How,
    /// κ, half the mean number of features of an example.
    pub curvature: f64,
    /// How many learners go on from the merged one.
    pub players: u32,
    /// The scales of the merged learner, whose units its weights have.
    pub scales: &'a Scales,
    /// The name of the rule, for errors.
    pub rule: &'static str,
}

impl MergeOrder<'_> {
    /// Check that a rule can be merged in this way.
    pub fn check<R: Rule>(&self) -> Result<()> {
        match (R::MERGES, self.how) {
            (Merges::Always, _) | (Merges::Average, How::Average) => Ok(()),
            (Merges::Average, _) => Err(Error::Merge(format!(
                "the rule '{}' does not keep how much a weight has seen, so its learners can only be \
                 averaged; merge with how='average'",
                self.rule
            ))),
            (Merges::Never, _) => Err(Error::Merge(format!(
                "learners with the rule '{}' cannot be merged; train with the rule 'per-coordinate'",
                self.rule
            ))),
        }
    }

    /// How the slots of a coordinate are merged.
    pub fn merging(&self, slot: u32) -> Merging {
        let square = self.scales.typical_square(slot);
        Merging { how: self.how, curvature: self.curvature, square }
    }

    /// The change from the unit of a learner's scales to the merged one; `unit` for unit values.
    pub fn unit(&self, own: &Scales, slot: u32, unit: bool) -> NewUnit {
        let values = ratio(own.slope(slot, unit), self.scales.slope(slot, unit));
        let labels = ratio(own.label_deviation(), self.scales.label_deviation());
        NewUnit { weight: values * labels, gradient: labels / values }
    }
}

/// A slot of the merged learner, from those of the start and of the shards, each with the change of its unit. Where at
/// most one shard has moved it, it is that shard's; a shard that has not moved it counts as the start.
pub fn merge<R: Rule>(
    rule: &R,
    merging: &Merging,
    start: (R::Slot, NewUnit),
    shards: &[(R::Slot, NewUnit)],
) -> R::Slot {
    let has_moved = |own: &R::Slot| !same(own, &start.0);
    let mut moved = shards.iter().filter(|(own, _)| has_moved(own));
    let first = moved.next().map_or(start.0, |(own, _)| *own);
    if moved.next().is_none() {
        return first;
    }
    let here = |&(own, unit): &(R::Slot, NewUnit)| match unit {
        NewUnit::SAME => own,
        unit => rule.in_unit(&own, unit),
    };
    let start_here = here(&start);
    let in_one_unit = |shard: &(R::Slot, NewUnit)| {
        if has_moved(&shard.0) { here(shard) } else { start_here }
    };
    let shards: Vec<_> = shards.iter().map(in_one_unit).collect();
    rule.merge(&start_here, &shards, merging)
}

/// The shared states of learners, or a part of them, as what they are.
pub fn parsed<S: DeserializeOwned>(
    shards: &[&dyn Inspect],
    part: impl Fn(Value) -> Value,
) -> Result<Vec<S>> {
    let states = shards.iter().map(|shard| serde_json::from_value(part(shard.shared())));
    let states: std::result::Result<_, _> = states.collect();
    states.map_err(|error| Error::Merge(format!("the shared states differ in kind: {error}")))
}

/// A part of the shared state of the merged learner, as what it is.
pub fn part_of<S: DeserializeOwned>(shared: &Value, part: &str) -> Result<S> {
    serde_json::from_value(shared[part].clone())
        .map_err(|error| Error::Merge(format!("'{part}' of the merged state: {error}")))
}

/// one/other, if both are above 0 and finite; 1 otherwise: a feature that is not seen has no unit.
fn ratio(one: f64, other: f64) -> f64 {
    let ratio = one / other;
    if ratio > 0.0 && ratio.is_finite() { ratio } else { 1.0 }
}

fn same<S: Slot>(one: &S, other: &S) -> bool {
    (0..S::FIELDS.len()).all(|field| one.get(field).to_bits() == other.get(field).to_bits())
}

/// The fields of some slots of the start and of its shards.
pub struct Gathered {
    width: usize,
    start: Fields,
    shards: Vec<Fields>,
}

/// The fields of a learner, slot by slot and lane by lane.
type Fields = Vec<Vec<f32>>;

impl Gathered {
    /// Copy the fields of these slots.
    pub fn new(start: &dyn Inspect, shards: &[&dyn Inspect], slots: &[u32]) -> Self {
        let field = |model: &dyn Inspect, field: usize| {
            let mut floats = Vec::new();
            model.copy_field(field, slots, &mut floats);
            floats
        };
        let all = |model: &dyn Inspect| -> Fields {
            (0..model.fields().len()).map(|own| field(model, own)).collect()
        };
        let shards = shards.iter().map(|model| all(*model)).collect();
        Gathered { width: start.lanes(), start: all(start), shards }
    }

    /// Find the shards that have moved the k-th slot in any lane.
    pub fn find_moved(&self, k: usize, moved: &mut Vec<usize>) {
        let places = k * self.width..(k + 1) * self.width;
        let differs = |own: &Fields| {
            let pairs = own.iter().zip(&self.start);
            pairs.into_iter().any(|(own, start)| {
                let mut differs = false;
                for (own, start) in own[places.clone()].iter().zip(&start[places.clone()]) {
                    differs |= own.to_bits() != start.to_bits();
                }
                differs
            })
        };
        moved.clear();
        moved.extend((0..self.shards.len()).filter(|&shard| differs(&self.shards[shard])));
    }

    /// Append the k-th slot of a shard, or of the start, in all lanes.
    pub fn copy(&self, shard: Option<usize>, k: usize, fields: &mut [Vec<f32>]) {
        let own = shard.map_or(&self.start, |shard| &self.shards[shard]);
        for (field, floats) in fields.iter_mut().zip(own) {
            field.extend_from_slice(&floats[k * self.width..(k + 1) * self.width]);
        }
    }

    /// The k-th slot of the start in a lane.
    pub fn start<S: Slot>(&self, k: usize, lane: usize) -> S {
        slot_of(&self.start, k * self.width + lane)
    }

    /// The k-th slot of a shard in a lane.
    pub fn slot<S: Slot>(&self, shard: usize, k: usize, lane: usize) -> S {
        slot_of(&self.shards[shard], k * self.width + lane)
    }
}

fn slot_of<S: Slot>(fields: &Fields, place: usize) -> S {
    let mut slot = S::default();
    for (field, floats) in fields.iter().enumerate() {
        slot.set(field, floats[place]);
    }
    slot
}

/// Append the fields of a slot.
pub fn push<S: Slot>(slot: &S, fields: &mut [Vec<f32>]) {
    for (field, floats) in fields.iter_mut().enumerate() {
        floats.push(slot.get(field));
    }
}
