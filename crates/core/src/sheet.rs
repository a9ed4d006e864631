//! The slots of one example side by side, eight features to a group, so that an instruction moves many.
//!
//! ```text
//! table ─fetch─▶ groups ─look, absorb─▶ groups ─put_back─▶ table
//! ```
//!
//! The features of an example lie anywhere in the table. Fetched once, they are looked at and moved as
//! the lanes of one coordinate are, by the same code of the rule ([`Line`]), and put back once. Where the
//! features are no multiple of eight, the last group is filled up with slots as they began, of value 0;
//! those are not put back.
//!
//! Cost: two loads and two stores a feature more than in place; a root and a division for eight features
//! take the time of one.

use std::hint::black_box;

use crate::example::Example;
use crate::mixture::LANES;
use crate::rule::{Line, Slot};

/// Features in a group.
pub(crate) const WIDTH: usize = LANES;

/// Up to eight features of an example.
#[derive(Clone, Copy)]
pub(crate) struct Group<S: Slot> {
    /// What their slots hold: before the round, and after it.
    pub states: [S; WIDTH],
    /// The same before the round, field by field.
    pub before: S::Line,
    /// And after it. In other memory: where a part of a vector is to stay as it is, the compiler would
    /// else write the other part alone, which is slow.
    pub after: S::Line,
    /// Where they lie.
    pub slots: [u32; WIDTH],
    pub values: [f32; WIDTH],
    pub played: [f32; WIDTH],
    pub gradients: [f32; WIDTH],
    pub rates: [f32; WIDTH],
    /// How many there are.
    pub count: usize,
}

impl<S: Slot> Default for Group<S> {
    fn default() -> Self {
        let zeros = [0.0; WIDTH];
        Group {
            states: [S::default(); WIDTH],
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
    /// Fetch eight features from the table.
    #[inline(always)]
    fn fetch(&mut self, table: &[S], slots: &[u32; WIDTH], values: &[f32; WIDTH]) {
        (self.slots, self.values, self.count) = (*slots, *values, WIDTH);
        for k in 0..WIDTH {
            self.states[k] = table[slots[k] as usize];
        }
    }

    /// The same for fewer.
    #[inline(always)]
    fn fetch_some(&mut self, table: &[S], slots: &[u32], values: &[f32]) {
        *self = Group { count: slots.len(), ..Group::default() };
        for (k, (&slot, &value)) in slots.iter().zip(values).enumerate() {
            self.states[k] = table[slot as usize];
            (self.slots[k], self.values[k]) = (slot, value);
        }
    }

    /// Whether a slot is as it began.
    #[inline(always)]
    fn is_any_new(&self) -> bool {
        if self.count == WIDTH {
            return self.before.bits().iter().fold(false, |any, &bits| any | (bits == 0));
        }
        (0..self.count).any(|k| self.before.get(k).is_untouched())
    }
}

/// The slots of an example, in memory that is kept from one to the next.
pub(crate) struct Sheet<S: Slot> {
    groups: Vec<Group<S>>,
    used: usize,
}

impl<S: Slot> Default for Sheet<S> {
    fn default() -> Self {
        Sheet { groups: Vec::new(), used: 0 }
    }
}

impl<S: Slot> Sheet<S> {
    /// Fetch the slots of an example.
    #[inline(always)]
    pub fn fetch(&mut self, table: &[S], example: &Example<'_>) {
        let (slots, last_slots) = example.slots.as_chunks::<WIDTH>();
        let (values, last_values) = example.values.as_chunks::<WIDTH>();
        self.used = slots.len() + usize::from(!last_slots.is_empty());
        if self.groups.len() < self.used {
            self.groups.resize(self.used, Group::default());
        }
        for (group, (slots, values)) in self.groups.iter_mut().zip(slots.iter().zip(values)) {
            group.fetch(table, slots, values);
        }
        if let Some(group) = self.groups[..self.used].get_mut(slots.len()) {
            group.fetch_some(table, last_slots, last_values);
        }
        for group in self.groups_mut() {
            let mut line = group.before;
            for k in 0..WIDTH {
                line.put(k, group.states[k]);
            }
            group.before = line;
        }
    }

    /// Whether a slot is as it began.
    #[inline(always)]
    pub fn is_any_new(&self) -> bool {
        self.groups().fold(false, |any, group| any | group.is_any_new())
    }

    /// Put the slots back.
    #[inline(always)]
    pub fn put_back(&mut self, table: &mut [S]) {
        for group in self.groups_mut() {
            let line = group.after;
            let mut states = group.states;
            for (k, state) in states.iter_mut().enumerate() {
                *state = line.get(k);
            }
            group.states = states;
        }
        for group in self.groups() {
            if group.count == WIDTH {
                for k in 0..WIDTH {
                    table[group.slots[k] as usize] = group.states[k];
                }
            } else {
                for k in 0..group.count {
                    table[group.slots[k] as usize] = group.states[k];
                }
            }
        }
    }

    /// The example's features, eight at a time.
    #[inline(always)]
    pub fn groups(&self) -> impl Iterator<Item = &Group<S>> {
        // Else the compiler makes vectors of the first features of eight groups, then of the second.
        self.groups[..self.used].iter().inspect(|_| black_box(()))
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn groups_mut(&mut self) -> impl Iterator<Item = &mut Group<S>> {
        self.groups[..self.used].iter_mut().inspect(|_| black_box(()))
    }
}

impl<S: Slot> Sheet<S> {
    /// Σ w x over the features.
    #[inline(always)]
    pub fn margin(&self) -> f64 {
        let mut sum = Sum::default();
        for group in self.groups() {
            let mut products = group.values.map(f64::from);
            for (product, weight) in products.iter_mut().zip(group.played) {
                *product *= f64::from(weight);
            }
            sum.add(&products);
        }
        sum.total()
    }

    /// Σ x² over the features.
    #[inline(always)]
    pub fn square_norm(&self) -> f64 {
        let mut sum = Sum::default();
        for group in self.groups() {
            sum.add(&group.values.map(|value| f64::from(value) * f64::from(value)));
        }
        sum.total()
    }

    /// Σ w² over the features.
    pub fn square_weights(&self) -> f64 {
        let mut sum = Sum::default();
        for group in self.groups() {
            let mut squares = group.played.map(|weight| f64::from(weight) * f64::from(weight));
            // What fills up the last group is not of the example.
            squares[group.count..].fill(0.0);
            sum.add(&squares);
        }
        sum.total()
    }

    /// Σ f² η over the features.
    #[inline(always)]
    pub fn energy(&self, factors: impl Fn(&Group<S>) -> [f32; WIDTH]) -> f64 {
        let mut sum = Sum::default();
        for group in self.groups() {
            let factors = factors(group).map(f64::from);
            let mut terms = group.rates.map(f64::from);
            for (term, factor) in terms.iter_mut().zip(factors) {
                *term *= factor * factor;
            }
            sum.add(&terms);
        }
        sum.total()
    }
}

/// A sum over the features of an example, in eight parts: feature k goes to part k mod 8.
///
/// In one part every addition would wait for the one before. The order is fixed, so a sum has the same
/// bits on every machine, and in a lane those of a learner at its rate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum([f64; WIDTH]);

impl Sum {
    /// Add the terms of eight features.
    #[inline(always)]
    pub fn add(&mut self, terms: &[f64; WIDTH]) {
        for (part, term) in self.0.iter_mut().zip(terms) {
            *part += term;
        }
    }

    /// Add the term of feature `k`.
    #[inline(always)]
    pub fn add_one(&mut self, k: usize, term: f64) {
        self.0[k % WIDTH] += term;
    }

    /// The whole sum.
    #[inline(always)]
    pub fn total(&self) -> f64 {
        let [a, b, c, d, e, f, g, h] = self.0;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
}

/// The same in every lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LaneSum([[f64; LANES]; WIDTH]);

impl LaneSum {
    /// Add the terms of feature `k`.
    #[inline(always)]
    pub fn add(&mut self, k: usize, terms: &[f64; LANES]) {
        for (part, term) in self.0[k % WIDTH].iter_mut().zip(terms) {
            *part += term;
        }
    }

    /// The whole sums.
    #[inline(always)]
    pub fn totals(&self) -> [f64; LANES] {
        let mut totals = [0.0; LANES];
        for (lane, total) in totals.iter_mut().enumerate() {
            *total = Sum(self.0.map(|part| part[lane])).total();
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::per_coordinate::Slot as State;

    const FEATURES: usize = 19;

    fn table() -> Vec<State> {
        (0..64).map(|k| State { weight: k as f32, energy: (k % 3) as f32 }).collect()
    }

    #[test]
    fn what_is_fetched_is_put_back_to_its_place_and_nowhere_else() {
        let slots: Vec<u32> = (0..FEATURES as u32).map(|k| 63 - 3 * k).collect();
        for count in [0, 1, 7, 8, 9, 16, FEATURES] {
            let example = Example {
                label: 1.0,
                importance: 1.0,
                slots: &slots[..count],
                values: &[0.5; FEATURES][..count],
            };
            let (mut sheet, mut table) = (Sheet::default(), table());
            let before = table.clone();
            sheet.fetch(&table, &example);
            for group in sheet.groups_mut() {
                for k in 0..WIDTH {
                    assert_eq!(group.values[k], if k < group.count { 0.5 } else { 0.0 });
                    let State { weight, energy } = group.before.get(k);
                    group.after.put(k, State { weight: weight + 100.0, energy });
                }
            }
            sheet.put_back(&mut table);
            for (slot, (old, new)) in before.iter().zip(&table).enumerate() {
                let moved = slots[..count].contains(&(slot as u32));
                assert_eq!(new.weight, old.weight + if moved { 100.0 } else { 0.0 });
                assert_eq!(new.energy, old.energy);
            }
        }
    }

    #[test]
    fn a_slot_as_it_began_is_seen_and_what_fills_up_is_not() {
        let mut sheet = Sheet::default();
        let mut is_any_new = |slots: &[u32]| {
            let values = vec![1.0; slots.len()];
            let example = Example { label: 1.0, importance: 1.0, slots, values: &values };
            sheet.fetch(&table(), &example);
            sheet.is_any_new()
        };
        assert!(is_any_new(&[5, 0]) && is_any_new(&[1, 2, 3, 4, 0, 6, 7, 8]));
        assert!(!is_any_new(&[5]) && !is_any_new(&[1, 2, 3, 4, 5, 6, 7, 8]));
    }

    #[test]
    fn sums_have_the_same_bits_in_eights_one_by_one_and_in_a_lane() {
        let terms: Vec<f64> = (1..25).map(|k| 1.0 / f64::from(k)).collect();
        let (mut eights, mut ones, mut lanes) =
            (Sum::default(), Sum::default(), LaneSum::default());
        terms.as_chunks().0.iter().for_each(|eight| eights.add(eight));
        for (k, &term) in terms.iter().enumerate() {
            ones.add_one(k, term);
            lanes.add(k, &[term; LANES]);
        }
        assert_eq!(ones.total().to_bits(), eights.total().to_bits());
        assert_eq!(lanes.totals().map(f64::to_bits), [eights.total().to_bits(); LANES]);
        assert_ne!(eights.total().to_bits(), terms.iter().sum::<f64>().to_bits());
    }
}
