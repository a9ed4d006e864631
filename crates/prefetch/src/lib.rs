//! Hints about memory, which change no result: a prefetch of a table entry into the cache, and huge pages.
//!
//! A learner knows the slots of the next example while it learns from the current one. They lie anywhere in a
//! table that is larger than any cache. A prefetch hides the latency of their cache misses, and huge pages avoid the
//! TLB misses.

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

/// Move these entries, whose memory is in use, to huge pages. Without support by the system (Linux 6.1) nothing
/// changes.
pub fn collapse<T>(entries: &[T]) {
    advise(entries.as_ptr().addr(), size_of_val(entries));
}

#[cfg(target_os = "linux")]
fn advise(start: usize, length: usize) {
    // The advice is for whole pages; a huge page is a multiple of every other.
    let first = start.next_multiple_of(HUGE_PAGE);
    let end = (start + length) / HUGE_PAGE * HUGE_PAGE;
    if first < end {
        // SAFETY: the range is memory of the caller's, and the advice neither moves nor changes what is there.
        let _ = unsafe {
            libc::madvise(std::ptr::without_provenance_mut(first), end - first, libc::MADV_COLLAPSE)
        };
    }
}

#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;

#[cfg(not(target_os = "linux"))]
fn advise(_: usize, _: usize) {}

#[cfg(test)]
mod tests {
    #[test]
    fn huge_pages_change_nothing_that_is_there() {
        let mut entries = vec![0_u32; 3 << 20];
        entries[1 << 20] = 7;
        super::collapse(&entries);
        assert_eq!(entries.iter().sum::<u32>(), 7);
        super::collapse::<u32>(&[]);
    }

    #[test]
    fn any_index_may_be_asked_for() {
        let entries = [1.0f32; 100];
        for index in [0, 99, 100, usize::MAX] {
            super::prefetch(&entries, index);
        }
        super::prefetch::<u8>(&[], 0);
    }
}
