//! Gather and scatter: the slots of one example in groups of eight features, to be vectorised.
//!
//! ```text
//! table ─fetch─▶ groups ─look, absorb─▶ groups ─scatter─▶ table
//! ```
//!
//! The features of an example lie anywhere in the table. They are gathered once, processed by the same code
//! of the rule as the lanes of one coordinate ([`Line`]), and scattered back once. If the number of features
//! is no multiple of eight, the last group is padded with initial slots of value 0, which are not scattered.
//!
//! Cost: two loads and two stores a feature more than an update in place. In return a square root and a
//! division for eight features take the time of one.

use std::hint::black_box;

use bytemuck::{cast, try_cast_slice, try_cast_slice_mut};

use crate::example::Example;
use crate::rule::{Line, Slot};
use crate::simd::LANES;
use crate::simd::f64x8::F64x8;
use crate::simd::sums::Sum;

/// Features in a group.
pub(crate) const WIDTH: usize = LANES;

/// A group of up to eight features of an example.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Group<S: Slot> {
    /// The state of their slots before the round, field by field.
    pub before: S::Line,
    /// The state of their slots after the round. It is separate memory: if a part of a vector stayed
    /// unchanged, the compiler would store only the other part, which is slow.
    pub after: S::Line,
    /// The indices of their slots.
    pub slots: [u32; WIDTH],
    pub values: [f32; WIDTH],
    pub played: [f32; WIDTH],
    pub gradients: [f32; WIDTH],
    pub rates: [f32; WIDTH],
    /// The number of features in the group, without padding.
    pub count: usize,
}

impl<S: Slot> Default for Group<S> {
    fn default() -> Self {
        let zeros = [0.0; WIDTH];
        Group {
            before: S::Line::default(),
            after: S::Line::default(),
            slots: [0; WIDTH],
            values: zeros,
            played: zeros,
            gradients: zeros,
            rates: zeros,
            count: 0,
        }
    }
}

impl<S: Slot> Group<S> {
    /// Gather eight features from the table. `words` is the same table as 64-bit words, if a slot has two
    /// floats.
    #[inline(always)]
    pub fn gather<E: F64x8>(
        &mut self,
        simd: E,
        table: &[S],
        words: Option<&[u64]>,
        slots: &[u32; WIDTH],
        values: &[f32; WIDTH],
    ) {
        (self.slots, self.values, self.count) = (*slots, *values, WIDTH);
        if let Some(words) = words {
            self.before = cast(simd.gather(words, slots));
        } else {
            for k in 0..WIDTH {
                self.before.put(k, table[slots[k] as usize]);
            }
        }
    }

    /// Gather the last features of an example: at least one, fewer than eight.
    #[inline(always)]
    pub fn gather_rest<E: F64x8>(
        &mut self,
        simd: E,
        table: &[S],
        words: Option<&[u64]>,
        example: &Example<'_>,
    ) {
        let count = example.slots.len() % WIDTH;
        let eight = (example.slots.last_chunk::<WIDTH>(), example.values.last_chunk::<WIDTH>());
        if let ((Some(slots), Some(values)), Some(words)) = (eight, words) {
            self.slots = simd.take_last(*slots, count);
            self.values = cast(simd.keep_first(simd.take_last(cast(*values), count), count));
            let [one, other] = simd.gather(words, &self.slots);
            self.before =
                cast([simd.keep_first(cast(one), count), simd.keep_first(cast(other), count)]);
            self.count = count;
        } else {
            let before = example.slots.len() - count;
            self.gather_some(table, &example.slots[before..], &example.values[before..]);
        }
    }

    #[inline(never)]
    fn gather_some(&mut self, table: &[S], slots: &[u32], values: &[f32]) {
        *self = Group { count: slots.len(), ..Group::default() };
        for (k, (&slot, &value)) in slots.iter().zip(values).enumerate() {
            self.before.put(k, table[slot as usize]);
            (self.slots[k], self.values[k]) = (slot, value);
        }
    }

    /// Scatter the features back to the table.
    #[inline(always)]
    fn scatter(&self, table: &mut [S]) {
        for k in 0..self.count {
            table[self.slots[k] as usize] = self.after.get(k);
        }
    }
}

/// For every count n: a mask with the n lowest bits set.
const FIRST: [u8; WIDTH + 1] = [0, 1, 3, 7, 15, 31, 63, 127, 255];

/// The table as 64-bit words, if a slot has two floats.
#[inline(always)]
pub(crate) fn words<S: Slot>(table: &[S]) -> Option<&[u64]> {
    if size_of::<S>() == 8 { try_cast_slice(table).ok() } else { None }
}

/// The table as mutable 64-bit words, if a slot has two floats.
#[inline(always)]
fn words_mut<S: Slot>(table: &mut [S]) -> Option<&mut [u64]> {
    if size_of::<S>() == 8 { try_cast_slice_mut(table).ok() } else { None }
}

/// The gathered slots of an example, in scratch memory that is reused.
pub(crate) struct Gathered<S: Slot> {
    groups: Vec<Group<S>>,
    used: usize,
}

impl<S: Slot> Default for Gathered<S> {
    fn default() -> Self {
        Gathered { groups: Vec::new(), used: 0 }
    }
}

impl<S: Slot> Gathered<S> {
    /// Allocate the groups of an example: the full ones, and the one for the remaining features.
    #[inline(always)]
    pub fn open(&mut self, example: &Example<'_>) -> (&mut [Group<S>], Option<&mut Group<S>>) {
        self.used = example.slots.len().div_ceil(WIDTH);
        if self.groups.len() < self.used {
            self.groups.resize(self.used, Group::default());
        }
        let (full, rest) = self.groups[..self.used].split_at_mut(example.slots.len() / WIDTH);
        (full, rest.first_mut())
    }

    /// Whether any of the gathered slots is in its initial state.
    #[inline(always)]
    pub fn is_any_new<E: F64x8>(&self, simd: E) -> bool {
        let mut zeros = 0;
        for group in self.groups() {
            // The padding of the last group is in its initial state; mask it out.
            zeros |= simd.zero_mask(group.before.bits()) & FIRST[group.count];
        }
        zeros != 0
    }

    /// Scatter all slots back to the table.
    #[inline(always)]
    pub fn scatter<E: F64x8>(&self, simd: E, table: &mut [S]) {
        let (full, rest) = match self.groups[..self.used].split_last() {
            Some((last, full)) if last.count < WIDTH => (full, Some(last)),
            _ => (&self.groups[..self.used], None),
        };
        // Plain loops: closures would be compiled without the kernel's vector instructions.
        if let Some(words) = words_mut(table) {
            for group in full {
                simd.scatter(words, &group.slots, cast(group.after));
            }
        } else {
            for group in full {
                group.scatter(table);
            }
        }
        if let Some(rest) = rest {
            rest.scatter(table);
        }
    }

    /// The groups of the example, eight features each.
    #[inline(always)]
    pub fn groups(&self) -> impl Iterator<Item = &Group<S>> {
        // Without this the compiler vectorises across groups: the first features of eight groups, then the
        // second.
        self.groups[..self.used].iter().inspect(|_| black_box(()))
    }

    /// The mutable groups of the example, eight features each.
    #[inline(always)]
    pub fn groups_mut(&mut self) -> impl Iterator<Item = &mut Group<S>> {
        self.groups[..self.used].iter_mut().inspect(|_| black_box(()))
    }
}

impl<S: Slot> Gathered<S> {
    /// Σ x² over the features.
    #[inline(always)]
    pub fn square_norm<E: F64x8>(&self, simd: E) -> f64 {
        let mut sum = simd.splat(0.0);
        for group in self.groups() {
            let values = simd.widen(group.values);
            sum = simd.add(sum, simd.multiply(values, values));
        }
        Sum::of(simd.to_array(sum)).total()
    }

    /// w x of every feature, as they were played.
    pub fn parts(&self) -> Vec<f64> {
        let mut parts = Vec::new();
        for group in self.groups() {
            for k in 0..group.count {
                parts.push(f64::from(group.played[k]) * f64::from(group.values[k]));
            }
        }
        parts
    }

    /// Σ w² over the features.
    pub fn square_weights(&self) -> f64 {
        let mut sum = Sum::default();
        for group in self.groups() {
            let mut squares = group.played.map(|weight| f64::from(weight) * f64::from(weight));
            // The padding of the last group does not belong to the example.
            squares[group.count..].fill(0.0);
            sum.add(&squares);
        }
        sum.total()
    }

    /// Σ f² η over the features, where f is the value or the gradient.
    #[inline(always)]
    pub fn square_sum<E: F64x8, const OF_VALUES: bool>(&self, simd: E) -> f64 {
        let mut sum = simd.splat(0.0);
        for group in self.groups() {
            let factors = simd.widen(if OF_VALUES { group.values } else { group.gradients });
            let squares = simd.multiply(factors, factors);
            sum = simd.add(sum, simd.multiply(simd.widen(group.rates), squares));
        }
        Sum::of(simd.to_array(sum)).total()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::per_coordinate::Slot as State;
    use crate::simd::{InstructionSet, Simd, WithSimd};

    const FEATURES: usize = 27;

    fn table() -> Vec<State> {
        (0..128).map(|k| State { weight: k as f32, energy: (k % 3) as f32 }).collect()
    }

    fn gather_all<E: F64x8>(
        simd: E,
        gathered: &mut Gathered<State>,
        table: &[State],
        example: &Example<'_>,
    ) {
        let (slots, values) = (example.slots.as_chunks().0, example.values.as_chunks().0);
        let ((full, rest), words) = (gathered.open(example), words(table));
        for (group, (slots, values)) in full.iter_mut().zip(slots.iter().zip(values)) {
            group.gather(simd, table, words, slots, values);
        }
        if let Some(group) = rest {
            group.gather_rest(simd, table, words, example);
        }
    }

    /// Adds 100 to all slots of an example, by gather and scatter.
    struct Lift<'a>(&'a mut [State], Example<'a>);

    impl WithSimd for Lift<'_> {
        type Output = ();

        fn call<V: Simd>(self, simd: V) {
            let simd = simd.f64x8();
            let Lift(table, example) = self;
            let mut gathered = Gathered::default();
            gather_all(simd, &mut gathered, table, &example);
            for group in gathered.groups_mut() {
                for k in 0..WIDTH {
                    assert_eq!(group.values[k], if k < group.count { 0.5 } else { 0.0 });
                    let State { weight, energy } = group.before.get(k);
                    group.after.put(k, State { weight: weight + 100.0, energy });
                }
            }
            gathered.scatter(simd, table);
        }
    }

    #[test]
    fn what_is_fetched_is_put_back_to_its_place_and_nowhere_else() {
        let slots: Vec<u32> = (0..FEATURES as u32).map(|k| 127 - 3 * k).collect();
        for (path, count) in InstructionSet::available()
            .into_iter()
            .flat_map(|path| (0..=FEATURES).map(move |n| (path, n)))
        {
            let (mut table, before) = (table(), table());
            let example = Example {
                label: 1.0,
                importance: 1.0,
                base: 0.0,
                slots: &slots[..count],
                values: &[0.5; FEATURES][..count],
                unit_values: &[0.5; FEATURES][..count],
            };
            path.run(Lift(&mut table, example));
            for (slot, (old, new)) in before.iter().zip(&table).enumerate() {
                let moved = slots[..count].contains(&(slot as u32));
                let weight = old.weight + if moved { 100.0 } else { 0.0 };
                assert_eq!(*new, State { weight, ..*old }, "{path:?}, {count}");
            }
        }
    }

    /// Whether any of these slots is in its initial state.
    struct Newness<'a>(&'a [u32]);

    impl WithSimd for Newness<'_> {
        type Output = bool;

        fn call<V: Simd>(self, simd: V) -> bool {
            let simd = simd.f64x8();
            let (mut gathered, values) = (Gathered::default(), vec![1.0; self.0.len()]);
            let (slots, values) = (self.0, &values[..]);
            let example = Example {
                label: 1.0,
                importance: 1.0,
                base: 0.0,
                slots,
                values,
                unit_values: values,
            };
            gather_all(simd, &mut gathered, &table(), &example);
            gathered.is_any_new(simd)
        }
    }

    #[test]
    fn a_slot_as_it_began_is_seen_and_what_fills_up_is_not() {
        for path in InstructionSet::available() {
            for count in 1..=FEATURES {
                let mut slots: Vec<u32> = (1..=count as u32).collect();
                assert!(!path.run(Newness(&slots)), "{path:?}, {count}");
                for place in 0..count {
                    let met = std::mem::replace(&mut slots[place], 0);
                    assert!(path.run(Newness(&slots)), "{path:?}, {count}, {place}");
                    slots[place] = met;
                }
            }
        }
    }
}
