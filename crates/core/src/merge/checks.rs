//! Whether learners can be merged: one spec, one feature space, one start.

use std::sync::Arc;

use serde_json::Value;

use super::Part;
use crate::error::{Error, Result};
use crate::learn::model::Inspect;
use crate::spec::{Classes, Schema, Spec};

/// Check that the shards have the spec of the start and went on from it; returns the spec.
pub fn check_all(start: &Part<'_>, shards: &[Part<'_>]) -> Result<Spec> {
    if shards.is_empty() {
        return Err(Error::Merge("there is no shard to merge; give at least one".into()));
    }
    for shard in shards {
        check_spec(start, shard)?;
        check_boxes(start, shard)?;
        check_sums(start, shard)?;
    }
    Ok(start.spec.clone())
}

fn differ(start: &Part<'_>, shard: &Part<'_>, what: &str, own: &str, other: &str) -> Error {
    Error::Merge(format!(
        "{} and {} differ in {what}: {own} and {other}; merge learners that were made with the same \
         settings and went on from the same start",
        start.name, shard.name
    ))
}

/// Check every setting but the classes, which a learner may meet later than its start.
fn check_spec(start: &Part<'_>, shard: &Part<'_>) -> Result<()> {
    let documents = [start, shard].map(|part| {
        let mut spec = part.spec.clone();
        spec.space.schema = without_classes(part);
        serde_json::to_value(spec).unwrap_or(Value::Null)
    });
    let [Value::Object(own), Value::Object(other)] = &documents else { return Ok(()) };
    for key in own.keys().chain(other.keys()) {
        if own.get(key) != other.get(key) {
            let text = |value: Option<&Value>| value.map_or("none".into(), Value::to_string);
            return Err(differ(start, shard, key, &text(own.get(key)), &text(other.get(key))));
        }
    }
    Ok(())
}

/// The schema without classes; none if it has no columns either.
fn without_classes(part: &Part<'_>) -> Option<Arc<Schema>> {
    let schema = part.spec.space.schema.as_deref().cloned()?;
    let schema = Schema { classes: None, names: Vec::new(), ..schema };
    (schema != Schema::default()).then(|| Arc::new(schema))
}

/// The schema with these names of many classes, or with the two classes that any of the learners has met.
pub fn merged_schema(
    start: &Part<'_>,
    shards: &[Part<'_>],
    names: &[String],
) -> Result<Option<Arc<Schema>>> {
    let classes = |part: &Part<'_>| -> Option<Classes> {
        part.spec.space.schema.as_ref().and_then(|schema| schema.classes.clone())
    };
    let mut found = (start, classes(start));
    for shard in shards {
        match (&found.1, classes(shard)) {
            (None, own @ Some(_)) => found = (shard, own),
            (Some(one), Some(other)) if *one != other => {
                let text = |classes: &Classes| {
                    let negative = classes.negative.as_deref().unwrap_or("any other");
                    format!("'{negative}' and '{}'", classes.positive)
                };
                return Err(differ(found.0, shard, "classes", &text(one), &text(&other)));
            }
            _ => {}
        }
    }
    let schema = start.spec.space.schema.clone();
    if found.1.is_none() && names.is_empty() {
        return Ok(schema);
    }
    let schema = schema.as_deref().cloned().unwrap_or_default();
    Ok(Some(Arc::new(Schema { classes: found.1, names: names.to_vec(), ..schema })))
}

fn check_boxes(start: &Part<'_>, shard: &Part<'_>) -> Result<()> {
    if start.model.intervals() == shard.model.intervals() {
        return Ok(());
    }
    Err(differ(start, shard, "the boxes of coordinates", "one list", "another"))
}

/// Check that no sum over the rounds is smaller than at the start.
fn check_sums(start: &Part<'_>, shard: &Part<'_>) -> Result<()> {
    let (before, after) = (start.model.tally(), shard.model.tally());
    let sums = [
        ("rounds", before.rounds as f64, after.rounds as f64),
        ("features", before.features as f64, after.features as f64),
        ("importance", before.importance, after.importance),
        ("loss", before.loss, after.loss),
        ("merges", before.merges as f64, after.merges as f64),
    ];
    for (what, before, after) in sums {
        if after < before {
            return Err(Error::Merge(format!(
                "{} did not go on from {}: its sum of {what} is {after}, below {before}; merge shards \
                 with the model that they started from",
                shard.name, start.name
            )));
        }
    }
    Ok(())
}

/// The fields of slots that never fall.
const RISING: [&str; 5] = ["energy", "n", "precision", "seen", "stake"];

/// Check that no energy of these slots is smaller than at the start. In the coin lane it is the stake.
pub fn check_energies(start: &dyn Inspect, shards: &[&dyn Inspect], slots: &[u32]) -> Result<()> {
    let rising = start.fields().iter().enumerate().filter(|(_, name)| RISING.contains(name));
    for (field, name) in rising {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        start.copy_field(field, slots, &mut before);
        for shard in shards {
            after.clear();
            shard.copy_field(field, slots, &mut after);
            if let Some(k) = (0..before.len()).find(|&k| after[k] < before[k]) {
                let slot = slots[k * slots.len() / before.len()];
                return Err(Error::Merge(format!(
                    "a shard did not go on from the start: its {name} in slot {slot} is {}, below {}; \
                     merge shards with the model that they started from",
                    after[k], before[k]
                )));
            }
        }
    }
    Ok(())
}

/// Check that no field of these slots of the merged learner has left the range of floats, unless that of a learner
/// that is merged has.
pub fn check_sound(
    start: &dyn Inspect,
    shards: &[&dyn Inspect],
    slots: &[u32],
    fields: &[Vec<f32>],
) -> Result<()> {
    let is_sound = |float: f32| float.abs() < f32::MAX;
    for (field, (floats, name)) in fields.iter().zip(start.fields()).enumerate() {
        let Some(k) = floats.iter().position(|&float| !is_sound(float)) else { continue };
        let mut before = Vec::new();
        for learner in shards.iter().chain([&start]) {
            learner.copy_field(field, slots, &mut before);
        }
        if before.iter().all(|&float| is_sound(float)) {
            let slot = slots[k * slots.len() / floats.len()];
            return Err(diverged(format!("its {name} in slot {slot} is {}", floats[k])));
        }
    }
    Ok(())
}

/// The error of a merged learner that no number holds any more.
pub fn diverged(what: String) -> Error {
    Error::Merge(format!(
        "the merged learner diverged: {what}; merge more often, so that shards are more alike, or merge fewer shards"
    ))
}
