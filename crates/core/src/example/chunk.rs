//! Chunks: blocks of examples, written by readers and read by learners.

use std::ops::Range;
use std::ptr::addr_eq;
use std::sync::Arc;

use super::Example;
use super::duplicates::DuplicateFilter;
use super::requirements::{Requirements, is_same};
use super::sizes::ValueSizes;

/// Examples as the rows of a sparse matrix in CSR form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrays {
    /// The start of each row, and the end of the last one.
    pub indptr: Vec<i64>,
    /// The slots of the values.
    pub slots: Vec<u32>,
    /// The values.
    pub values: Vec<f32>,
    /// The labels; NaN if an example has none.
    pub labels: Vec<f32>,
    /// The importances.
    pub importances: Vec<f32>,
    /// The base margins; empty if all are 0.
    pub bases: Vec<f32>,
    /// The tags; empty if an example has none.
    pub tags: Vec<Vec<u8>>,
}

/// A block of examples, as flat arrays.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    requirements: Requirements,
    /// The positions of the slots' lines, if they were looked up.
    positions: Vec<u32>,
    ends: Vec<usize>,
    slots: Vec<u32>,
    values: Vec<f32>,
    labels: Vec<f32>,
    importances: Vec<f32>,
    /// The base margins up to the last one that is not 0, so that most chunks have none.
    bases: Vec<f32>,
    /// The base margin of the example being written.
    next_base: f32,
    sizes: ValueSizes,
    tag_ends: Vec<usize>,
    tags: Vec<u8>,
    seen: DuplicateFilter,
}

impl Chunk {
    /// An empty chunk whose examples all get the feature `intercept` with value 1, if given.
    pub fn new(intercept: Option<u32>) -> Self {
        Chunk::for_requirements(Requirements { intercept, ..Requirements::default() })
    }

    /// An empty chunk for a learner with these requirements.
    pub fn for_requirements(requirements: Requirements) -> Self {
        Chunk { requirements, ..Chunk::default() }
    }

    /// Remove all examples and keep the memory.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.slots.clear();
        self.positions.clear();
        self.values.clear();
        self.labels.clear();
        self.importances.clear();
        self.bases.clear();
        self.next_base = 0.0;
        self.sizes = ValueSizes::default();
        self.tag_ends.clear();
        self.tags.clear();
    }

    /// Remove all examples, keep the memory, and set the requirements for the next ones.
    pub fn restart(&mut self, requirements: Requirements) {
        self.clear();
        self.requirements = requirements;
    }

    /// The requirements that the examples satisfy.
    pub fn requirements(&self) -> &Requirements {
        &self.requirements
    }

    /// Exchange all examples with another chunk; each keeps its own requirements.
    pub fn swap_examples(&mut self, other: &mut Chunk) {
        std::mem::swap(self, other);
        std::mem::swap(&mut self.requirements, &mut other.requirements);
        let (one, other_one) = (&self.requirements.index, &other.requirements.index);
        if !is_same(one.as_ref(), other_one.as_ref()) {
            self.positions.clear();
            other.positions.clear();
        }
    }

    /// Look up the positions of all slots, if the learner requires it.
    pub fn look_up_positions(&mut self) {
        if let Some(index) = &self.requirements.index {
            self.positions.clear();
            index.look_up(&self.slots, &mut self.positions);
        }
    }

    /// The positions of example number `i`, if they were looked up in the index `known`.
    #[inline(always)]
    pub fn positions<I>(&self, i: usize, known: &Arc<I>) -> Option<&[u32]> {
        let asked = self.requirements.index.as_ref();
        let is_asked = asked.is_some_and(|asked| addr_eq(Arc::as_ptr(asked), Arc::as_ptr(known)));
        (is_asked && self.positions.len() == self.slots.len())
            .then(|| &self.positions[self.span(i)])
    }

    /// Whether the chunk has allocated far more memory than a block of text needs.
    pub fn is_large(&self) -> bool {
        self.slots.capacity() > 1 << 19 || self.tags.capacity() > 1 << 22
    }

    /// The slot of the intercept, if the examples get one.
    pub fn intercept(&self) -> Option<u32> {
        self.requirements.intercept
    }

    /// Append a finished example unchanged.
    pub fn append_example(&mut self, example: &Example<'_>, tag: &[u8]) {
        self.extend(example.slots, example.values);
        self.sizes = self.sizes.and(ValueSizes::of(example.values));
        self.next_base = example.base;
        self.seal(example.label, example.importance, tag);
    }

    /// Append the finished examples of another chunk unchanged.
    pub fn append(&mut self, other: &Chunk) {
        self.append_some(other, 0..other.len());
    }

    /// Append some of the finished examples of another chunk unchanged.
    pub fn append_some(&mut self, other: &Chunk, which: Range<usize>) {
        debug_assert_eq!(self.slots.len(), self.features());
        let features = other.features_before(which.start)..other.features_before(which.end);
        let tags = other.tags_before(which.start)..other.tags_before(which.end);
        let (had_features, had_tags) = (self.slots.len(), self.tags.len());
        // Positions that were looked up stay valid for a learner with the same index.
        let is_looked_up = other.positions.len() == other.slots.len()
            && self.positions.len() == had_features
            && is_same(self.requirements.index.as_ref(), other.requirements.index.as_ref());
        if is_looked_up {
            self.positions.extend_from_slice(&other.positions[features.clone()]);
        }
        if other.bases.len() > which.start {
            self.bases.resize(self.len(), 0.0);
            let end = which.end.min(other.bases.len());
            self.bases.extend_from_slice(&other.bases[which.start..end]);
        }
        let ends = other.ends[which.clone()].iter();
        self.ends.extend(ends.map(|end| end - features.start + had_features));
        let tag_ends = other.tag_ends[which.clone()].iter();
        self.tag_ends.extend(tag_ends.map(|end| end - tags.start + had_tags));
        self.slots.extend_from_slice(&other.slots[features.clone()]);
        self.values.extend_from_slice(&other.values[features]);
        self.tags.extend_from_slice(&other.tags[tags]);
        self.labels.extend_from_slice(&other.labels[which.clone()]);
        self.importances.extend_from_slice(&other.importances[which]);
        self.sizes = self.sizes.and(other.sizes);
    }

    /// The number of features of the first `count` examples.
    #[inline]
    pub fn features_before(&self, count: usize) -> usize {
        if count == 0 { 0 } else { self.ends[count - 1] }
    }

    /// The length in bytes of the tags of the first `count` examples.
    pub fn tags_before(&self, count: usize) -> usize {
        if count == 0 { 0 } else { self.tag_ends[count - 1] }
    }

    /// The slots and values of some examples, one example after another.
    pub fn features_of(&self, which: Range<usize>) -> (&[u32], &[f32]) {
        let features = self.features_before(which.start)..self.features_before(which.end);
        (&self.slots[features.clone()], &self.values[features])
    }

    /// The tags of some examples, one after another.
    pub fn tags_of(&self, which: Range<usize>) -> &[u8] {
        &self.tags[self.tags_before(which.start)..self.tags_before(which.end)]
    }

    /// The labels of all finished examples, NaN where there is none.
    pub fn labels(&self) -> &[f32] {
        &self.labels
    }

    /// Multiply the importance of every example whose label is not above 0 by a factor above 0.
    pub fn weigh_negatives(&mut self, factor: f64) {
        for (importance, &label) in self.importances.iter_mut().zip(&self.labels) {
            if label <= 0.0 {
                let weighed = (f64::from(*importance) * factor) as f32;
                *importance = weighed.min(f32::MAX);
            }
        }
    }

    /// The importances of all finished examples.
    pub fn importances(&self) -> &[f32] {
        &self.importances
    }

    /// The base margins of the finished examples up to the last one that is not 0.
    pub fn bases(&self) -> &[f32] {
        &self.bases
    }

    /// The base margin of example `i`.
    #[inline(always)]
    pub fn base(&self, i: usize) -> f32 {
        self.bases.get(i).copied().unwrap_or(0.0)
    }

    /// Where the tag of each finished example ends among all tags.
    pub fn tag_ends(&self) -> &[usize] {
        &self.tag_ends
    }

    /// The number of finished examples.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no finished example.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of features of all finished examples.
    pub fn features(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The length in bytes of all tags.
    pub fn tag_bytes(&self) -> usize {
        self.tags.len()
    }

    /// Set the base margin of the example being written, which is finite.
    pub fn set_base(&mut self, base: f32) {
        debug_assert!(base.is_finite());
        self.next_base = base;
    }

    /// Set a base margin that may not be finite; the caller discards the example then.
    pub fn set_base_unchecked(&mut self, base: f32) {
        self.next_base = base;
    }

    /// Append a feature to the example being written.
    pub fn push(&mut self, slot: u32, value: f32) {
        debug_assert!(value.is_finite());
        self.slots.push(slot);
        self.values.push(value);
    }

    /// Append a feature that may not be finite; the caller discards the example then.
    pub fn push_unchecked(&mut self, slot: u32, value: f32) {
        self.slots.push(slot);
        self.values.push(value);
    }

    /// The slots and values of the example being written.
    pub fn unfinished(&self) -> (&[u32], &[f32]) {
        let start = self.features();
        (&self.slots[start..], &self.values[start..])
    }

    /// Append many features to the example being written.
    pub fn extend(&mut self, slots: &[u32], values: &[f32]) {
        debug_assert_eq!(slots.len(), values.len());
        self.slots.extend_from_slice(slots);
        self.values.extend_from_slice(values);
    }

    /// Append many features to the example being written, from iterators of slots and values.
    #[inline(always)]
    pub fn extend_with(
        &mut self,
        slots: impl ExactSizeIterator<Item = u32>,
        values: impl ExactSizeIterator<Item = f32>,
    ) {
        debug_assert_eq!(slots.len(), values.len());
        self.slots.extend(slots);
        self.values.extend(values);
    }

    /// Remove everything that was pushed since the last finished example.
    pub fn discard(&mut self) {
        let start = self.features();
        self.slots.truncate(start);
        self.values.truncate(start);
        self.next_base = 0.0;
    }

    /// Finish the example: append the intercept, add up values in the same slot, remove zeros unless they are
    /// required.
    pub fn finish(&mut self, label: f32, importance: f32, tag: &[u8]) {
        let start = self.features();
        let mut repeats = self.seen.repeats(&self.slots[start..]);
        if let Some(slot) = self.requirements.intercept {
            repeats |= self.slots[start..].contains(&slot);
            self.push(slot, 1.0);
        }
        let repeats = repeats && self.add_up_repeats(start);
        let mut sizes = ValueSizes::of(&self.values[start..]);
        if repeats || (sizes.any_zero && !self.requirements.zeros) {
            let zeros = self.requirements.zeros;
            self.retain(start, |value| !value.is_nan() && (zeros || value != 0.0));
            sizes.any_zero &= zeros;
        }
        self.sizes = self.sizes.and(sizes);
        self.seal(label, importance, tag);
    }

    #[inline(always)]
    fn seal(&mut self, label: f32, importance: f32, tag: &[u8]) {
        if self.next_base != 0.0 {
            self.bases.resize(self.len(), 0.0);
            self.bases.push(std::mem::take(&mut self.next_base));
        }
        self.ends.push(self.slots.len());
        self.labels.push(label);
        self.importances.push(importance);
        self.tags.extend_from_slice(tag);
        self.tag_ends.push(self.tags.len());
    }

    /// Finish an example whose slots ascend, all below the intercept's, and whose values are not 0 unless zeros
    /// are required. The caller knows the properties of the values.
    pub fn finish_plain(&mut self, label: f32, importance: f32, sizes: ValueSizes) {
        let start = self.features();
        if let Some(slot) = self.requirements.intercept {
            self.push(slot, 1.0);
        }
        debug_assert!(self.slots[start..].is_sorted_by(|one, next| one < next));
        debug_assert_eq!(sizes.and(ValueSizes::of(&self.values[start..])), sizes);
        debug_assert!(self.requirements.zeros || !sizes.any_zero);
        self.sizes = self.sizes.and(sizes);
        self.seal(label, importance, b"");
    }

    /// Example `i`.
    #[inline(always)]
    pub fn example(&self, i: usize) -> Example<'_> {
        let span = self.span(i);
        Example {
            label: self.labels[i],
            importance: self.importances[i],
            base: self.base(i),
            slots: &self.slots[span.clone()],
            values: &self.values[span.clone()],
            unit_values: &self.values[span],
        }
    }

    /// Whether any value may be outside `[-1, 1]`.
    pub fn is_any_large(&self) -> bool {
        self.sizes.any_large
    }

    /// Whether any value may be other than 1.
    pub fn is_any_not_one(&self) -> bool {
        self.sizes.any_not_one
    }

    /// Whether any value may be 0.
    pub fn is_any_zero(&self) -> bool {
        self.sizes.any_zero
    }

    /// Set whether zeros are required from now on; returns whether they were.
    pub fn require_zeros(&mut self, zeros: bool) -> bool {
        std::mem::replace(&mut self.requirements.zeros, zeros)
    }

    /// Remove the features of value 0 from all finished examples.
    pub fn drop_all_zeros(&mut self) {
        if !self.sizes.any_zero {
            return;
        }
        let (mut start, mut kept) = (0, 0);
        for end in &mut self.ends {
            for k in start..*end {
                if self.values[k] != 0.0 {
                    (self.slots[kept], self.values[kept]) = (self.slots[k], self.values[k]);
                    kept += 1;
                }
            }
            start = *end;
            *end = kept;
        }
        self.slots.truncate(kept);
        self.values.truncate(kept);
        self.positions.clear();
        self.sizes.any_zero = false;
    }

    /// The range of the features of example `i`.
    #[inline(always)]
    fn span(&self, i: usize) -> Range<usize> {
        self.features_before(i)..self.ends[i]
    }

    /// The mutable values of example `i`.
    pub fn values_mut(&mut self, i: usize) -> &mut [f32] {
        self.sizes = ValueSizes::UNKNOWN;
        let span = self.span(i);
        &mut self.values[span]
    }

    /// Replace the label of example `i` by one from which its base margin was subtracted.
    pub fn set_residual(&mut self, i: usize, label: f32) {
        self.labels[i] = label;
        if let Some(base) = self.bases.get_mut(i) {
            *base = 0.0;
        }
    }

    /// The tag of example `i`; empty if it has none.
    pub fn tag(&self, i: usize) -> &[u8] {
        let start = self.tags_before(i);
        &self.tags[start..self.tag_ends[i]]
    }

    /// The examples in order.
    pub fn examples(&self) -> impl Iterator<Item = Example<'_>> {
        (0..self.len()).map(|i| self.example(i))
    }

    /// The examples as new arrays.
    pub fn to_arrays(&self) -> Arrays {
        let ends = self.ends.iter().map(|&end| end as i64);
        Arrays {
            indptr: std::iter::once(0).chain(ends).collect(),
            slots: self.slots.clone(),
            values: self.values.clone(),
            labels: self.labels.clone(),
            importances: self.importances.clone(),
            bases: self.all_bases(),
            tags: (0..self.len()).map(|k| self.tag(k).to_vec()).collect(),
        }
    }

    /// The base margin of every finished example; empty if all are 0.
    fn all_bases(&self) -> Vec<f32> {
        if self.bases.is_empty() {
            return Vec::new();
        }
        (0..self.len()).map(|i| self.base(i)).collect()
    }

    /// Add up the values of equal slots into the first of them, in the order of the features; the others become
    /// NaN. Returns whether there were any.
    fn add_up_repeats(&mut self, start: usize) -> bool {
        let mut order: Vec<usize> = (start..self.slots.len()).collect();
        order.sort_by_key(|&k| (self.slots[k], k));
        let mut any = false;
        for pair in order.chunk_by(|&a, &b| self.slots[a] == self.slots[b]) {
            for &k in &pair[1..] {
                // The sum of two values near the largest float could be infinite.
                let sum = self.values[pair[0]] + self.values[k];
                self.values[pair[0]] = sum.clamp(f32::MIN, f32::MAX);
                self.values[k] = f32::NAN;
                any = true;
            }
        }
        any
    }

    /// Keep only some of the features of the example being written.
    fn retain(&mut self, start: usize, is_kept: impl Fn(f32) -> bool) {
        let mut kept = start;
        for k in start..self.slots.len() {
            if is_kept(self.values[k]) {
                self.slots[kept] = self.slots[k];
                self.values[kept] = self.values[k];
                kept += 1;
            }
        }
        self.slots.truncate(kept);
        self.values.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::SlotLookup;

    fn finished(intercept: Option<u32>, features: &[(u32, f32)]) -> (Vec<u32>, Vec<f32>) {
        let mut chunk = Chunk::new(intercept);
        for &(slot, value) in features {
            chunk.push(slot, value);
        }
        chunk.finish(1.0, 1.0, b"");
        let example = chunk.example(0);
        (example.slots.to_vec(), example.values.to_vec())
    }

    #[test]
    fn repeated_slots_add_up_at_the_first_place() {
        let (slots, values) = finished(None, &[(7, 1.0), (3, 2.0), (7, 0.5), (7, 0.25)]);
        assert_eq!((slots, values), (vec![7, 3], vec![1.75, 2.0]));
    }

    #[test]
    fn zeros_and_values_that_cancel_are_dropped() {
        let (slots, values) = finished(None, &[(5, 0.0), (2, 1.0), (1, 3.0), (2, -1.0)]);
        assert_eq!((slots, values), (vec![1], vec![3.0]));
    }

    #[test]
    fn zeros_that_are_required_are_features_and_merged_ones_are_not() {
        let requirements = Requirements { zeros: true, ..Requirements::default() };
        let mut chunk = Chunk::for_requirements(requirements);
        chunk.extend(&[5, 2, 1, 2], &[0.0, 1.0, 3.0, -1.0]);
        chunk.finish(1.0, 1.0, b"");
        chunk.extend(&[4], &[1.0]);
        chunk.finish(1.0, 1.0, b"");
        let Example { slots, values, .. } = chunk.example(0);
        assert_eq!((slots, values), (&[5, 2, 1][..], &[0.0, 0.0, 3.0][..]));
        chunk.drop_all_zeros();
        assert_eq!((chunk.example(0).slots, chunk.example(1).slots), (&[1][..], &[4][..]));
        assert!(!chunk.is_any_zero());
    }

    /// An index in which the position of every slot is the slot's own number plus this.
    #[derive(Debug)]
    struct Shifted(u32);

    impl SlotLookup for Shifted {
        fn look_up(&self, slots: &[u32], positions: &mut Vec<u32>) {
            positions.extend(slots.iter().map(|slot| slot + self.0));
        }
    }

    #[test]
    fn examples_that_change_hands_bring_no_positions_of_another_learner() {
        let [one, other] = [Arc::new(Shifted(1)), Arc::new(Shifted(2))];
        let require = |index: &Arc<Shifted>| {
            let index: Arc<dyn SlotLookup> = Arc::<Shifted>::clone(index);
            Chunk::for_requirements(Requirements { index: Some(index), ..Requirements::default() })
        };
        let mut read = require(&one);
        read.push(3, 1.0);
        read.finish(1.0, 1.0, b"");
        read.look_up_positions();
        let (mut same, mut stranger) = (require(&one), require(&other));
        same.swap_examples(&mut read);
        assert_eq!(same.positions(0, &one), Some(&[4][..]));
        stranger.swap_examples(&mut same);
        let found = (stranger.positions(0, &one), stranger.positions(0, &other));
        assert_eq!((stranger.len(), found), (1, (None, None)));
        stranger.look_up_positions();
        assert_eq!(stranger.positions(0, &other), Some(&[5][..]));
    }

    #[test]
    fn the_intercept_is_one_more_feature() {
        let (slots, values) = finished(Some(9), &[(2, 4.0)]);
        assert_eq!((slots, values), (vec![2, 9], vec![4.0, 1.0]));
    }

    #[test]
    fn a_sum_too_large_stays_finite() {
        let (_, values) = finished(None, &[(2, f32::MAX), (1, 1.0), (2, f32::MAX)]);
        assert_eq!(values, vec![f32::MAX, 1.0]);
    }

    #[test]
    fn appended_examples_are_the_same_examples() {
        let mut first = Chunk::new(Some(9));
        first.push(1, 1.0);
        first.finish(1.0, 2.0, b"one");
        let mut second = Chunk::new(Some(9));
        second.push(2, 3.0);
        second.finish(-1.0, 1.0, b"two");
        let mut both = Chunk::new(None);
        both.append(&first);
        both.append(&second);
        assert_eq!(both.example(0), first.example(0));
        assert_eq!(both.example(1), second.example(0));
        assert_eq!((both.tag(0), both.tag(1)), (&b"one"[..], &b"two"[..]));
    }

    #[test]
    fn discarding_leaves_the_finished_examples() {
        let mut chunk = Chunk::new(None);
        chunk.push(1, 1.0);
        chunk.finish(1.0, 2.0, b"tag");
        chunk.push(2, 1.0);
        chunk.discard();
        chunk.finish(-1.0, 1.0, b"");
        assert_eq!(chunk.len(), 2);
        assert_eq!(chunk.tag(0), b"tag");
        assert_eq!(chunk.example(1).slots, &[] as &[u32]);
    }
}
