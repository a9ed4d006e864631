//! Which slots were ever met, so that nobody need walk over the rest.
//!
//! A table for millions of features may hold a few thousand. Memory that was never touched has not even
//! been given by the system; a walk over all slots, for the ledger or for a model file, would fetch it.
//! A mark is set for every feature met, whatever became of it. A page is 64 slots, and a word of marks.
//!
//! Cost: a bit a slot, and one look at it for every feature.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::alloc::zeroed;
use crate::error::Result;

const SLOTS_BITS: u32 = 6;

/// Marks for the slots of a table.
pub struct TouchedSlots {
    met: Vec<AtomicU64>,
}

impl TouchedSlots {
    /// The pages of a table with this many slots, none of them met.
    pub fn new(slots: usize) -> Result<Self> {
        Ok(TouchedSlots { met: zeroed(slots.div_ceil(1 << SLOTS_BITS))? })
    }

    /// Note that a slot was met.
    #[inline]
    pub fn meet(&self, slot: usize) {
        let (met, bit) = (&self.met[slot >> SLOTS_BITS], 1 << (slot & 63));
        if met.load(Relaxed) & bit == 0 {
            met.fetch_or(bit, Relaxed);
        }
    }

    /// Note that all these were met.
    #[inline(always)]
    pub fn meet_all(&self, slots: &[u32]) {
        for &slot in slots {
            self.meet(slot as usize);
        }
    }

    /// The slots met, ascending.
    #[inline]
    pub fn slots(&self) -> impl Iterator<Item = usize> {
        let pages = self.met.iter().map(|met| met.load(Relaxed)).enumerate();
        let pages = pages.filter(|(_, met)| *met != 0);
        pages.flat_map(|(page, met)| ones(met).map(move |place| page << SLOTS_BITS | place))
    }
}

/// The places of the bits that are set, ascending.
#[inline]
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (place < 64).then_some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_met_are_told_once_and_in_order() -> Result<()> {
        let pages = TouchedSlots::new(130)?;
        assert_eq!(pages.slots().count(), 0);
        pages.meet_all(&[129, 3, 63, 64, 3]);
        assert!(pages.slots().eq([3, 63, 64, 129]));
        Ok(())
    }
}
