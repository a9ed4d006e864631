//! Many classes of learners that are merged: all get a place in the merged learner.
//!
//! Shards may have met new classes, each in an order of its own. The merged learner has the classes of the start, then
//! those of the shards, in the order of the shards, which does not depend on how they were given. A class is known by
//! its code, or by its name if the codes have names: then two shards may have given one code to two classes, or two
//! codes to one class. A learner whose classes have other places is copied with its classes where the merged learner has
//! them, so that all else of a merge sees equal places; a class that it has not met has weights of 0 there. If no shard
//! met a class, nothing is copied.

use super::{BLOCK, Part, checks, scales};
use crate::error::{Error, Result};
use crate::learn::Codes;
use crate::learn::model::{Inspect, Model};
use crate::spec::Spec;

/// The classes of all learners that are merged.
pub struct Union {
    /// The names of the codes from 0 up; empty if no learner has names.
    pub names: Vec<String>,
    /// The codes, and which of them count.
    pub codes: Codes,
}

impl Union {
    /// The classes of the start and of shards that went on from it; none unless there may be more than two.
    pub fn of(start: &Part<'_>, shards: &[Part<'_>]) -> Result<Option<Union>> {
        if start.spec.classes.is_none() {
            return Ok(None);
        }
        let (own, names) = (codes_of(start.model)?, names_of(start));
        let mut union = Union { names: names.to_vec(), codes: own.clone() };
        for shard in shards {
            let (codes, theirs) = (codes_of(shard.model)?, names_of(shard));
            if !codes.codes.starts_with(&own.codes) || !theirs.starts_with(names) {
                return Err(Error::Merge(format!(
                    "{} did not go on from {}: its classes do not begin with those of {}; merge shards with the \
                     model that they started from",
                    shard.name, start.name, start.name
                )));
            }
            for name in theirs {
                if !union.names.contains(name) {
                    union.names.push(name.clone());
                }
            }
            for (&code, &counts) in codes.codes.iter().zip(&codes.counted) {
                union.add(union.code(theirs, code), counts);
            }
        }
        [start].into_iter().chain(shards).try_for_each(|part| union.check_named(part))?;
        Ok(Some(union))
    }

    /// What the merged learner calls a class that a learner with these names calls so.
    fn code(&self, names: &[String], code: i32) -> i32 {
        let name = usize::try_from(code).ok().and_then(|place| names.get(place));
        let place = name.and_then(|name| self.names.iter().position(|known| known == name));
        place.map_or(code, |place| place as i32)
    }

    fn add(&mut self, code: i32, counts: u8) {
        let Codes { codes, counted } = &mut self.codes;
        match codes.iter().position(|&known| known == code) {
            Some(place) => counted[place] |= counts,
            None => {
                codes.push(code);
                counted.push(counts);
            }
        }
    }

    /// Check that no learner has a class without a name where another has a name for its code.
    fn check_named(&self, part: &Part<'_>) -> Result<()> {
        let named = names_of(part).len()..self.names.len();
        let codes = part.model.classes().unwrap_or_default();
        let is_named = |code: i32| usize::try_from(code).is_ok_and(|place| named.contains(&place));
        match codes.iter().find(|&&code| is_named(code)) {
            None => Ok(()),
            Some(code) => Err(Error::Merge(format!(
                "{} has no name for the class {code}, and another learner has one; give all of them the names of \
                 their classes",
                part.name
            ))),
        }
    }

    /// For each learner a copy with its classes in these places; none if they stand there already.
    pub fn rearranged(
        &self,
        spec: &Spec,
        parts: &[Part<'_>],
    ) -> Result<Vec<Option<Box<dyn Model>>>> {
        parts.iter().map(|part| self.rearranged_one(spec, part)).collect()
    }

    fn rearranged_one(&self, spec: &Spec, part: &Part<'_>) -> Result<Option<Box<dyn Model>>> {
        let (names, own) = (names_of(part), part.model.classes().unwrap_or_default());
        let own: Vec<i32> = own.iter().map(|&code| self.code(names, code)).collect();
        if own == self.codes.codes {
            return Ok(None);
        }
        let codes = self.codes.codes.iter();
        let sources: Vec<_> =
            codes.map(|code| own.iter().position(|known| known == code)).collect();
        self.copied(spec, part.model, &sources).map(Some)
    }

    /// A copy of a learner; each class has the place in the original that is given.
    fn copied(
        &self,
        spec: &Spec,
        model: &dyn Inspect,
        sources: &[Option<usize>],
    ) -> Result<Box<dyn Model>> {
        let (mut copy, slots) =
            (spec.build(model.intervals().map(<[_]>::to_vec))?, model.touched());
        let mut shared = model.shared();
        shared["classes"] = serde_json::to_value(&self.codes).unwrap_or_default();
        copy.restore(shared, *model.tally()).map_err(checks::diverged)?;
        copy.make_room(&slots)?;
        scales::restore(copy.scales_mut(), model, &[], &slots, model.tally().rounds)?;
        let (lanes, width) = (copy.lanes() / copy.width().max(1), model.width());
        let (mut floats, mut sums) = (Vec::new(), Vec::new());
        for block in slots.chunks(BLOCK) {
            for field in 0..model.fields().len() {
                floats.clear();
                model.copy_field(field, block, &mut floats);
                let moved = moved(&floats, block.len(), lanes, width, sources);
                copy.restore_field(field, block, &moved);
            }
            if spec.certify {
                sums.clear();
                model.copy_gradient_sums(block, &mut sums);
                copy.restore_gradient_sums(block, &moved(&sums, block.len(), 1, width, sources));
            }
        }
        Ok(copy)
    }
}

/// How much faster the weights of many classes converge than those of one margin. The Hessian of the multinomial loss is
/// diag q − q qᵀ. Slopes add up to 0 over the C classes, and on such vectors it is 1/C where all are as likely, C/(C − 1)
/// times the diagonal, 1/C (1 − 1/C), which Σ g² measures. Two classes are then one margin at twice the rate, as they are
/// played. Other losses have a problem of their own for every class.
pub fn swiftness(spec: &Spec, codes: Option<&Codes>) -> f64 {
    let count =
        codes.map_or(0, |codes| codes.counted.iter().filter(|&&counts| counts != 0).count());
    if count < 2 || !spec.loss.is_multinomial() {
        return 1.0;
    }
    count as f64 / (count - 1) as f64
}

/// Numbers of so many slots, with `lanes` of them for each of `width` classes, with the classes moved.
fn moved<T: Copy + Default>(
    numbers: &[T],
    slots: usize,
    lanes: usize,
    width: usize,
    sources: &[Option<usize>],
) -> Vec<T> {
    let mut moved = Vec::with_capacity(slots * lanes * sources.len());
    for slot in 0..slots {
        for source in sources {
            match source {
                Some(class) => {
                    let start = (slot * width + class) * lanes;
                    moved.extend_from_slice(&numbers[start..start + lanes]);
                }
                None => moved.resize(moved.len() + lanes, T::default()),
            }
        }
    }
    moved
}

/// The names of a learner's classes; none if they have only codes.
fn names_of<'a>(part: &Part<'a>) -> &'a [String] {
    part.spec.space.schema.as_deref().map_or(&[], |schema| &schema.names)
}

fn codes_of(model: &dyn Inspect) -> Result<Codes> {
    let mut shared = model.shared();
    serde_json::from_value(shared["classes"].take())
        .map_err(|error| Error::Merge(format!("the classes of a learner: {error}")))
}
