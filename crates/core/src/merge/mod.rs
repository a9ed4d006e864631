//! Learners that went on from one start become one learner.
//!
//! ```text
//! start ─┬─ examples ─▶ shard 1 ─┐
//!        ├─ examples ─▶ shard 2 ─┼─ merge(start, shards) ─▶ one learner
//!        └─ examples ─▶ shard 3 ─┘
//! ```
//!
//! A pure function: no learner that is given is changed. Every piece of state says how it merges:
//!
//! - slots: the rule's [`merge`](crate::rule::Rule::merge), in one unit of the values (`rule/merging.rs`);
//! - mixture, stack, coin lane, tallies: `learn/lanes/merge.rs`;
//! - statistics of values and labels: [`scales`] and `example/scale/merge.rs`;
//! - gradient sums of the certificate, tallies, skipped lines: differences from the start add up;
//! - names: all of them; classes: those that any of the learners has met ([`classes`]).
//!
//! Laws, which tests hold: a merge of one shard is that shard; shards that saw nothing change nothing; the order
//! of the shards does not change a bit ([`order`]). After a merge the tally says so (`merges`), and no bound is
//! reported any more: the weights jump, and no proof covers that. The certificate of the merged sums is still one for
//! all rounds that all shards played, because offset and gradient sums are sums over rounds.
//!
//! Cost: one pass over the slots that any of the learners has touched. The merged fields stand in memory once before the
//! merged learner is restored from them.

mod checks;
mod classes;
mod order;
mod scales;

use crate::error::{Error, Result};
use crate::example::Names;
use crate::learn::Codes;
use crate::learn::merging::MergeOrder;
use crate::learn::model::{Inspect, Model};
use crate::learn::tally::Tally;
pub use crate::rule::merging::How;
use crate::rule::merging::{WAYS, merged_count, merged_sum};
use crate::spec::Spec;
use classes::{Union, swiftness};

/// The number of slots that are merged at a time.
const BLOCK: usize = 1 << 12;

/// A learner that is merged.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// What errors call it.
    pub name: &'a str,
    /// Its spec.
    pub spec: &'a Spec,
    /// Its state.
    pub model: &'a dyn Inspect,
    /// The names of its features, if they were kept.
    pub names: Option<&'a Names>,
    /// The number of bad lines it has skipped.
    pub skipped: u64,
}

/// What learners become.
pub struct Merged {
    /// The spec.
    pub spec: Spec,
    /// The learner.
    pub model: Box<dyn Model>,
    /// The names of the features, if any learner kept them.
    pub names: Option<Names>,
    /// The number of bad lines skipped.
    pub skipped: u64,
}

impl How {
    /// The way of this name.
    pub fn named(name: &str) -> Result<How> {
        let found = WAYS.iter().find(|(known, _)| *known == name);
        found.map(|&(_, how)| how).ok_or_else(|| {
            let known: Vec<_> = WAYS.iter().map(|(known, _)| format!("'{known}'")).collect();
            Error::Spec(format!("how must be one of {}, found '{name}'", known.join(", ")))
        })
    }
}

/// Merge shards that went on from a start into a learner, from which so many players go on.
pub fn merge(start: Part<'_>, shards: &[Part<'_>], how: How, players: u32) -> Result<Merged> {
    if players == 0 {
        return Err(Error::Spec("players must be 1 or more, found 0".into()));
    }
    let mut spec = checks::check_all(&start, shards)?;
    let sorted = order::sorted(shards);
    let union = Union::of(&start, &sorted)?;
    let class_names = union.as_ref().map_or(&[][..], |union| &union.names);
    spec.space.schema = checks::merged_schema(&start, shards, class_names)?;
    let shards = sorted;
    let (names, skipped) = (merged_names(&start, &shards), shards.iter().map(|part| part.skipped));
    let skipped = merged_count(start.skipped, skipped);
    // A shard without rounds is left out: an average would count it.
    let has_played = |part: &Part<'_>| part.model.tally().rounds > start.model.tally().rounds;
    let played = shards.into_iter().filter(has_played);
    let all: Vec<Part<'_>> = std::iter::once(start).chain(played).collect();
    let copies = match &union {
        Some(union) => union.rearranged(&spec, &all)?,
        None => Vec::new(),
    };
    let arranged = all.iter().enumerate().map(|(place, part)| match copies.get(place) {
        Some(Some(copy)) => &**copy as &dyn Inspect,
        _ => part.model,
    });
    let models: Vec<&dyn Inspect> = arranged.collect();
    let codes = union.as_ref().map(|union| &union.codes);
    let asked = Asked { spec: &spec, how, players, codes };
    let model = merged_model(&asked, models[0], &models[1..])?;
    Ok(Merged { spec, model, names, skipped })
}

/// What is to be made of learners whose classes have the same places.
struct Asked<'a> {
    spec: &'a Spec,
    how: How,
    players: u32,
    codes: Option<&'a Codes>,
}

fn merged_model(
    asked: &Asked<'_>,
    start: &dyn Inspect,
    shards: &[&dyn Inspect],
) -> Result<Box<dyn Model>> {
    let &Asked { spec, how, players, codes } = asked;
    let mut model = spec.build(start.intervals().map(<[_]>::to_vec))?;
    let slots = order::touched(start, shards);
    if let Some(codes) = codes {
        model.add_classes(&codes.codes)?;
    }
    model.make_room(&slots)?;
    let tallies: Vec<Tally> = shards.iter().map(|shard| *shard.tally()).collect();
    let tally = Tally::merged(start.tally(), &tallies);
    scales::restore(model.scales_mut(), start, shards, &slots, tally.rounds)?;
    let features = tally.features as f64 / (tally.rounds.max(1)) as f64;
    let curvature = 0.5 * features * swiftness(spec, codes);
    let rule = spec.rule.name();
    let mut blocks = Vec::new();
    let order =
        MergeOrder { how, curvature, players, scales: model.scales(), rule, classes: codes };
    let shared = start.merge_shared(shards, &order)?;
    for block in slots.chunks(BLOCK) {
        checks::check_energies(start, shards, block)?;
        let fields = start.merge_slots(shards, block, &shared, &order)?;
        checks::check_sound(start, shards, block, &fields)?;
        blocks.push(fields);
    }
    for (block, fields) in slots.chunks(BLOCK).zip(blocks) {
        for (field, floats) in fields.iter().enumerate() {
            model.restore_field(field, block, floats);
        }
        if spec.certify {
            model.restore_gradient_sums(block, &merged_gradient_sums(start, shards, block));
        }
    }
    model.restore(shared, tally).map_err(checks::diverged)?;
    Ok(model)
}

fn merged_gradient_sums(start: &dyn Inspect, shards: &[&dyn Inspect], slots: &[u32]) -> Vec<f64> {
    let copied = |model: &dyn Inspect| {
        let mut sums = Vec::new();
        model.copy_gradient_sums(slots, &mut sums);
        sums
    };
    let (first, all) = (copied(start), shards.iter().map(|shard| copied(*shard)));
    let all: Vec<_> = all.collect();
    let merged = first.iter().enumerate();
    merged.map(|(k, &sum)| merged_sum(sum, all.iter().map(|sums| sums[k]))).collect()
}

fn merged_names(start: &Part<'_>, shards: &[Part<'_>]) -> Option<Names> {
    let mut names: Option<Names> = start.names.cloned();
    for met in shards.iter().filter_map(|part| part.names) {
        names.get_or_insert_default().merge(met);
    }
    names
}
