//! The standard scale of many examples at once, before they are played, and how it is undone.
//!
//! Scaling depends on the examples only, never on what is learned from them. So a batch of examples can be scaled
//! in one go, and on another thread than the one that learns. If a round then cannot be learned, the statistics
//! must be those after the examples before it: [`Undo`] keeps the statistics that a batch replaced.
//!
//! The numbers are those of `Standard::prepare` and `Standard::remember`, bit for bit. Cost: 24 bytes a feature
//! of the batch to undo it.

use std::ops::Range;

use super::labels::LabelStatistics;
use super::moments::MomentTable;
use super::standard::{Standard, level};
use super::wide::{Eight, Row, WIDTH};
use crate::error::Result;
use crate::example::{Example, Ordered};
use crate::simd::{Simd, WithSimd};

/// The scaled examples of a batch.
#[derive(Debug, Default)]
pub struct ScaledBatch {
    /// The positions of the lines of all features that are seen.
    pub positions: Vec<u32>,
    values: Vec<f32>,
    unit_values: Vec<f32>,
    /// The end of each example in the lists above.
    ends: Vec<usize>,
    /// The slots that are seen of an example that has features which became 0; otherwise empty.
    kept: Vec<Vec<u32>>,
    /// The labels to learn from, if labels are standardised; otherwise empty.
    labels: Vec<f32>,
    /// Scratch memory: the new statistics of one example.
    new: Vec<Eight>,
}

impl ScaledBatch {
    /// Example number `k` of the batch as it is seen, where `read` is the one that was read.
    #[inline(always)]
    pub fn example<'a>(&'a self, k: usize, read: Example<'a>) -> Example<'a> {
        let span = self.start(k)..self.ends[k];
        Example {
            label: self.labels.get(k).copied().unwrap_or(read.label),
            importance: read.importance,
            slots: if span.len() == read.slots.len() { read.slots } else { &self.kept[k] },
            values: &self.values[span.clone()],
            unit_values: &self.unit_values[span],
        }
    }

    #[inline(always)]
    fn start(&self, k: usize) -> usize {
        if k == 0 { 0 } else { self.ends[k - 1] }
    }
}

/// What the statistics were before each example of a batch.
#[derive(Debug, Default)]
pub struct Undo {
    /// Eight features at a time, example by example.
    replaced: Vec<Eight>,
    /// The number of groups of the batch.
    groups: usize,
    labels: Vec<LabelStatistics>,
}

impl Standard {
    /// Scale the examples `range`, of which there were `before` before the first, and add them to the statistics.
    /// Requires a table. An error changes nothing.
    pub(super) fn scale_batch(
        &mut self,
        examples: Ordered<'_>,
        range: Range<usize>,
        before: u64,
        batch: &mut ScaledBatch,
        undo: &mut Undo,
    ) -> Result<()> {
        self.table.reserve()?;
        batch.positions.clear();
        for k in range.clone() {
            let Some(index) = self.table.index() else { break };
            match examples.positions(k, index) {
                Some(found) => batch.positions.extend_from_slice(found),
                None => index.meet_all(examples.example(k).slots, &mut batch.positions),
            }
        }
        self.examples = before + range.len() as u64;
        let labels = range.clone().map(|k| examples.example(k));
        self.scale_labels(labels, batch, undo);
        let (intercept, table) = (self.intercept, &mut self.table);
        let work = ScaleBatch { examples, range, before, intercept, table, batch, undo };
        self.instructions.run(work);
        Ok(())
    }

    fn scale_labels<'a>(
        &mut self,
        examples: impl Iterator<Item = Example<'a>>,
        batch: &mut ScaledBatch,
        undo: &mut Undo,
    ) {
        batch.labels.clear();
        undo.labels.clear();
        let Some(labels) = &mut self.labels else { return };
        for example in examples {
            undo.labels.push(labels.statistics());
            batch.labels.push(labels.prepare(example.label, example.importance));
            labels.remember_round(example.label);
        }
    }

    /// Undo the examples `range`, the last ones of a batch. Batches are undone in reverse order.
    pub(super) fn undo(&mut self, examples: Ordered<'_>, range: Range<usize>, undo: &Undo) {
        self.examples -= range.len() as u64;
        let of_last = undo.labels.len().checked_sub(range.len());
        if let Some(labels) = &mut self.labels
            && let Some(&statistics) = of_last.and_then(|k| undo.labels.get(k))
        {
            labels.undo(statistics, range.len());
        }
        let mut end = undo.groups;
        for k in range.rev() {
            let slots = examples.example(k).slots;
            let start = end - own_groups(&examples.example(k));
            let groups = &undo.replaced[start..end];
            end = start;
            for (slots, old) in slots.chunks(WIDTH).zip(groups) {
                for (k, &slot) in slots.iter().enumerate() {
                    self.table.set(slot, old.get(k));
                }
            }
        }
    }
}

/// Scale the examples whose positions are in the batch. As work for [`crate::simd::InstructionSet::run`].
struct ScaleBatch<'a> {
    examples: Ordered<'a>,
    range: Range<usize>,
    before: u64,
    intercept: u32,
    table: &'a mut MomentTable,
    batch: &'a mut ScaledBatch,
    undo: &'a mut Undo,
}

impl WithSimd for ScaleBatch<'_> {
    type Output = ();

    #[inline(always)]
    fn call<V: Simd>(self, _: V) {
        let ScaleBatch { examples, range, before, intercept, table, batch, undo } = self;
        let (mut start, mut kept, mut group) = (0, 0, 0);
        let most = batch.positions.len() + WIDTH;
        let groups = batch.positions.len() / WIDTH + range.len();
        // Only ever longer, so that nothing is written twice.
        grow(&mut batch.values, most);
        grow(&mut batch.unit_values, most);
        grow(&mut undo.replaced, groups);
        batch.ends.clear();
        if batch.kept.len() < range.len() {
            batch.kept.resize(range.len(), Vec::new());
        }
        for (nth, k) in range.enumerate() {
            let (example, number) = (examples.example(k), before + nth as u64 + 1);
            let end = start + example.slots.len();
            // The line of the example after the next one, of about the same length.
            let ahead = (end + example.slots.len()).min(batch.positions.len());
            table.prefetch(&batch.positions[end..ahead]);
            let (groups, positions) = (own_groups(&example), &batch.positions[start..end]);
            grow(&mut batch.new, groups);
            let row = Row {
                values: example.values,
                positions,
                number: number as f64,
                scaled: &mut batch.values[kept..],
                units: &mut batch.unit_values[kept..],
                old: &mut undo.replaced[group..group + groups],
                new: &mut batch.new[..groups],
            };
            let columns = row.scale(table.lines());
            for (new, positions) in batch.new.iter().zip(positions.chunks(WIDTH)) {
                new.scatter(table.lines_mut(), positions);
            }
            group += groups;
            // The intercept is the last feature, unless the example was made by hand.
            if let Some(k) = example.slots.iter().rposition(|&slot| slot == intercept) {
                table.lines_mut()[batch.positions[start + k] as usize] = [0.0; 4];
                batch.values[kept + k] = if number == 1 { 1.0 } else { level(columns) as f32 };
                batch.unit_values[kept + k] = 1.0;
            }
            kept = batch.keep(nth, &example, start..end, kept);
            batch.ends.push(kept);
            start = end;
        }
        batch.positions.truncate(kept);
        undo.groups = group;
    }
}

/// The number of groups of eight features of an example.
fn own_groups(example: &Example<'_>) -> usize {
    example.slots.len().div_ceil(WIDTH)
}

/// Make a list at least so long.
pub(super) fn grow<T: Clone + Default>(list: &mut Vec<T>, length: usize) {
    if list.len() < length {
        list.resize(length, T::default());
    }
}

impl ScaledBatch {
    /// Keep the features of an example that did not become 0, from `kept` on. Returns their end.
    #[inline(always)]
    fn keep(&mut self, nth: usize, read: &Example<'_>, own: Range<usize>, kept: usize) -> usize {
        let seen = kept..kept + own.len();
        // No early exit, so that the loop vectorises.
        if !self.values[seen.clone()].iter().fold(false, |any, &value| any | (value == 0.0)) {
            if kept < own.start {
                self.positions.copy_within(own, kept);
            }
            return seen.end;
        }
        self.drop_zeros(nth, read, own, kept)
    }

    #[inline(never)]
    fn drop_zeros(
        &mut self,
        nth: usize,
        read: &Example<'_>,
        own: Range<usize>,
        kept: usize,
    ) -> usize {
        let mut end = kept;
        self.kept[nth].clear();
        for (k, &slot) in read.slots.iter().enumerate() {
            let (value, unit) = (self.values[kept + k], self.unit_values[kept + k]);
            if value != 0.0 {
                self.kept[nth].push(slot);
                self.positions[end] = self.positions[own.start + k];
                (self.values[end], self.unit_values[end]) = (value, unit);
                end += 1;
            }
        }
        end
    }
}
