//! What learners share that are merged: the order to merge them, their units, and the slots of a rule.

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
    fn unit(&self, own: &Scales, slot: u32, unit: bool) -> NewUnit {
        let values = ratio(own.slope(slot, unit), self.scales.slope(slot, unit));
        let labels = ratio(own.label_deviation(), self.scales.label_deviation());
        NewUnit { weight: values * labels, gradient: labels / values }
    }

    /// One slot of the merged learner. Where at most one shard has moved it, it is that shard's.
    pub fn merge<R: Rule>(
        &self,
        rule: &R,
        slot: u32,
        start: (&R::Slot, &Scales),
        shards: &[(R::Slot, &Scales)],
    ) -> R::Slot {
        let has_moved = |own: &R::Slot| !same(own, start.0);
        let mut moved = shards.iter().filter(|(own, _)| has_moved(own));
        let first = moved.next().map_or(*start.0, |(own, _)| *own);
        if moved.next().is_none() {
            return first;
        }
        let here = |own: &R::Slot, scales: &Scales| match self.unit(scales, slot, R::UNIT_VALUES) {
            NewUnit::SAME => *own,
            unit => rule.in_unit(own, unit),
        };
        let shards: Vec<_> = shards.iter().map(|(own, scales)| here(own, scales)).collect();
        rule.merge(&here(start.0, start.1), &shards, &self.merging(slot))
    }
}

/// one/other, if both are above 0 and finite; 1 otherwise: a feature that is not seen has no unit.
fn ratio(one: f64, other: f64) -> f64 {
    let ratio = one / other;
    if ratio > 0.0 && ratio.is_finite() { ratio } else { 1.0 }
}

fn same<S: Slot>(one: &S, other: &S) -> bool {
    (0..S::FIELDS.len()).all(|field| one.get(field).to_bits() == other.get(field).to_bits())
}

/// The fields of some slots of many learners.
pub struct Gathered {
    width: usize,
    /// For every learner its fields, slot by slot and lane by lane.
    fields: Vec<Vec<Vec<f32>>>,
}

impl Gathered {
    /// Copy the fields of these slots.
    pub fn new(models: &[&dyn Inspect], slots: &[u32]) -> Self {
        let field = |model: &dyn Inspect, field: usize| {
            let mut floats = Vec::new();
            model.copy_field(field, slots, &mut floats);
            floats
        };
        let all = |model: &&dyn Inspect| {
            (0..model.fields().len()).map(|own| field(*model, own)).collect()
        };
        let width = models.first().map_or(1, |model| model.lanes());
        Gathered { width, fields: models.iter().map(all).collect() }
    }

    /// The slot of a learner in a lane.
    pub fn slot<S: Slot>(&self, model: usize, k: usize, lane: usize) -> S {
        let mut slot = S::default();
        for (field, floats) in self.fields[model].iter().enumerate() {
            slot.set(field, floats[k * self.width + lane]);
        }
        slot
    }
}

/// Append the fields of a slot.
pub fn push<S: Slot>(slot: &S, fields: &mut [Vec<f32>]) {
    for (field, floats) in fields.iter_mut().enumerate() {
        floats.push(slot.get(field));
    }
}
