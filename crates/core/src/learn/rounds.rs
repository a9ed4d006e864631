//! The loop over examples, for every learner: scale, play and absorb, record.
//!
//! ```text
//! for every batch:    scale the batch, if it can be scaled in one go
//!     for every example:    scale, round, remember the scale
//!     record the rounds
//! ```
//!
//! Rounds are recorded a batch at a time, because what recording computes for one round is independent of the
//! next. Scales are computed a batch at a time where they can be undone, because they do not depend on what is
//! learned. Everything in a batch is inlined into the kernel of each set of vector instructions. A learner with
//! lanes may scale and record on another thread (`learn/lanes/pipeline.rs`).

use std::ops::Range;

use super::dispatch::{self, Batch, Kernel, PlayKernel};
use super::penalty::{Penalty, WithTouched};
use super::tally::BATCH;
use crate::error::{Error, Result};
use crate::example::{Example, Ordered, Scaled, ScaledBatch, Scales, Undo};
use crate::simd::f64x8::F64x8;
use crate::simd::{InstructionSet, Portable};
use crate::spec::Scope;

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

    /// Prepare for the next examples.
    fn start_batch(&mut self, batch: &mut Batch<'_>, scratch: &mut Self::Scratch);

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

    /// The number of rounds that are stored.
    fn rounds_stored(scratch: &Self::Scratch) -> usize;

    /// The slots that are not in their initial state, ascending.
    fn moved_slots(&self) -> impl Iterator<Item = u32>;

    /// Record the stored rounds in the tally, clear them, and append their margins. What is done there does not
    /// depend on the rule, so it is work of its own for the vector instructions: compiled once for all rules.
    fn count_rounds(
        &mut self,
        path: InstructionSet,
        scratch: &mut Self::Scratch,
        margins: &mut Vec<f64>,
    );
}

/// Learn from the examples with the kernel for this machine's vector instructions.
pub(crate) fn learn<K: RoundKernel>(
    kernel: &mut K,
    penalty: Penalty,
    examples: Ordered<'_>,
    margins: &mut Vec<f64>,
) -> Result<()> {
    if penalty.l2 > 0.0 && penalty.scope == Scope::All {
        return learn_whole(kernel, examples, margins);
    }
    let path = InstructionSet::chosen().map_err(Error::Spec)?;
    let mut sequence = Sequence::default();
    for start in (0..examples.len()).step_by(BATCH) {
        let range = start..examples.len().min(start + BATCH);
        sequence.learn_batch(kernel, path, penalty, examples, range, margins)?;
    }
    Ok(())
}

/// The memory to learn from one batch after another, on one thread.
pub(crate) struct Sequence<K: RoundKernel> {
    scratch: K::Scratch,
    scaled: ScaledBatch,
    undo: Undo,
}

impl<K: RoundKernel> Default for Sequence<K> {
    fn default() -> Self {
        let (scratch, scaled, undo) = Default::default();
        Sequence { scratch, scaled, undo }
    }
}

impl<K: RoundKernel> Sequence<K> {
    /// Learn from the examples `range`, at most [`BATCH`].
    pub fn learn_batch(
        &mut self,
        kernel: &mut K,
        path: InstructionSet,
        penalty: Penalty,
        examples: Ordered<'_>,
        range: Range<usize>,
        margins: &mut Vec<f64>,
    ) -> Result<()> {
        let Sequence { scratch, scaled, undo } = self;
        let before = kernel.rounds_counted();
        // One example has nothing to gain.
        let is_scaled = range.len() > 1 && kernel.scales().can_scale_batch();
        if is_scaled {
            kernel.scales().scale_batch(examples, range.clone(), before, scaled, undo)?;
        }
        let scaled = is_scaled.then_some(scaled);
        let batch = Batch { examples, range: range.clone(), before, scaled };
        let learned = dispatch::play_batch(path, kernel, penalty.l2 > 0.0, batch, scratch);
        if is_scaled && learned.is_err() {
            let first = range.start + K::rounds_stored(scratch);
            kernel.scales().undo(examples, first..range.end, undo);
        }
        kernel.count_rounds(path, scratch, margins);
        learned
    }
}

/// Learn from the examples with L2 on every coordinate. Compiled for the baseline instructions only.
#[inline(never)]
fn learn_whole<K: RoundKernel>(
    kernel: &mut K,
    examples: Ordered<'_>,
    margins: &mut Vec<f64>,
) -> Result<()> {
    let (mut whole, mut scaled) = (WithTouched::default(), Scaled::default());
    let mut scratch = <K as RoundKernel>::Scratch::default();
    let none = Upcoming { examples, next: examples.len() };
    for example in examples.examples() {
        let before = kernel.rounds_counted();
        let seen = kernel.scales().prepare(&example, before, &mut scaled)?;
        let completed = whole.complete(&seen, kernel.moved_slots());
        kernel.start_example(&completed, &mut scratch);
        let (number, features) = (before + 1, example.slots.len());
        let completed = with_learned_label(kernel.scales(), completed);
        kernel.play_round::<_, true>(Portable, number, &completed, none, features, &mut scratch)?;
        kernel.scales().remember(&example);
        remember_label(kernel.scales(), &example);
        kernel.count_rounds(InstructionSet::Portable, &mut scratch, margins);
    }
    Ok(())
}

impl<K: RoundKernel> Kernel for K {
    type Scratch = <K as RoundKernel>::Scratch;

    #[inline(always)]
    fn play_batch<E: F64x8, const PENALISED: bool>(
        &mut self,
        simd: E,
        mut batch: Batch<'_>,
        scratch: &mut <K as RoundKernel>::Scratch,
    ) -> Result<()> {
        self.start_batch(&mut batch, scratch);
        let Batch { examples, range, before, scaled } = batch;
        let (start, mut own) = (range.start, Scaled::default());
        let all_plain = scaled.is_some() || self.scales().leave_all(&examples);
        for k in range {
            let example = examples.example(k);
            let (number, features) = (before + (k - start) as u64 + 1, example.slots.len());
            let plain = all_plain || self.scales().leave(&example);
            let mut seen = example;
            if let Some(scaled) = &scaled {
                seen = scaled.example(k - start, example);
            } else if !plain {
                seen = self.scales().prepare(&example, number - 1, &mut own)?;
                if seen.slots.len() != features {
                    self.keep_only(example.slots, seen.slots, scratch);
                }
            }
            let upcoming = Upcoming { examples, next: k + 1 };
            if scaled.is_none() {
                seen = with_learned_label(self.scales(), seen);
            }
            self.play_round::<E, PENALISED>(simd, number, &seen, upcoming, features, scratch)?;
            if !plain {
                self.scales().remember(&example);
            }
            if scaled.is_none() {
                remember_label(self.scales(), &example);
            }
        }
        Ok(())
    }
}

/// The example with the label that is learned from: ŷ, if labels are standardised.
#[inline(always)]
fn with_learned_label<'a>(scales: &mut Scales, example: Example<'a>) -> Example<'a> {
    let Some(labels) = scales.labels_mut() else { return example };
    let label = labels.prepare(example.residual(), example.importance);
    Example { label, base: 0.0, ..example }
}

/// Update the statistics of the labels, if there are any, by the example that was played.
#[inline(always)]
fn remember_label(scales: &mut Scales, example: &Example<'_>) {
    if let Some(labels) = scales.labels_mut() {
        labels.remember_round(example);
    }
}
