//! The state of a coordinate, for one rate and for eight.

use std::slice;

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use crate::simd::LANES;

/// The state of a coordinate: a few named floats, initially all zero.
pub trait Slot: Copy + Default + Pod + Send + Sync + 'static {
    /// The names of the floats, as in the model file.
    const FIELDS: &'static [&'static str];
    /// The float with this index.
    fn get(&self, field: usize) -> f32;
    /// Set the float with this index.
    fn set(&mut self, field: usize, value: f32);
    /// The slots of one coordinate in all lanes.
    type Line: Line<Self>;
    /// Whether the slot is bit-identical to its initial state.
    fn is_untouched(&self) -> bool {
        (0..Self::FIELDS.len()).all(|field| self.get(field).to_bits() == 0)
    }
}

/// The slots of one coordinate in all lanes, stored field by field, so that updates vectorise over the lanes.
/// Two fields fill a cache line.
pub trait Line<S>: Copy + Default + Pod + Send + Sync + 'static {
    /// The slot of a lane.
    fn get(&self, lane: usize) -> S;
    /// Set the slot of a lane.
    fn put(&mut self, lane: usize, slot: S);
    /// One field of the slots, for all lanes.
    fn field(&self, field: usize) -> &[f32; LANES] {
        &cast_slice(slice::from_ref(self))[field]
    }
    /// One field of the slots, for all lanes, mutable.
    fn field_mut(&mut self, field: usize) -> &mut [f32; LANES] {
        &mut cast_slice_mut(slice::from_mut(self))[field]
    }
    /// Whether the slots of all lanes are bit-identical to their initial state.
    fn is_untouched(&self) -> bool;
    /// The bitwise OR of each slot's floats: 0 for a slot in its initial state.
    fn bits(&self) -> [u32; LANES];
}

/// Declares a slot: a struct of floats with the [`Slot`] trait, and its line.
macro_rules! slot {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident),+ }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
        pub struct $name { $($(#[$field_doc])* pub $field: f32),+ }

        /// The floats of a slot for all lanes, field by field.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, bytemuck::Zeroable, bytemuck::Pod)]
        pub struct Line { $($field: [f32; $crate::simd::LANES]),+ }

        impl $crate::rule::Line<$name> for Line {
            #[inline]
            fn get(&self, lane: usize) -> $name { $name { $($field: self.$field[lane]),+ } }
            #[inline]
            fn put(&mut self, lane: usize, slot: $name) { $(self.$field[lane] = slot.$field;)+ }
            #[inline]
            fn is_untouched(&self) -> bool {
                // No early exit, so that the loop vectorises.
                let mut bits = 0;
                $(for number in self.$field { bits |= number.to_bits(); })+
                bits == 0
            }
            #[inline]
            fn bits(&self) -> [u32; $crate::simd::LANES] {
                let mut bits = [0; $crate::simd::LANES];
                $(for (all, number) in bits.iter_mut().zip(self.$field) { *all |= number.to_bits(); })+
                bits
            }
        }

        impl $crate::rule::Slot for $name {
            type Line = Line;
            const FIELDS: &'static [&'static str] = &[$(stringify!($field)),+];
            fn get(&self, field: usize) -> f32 { [$(self.$field),+][field] }
            fn set(&mut self, field: usize, value: f32) { *[$(&mut self.$field),+][field] = value; }
        }
    };
}
pub(crate) use slot;
