//! A line for every slot that was met, in the order in which they were met.
//!
//! A table for millions of features may meet some hundred thousand, strewn over all of it: every page of
//! memory is then asked of the system for a few lines, and every line is on a page of its own to the
//! processor. On a shelf the lines stand side by side, those met often near its beginning, and a slot
//! knows its place (`index.rs`). A million click lines with four million slots of 64 bytes use 46 MB, not
//! 256.
//!
//! Cost: four bytes a slot, and one more look for a feature, in an array a sixteenth as large.

use std::sync::Arc;

use lessregret_prefetch::prefetch;

use crate::alloc::{Table, too_many};
use crate::error::Result;
use crate::learn::table::index::SlotIndex;

/// The lines of a table.
pub struct CompactTable<L> {
    index: Arc<SlotIndex>,
    /// The first is that of all slots that were never met, and stays as it is.
    lines: Table<L>,
    /// Up to here memory has been asked for.
    had: u32,
}

impl<L: bytemuck::Pod> CompactTable<L> {
    /// For so many slots, none of them met.
    pub fn new(slots: usize) -> Result<Self> {
        // Lines first: where there is not the memory, they are what needs so much.
        let lines = Table::zeroed(slots + 1).map_err(|_| too_many::<L>(slots))?;
        Ok(CompactTable { index: Arc::new(SlotIndex::new(slots)?), lines, had: 0 })
    }

    /// Where lines stand.
    #[inline(always)]
    pub fn index(&self) -> &Arc<SlotIndex> {
        &self.index
    }

    /// Be told how many features are to come.
    pub fn expect(&mut self, features: u64) {
        // Lines fill their pages whatever comes, so many of them are soon a large one.
        if features > MANY {
            self.lines.use_huge_pages();
        }
    }

    /// Have the memory of all lines that have a place; before that they are not to be changed.
    pub fn commit_memory(&mut self) {
        let (first, last) = (self.had as usize + 1, self.index.last() as usize);
        if first <= last {
            // Memory that is read before it is written comes in small pages, and twice.
            self.lines[first..=last].fill(L::zeroed());
            self.had = last as u32;
        }
    }

    /// The line of a slot.
    #[inline]
    pub fn line(&self, slot: usize) -> &L {
        &self.lines[self.index.find(slot as u32) as usize]
    }

    /// The line of a slot, which is met by this.
    pub fn meet(&mut self, slot: usize) -> &mut L {
        let position = self.index.meet(slot as u32);
        if position > self.had {
            self.commit_memory();
        }
        &mut self.lines[position as usize]
    }

    /// All lines, by their positions.
    #[inline(always)]
    pub fn lines(&self) -> &[L] {
        &self.lines
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn lines_mut(&mut self) -> &mut [L] {
        &mut self.lines
    }

    /// Have the lines at these positions brought near.
    #[inline(always)]
    pub fn prefetch_all(&self, positions: &[u32]) {
        let lines = &*self.lines;
        for &position in positions {
            prefetch(lines, position as usize);
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
        let mut table: CompactTable<[f32; 16]> = CompactTable::new(500)?;
        for slot in 0..300 {
            // A reader is ahead of the learner.
            table.index().meet(499 - slot);
            table.meet(slot as usize)[3] = slot as f32;
        }
        table.commit_memory();
        for slot in 0..500 {
            let put = if slot < 300 { slot as f32 } else { 0.0 };
            assert_eq!(table.line(slot)[3], put);
        }
        assert_eq!(table.index().last(), 500);
        Ok(())
    }
}
