//! The check of rows after they were copied, since another thread may change the caller's arrays.

use super::Slice;
use crate::error::{Error, InputError};
use crate::example::Chunk;
use crate::simd::{InstructionSet, Simd, WithSimd};

/// Whether all slots of a chunk are below `slots`, and its values finite and not 0 unless zeros are required.
pub(super) fn is_sound(chunk: &Chunk, slots: usize) -> bool {
    let path = InstructionSet::chosen().unwrap_or(InstructionSet::Portable);
    let (features, values) = chunk.features_of(0..chunk.len());
    let zeros = chunk.requirements().zeros;
    path.run(Looking { slots: features, values, limit: slots, zeros })
}

/// The error for arrays that are not what they were when they were checked.
pub(super) fn changed() -> Error {
    let expected = "arrays that stay as they are while they are read; give a copy of them";
    InputError::argument("X", "entries that another thread has changed", expected).into()
}

/// The check of a chunk, as work for [`InstructionSet::run`].
struct Looking<'a> {
    slots: &'a [u32],
    values: &'a [f32],
    limit: usize,
    zeros: bool,
}

impl WithSimd for Looking<'_> {
    type Output = bool;

    #[inline(always)]
    fn call<V: Simd>(self, _simd: V) -> bool {
        let last = u32::try_from(self.limit.saturating_sub(1)).unwrap_or(u32::MAX);
        let mut beyond = 0;
        for &slot in self.slots {
            beyond |= u32::from(slot > last);
        }
        let sizes = Slice::Narrow::<f32, f64>(self.values).sizes(0..self.values.len());
        beyond == 0 && !sizes.any_infinite && (self.zeros || !sizes.known.any_zero)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slots_of_the_table_and_finite_values_are_sound() {
        for (slot, value, sound) in
            [(5, 0.5, true), (6, 0.5, false), (u32::MAX, 0.5, false), (5, f32::MAX, true)]
        {
            let mut chunk = Chunk::new(None);
            chunk.extend(&[2, slot], &[1.0, value]);
            chunk.finish(1.0, 1.0, b"");
            assert_eq!(is_sound(&chunk, 6), sound, "{slot} {value}");
        }
        for value in [f32::NAN, f32::INFINITY, 0.0] {
            let mut chunk = Chunk::new(None);
            chunk.append_example(
                &crate::example::Example {
                    label: 1.0,
                    importance: 1.0,
                    base: 0.0,
                    slots: &[1],
                    values: &[value],
                    unit_values: &[value],
                },
                b"",
            );
            assert!(!is_sound(&chunk, 6), "{value}");
        }
    }
}
