//! A bitmap of the slots that were ever met, so that loops can skip the others.
//!
//! A table for millions of features may hold a few thousand. The system has not even allocated memory that
//! was never touched; a loop over all slots, for the ledger or for a model file, would allocate it. The bit
//! is set for every feature met, whether or not its slot changed. A word holds the bits of 64 slots.
//!
//! Cost: a bit a slot, and one lookup for every feature.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::alloc::zeroed;
use crate::error::Result;

const SLOTS_BITS: u32 = 6;

/// A bit for every slot of a table.
pub struct TouchedSlots {
    met: Vec<AtomicU64>,
}

impl TouchedSlots {
    /// The bitmap of a table with this many slots, none of them met.
    pub fn new(slots: usize) -> Result<Self> {
        Ok(TouchedSlots { met: zeroed(slots.div_ceil(1 << SLOTS_BITS))? })
    }

    /// Set the bit of a slot.
    #[inline]
    pub fn meet(&self, slot: usize) {
        let (met, bit) = (&self.met[slot >> SLOTS_BITS], 1 << (slot & 63));
        if met.load(Relaxed) & bit == 0 {
            met.fetch_or(bit, Relaxed);
        }
    }

    /// Set the bits of all these slots.
    #[inline(always)]
    pub fn meet_all(&self, slots: &[u32]) {
        for &slot in slots {
            self.meet(slot as usize);
        }
    }

    /// The slots that were met, ascending.
    #[inline]
    pub fn slots(&self) -> impl Iterator<Item = usize> {
        let pages = self.met.iter().map(|met| met.load(Relaxed)).enumerate();
        let pages = pages.filter(|(_, met)| *met != 0);
        pages.flat_map(|(page, met)| ones(met).map(move |place| page << SLOTS_BITS | place))
    }
}

/// The positions of the bits that are set, ascending.
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
