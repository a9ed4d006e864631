//! The loop over examples, for every learner: scale, play and absorb, record.
//!
//! ```text
//! for every batch:    start_batch
//!     for every example:    scale, round, remember the scale
//!     count_rounds
//! ```
//!
//! Rounds are recorded a batch at a time, because what recording computes for one round is independent of the
//! next. Everything is inlined into the kernel of each set of vector instructions.

use std::ops::Range;

use super::dispatch::{Kernel, PlayKernel};
use super::penalty::WithTouched;
use super::tally::BATCH;
use crate::error::Result;
use crate::example::{Example, Ordered, Scaled, Scales};
use crate::simd::Portable;
use crate::simd::f64x8::F64x8;

/// The examples after the current one, to prefetch for.
#[derive(Clone, Copy)]
pub(crate) struct Upcoming<'a> {
    examples: Ordered<'a>,
    next: usize,
}

impl<'a> Upcoming<'a> {
    /// The slots of the example this many after the next one. Empty if there is no such example.
    #[inline(always)]
    pub fn slots(self, after_next: usize) -> &'a [u32] {
        let k = self.next + after_next;
        if k < self.examples.len() { self.examples.example(k).slots } else { &[] }
    }
}

/// A learner as the loop over examples needs it: one round, and the steps around it.
pub(crate) trait RoundKernel: PlayKernel {
    /// Scratch memory, reused from example to example, with the rounds that are not recorded yet.
    type Scratch: Default;

    /// The scales of the features.
    fn scales(&mut self) -> &mut Scales;

    /// The number of rounds recorded so far.
    fn rounds_counted(&self) -> u64;

    /// Prepare for the next examples, at most [`BATCH`].
    fn start_batch(
        &mut self,
        examples: Ordered<'_>,
        batch: Range<usize>,
        scratch: &mut Self::Scratch,
    );

    /// Prepare for the next example of the batch with only some of its features: those of the slots `kept`, in
    /// their order.
    fn keep_only(&mut self, slots: &[u32], kept: &[u32], scratch: &mut Self::Scratch);

    /// Prepare for one example that is not part of a batch.
    fn start_example(&mut self, example: &Example<'_>, scratch: &mut Self::Scratch);

    /// Play and absorb one example, and store the round as one with this many features.
    fn play_round<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        number: u64,
        example: &Example<'_>,
        upcoming: Upcoming<'_>,
        features: usize,
        scratch: &mut Self::Scratch,
    ) -> Result<()>;

    /// The slots that are not in their initial state, ascending.
    fn moved_slots(&self) -> impl Iterator<Item = u32>;

    /// Record the stored rounds in the tally, clear them, and append their margins.
    fn count_rounds(&mut self, scratch: &mut Self::Scratch, margins: &mut Vec<f64>);
}

impl<K: RoundKernel> Kernel for K {
    #[inline(always)]
    fn learn_each<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        examples: Ordered<'_>,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        let (mut scratch, mut scaled) = (K::Scratch::default(), Scaled::default());
        for start in (0..examples.len()).step_by(BATCH) {
            let batch = start..examples.len().min(start + BATCH);
            let (scratch, scaled) = (&mut scratch, &mut scaled);
            let learned =
                learn_batch::<K, E, PENALISED>(self, simd, examples, batch, scaled, scratch);
            self.count_rounds(scratch, margins);
            learned?;
        }
        Ok(())
    }

    #[inline(never)]
    fn learn_whole(&mut self, examples: Ordered<'_>, margins: &mut Vec<f64>) -> Result<()> {
        let (mut whole, mut scaled) = (WithTouched::default(), Scaled::default());
        let mut scratch = K::Scratch::default();
        let none = Upcoming { examples, next: examples.len() };
        for example in examples.examples() {
            let before = self.rounds_counted();
            let seen = self.scales().prepare(&example, before, &mut scaled)?;
            let completed = whole.complete(&seen, self.moved_slots());
            self.start_example(&completed, &mut scratch);
            let (number, features) = (before + 1, example.slots.len());
            let completed = with_learned_label(self.scales(), completed);
            self.play_round::<_, true>(Portable, number, &completed, none, features, &mut scratch)?;
            self.scales().remember(&example);
            remember_label(self.scales(), &example);
            self.count_rounds(&mut scratch, margins);
        }
        Ok(())
    }
}

/// Learn from the examples of one batch. Their rounds are stored, to be recorded later.
#[inline(always)]
fn learn_batch<K: RoundKernel, E: F64x8, const PENALISED: bool>(
    kernel: &mut K,
    simd: E,
    examples: Ordered<'_>,
    batch: Range<usize>,
    scaled: &mut Scaled,
    scratch: &mut K::Scratch,
) -> Result<()> {
    kernel.start_batch(examples, batch.clone(), scratch);
    let all_plain = kernel.scales().leave_all(&examples);
    let before = kernel.rounds_counted() + 1 - batch.start as u64;
    for k in batch {
        let example = examples.example(k);
        let (number, features) = (before + k as u64, example.slots.len());
        let plain = all_plain || kernel.scales().leave(&example);
        let mut seen = example;
        if !plain {
            if k + 1 < examples.len() {
                kernel.scales().prefetch(examples.example(k + 1).slots);
            }
            seen = kernel.scales().prepare(&example, number - 1, scaled)?;
            if seen.slots.len() != features {
                kernel.keep_only(example.slots, seen.slots, scratch);
            }
        }
        let upcoming = Upcoming { examples, next: k + 1 };
        let seen = with_learned_label(kernel.scales(), seen);
        kernel.play_round::<E, PENALISED>(simd, number, &seen, upcoming, features, scratch)?;
        if !plain {
            kernel.scales().remember(&example);
        }
        remember_label(kernel.scales(), &example);
    }
    Ok(())
}

/// The example with the label that is learned from: ŷ, if labels are standardised.
#[inline(always)]
fn with_learned_label<'a>(scales: &mut Scales, example: Example<'a>) -> Example<'a> {
    let Some(labels) = scales.labels_mut() else { return example };
    Example { label: labels.prepare(example.label, example.importance), ..example }
}

/// Update the statistics of the labels, if there are any, by the example that was played.
#[inline(always)]
fn remember_label(scales: &mut Scales, example: &Example<'_>) {
    if let Some(labels) = scales.labels_mut() {
        labels.remember_round(example.label);
    }
}
