//! A line for every slot that was met, in the order in which they were met.
//!
//! A table for millions of features may meet some hundred thousand, strewn over all of it: every page of
//! memory is then asked of the system for a few lines, and every line is on a page of its own to the
//! processor. On a shelf the lines stand side by side, those met often near its beginning, and a slot
//! knows its place (`places.rs`). A million click lines with four million slots of 64 bytes use 46 MB, not
//! 256.
//!
//! Cost: four bytes a slot, and one more look for a feature, in an array a sixteenth as large.

use std::sync::Arc;

use lessregret_prefetch::prefetch;

use crate::error::Result;
use crate::memory::{Table, too_many};
use crate::places::Places;

/// The lines of a table.
pub struct Shelf<L> {
    places: Arc<Places>,
    /// The first is that of all slots that were never met, and stays as it is.
    lines: Table<L>,
    /// Up to here memory has been asked for.
    had: u32,
}

impl<L: bytemuck::Pod> Shelf<L> {
    /// For so many slots, none of them met.
    pub fn new(slots: usize) -> Result<Self> {
        // Lines first: where there is not the memory, they are what needs so much.
        let lines = Table::zeroed(slots + 1).map_err(|_| too_many::<L>(slots))?;
        Ok(Shelf { places: Arc::new(Places::new(slots)?), lines, had: 0 })
    }

    /// Where lines stand.
    #[inline(always)]
    pub fn places(&self) -> &Arc<Places> {
        &self.places
    }

    /// Be told how many features are to come.
    pub fn expect(&mut self, features: u64) {
        // Lines fill their pages whatever comes, so many of them are soon a large one.
        if features > MANY {
            self.lines.have_large_pages();
        }
    }

    /// Have the memory of all lines that have a place; before that they are not to be changed.
    pub fn have_memory(&mut self) {
        let (first, last) = (self.had as usize + 1, self.places.last() as usize);
        if first <= last {
            // Memory that is read before it is written comes in small pages, and twice.
            self.lines[first..=last].fill(L::zeroed());
            self.had = last as u32;
        }
    }

    /// The line of a slot.
    #[inline]
    pub fn line(&self, slot: usize) -> &L {
        &self.lines[self.places.find(slot as u32) as usize]
    }

    /// The line of a slot, which is met by this.
    pub fn meet(&mut self, slot: usize) -> &mut L {
        let place = self.places.meet(slot as u32);
        if place > self.had {
            self.have_memory();
        }
        &mut self.lines[place as usize]
    }

    /// All lines, by their places.
    #[inline(always)]
    pub fn lines(&self) -> &[L] {
        &self.lines
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn lines_mut(&mut self) -> &mut [L] {
        &mut self.lines
    }

    /// Have the lines at these places brought near.
    #[inline(always)]
    pub fn ask_for(&self, places: &[u32]) {
        let lines = &*self.lines;
        for &place in places {
            prefetch(lines, place as usize);
        }
    }
}

/// Features whose lines fill a large page or more, if one in four is new.
const MANY: u64 = 1 << 17;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_as_they_were_put_while_others_are_met() -> Result<()> {
        let mut shelf: Shelf<[f32; 16]> = Shelf::new(500)?;
        for slot in 0..300 {
            // A reader is ahead of the learner.
            shelf.places().meet(499 - slot);
            shelf.meet(slot as usize)[3] = slot as f32;
        }
        shelf.have_memory();
        for slot in 0..500 {
            let put = if slot < 300 { slot as f32 } else { 0.0 };
            assert_eq!(shelf.line(slot)[3], put);
        }
        assert_eq!(shelf.places().last(), 500);
        Ok(())
    }
}
