//! Which parts of the table were ever used, so that nobody need walk over the rest.
//!
//! A table for millions of features may hold a few thousand. Memory that was never touched has not even
//! been given by the system; a walk over all slots, for the ledger or for a model file, would fetch it.
//! A page is 64 slots; a mark is set for every feature met, whatever became of it.
//!
//! Cost: a byte a page, and one look at it for every feature.

use std::ops::Range;

use crate::error::Result;
use crate::memory::zeroed;

const SLOTS_BITS: u32 = 6;

/// Marks for the pages of a table.
pub struct Pages {
    met: Vec<u8>,
    /// How many are met. Counted, not summed up when asked: a learner of single examples asks each time.
    count: usize,
    slots: usize,
}

impl Pages {
    /// The pages of a table with this many slots, none of them met.
    pub fn new(slots: usize) -> Result<Self> {
        Ok(Pages { met: zeroed(slots.div_ceil(1 << SLOTS_BITS))?, count: 0, slots })
    }

    /// Note that a slot was met.
    #[inline]
    pub fn meet(&mut self, slot: usize) {
        let met = &mut self.met[slot >> SLOTS_BITS];
        if *met == 0 {
            *met = 1;
            self.count += 1;
        }
    }

    /// Note that all these were met.
    #[inline(always)]
    pub fn meet_all(&mut self, slots: &[u32]) {
        for &slot in slots {
            self.meet(slot as usize);
        }
    }

    /// Whether a good part of the table is in use, so that soon all of it will be.
    pub fn are_many_met(&self) -> bool {
        4 * self.count > self.met.len()
    }

    /// The slots of all pages met, ascending: among them all that were met.
    pub fn slots(&self) -> impl Iterator<Item = usize> {
        self.met().flatten()
    }

    /// The same, page by page.
    #[inline]
    pub fn met(&self) -> impl Iterator<Item = Range<usize>> {
        let pages = self.met.iter().enumerate().filter(|(_, met)| **met != 0);
        pages.map(|(page, _)| page << SLOTS_BITS..((page + 1) << SLOTS_BITS).min(self.slots))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_met_gives_all_its_slots() -> Result<()> {
        let mut pages = Pages::new(130)?;
        assert_eq!((pages.slots().count(), pages.are_many_met()), (0, false));
        pages.meet_all(&[129, 3]);
        assert!(pages.slots().eq((0..64).chain(128..130)));
        assert!(pages.are_many_met());
        Ok(())
    }
}
