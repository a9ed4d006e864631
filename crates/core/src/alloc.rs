//! Allocation of large arrays, with an error instead of an abort.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::allocation::try_zeroed_vec;
use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use memmap2::MmapMut;

use crate::error::{Error, Result};

/// An empty vector with memory for this many entries, or an error if there is not enough memory.
pub(crate) fn reserved<T>(length: usize) -> Result<Vec<T>> {
    check_fault::<T>(length)?;
    let mut entries = Vec::new();
    entries.try_reserve_exact(length).map_err(|_| too_many::<T>(length))?;
    Ok(entries)
}

/// A vector of zeros, or an error if there is not enough memory. The system allocates the memory on first
/// touch, so the unused parts of a large table cost nothing.
pub(crate) fn zeroed<T: Zeroable>(length: usize) -> Result<Vec<T>> {
    check_fault::<T>(length)?;
    try_zeroed_vec(length).map_err(|()| too_many::<T>(length))
}

/// Zeroed entries with random access, one per slot.
///
/// The memory is mapped anonymously, so it is aligned to cache lines and unused parts cost nothing. With
/// pages of 4 kB a TLB miss takes as long as the access to the entry itself. Huge pages avoid it, but the
/// first touch of each allocates all of its 2 MB. So they are requested when so much is used that all small
/// pages would be allocated anyway.
pub(crate) struct Table<T> {
    memory: MmapMut,
    length: usize,
    entries: PhantomData<T>,
}

impl<T: Pod> Table<T> {
    /// A table of this many entries.
    pub(crate) fn zeroed(length: usize) -> Result<Self> {
        check_fault::<T>(length)?;
        let bytes = length.checked_mul(size_of::<T>());
        // A multiple of the huge page size, so that the system aligns the table to huge pages.
        let page = if bytes > Some(LARGE_PAGE) { LARGE_PAGE } else { SYSTEM_PAGE };
        let bytes = bytes.and_then(|bytes| bytes.max(1).checked_next_multiple_of(page));
        let memory = bytes.and_then(|bytes| MmapMut::map_anon(bytes).ok());
        let memory = memory.ok_or_else(|| too_many::<T>(length))?;
        Ok(Table { memory, length, entries: PhantomData })
    }

    /// A hint of the number of accesses to come, each to a random entry.
    pub(crate) fn expect(&mut self, uses: u64) {
        if uses > (self.memory.len() / SYSTEM_PAGE) as u64 {
            self.use_huge_pages();
        }
    }

    /// Request huge pages from now on. Without support by the system nothing changes.
    pub(crate) fn use_huge_pages(&mut self) {
        #[cfg(target_os = "linux")]
        let _ = self.memory.advise(memmap2::Advice::HugePage);
    }
}

impl<T: Pod> Deref for Table<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        cast_slice(&self.memory[..self.length * size_of::<T>()])
    }
}

impl<T: Pod> DerefMut for Table<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        cast_slice_mut(&mut self.memory[..self.length * size_of::<T>()])
    }
}

const SYSTEM_PAGE: usize = 4096;
const LARGE_PAGE: usize = 2 << 20;

/// The error for a table of this many entries.
pub(crate) fn too_many<T>(length: usize) -> Error {
    let bytes = length.saturating_mul(size_of::<T>());
    Error::Memory(format!("{length} slots need {bytes} bytes, more than there are; use fewer bits"))
}

/// The error of an allocation that a test lets fail.
#[inline(always)]
fn check_fault<T>(length: usize) -> Result<()> {
    if faults::is_next() { Err(too_many::<T>(length)) } else { Ok(()) }
}

/// Outside tests no allocation is made to fail.
#[cfg(not(test))]
mod faults {
    #[inline(always)]
    pub(super) fn is_next() -> bool {
        false
    }
}

/// Lets a chosen allocation fail, to test what the error leaves behind.
#[cfg(test)]
pub(crate) mod faults {
    use std::cell::Cell;

    thread_local! {
        /// The number of allocations of this thread up to the one that fails; 0 for none.
        static UNTIL_FAULT: Cell<usize> = const { Cell::new(0) };
    }

    /// Do some work whose allocation number `k`, from 1, fails. Says whether it came so far.
    pub(crate) fn with_fault_at<T>(k: usize, work: impl FnOnce() -> T) -> (T, bool) {
        UNTIL_FAULT.set(k);
        let outcome = work();
        (outcome, UNTIL_FAULT.replace(0) == 0)
    }

    /// Whether the next allocation is the one that fails.
    pub(super) fn is_next() -> bool {
        let left = UNTIL_FAULT.get();
        UNTIL_FAULT.set(left.saturating_sub(1));
        left == 1
    }
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
