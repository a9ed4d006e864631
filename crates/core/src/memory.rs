//! Large arrays, asked for politely.

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;

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

fn too_many<T>(length: usize) -> Error {
    let bytes = length.saturating_mul(size_of::<T>());
    Error::Spec(format!("{length} slots need {bytes} bytes, more than there are; use fewer bits"))
}
