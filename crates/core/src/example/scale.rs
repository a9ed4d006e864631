//! The scale of a feature: the learner sees values divided by the largest one met.
//!
//! ```text
//! m_i = max |x_i| so far, this example's included      full
//!       max(1, the same), at most twice the last       cap
//! ```
//!
//! A cap grows at most twofold a round, so that one wild value does not end the use of its feature:
//! what is larger than m_i counts as m_i meanwhile. For a full scale there is no size to hold on to.
//!
//! Rule and margin see x_i/m_i, so a slot holds ŵ_i = w_i m_i in the rule's own box, which is the box
//! of radius R/m_i for w_i. When m_i grows the slot stays as it is: that *is* the rescaling of w_i by
//! m_old/m_new (Ross, Mineiro & Langford 2013). Regret and bounds are those of the game on the
//! normalised examples.
//!
//! Cost: one float a slot, had only when needed: never without a scale, for a cap from the first
//! |x| > 1 on. A cap then looks at its floats only where a slot near by has grown: hashed words that
//! meet in a slot add up to 2 now and then, and all others would pay a miss of the cache for them. The
//! twin is `python/lessregret/scale.py`.

use super::{Chunk, Example, Ordered};
use crate::alloc::{filled, zeroed};
use crate::error::Result;
use crate::rule::Interval;
use crate::spec::Scale;

/// How much larger than before a cap can become in a round.
const CAP_GROWTH: f32 = 2.0;

/// m of a feature that was never met.
fn start(kind: Scale) -> f32 {
    if kind == Scale::Full { 0.0 } else { 1.0 }
}

/// The scales of all features.
#[derive(Clone, Debug)]
pub struct Scales {
    kind: Scale,
    slots: usize,
    /// m_i; empty while all are as they began and need no place.
    largest: Vec<f32>,
    /// For a cap, a bit for 64 neighbours any of which has grown.
    grown: Vec<u64>,
}

/// The word and the bit of a slot's neighbourhood.
#[inline]
fn neighbourhood(slot: usize) -> (usize, u64) {
    (slot >> 12, 1 << ((slot >> 6) & 63))
}

impl Scales {
    /// Scales of features none of which was met.
    pub fn new(kind: Scale, slots: usize) -> Result<Self> {
        let largest = if kind == Scale::Full { filled(start(kind), slots)? } else { Vec::new() };
        Ok(Scales { kind, slots, largest, grown: Vec::new() })
    }

    /// Whether any value may be divided at all.
    pub fn are_used(&self) -> bool {
        self.kind != Scale::None
    }

    /// Whether there is something to store.
    pub fn are_kept(&self) -> bool {
        !self.largest.is_empty()
    }

    /// Whether the feature's scale is as it began.
    pub fn is_untouched(&self, slot: usize) -> bool {
        self.of(slot) == start(self.kind)
    }

    /// m of a slot.
    #[inline]
    pub fn of(&self, slot: usize) -> f32 {
        self.largest.get(slot).copied().unwrap_or(1.0)
    }

    /// The weight per unit of the value, from that per unit of the scaled value.
    pub fn unscaled(&self, slot: usize, weight: f32) -> f32 {
        match self.of(slot) {
            // A feature never met has no unit yet.
            0.0 => weight,
            largest => Interval::EVERYWHERE.clip(weight / largest),
        }
    }

    /// The example as rule and margin see it. Nothing is remembered.
    #[inline]
    pub fn normalise<'a>(&self, example: &Example<'a>, scratch: &'a mut Vec<f32>) -> Example<'a> {
        if self.leave(example) {
            return *example;
        }
        let features = example.slots.iter().zip(example.values);
        scratch.clear();
        scratch.extend(features.map(|(&slot, &x)| self.scaled(slot as usize, x)));
        Example { values: scratch, ..*example }
    }

    /// x_i/m_i, this value included in m_i.
    #[inline]
    fn scaled(&self, slot: usize, x: f32) -> f32 {
        if self.kind == Scale::Cap && x.abs() <= 1.0 && !self.is_near_growth(slot) {
            return x;
        }
        x / self.of(slot).max(x.abs())
    }

    /// Have the memory for what [`Scales::remember`] will be told.
    #[inline]
    pub fn reserve(&mut self, example: &Example<'_>) -> Result<()> {
        if !self.are_kept() && !self.leave(example) {
            self.keep()?;
        }
        Ok(())
    }

    /// The example as it is to be played, and the memory for what it tells. Not inlined, so that a walk
    /// over examples that are left as they are is compiled as if there were no others.
    #[inline(never)]
    pub fn prepare<'a>(
        &mut self,
        example: &Example<'a>,
        scratch: &'a mut Vec<f32>,
    ) -> Result<Example<'a>> {
        self.reserve(example)?;
        Ok(self.normalise(example, scratch))
    }

    fn keep(&mut self) -> Result<()> {
        self.largest = filled(start(self.kind), self.slots)?;
        self.grown = zeroed((self.slots >> 12) + 1)?;
        Ok(())
    }

    /// Take the example's values into account from now on; room was made for it.
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
            // 0 times infinity is no number, and min passes it over.
            *largest = largest.max(value.abs().min(growth * *largest));
            let (word, bit) = neighbourhood(slot as usize);
            // A full scale has no such words.
            if let Some(word) = self.grown.get_mut(word) {
                *word |= if *largest > 1.0 { bit } else { 0 };
            }
        }
    }

    /// Scale the examples of a chunk in their order, as a learner that meets them would see them.
    pub fn scale_chunk(&mut self, chunk: &mut Chunk) -> Result<()> {
        let mut scratch = Vec::new();
        for k in 0..chunk.len() {
            let example = chunk.example(k);
            if self.leave(&example) {
                continue;
            }
            self.reserve(&example)?;
            self.normalise(&example, &mut scratch);
            self.remember(&example);
            chunk.values_mut(k).copy_from_slice(&scratch);
        }
        Ok(())
    }

    /// Put back the scale of a slot.
    pub fn set(&mut self, slot: usize, largest: f32) -> std::result::Result<(), String> {
        if !(largest > 0.0 && largest >= start(self.kind) && largest.is_finite()) {
            return Err(format!("'scale' holds {largest:?}, which is no scale"));
        }
        if !self.are_kept() {
            self.keep().map_err(|error| error.to_string())?;
        }
        self.largest[slot] = largest;
        let (word, bit) = neighbourhood(slot);
        if let Some(word) = self.grown.get_mut(word) {
            *word |= bit;
        }
        Ok(())
    }

    /// Whether that is so for all examples of a course.
    pub fn leave_all(&self, examples: &Ordered<'_>) -> bool {
        match self.kind {
            Scale::None => true,
            Scale::Cap => !examples.is_any_large() && !self.are_kept(),
            Scale::Full => false,
        }
    }

    /// Whether the example's values are what the rule sees, and nothing is to be remembered of them.
    #[inline(always)]
    pub fn leave(&self, example: &Example<'_>) -> bool {
        // Without early exit, so that it is a few vector instructions.
        let large = || example.values.iter().fold(false, |any, value| any | (value.abs() > 1.0));
        match self.kind {
            Scale::None => true,
            Scale::Cap => !large() && !self.has_grown(example),
            Scale::Full => false,
        }
    }

    /// Whether a feature of the example, or a neighbour, has met a value above 1.
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
        Example { label: 1.0, importance: 1.0, slots: &[4, 1], values }
    }

    fn seen(scales: &Scales, values: &[f32]) -> Vec<f32> {
        let mut scratch = Vec::new();
        scales.normalise(&example(values), &mut scratch).values.to_vec()
    }

    fn met(kind: Scale, values: &[f32]) -> Result<Scales> {
        let mut scales = Scales::new(kind, 5)?;
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
            assert!(Scales::new(kind, 5)?.set(1, wrong).is_err());
        }
        Ok(())
    }
}
