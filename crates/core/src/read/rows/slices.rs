//! Arrays of one of two types, read in place.
//!
//! Loops over entries have no early exit and call no closures, so that they vectorise in the kernels that
//! [`InstructionSet::run`](crate::simd::InstructionSet::run) compiles.

use std::ops::Range;

use crate::example::ValueSizes;

/// 32- or 64-bit indices.
pub type Indices<'a> = Slice<'a, i32, i64>;
/// 32- or 64-bit floats.
pub type Floats<'a> = Slice<'a, f32, f64>;

/// The entries of an array of either type.
#[derive(Clone, Copy, Debug)]
pub enum Slice<'a, A, B> {
    /// The narrow type.
    Narrow(&'a [A]),
    /// The wide type.
    Wide(&'a [B]),
}

impl<A, B> Slice<'_, A, B> {
    /// The number of entries.
    pub fn len(&self) -> usize {
        match self {
            Slice::Narrow(entries) => entries.len(),
            Slice::Wide(entries) => entries.len(),
        }
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Slice<'_, i32, i64> {
    /// Entry number `k`, an index.
    pub fn at(&self, k: usize) -> i64 {
        match self {
            Slice::Narrow(entries) => entries[k].into(),
            Slice::Wide(entries) => entries[k],
        }
    }

    /// Whether all entries are at least 0 and below `limit`.
    #[inline(always)]
    pub fn are_below(&self, entries: Range<usize>, limit: usize) -> bool {
        // As unsigned, a negative number is a large one.
        match self {
            Slice::Narrow(all) => {
                let limit = u32::try_from(limit).unwrap_or(u32::MAX);
                let mut beyond = 0;
                for &index in &all[entries] {
                    beyond |= u32::from(index as u32 >= limit);
                }
                beyond == 0
            }
            Slice::Wide(all) => {
                let mut beyond = 0;
                for &index in &all[entries] {
                    beyond |= u64::from(index as u64 >= limit as u64);
                }
                beyond == 0
            }
        }
    }

    /// The number of entries that are not below the next one.
    #[inline(always)]
    pub fn descents(&self, entries: Range<usize>) -> usize {
        match self {
            Slice::Narrow(all) => descents(&all[entries]),
            Slice::Wide(all) => descents(&all[entries]),
        }
    }
}

#[inline(always)]
fn descents<T: PartialOrd>(entries: &[T]) -> usize {
    let mut count = 0u32;
    for (one, next) in entries.iter().zip(entries.get(1..).unwrap_or_default()) {
        count += u32::from(one >= next);
    }
    count as usize
}

/// Properties of many values, as float32.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sizes {
    /// Whether any value is not finite.
    pub any_infinite: bool,
    /// What a chunk of them would know.
    pub known: ValueSizes,
}

impl Slice<'_, f32, f64> {
    /// Entry number `k`, a value.
    pub fn at(&self, k: usize) -> f32 {
        match self {
            Slice::Narrow(entries) => entries[k],
            Slice::Wide(entries) => entries[k] as f32,
        }
    }

    /// The properties of these entries, as float32.
    #[inline(always)]
    pub fn sizes(&self, entries: Range<usize>) -> Sizes {
        let mut seen = Seen::default();
        match self {
            Slice::Narrow(all) => {
                for &value in &all[entries] {
                    seen.see(value);
                }
            }
            Slice::Wide(all) => {
                for &value in &all[entries] {
                    seen.see(value as f32);
                }
            }
        }
        Sizes {
            any_infinite: seen.infinite != 0,
            known: ValueSizes {
                any_zero: seen.zero != 0,
                any_large: seen.large != 0,
                any_not_one: seen.not_one != 0,
            },
        }
    }
}

/// The accumulators of [`Sizes`], as wide as the values, so that the loop vectorises.
#[derive(Default)]
struct Seen {
    infinite: u32,
    zero: u32,
    large: u32,
    not_one: u32,
}

impl Seen {
    #[inline(always)]
    fn see(&mut self, value: f32) {
        // Without the sign bit, the bits of floats have the order of their absolute values.
        let size = value.to_bits() << 1;
        self.infinite |= u32::from(size >= f32::INFINITY.to_bits() << 1);
        self.zero |= u32::from(size == 0);
        self.large |= u32::from(size > 1f32.to_bits() << 1);
        self.not_one |= u32::from(value != 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_float32() {
        let of = |values: &[f64]| Slice::Wide::<f32, f64>(values).sizes(0..values.len());
        let sizes = |any_infinite, any_large, any_zero, any_not_one| Sizes {
            any_infinite,
            known: ValueSizes { any_large, any_zero, any_not_one },
        };
        assert_eq!(of(&[]), Sizes::default());
        assert_eq!(of(&[1.0, 1.0 + 1e-9]), Sizes::default());
        assert_eq!(of(&[1.0, -1.0, 1e-45]), sizes(false, false, false, true));
        for (value, expected) in [
            (f64::NAN, sizes(true, true, false, true)),
            (-1e39, sizes(true, true, false, true)),
            (-3e38, sizes(false, true, false, true)),
            (-1.000_001, sizes(false, true, false, true)),
            (-0.0, sizes(false, false, true, true)),
            (1e-46, sizes(false, false, true, true)),
            (0.5, sizes(false, false, false, true)),
        ] {
            for place in 0..40 {
                let mut values = [1.0; 40];
                values[place] = value;
                assert_eq!(of(&values), expected, "{value} at {place}");
            }
        }
    }

    #[test]
    fn descents_are_counted() {
        let of = |entries: &[i32]| Slice::Narrow::<i32, i64>(entries).descents(0..entries.len());
        assert_eq!((of(&[]), of(&[3]), of(&[1, 2, 7])), (0, 0, 0));
        assert_eq!((of(&[1, 1, 7]), of(&[3, 2, 1]), of(&[-1, 5, 5])), (1, 2, 1));
    }
}
