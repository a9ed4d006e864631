//! The table of many classes: the lines of all classes of a feature stand together.
//!
//! ```text
//! block of a feature    a line for each class, eight lanes each       at rate "auto"
//!                       a line for every eight classes, for the coin  at rate "auto", of a rule with a coin lane
//!                       a line for every eight classes                at one rate
//! ```
//!
//! So a feature costs one random access, and the lines after the first are prefetched by the processor. Blocks lie in
//! the order in which features were met (`learn/table/compact.rs` says why), and the table doubles when it is full:
//! reserved for all slots at once, twenty classes and four million slots would be six gigabytes of addresses.

use std::sync::Arc;

use lessregret_prefetch::prefetch;

use crate::alloc::Table;
use crate::error::Result;
use crate::example::SlotIndex;

/// Blocks of a table that has met nothing yet.
const FIRST_BLOCKS: usize = 1 << 8;

/// The blocks of lines and the index of their positions.
pub struct ClassTable<L> {
    index: Arc<SlotIndex>,
    /// Block 0 stands for all slots that were never met, and never changes.
    lines: Table<L>,
    stride: usize,
    blocks: usize,
    huge_pages: bool,
}

impl<L: bytemuck::Pod> ClassTable<L> {
    /// A table for this many slots, none of them met, with so many lines a block.
    pub fn new(slots: usize, stride: usize) -> Result<Self> {
        let blocks = FIRST_BLOCKS.min(slots + 1);
        let lines = Table::zeroed(blocks * stride)?;
        let index = Arc::new(SlotIndex::new(slots)?);
        Ok(ClassTable { index, lines, stride, blocks, huge_pages: false })
    }

    /// The index from slots to the positions of their blocks.
    #[inline(always)]
    pub fn index(&self) -> &Arc<SlotIndex> {
        &self.index
    }

    /// The number of lines of a block.
    #[inline(always)]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The number of blocks that there is memory for.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Use huge pages from now on.
    pub fn use_huge_pages(&mut self) {
        self.huge_pages = true;
        self.lines.use_huge_pages();
    }

    /// Get memory for all blocks that have a position.
    pub fn commit_memory(&mut self) -> Result<()> {
        let needed = self.index.last() as usize + 1;
        if needed <= self.blocks {
            return Ok(());
        }
        let blocks = needed.max(2 * self.blocks).min(self.index.slots() + 1);
        self.move_to(blocks, self.stride, |line| line)
    }

    /// Move every line to a table of wider blocks; `place` is the new place of a line in its block.
    pub fn widen(&mut self, stride: usize, place: impl Fn(usize) -> usize) -> Result<()> {
        self.move_to(self.blocks, stride, place)
    }

    fn move_to(
        &mut self,
        blocks: usize,
        stride: usize,
        place: impl Fn(usize) -> usize,
    ) -> Result<()> {
        let mut lines: Table<L> = Table::zeroed(blocks * stride)?;
        if self.huge_pages {
            lines.use_huge_pages();
        }
        for block in 0..self.blocks {
            for line in 0..self.stride {
                lines[block * stride + place(line)] = self.lines[block * self.stride + line];
            }
        }
        (self.lines, self.blocks, self.stride) = (lines, blocks, stride);
        Ok(())
    }

    /// The lines of the block at a position.
    #[inline(always)]
    pub fn block(&self, position: u32) -> &[L] {
        let start = position as usize * self.stride;
        &self.lines[start..start + self.stride]
    }

    /// The mutable lines of the block at a position.
    #[inline(always)]
    pub fn block_mut(&mut self, position: u32) -> &mut [L] {
        let start = position as usize * self.stride;
        &mut self.lines[start..start + self.stride]
    }

    /// All lines, mutable, block by block.
    #[inline(always)]
    pub fn lines_mut(&mut self) -> &mut [L] {
        &mut self.lines
    }

    /// Prefetch the first lines of the blocks at these positions; the processor follows them to the others.
    #[inline(always)]
    pub fn prefetch_all(&self, positions: &[u32]) {
        for &position in positions {
            let start = position as usize * self.stride;
            for line in 0..self.stride.min(2) {
                prefetch(&self.lines, start + line);
            }
        }
    }
}
