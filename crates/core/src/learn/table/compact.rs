//! The compact table of the lanes: one line for every slot that was met, in the order of first use.
//!
//! A table for millions of features may meet some hundred thousand, spread over the whole table. In a plain
//! array the system would allocate every memory page for a few lines, and every line would need a TLB entry
//! of its own. The compact table stores the lines contiguously, frequent ones near the beginning, and
//! `example/index.rs` maps each slot to the position of its line. A million click lines with four million
//! slots of 64 bytes use 46 MB, not 256.
//!
//! Cost: four bytes a slot, and one more lookup for each feature, in an array a sixteenth as large.

use std::sync::Arc;

use lessregret_prefetch::prefetch;

use crate::alloc::{Table, too_many};
use crate::error::Result;
use crate::example::SlotIndex;

/// The lines of a table and the index of their positions.
pub struct CompactTable<L> {
    index: Arc<SlotIndex>,
    /// Line 0 stands for all slots that were never met, and never changes.
    lines: Table<L>,
    /// The last position whose memory has been requested.
    had: u32,
}

impl<L: bytemuck::Pod> CompactTable<L> {
    /// A table for this many slots, none of them met.
    pub fn new(slots: usize) -> Result<Self> {
        // Allocate the lines first: they need the most memory, so a failure is reported for them.
        let lines = Table::zeroed(slots + 1).map_err(|_| too_many::<L>(slots))?;
        Ok(CompactTable { index: Arc::new(SlotIndex::new(slots)?), lines, had: 0 })
    }

    /// The index from slots to the positions of their lines.
    #[inline(always)]
    pub fn index(&self) -> &Arc<SlotIndex> {
        &self.index
    }

    /// A hint of the number of features to come, for choosing huge pages. Says whether there are so many that their
    /// lines fill them.
    pub fn expect(&mut self, features: u64) -> bool {
        // Lines are allocated contiguously, so many of them soon fill a huge page.
        if features > MANY {
            self.lines.use_huge_pages();
        }
        features > MANY
    }

    /// Request the memory of all lines that have a position. Lines must not be changed before that.
    pub fn commit_memory(&mut self) {
        let (first, last) = (self.had as usize + 1, self.index.last() as usize);
        if first <= last {
            // Memory that is read before it is written is first mapped to the zero page, in small pages, and
            // faults twice.
            self.lines[first..=last].fill(L::zeroed());
            self.had = last as u32;
        }
    }

    /// The line of a slot; line 0 if the slot was never met.
    #[inline]
    pub fn line(&self, slot: usize) -> &L {
        &self.lines[self.index.find(slot as u32) as usize]
    }

    /// The mutable line of a slot. A new slot gets the next position.
    pub fn meet(&mut self, slot: usize) -> &mut L {
        let position = self.index.meet(slot as u32);
        if position > self.had {
            self.commit_memory();
        }
        &mut self.lines[position as usize]
    }

    /// All lines, indexed by position.
    #[inline(always)]
    pub fn lines(&self) -> &[L] {
        &self.lines
    }

    /// All lines, mutable, indexed by position.
    #[inline(always)]
    pub fn lines_mut(&mut self) -> &mut [L] {
        &mut self.lines
    }

    /// Prefetch the lines at these positions.
    #[inline(always)]
    pub fn prefetch_all(&self, positions: &[u32]) {
        let lines = &*self.lines;
        for &position in positions {
            prefetch(lines, position as usize);
        }
    }
}

/// The number of features whose lines fill a huge page or more, if one in four is new.
const MANY: u64 = 1 << 17;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_as_they_were_put_while_others_are_met() -> Result<()> {
        let mut table: CompactTable<[f32; 16]> = CompactTable::new(500)?;
        for slot in 0..300 {
            // A reader meets slots before the learner does.
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
