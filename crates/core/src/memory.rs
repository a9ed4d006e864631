//! Large arrays, asked for politely.

use crate::error::{Error, Result};

/// A vector of equal entries, one a slot, or an error where the memory is not to be had.
pub(crate) fn filled<T: Clone>(entry: T, length: usize) -> Result<Vec<T>> {
    let mut entries = Vec::new();
    entries.try_reserve_exact(length).map_err(|_| {
        let bytes = length.saturating_mul(size_of::<T>());
        Error::Spec(format!(
            "{length} slots need {bytes} bytes, more than there are; use fewer bits"
        ))
    })?;
    entries.resize(length, entry);
    Ok(entries)
}
