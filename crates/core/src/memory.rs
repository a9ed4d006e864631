//! Large arrays, asked for politely.

use std::hint::black_box;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};

use bytemuck::allocation::try_zeroed_vec;
use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};

use crate::error::{Error, Result};

/// A vector of equal entries, one a slot, or an error where the memory is not to be had.
pub(crate) fn filled<T: Clone>(entry: T, length: usize) -> Result<Vec<T>> {
    let mut entries = Vec::new();
    entries.try_reserve_exact(length).map_err(|_| too_many::<T>(length))?;
    entries.resize(length, entry);
    Ok(entries)
}

/// The same of zeros, which the system gives when they are first touched: what is never used of a
/// large table costs nothing.
pub(crate) fn zeroed<T: Zeroable>(length: usize) -> Result<Vec<T>> {
    try_zeroed_vec(length).map_err(|()| too_many::<T>(length))
}

/// Zeroed entries made of floats that begin on a cache line, and so do all of 64 bytes.
///
/// An entry of that alignment would do the same, but memory so aligned is zeroed by hand and all of it
/// touched: 0.2 s for the lanes of four million slots.
pub(crate) struct Table<T> {
    floats: Vec<f32>,
    place: Range<usize>,
    entries: PhantomData<T>,
}

impl<T: Pod> Table<T> {
    /// A table of so many entries.
    pub(crate) fn zeroed(length: usize) -> Result<Self> {
        let size = length.saturating_mul(size_of::<T>()) / size_of::<f32>();
        let room = size.saturating_add(CACHE_LINE / size_of::<f32>());
        let floats: Vec<f32> = try_zeroed_vec(room).map_err(|()| too_many::<T>(length))?;
        let beyond = floats.as_ptr() as usize % CACHE_LINE;
        let start = ((CACHE_LINE - beyond) % CACHE_LINE) / size_of::<f32>();
        Ok(Table { floats, place: start..start + size, entries: PhantomData })
    }
}

impl<T> Table<T> {
    /// Have the system give all of the memory now, in order, which is quicker than page by page when a
    /// feature happens to lie there.
    pub(crate) fn touch_all(&mut self) {
        for float in self.floats.iter_mut().step_by(SYSTEM_PAGE / size_of::<f32>()) {
            *float = black_box(*float);
        }
    }
}

impl<T: Pod> Deref for Table<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        cast_slice(&self.floats[self.place.clone()])
    }
}

impl<T: Pod> DerefMut for Table<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        cast_slice_mut(&mut self.floats[self.place.clone()])
    }
}

const CACHE_LINE: usize = 64;
const SYSTEM_PAGE: usize = 4096;

fn too_many<T>(length: usize) -> Error {
    let bytes = length.saturating_mul(size_of::<T>());
    Error::Spec(format!("{length} slots need {bytes} bytes, more than there are; use fewer bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_begins_on_a_cache_line_and_is_zero() -> Result<()> {
        for length in [0, 1, 100, 1 << 16] {
            let mut table: Table<[[f32; 8]; 2]> = Table::zeroed(length)?;
            assert_eq!((table.len(), table.as_ptr() as usize % 64), (length, 0));
            assert!(table.iter().all(|entry| *entry == [[0.0; 8]; 2]));
            if let Some(last) = table.last_mut() {
                last[1][7] = 1.0;
            }
            assert_eq!(table.iter().filter(|entry| entry[1][7] == 1.0).count(), length.min(1));
        }
        Ok(())
    }

    #[test]
    fn what_cannot_be_had_is_said() {
        let told = Table::<[[f32; 8]; 2]>::zeroed(1 << 57).map(|table| table.len()).unwrap_err();
        assert!(told.to_string().contains("more than there are; use fewer bits"), "{told}");
    }
}
