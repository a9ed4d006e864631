//! The standard scale of many examples at once, before they are played, and how it is undone.
//!
//! Scaling depends on the examples only, never on what is learned from them. So a batch of examples can be scaled
//! in one go, and on another thread than the one that learns. If a round then cannot be learned, the statistics
//! must be those after the examples before it: [`Undo`] keeps the statistics that a batch replaced.
//!
//! The numbers are those of `Standard::prepare` and `Standard::remember`, bit for bit. Cost: 24 bytes a feature
//! of the batch to undo it. Examples whose values are all 1, as those of click logs, have a path of their own: a
//! feature that had no other value is counted and seen as 1, and needs nothing to be undone.

use std::ops::Range;

use super::labels::LabelStatistics;
use super::moments;
use super::standard::{Standard, is_ones, level};
use super::wide::{Columns, Eight, Row, WIDTH, gather_all};
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
        let label = self.labels.get(k).copied();
        Example {
            label: label.unwrap_or(read.label),
            importance: read.importance,
            // A standardised label has the base subtracted.
            base: if label.is_some() { 0.0 } else { read.base },
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
    /// Eight features at a time, example by example. Of an example of ones, only its `others`.
    replaced: Vec<Eight>,
    /// Which features of an example of ones were more than counted, and the end of each example in this list.
    others: Vec<u32>,
    ends: Vec<usize>,
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
        let intercept = self.intercept;
        let Some(table) = self.table.columns_mut() else { return Ok(()) };
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
            batch.labels.push(labels.prepare(example.residual(), example.importance));
            labels.remember_round(&example);
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
        for (k, nth) in range.rev().zip((0..undo.ends.len()).rev()) {
            let example = examples.example(k);
            if are_counted(&example, intercept_of(&example, self.intercept)) {
                end = self.undo_ones(&example, nth, end, undo);
                continue;
            }
            let start = end - example.slots.len().div_ceil(WIDTH);
            for (slots, old) in example.slots.chunks(WIDTH).zip(&undo.replaced[start..end]) {
                for (k, &slot) in slots.iter().enumerate() {
                    self.table.set(slot, old.get(k));
                }
            }
            end = start;
        }
    }

    /// Undo an example of ones, the `nth` of a batch, whose groups end at `end`. Returns their start.
    fn undo_ones(&mut self, example: &Example<'_>, nth: usize, end: usize, undo: &Undo) -> usize {
        let first = if nth == 0 { 0 } else { undo.ends[nth - 1] };
        let others = &undo.others[first..undo.ends[nth]];
        let start = end - others.len().div_ceil(WIDTH);
        for (others, old) in others.chunks(WIDTH).zip(&undo.replaced[start..end]) {
            for (k, &other) in others.iter().enumerate() {
                self.table.set(example.slots[other as usize], old.get(k));
            }
        }
        for (k, &slot) in example.slots.iter().enumerate() {
            if slot != self.intercept && others.binary_search(&(k as u32)).is_err() {
                self.table.uncount_one(slot);
            }
        }
        start
    }
}

/// Scale the examples whose positions are in the batch. As work for [`crate::simd::InstructionSet::run`].
struct ScaleBatch<'a> {
    examples: Ordered<'a>,
    range: Range<usize>,
    before: u64,
    intercept: u32,
    table: &'a mut moments::Columns,
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
        undo.others.clear();
        undo.ends.clear();
        for (nth, k) in range.enumerate() {
            let (example, number) = (examples.example(k), before + nth as u64 + 1);
            let own = start..start + example.slots.len();
            let intercept = intercept_of(&example, intercept);
            let ones = are_counted(&example, intercept);
            // The lines of the example after the next one, of about the same length.
            let ahead = (own.end + own.len()).min(batch.positions.len());
            table.prefetch(&batch.positions[own.end..ahead], ones);
            let mut next = Next { number, own: own.clone(), kept, group, table, batch, undo };
            let columns = match ones {
                true => next.scale_ones(intercept),
                false => next.scale(&example, intercept),
            };
            group = next.group;
            if let Some(k) = intercept {
                if k + 1 < own.len() {
                    table.put(batch.positions[own.start + k], [0.0; 4]);
                }
                batch.values[kept + k] = if number == 1 { 1.0 } else { level(columns) as f32 };
                batch.unit_values[kept + k] = 1.0;
            }
            start = own.end;
            kept = batch.keep(nth, &example, own, kept);
            batch.ends.push(kept);
            undo.ends.push(undo.others.len());
        }
        batch.positions.truncate(kept);
        undo.groups = group;
    }
}

/// The place of the intercept in an example: the last, unless the example was made by hand.
#[inline(always)]
fn intercept_of(example: &Example<'_>, intercept: u32) -> Option<usize> {
    example.slots.iter().rposition(|&slot| slot == intercept)
}

/// Whether the features of an example are counted: all values are 1, and the intercept is at the end.
#[inline(always)]
fn are_counted(example: &Example<'_>, intercept: Option<usize>) -> bool {
    is_ones(example) && intercept.is_none_or(|k| k + 1 == example.slots.len())
}

/// The next example of a batch.
struct Next<'a> {
    /// Its number among all examples, from 1.
    number: u64,
    /// Its positions in the batch.
    own: Range<usize>,
    /// Where its scaled values begin.
    kept: usize,
    /// Its first group in what is kept to undo it.
    group: usize,
    table: &'a mut moments::Columns,
    batch: &'a mut ScaledBatch,
    undo: &'a mut Undo,
}

impl Next<'_> {
    /// Scale all features; returns the number of those in every example.
    #[inline(always)]
    fn scale(&mut self, example: &Example<'_>, intercept: Option<usize>) -> usize {
        let (kept, batch) = (self.kept, &mut *self.batch);
        let groups = self.own.len().div_ceil(WIDTH);
        let positions = &batch.positions[self.own.clone()];
        grow(&mut batch.new, groups);
        let old = &mut self.undo.replaced[self.group..self.group + groups];
        gather_all(old, &self.table.view(), positions);
        let row = Row {
            values: example.values,
            number: self.number as f64,
            scaled: &mut batch.values[kept..],
            units: &mut batch.unit_values[kept..],
            old,
            new: &mut batch.new[..groups],
        };
        let columns = row.scale();
        // The intercept, which is nearly always at the end, has no statistics.
        let ends_in_it = intercept.is_some_and(|k| k + 1 == positions.len());
        let stored = &positions[..positions.len() - usize::from(ends_in_it)];
        for (new, positions) in batch.new.iter().zip(stored.chunks(WIDTH)) {
            new.scatter(self.table, positions);
        }
        self.group += groups;
        columns
    }

    /// Count the features of an example of ones, and scale those for which that is not all. Returns the number of
    /// features in every example.
    #[inline(always)]
    fn scale_ones(&mut self, intercept: Option<usize>) -> usize {
        let first = self.undo.others.len();
        let (batch, undo) = (&mut *self.batch, &mut *self.undo);
        let seen = self.kept..self.kept + self.own.len();
        let features = self.own.start..self.own.end - usize::from(intercept.is_some());
        let positions = &batch.positions[features];
        self.table.count_ones(positions, self.number, &mut undo.others);
        let (values, units) = (&mut batch.values[seen.clone()], &mut batch.unit_values[seen]);
        values.fill(1.0);
        units.fill(1.0);
        let mut columns = Columns::default();
        for others in undo.others[first..].chunks(WIDTH) {
            let mut own = [0; WIDTH];
            for (position, &k) in own.iter_mut().zip(others) {
                *position = positions[k as usize];
            }
            let (own, old) = (&own[..others.len()], &mut undo.replaced[self.group]);
            gather_all(std::slice::from_mut(old), &self.table.view(), own);
            let (scaled, unit, new) = old.scale(&[1.0; WIDTH], self.number as f64, &mut columns);
            new.scatter(self.table, own);
            for ((&k, scaled), unit) in others.iter().zip(scaled).zip(unit) {
                (values[k as usize], units[k as usize]) = (scaled, unit);
            }
            self.group += 1;
        }
        columns.count()
    }
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
