//! Asks the processor for memory before it is needed.
//!
//! A learner knows the slots of the next example while it learns from this one. They lie anywhere in a table
//! that is larger than any cache; asked for in time they are there when their turn comes.

/// Ask for an entry that will be used soon; one that does not exist is not asked for.
///
/// Nothing is read or written: a wrong guess costs a little time and nothing else.
#[inline(always)]
pub fn prefetch<T>(entries: &[T], index: usize) {
    if let Some(entry) = entries.get(index) {
        ask(entry);
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask<T>(entry: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 has the instruction, and it may be given any address; this one is valid.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(entry).cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn ask<T>(_: &T) {}

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
