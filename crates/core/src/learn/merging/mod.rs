//! What learners share that are merged: the order to merge them, their units, the state of coupled coordinates, and
//! their slots ([`slots`]).

pub mod slots;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::example::Scales;
use crate::learn::Codes;
use crate::rule::merging::{How, only_moved};
use crate::rule::{Merges, Merging, NewUnit, Rule};

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
    /// The classes of the merged learner, if there may be more than two. Those of its shards have the same places.
    pub classes: Option<&'a Codes>,
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

/// The state that the coordinates of one rule share, `{"state", "step"}`. The last step is the start's: only a bound
/// would ask for it.
pub fn merged_coupling<R: Rule>(rule: &R, start: Value, shards: Vec<Value>) -> Result<Value> {
    if let Some(only) = only_moved(&start, &shards) {
        return Ok(only.clone());
    }
    let states = shards.into_iter().map(|mut shared| shared["state"].take()).collect();
    let merged = rule.merge_shared(&part_of(&start, "state")?, &parsed::<R::Shared>(states)?);
    Ok(json!({"state": merged, "step": start["step"]}))
}

/// Shared states as what they are.
pub fn parsed<S: DeserializeOwned>(states: Vec<Value>) -> Result<Vec<S>> {
    let states = states.into_iter().map(serde_json::from_value);
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
