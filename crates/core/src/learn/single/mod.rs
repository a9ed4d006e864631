//! The learner with one rate: plays each example before it learns from it.
//!
//! One round of Lemma 2's composite, for an example (x, y) with importance h:
//!
//! ```text
//! p      = b + Σ_i weight(slot_i, x_i) x_i       look, then play; b the base margin
//! s      = h ℓ'(p, y)                            the gradient in the margin
//! slot_i ← absorb(slot_i, x_i, s x_i, step)      for every feature i
//! ```
//!
//! With L2 (`learn/penalty.rs`) the gradient is s x_i + hλ w_i. Such a learner has a kernel of its own,
//! dispatched once per call, so that learners without L2 pay nothing. Importance-aware updates
//! (`loss/push.rs`) need a third loop over the features: the push depends on the rates, which are known only
//! when every slot has absorbed its gradient.
//!
//! Slots are float32, in one array. Margins, losses and all sums are float64. The order of additions depends
//! only on the position of a feature in its example, so a run is bit-identical for any division of its
//! examples into chunks. Cost: the slots of an example are gathered (`learn/single/gather.rs`), processed
//! eight features at a time, and scattered back. Nothing is scattered if the slope is zero (and the rule is
//! not coupled).

mod gather;
mod late;
mod merge;
mod model;
mod round;

use crate::alloc::{Table, zeroed};
use crate::error::Result;
use crate::example::{Example, Given, Ordered, Scaled, Scales, TouchedSlots};
use crate::learn::dispatch::{Batch, PlayKernel};
use crate::learn::frame::{Boxes, Frame, Plan};
use crate::learn::rounds::{RoundKernel, Upcoming};
use crate::learn::single::gather::Gathered;
use crate::learn::tally::{RecordAll, Round, Tally};
use crate::rule::{Rule, Slot, Step};
use crate::simd::InstructionSet;
use crate::simd::f64x8::F64x8;

/// A rule run on every coordinate.
pub struct Single<R: Rule, B: Boxes> {
    frame: Frame<R, B>,
    /// G of `learn/certificate.rs`, by slot, if it is kept.
    gradient_sums: Option<Vec<f64>>,
    slots: Table<R::Slot>,
    met: TouchedSlots,
    shared: R::Shared,
    step: Step,
    tally: Tally,
}

/// Size in bytes up to which a table soon fits into a core's own cache.
const NEAR: usize = 1 << 20;

impl<R: Rule, B: Boxes> Single<R, B> {
    /// A learner in its initial state.
    pub fn new(plan: Plan, rule: R, boxes: B) -> Result<Self> {
        let (slots, certify) = (plan.slots, plan.certify);
        Ok(Single {
            slots: Table::zeroed(slots)?,
            frame: Frame::new(plan, rule, boxes),
            gradient_sums: if certify { Some(zeroed(slots)?) } else { None },
            met: TouchedSlots::new(slots)?,
            shared: R::Shared::default(),
            step: Step::default(),
            tally: Tally::default(),
        })
    }

    /// The slots that are not in their initial state.
    fn moved(&self) -> impl Iterator<Item = (usize, &R::Slot)> {
        let met = self.met.slots().map(|slot| (slot, &self.slots[slot]));
        met.filter(|(_, state)| !state.is_untouched())
    }
}

/// Scratch memory, reused from example to example.
pub(crate) struct Scratch<S: Slot> {
    gathered: Gathered<S>,
    rounds: Vec<Round>,
    clipped: Vec<f32>,
    /// The labels of the rounds in the user's units, if labels are standardised.
    given: Vec<Given>,
}

impl<S: Slot> Default for Scratch<S> {
    fn default() -> Self {
        let (gathered, rounds, clipped, given) = Default::default();
        Scratch { gathered, rounds, clipped, given }
    }
}

impl<R: Rule, B: Boxes> RoundKernel for Single<R, B> {
    type Scratch = Scratch<R::Slot>;

    #[inline(always)]
    fn scales(&mut self) -> &mut Scales {
        &mut self.frame.scales
    }

    #[inline(always)]
    fn rounds_counted(&self) -> u64 {
        self.tally.rounds
    }

    #[inline(always)]
    fn start_batch(&mut self, _: &mut Batch<'_>, _: &mut Self::Scratch) {}

    fn keep_only(&mut self, _: &[u32], _: &[u32], _: &mut Self::Scratch) {}

    fn start_example(&mut self, _: &Example<'_>, _: &mut Self::Scratch) {}

    #[inline(always)]
    fn play_round<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        number: u64,
        example: &Example<'_>,
        upcoming: Upcoming<'_>,
        features: usize,
        scratch: &mut Self::Scratch,
    ) -> Result<()> {
        let Scratch { gathered, rounds, clipped, .. } = scratch;
        let example = &example.played_by::<R>(clipped);
        // A prefetch takes longer than one example, so prefetch two examples ahead. A table that nearly fits
        // into the cache needs no prefetch.
        let ahead = if size_of_val(&self.slots[..]) > NEAR { upcoming.slots(1) } else { &[] };
        let round = self.round::<E, PENALISED>(simd, number, example, ahead, gathered)?;
        rounds.push(Round { features, ..round });
        Ok(())
    }

    fn rounds_stored(scratch: &Self::Scratch) -> usize {
        scratch.rounds.len()
    }

    fn moved_slots(&self) -> impl Iterator<Item = u32> {
        self.moved().map(|(slot, _)| slot as u32)
    }

    fn count_rounds(
        &mut self,
        path: InstructionSet,
        scratch: &mut Self::Scratch,
        margins: &mut Vec<f64>,
    ) {
        let Scratch { rounds, given, .. } = scratch;
        if let Some(labels) = self.frame.scales.labels_mut() {
            labels.take_rounds(given);
            self.tally.record_standardised(self.frame.loss, rounds, given);
            given.clear();
        } else {
            path.run(RecordAll { tally: &mut self.tally, loss: self.frame.loss, rounds });
        }
        margins.extend(rounds.iter().map(|round| round.margin));
        rounds.clear();
    }
}

impl<R: Rule, B: Boxes> PlayKernel for Single<R, B> {
    const VECTORISED: bool = B::VECTORISED;
    const WIDEST: bool = R::IS_COMMON;

    #[inline(always)]
    fn play_each<E: F64x8>(&self, simd: E, examples: Ordered<'_>, margins: &mut Vec<f64>) {
        let (mut scratch, mut gathered, mut clipped) =
            (Scaled::default(), Gathered::default(), Vec::new());
        let start = margins.len();
        for k in 0..examples.len() {
            let example = examples.example(k);
            let seen = self.frame.scales.normalise(&example, &mut scratch);
            let seen = seen.played_by::<R>(&mut clipped);
            margins.push(self.look::<_, false, false>(simd, &seen, &mut gathered).margin);
        }
        self.frame.scales.to_predictions(&mut margins[start..]);
        examples.add_bases(&mut margins[start..]);
    }
}
