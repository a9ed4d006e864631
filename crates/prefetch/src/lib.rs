//! A prefetch of a table entry into the cache.
//!
//! A learner knows the slots of the next example while it learns from the current one. They lie anywhere in a
//! table that is larger than any cache. A prefetch hides the latency of their cache misses.

/// Prefetch an entry that will be used soon.
///
/// Nothing is read or written, and the index is not checked: one that does not exist costs a little time and
/// nothing else.
#[inline(always)]
pub fn prefetch<T>(entries: &[T], index: usize) {
    ask(entries.as_ptr().wrapping_add(index));
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask<T>(entry: *const T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 has the instruction, and it accepts any address: it never faults.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(entry.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn ask<T>(_: *const T) {}

#[cfg(test)]
mod tests {
    #[test]
    fn any_index_may_be_asked_for() {
        let entries = [1.0f32; 100];
        for index in [0, 99, 100, usize::MAX] {
            super::prefetch(&entries, index);
        }
        super::prefetch::<u8>(&[], 0);
    }
}
