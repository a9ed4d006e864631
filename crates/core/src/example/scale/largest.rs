//! Scales by the largest value met: `cap` and `full`.
//!
//! ```text
//! m_i = max |x_i| so far, this example's included      full
//!       max(1, the same), at most twice the last       cap
//! ```
//!
//! A cap grows at most twofold a round, so that one outlier does not make its feature useless: until the cap
//! has caught up, a larger value counts as m_i. A full scale has no such limit.
//!
//! Rule and margin see x_i/m_i, so a slot holds ŵ_i = w_i m_i in the rule's own box, which is the box
//! of radius R/m_i for w_i. When m_i grows the slot stays as it is: that *is* the rescaling of w_i by
//! m_old/m_new (Ross, Mineiro & Langford 2013). Regret and bounds are those of the game on the
//! normalised examples.
//!
//! Cost: one float a slot, allocated only when needed: never without a scale, for a cap from the first |x| >
//! 1 on. A cap reads its floats only if a slot near by has grown: hashed words that collide in a slot add up
//! to 2 now and then, and without this test all other features would pay a cache miss for them.

use super::{Example, Ordered};
use crate::alloc::zeroed;
use crate::error::{Error, Result};
use crate::rule::Interval;
use crate::spec::Scale;

/// The factor by which a cap can grow in a round.
const CAP_GROWTH: f32 = 2.0;

/// m, the scale, of a feature that was never met.
fn start(kind: Scale) -> f32 {
    if kind == Scale::Full { 0.0 } else { 1.0 }
}

/// The largest values of all features.
#[derive(Clone, Debug)]
pub struct Largest {
    kind: Scale,
    slots: usize,
    /// m_i, and 0 for a feature whose scale is in its initial state; empty while all are. Memory of zeros is
    /// allocated on first touch, so a large table with few large values costs little.
    largest: Vec<f32>,
    /// For a cap, a bit for 64 neighbouring slots, set if any of them has grown.
    grown: Vec<u64>,
}

/// The word and the bit of the 64 neighbours of a slot.
#[inline]
fn neighbourhood(slot: usize) -> (usize, u64) {
    (slot >> 12, 1 << ((slot >> 6) & 63))
}

impl Largest {
    /// The scales of features in their initial state.
    pub fn new(kind: Scale, slots: usize) -> Result<Self> {
        let largest = if kind == Scale::Full { zeroed(slots)? } else { Vec::new() };
        Ok(Largest { kind, slots, largest, grown: Vec::new() })
    }

    /// Whether there are scales to store.
    pub fn are_kept(&self) -> bool {
        !self.largest.is_empty()
    }

    /// Whether the feature's scale is in its initial state.
    pub fn is_untouched(&self, slot: usize) -> bool {
        self.of(slot) == start(self.kind)
    }

    /// m, the scale, of a slot.
    #[inline]
    pub fn of(&self, slot: usize) -> f32 {
        self.largest.get(slot).map_or(1.0, |largest| largest.max(start(self.kind)))
    }

    /// The weight per unit of the raw value, from the weight per unit of the scaled value.
    pub fn unscaled(&self, slot: usize, weight: f32) -> f32 {
        match self.of(slot) {
            // A feature that was never met has no scale yet.
            0.0 => weight,
            largest => Interval::EVERYWHERE.clip(weight / largest),
        }
    }

    /// The example with scaled values, for rule and margin. The scales are not updated.
    #[inline]
    pub fn normalise<'a>(&self, example: &Example<'a>, scratch: &'a mut Vec<f32>) -> Example<'a> {
        if self.leave(example) {
            return *example;
        }
        let features = example.slots.iter().zip(example.values);
        scratch.clear();
        scratch.extend(features.map(|(&slot, &x)| self.scaled(slot as usize, x)));
        Example { values: scratch, unit_values: scratch, ..*example }
    }

    /// x_i/m_i, where m_i includes this value.
    #[inline]
    fn scaled(&self, slot: usize, x: f32) -> f32 {
        if self.kind == Scale::Cap && x.abs() <= 1.0 && !self.is_near_growth(slot) {
            return x;
        }
        x / self.of(slot).max(x.abs())
    }

    /// Allocate the memory that [`Largest::remember`] needs for this example.
    #[inline]
    pub fn reserve(&mut self, example: &Example<'_>) -> Result<()> {
        if !self.are_kept() && !self.leave(example) {
            self.keep()?;
        }
        Ok(())
    }

    fn keep(&mut self) -> Result<()> {
        // Both or none: scales without their words would not be looked at.
        let (largest, grown) = (zeroed(self.slots)?, zeroed((self.slots >> 12) + 1)?);
        (self.largest, self.grown) = (largest, grown);
        Ok(())
    }

    /// Update the scales by the example's values. Requires a call of [`Largest::reserve`] before.
    #[inline]
    pub fn remember(&mut self, example: &Example<'_>) {
        if self.leave(example) {
            return;
        }
        let growth = if self.kind == Scale::Cap { CAP_GROWTH } else { f32::INFINITY };
        for (&slot, value) in example.slots.iter().zip(example.values) {
            if self.kind == Scale::Cap && value.abs() <= 1.0 {
                continue;
            }
            let largest = &mut self.largest[slot as usize];
            let before = largest.max(start(self.kind));
            // 0 times infinity is NaN, which `min` ignores.
            *largest = before.max(value.abs().min(growth * before));
            let (word, bit) = neighbourhood(slot as usize);
            // A full scale has no such words.
            if let Some(word) = self.grown.get_mut(word) {
                *word |= if *largest > 1.0 { bit } else { 0 };
            }
        }
    }

    /// Restore the scale of a slot.
    pub fn set(&mut self, slot: usize, largest: f32) -> Result<()> {
        if !(largest > 0.0 && largest >= start(self.kind) && largest.is_finite()) {
            let least = if self.kind == Scale::Full { "above 0" } else { "from 1 up" };
            return Err(Error::Spec(format!(
                "'scale of slot {slot}' is {largest:?}, expected a finite number {least}"
            )));
        }
        if !self.are_kept() {
            self.keep()?;
        }
        self.largest[slot] = largest;
        let (word, bit) = neighbourhood(slot);
        if let Some(word) = self.grown.get_mut(word) {
            *word |= bit;
        }
        Ok(())
    }

    /// Whether [`Largest::leave`] holds for all these examples.
    pub fn leave_all(&self, examples: &Ordered<'_>) -> bool {
        self.kind == Scale::Cap && !examples.is_any_large() && !self.are_kept()
    }

    /// Whether the example needs no scaling and does not change the scales.
    #[inline(always)]
    pub fn leave(&self, example: &Example<'_>) -> bool {
        // No early exit, so that the loop vectorises.
        let large = || example.values.iter().fold(false, |any, value| any | (value.abs() > 1.0));
        self.kind == Scale::Cap && !large() && !self.has_grown(example)
    }

    /// Whether a feature of the example, or one of its 64 neighbours, has had a value above 1.
    #[inline]
    fn has_grown(&self, example: &Example<'_>) -> bool {
        let near = |any: bool, &slot: &u32| any | self.is_near_growth(slot as usize);
        self.are_kept() && example.slots.iter().fold(false, near)
    }

    #[inline]
    fn is_near_growth(&self, slot: usize) -> bool {
        let (word, bit) = neighbourhood(slot);
        self.grown.get(word).is_some_and(|word| word & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(values: &[f32]) -> Example<'_> {
        Example {
            label: 1.0,
            importance: 1.0,
            base: 0.0,
            slots: &[4, 1],
            values,
            unit_values: values,
        }
    }

    fn seen(scales: &Largest, values: &[f32]) -> Vec<f32> {
        let mut scratch = Vec::new();
        scales.normalise(&example(values), &mut scratch).values.to_vec()
    }

    fn met(kind: Scale, values: &[f32]) -> Result<Largest> {
        let mut scales = Largest::new(kind, 5)?;
        scales.reserve(&example(values))?;
        scales.remember(&example(values));
        Ok(scales)
    }

    #[test]
    fn a_cap_leaves_small_values_and_needs_no_memory_for_them() -> Result<()> {
        let scales = met(Scale::Cap, &[1.0, -0.25])?;
        assert!(!scales.are_kept());
        assert_eq!(seen(&scales, &[0.5, -1.0]), [0.5, -1.0]);
        assert_eq!(seen(&scales, &[0.5, -4.0]), [0.5, -1.0]);
        Ok(())
    }

    #[test]
    fn a_cap_divides_by_the_largest_met_once_it_has_grown() -> Result<()> {
        let mut scales = met(Scale::Cap, &[-7.0, 0.5])?;
        assert_eq!((scales.of(4), scales.of(1), scales.of(0)), (2.0, 1.0, 1.0));
        assert_eq!(seen(&scales, &[1.0, 0.5]), [0.5, 0.5]);
        assert_eq!(seen(&scales, &[1e30, 0.5]), [1.0, 0.5]);
        scales.remember(&example(&[-7.0, 0.5]));
        scales.remember(&example(&[-7.0, 0.5]));
        assert_eq!((scales.of(4), scales.unscaled(4, 3.5)), (7.0, 0.5));
        scales.remember(&example(&[f32::MAX, 0.5]));
        assert_eq!(scales.of(4), 14.0);
        Ok(())
    }

    #[test]
    fn full_divides_small_values_too() -> Result<()> {
        let scales = met(Scale::Full, &[-8.0, 0.5])?;
        assert_eq!(seen(&scales, &[2.0, 0.25]), [0.25, 0.5]);
        assert!(scales.is_untouched(0) && !scales.is_untouched(1));
        assert_eq!(scales.unscaled(0, 3.0), 3.0);
        Ok(())
    }

    #[test]
    fn what_is_no_scale_is_not_put_back() -> Result<()> {
        for (kind, wrong) in [(Scale::Cap, 0.5), (Scale::Full, 0.0), (Scale::Full, f32::NAN)] {
            assert!(Largest::new(kind, 5)?.set(1, wrong).is_err());
        }
        Ok(())
    }
}
