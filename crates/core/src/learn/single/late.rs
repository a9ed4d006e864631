//! Rounds that are absorbed long after they were played.
//!
//! ```text
//! p, reading_i, x̂_i   kept when the example was predicted
//! s      = h ℓ'(p, y)
//! slot_i ← revise(slot_i, x̂_i, s x̂_i, reading_i)      for every feature i
//! ```
//!
//! The scales of the features remember the example now: the statistics are those of labelled examples, as ever.
//! One feature after another, without vector instructions: a late label has come through a request.

use super::Single;
use crate::error::{Error, Result};
use crate::example::{Example, Ordered, Scaled};
use crate::learn::frame::Boxes;
use crate::learn::late::{Kept, cannot_learn_late};
use crate::learn::model::Inspect;
use crate::learn::single::gather::Gathered;
use crate::learn::sound::{diverged, flushed, is_sound};
use crate::learn::tally::Round;
use crate::rule::{Dither, ExampleStats, Rule};
use crate::simd::Portable;

/// An error unless the learner learns from old predictions.
pub(super) fn check<R: Rule, B: Boxes>(learner: &Single<R, B>) -> Result<()> {
    let frame = &learner.frame;
    let is_plain = frame.penalty.l2 == 0.0 && !frame.importance_aware;
    match R::REVISES && is_plain && frame.scales.labels().is_none() {
        true => Ok(()),
        false => Err(cannot_learn_late()),
    }
}

/// Play an example and keep what learning from it will need.
pub(super) fn play<R: Rule, B: Boxes>(
    learner: &Single<R, B>,
    example: &Example<'_>,
) -> Result<Kept> {
    check(learner)?;
    let (mut scaled, mut gathered) = (Scaled::default(), Gathered::default());
    let seen = learner.frame.scales.normalise(example, &mut scaled);
    let look = learner.look::<_, false, false>(Portable, &seen, &mut gathered);
    let reading = |&slot: &u32| {
        let slot = slot as usize;
        learner.frame.rule_at(slot).reading(&learner.slots[slot])
    };
    Ok(Kept {
        margin: look.margin + f64::from(example.base),
        slots: seen.slots.to_vec(),
        values: seen.values.to_vec(),
        readings: seen.slots.iter().map(reading).collect(),
    })
}

/// Absorb examples that were played before.
pub(super) fn learn<R: Rule, B: Boxes>(
    learner: &mut Single<R, B>,
    examples: Ordered<'_>,
    played: &[Kept],
) -> Result<()> {
    check(learner)?;
    if examples.len() != played.len() {
        let (expected, found) = (examples.len(), played.len());
        return Err(Error::Spec(format!("expected {expected} played examples, found {found}")));
    }
    let mut scaled = Scaled::default();
    for (example, played) in examples.examples().zip(played) {
        learner.frame.scales.prepare(&example, learner.tally.rounds, &mut scaled)?;
        let round = absorb(learner, &example, played)?;
        learner.frame.scales.remember(&example);
        learner.tally.record_all(learner.frame.loss, &[round]);
        learner.tally.late += 1;
    }
    Ok(())
}

fn absorb<R: Rule, B: Boxes>(
    learner: &mut Single<R, B>,
    example: &Example<'_>,
    played: &Kept,
) -> Result<Round> {
    let Kept { margin, slots, values, readings } = played;
    if slots.iter().any(|&slot| slot as usize >= learner.slots.len()) {
        return Err(Error::Spec("a played example has slots that this model does not have".into()));
    }
    let (label, importance) = (f64::from(example.label), f64::from(example.importance));
    let square_norm = values.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
    let slope = flushed(importance * learner.frame.loss.slope(*margin, label), square_norm);
    let base = f64::from(example.base);
    let round = learner.tally.rounds + 1;
    let stats = ExampleStats {
        round,
        label,
        margin: *margin,
        base,
        importance,
        slope,
        square_norm,
        ..ExampleStats::default()
    };
    if !is_sound::<R>(&stats) {
        let seen = Example { slots, values, ..*example };
        return Err(diverged(&seen, stats, |slot| learner.scaled_weight(slot)));
    }
    if slope != 0.0 {
        learner.met.meet_all(slots);
    }
    let (dither, mut energy) = (Dither::new(round), 0.0);
    for ((&slot, &value), &reading) in slots.iter().zip(values).zip(readings) {
        let (slot, exact) = (slot as usize, slope * f64::from(value));
        if let Some(sums) = &mut learner.gradient_sums {
            sums[slot] += exact;
        }
        let gradient = exact as f32;
        if gradient != 0.0 {
            let rule = learner.frame.rule_at(slot);
            let rate = rule.revise(&mut learner.slots[slot], value, gradient, reading, dither);
            energy += 0.5 * exact * exact * f64::from(rate);
        }
    }
    let played = stats.played();
    Ok(Round {
        label,
        margin: *margin,
        importance,
        penalty: 0.0,
        played,
        energy,
        features: example.slots.len(),
    })
}
