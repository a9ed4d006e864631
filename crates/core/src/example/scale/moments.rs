//! The statistics of the values of a feature, and the table of them.
//!
//! ```text
//! n     the number of values
//! μ     their mean                 each new value x: μ' = μ + (x − μ)/n
//! M2    Σ (x − μ)²                                   M2' = M2 + (x − μ)(x − μ')        Welford (1962)
//! ```
//!
//! A value counts with at most the distance from the mean that makes the spread ten times as large, so that one wild
//! value does not end the use of its feature; a change of units is followed within a few values.
//!
//! float64, because a column such as 100,000 ± 1 would lose its spread in float32. Two parts of a stream can
//! be merged: n is a count, and μ and M2 follow by the formula of Chan, Golub & LeVeque (1979).
//!
//! Cost: four bytes for every feature met, where the index of slots has its position, and a line of 32 bytes for a
//! feature that had a value other than 1. While all values are 1, n says all: μ = 1 and M2 = 0. Click logs have such
//! features only, but for a few whose names share a slot, and would need as much memory for lines as for all else
//! that is learned from them. A learner with lanes has its own lines at the same positions, so that one lookup
//! serves both.

use std::fmt;
use std::sync::Arc;

use lessregret_prefetch::prefetch;

use super::line::EQUAL;
use crate::alloc::Table;
use crate::error::Result;
use crate::example::SlotIndex;

/// n M2 grows by d² n/(n + 1), so with d² ≤ 99 M2 the variance grows at most a hundredfold in a round.
const GROWTH: f64 = 99.0;

/// The statistics of the values of a feature.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// n, the number of values. A float64 counts without gaps up to 2^53.
    pub count: f64,
    /// μ, the mean.
    pub mean: f64,
    /// M2, the sum of the squares of the distances to the mean.
    pub squares: f64,
}

impl Moments {
    /// The statistics of a value that came so many times.
    pub fn of(value: f64, count: u64) -> Self {
        Moments { count: count as f64, mean: value, squares: 0.0 }
    }

    /// The value that counts in the statistics: one so far away that it would make the spread more than ten times
    /// as large counts as one that makes it ten times as large.
    pub fn counted(self, value: f64) -> f64 {
        let limit = self.square_limit();
        let distance = value - self.mean;
        if limit > 0.0 && distance * distance > limit {
            return self.mean + limit.sqrt().copysign(distance);
        }
        value
    }

    /// The square of the largest distance that counts; 0 if there is no limit yet. Values that were all equal have
    /// their size as their spread.
    #[inline(always)]
    pub fn square_limit(self) -> f64 {
        let of_size = self.count * self.mean * self.mean;
        GROWTH * if self.squares > EQUAL * of_size { self.squares } else { of_size }
    }
}

/// n, μ and M2, and a number that is not used: half a cache line.
pub type Line = [f64; 4];

impl From<Moments> for Line {
    #[inline(always)]
    fn from(moments: Moments) -> Self {
        [moments.count, moments.mean, moments.squares, 0.0]
    }
}

impl From<Line> for Moments {
    #[inline(always)]
    fn from([count, mean, squares, _]: Line) -> Self {
        Moments { count, mean, squares }
    }
}

/// The count that says that a feature has a line.
const HAS_LINE: u32 = u32::MAX;
/// The number of lines from which on they are in huge pages, if half of the features have one.
const MANY_LINES: u32 = 1 << 14;

/// The statistics of all features that have any.
pub struct MomentTable {
    slots: usize,
    /// Where the statistics of each slot are; none before the first. Shared with a learner that has an index too.
    index: Option<Arc<SlotIndex>>,
    /// Indexed by position; none before the first.
    columns: Option<Columns>,
    has_huge_pages: bool,
}

/// The statistics, indexed by position. Position 0 stands for all slots that were never met, and never changes.
pub struct Columns {
    /// The number of values of a feature whose values were all 1; [`HAS_LINE`] for others.
    ones: Table<u32>,
    /// Where a line has a count above 0, it holds the statistics, and `ones` need not be looked at: that would be one
    /// more random read for every value other than 1.
    lines: Table<Line>,
    /// The number of features that have a line.
    with_line: u32,
}

impl fmt::Debug for MomentTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MomentTable").field("index", &self.index).finish_non_exhaustive()
    }
}

impl MomentTable {
    /// A table for so many slots, without statistics.
    pub fn new(slots: usize) -> Self {
        MomentTable { slots, index: None, columns: None, has_huge_pages: false }
    }

    /// Keep the lines, of which there are none yet, where this index says.
    pub fn share(&mut self, index: Arc<SlotIndex>) {
        self.index = Some(index);
    }

    /// The index of the lines, if there may be any.
    pub fn index(&self) -> Option<&Arc<SlotIndex>> {
        self.index.as_ref()
    }

    /// Allocate the memory of the lines. The system provides it when a line is first used.
    #[inline(always)]
    pub fn reserve(&mut self) -> Result<()> {
        if self.columns.is_none() {
            if self.index.is_none() {
                self.index = Some(Arc::new(SlotIndex::new(self.slots)?));
            }
            let lines = Table::zeroed(self.slots + 1)?;
            let mut ones = Table::zeroed(self.slots + 1)?;
            if self.has_huge_pages {
                ones.use_huge_pages();
            }
            self.columns = Some(Columns { ones, lines, with_line: 0 });
        }
        self.choose_pages();
        Ok(())
    }

    /// Request huge pages for the lines to come, once it is known that most features have one.
    #[inline(always)]
    fn choose_pages(&mut self) {
        let Some(columns) = &mut self.columns else { return };
        if self.has_huge_pages && columns.with_line >= MANY_LINES {
            let met = self.index.as_ref().map_or(0, |index| index.last());
            if columns.with_line > met / 2 {
                columns.lines.use_huge_pages();
            }
            // Asked once.
            self.has_huge_pages = false;
        }
    }

    /// A hint that so many features come that their lines fill huge pages.
    pub fn expect_many(&mut self) {
        self.has_huge_pages = true;
    }

    /// The statistics of a slot, if it has any.
    pub fn get(&self, slot: u32) -> Option<Moments> {
        let line = self.columns.as_ref()?.view().line(self.find(slot));
        Some(Moments::from(line)).filter(|line| line.count > 0.0)
    }

    /// Replace `positions` by those of the lines of these slots, and allocate the memory of the lines.
    pub fn meet(&mut self, slots: &[u32], positions: &mut Vec<u32>) -> Result<()> {
        positions.clear();
        self.reserve()?;
        if let Some(index) = &self.index {
            index.meet_all(slots, positions);
        }
        Ok(())
    }

    /// The position of the line of a slot; 0 if it was never met.
    fn find(&self, slot: u32) -> u32 {
        self.index.as_ref().map_or(0, |index| index.find(slot))
    }

    /// The statistics by position; none before [`MomentTable::reserve`].
    #[inline(always)]
    pub fn columns_mut(&mut self) -> Option<&mut Columns> {
        self.columns.as_mut()
    }

    /// Replace the statistics of a slot that was met.
    pub fn set(&mut self, slot: u32, moments: Moments) {
        let position = self.find(slot);
        if let Some(columns) = &mut self.columns {
            columns.put(position, moments.into());
        }
    }

    /// Undo [`Columns::count_ones`] for the feature of a slot.
    pub fn uncount_one(&mut self, slot: u32) {
        let count = self.get(slot).unwrap_or_default().count;
        let left =
            if count > 1.0 { Moments::of(1.0, count as u64 - 1) } else { Moments::default() };
        self.set(slot, left);
    }

    /// The slots that have statistics, ascending.
    pub fn slots(&self) -> Vec<u32> {
        let met = self.index.iter().flat_map(|index| index.met().slots());
        met.map(|slot| slot as u32).filter(|&slot| self.get(slot).is_some()).collect()
    }
}

impl Columns {
    /// Prefetch the lines at these positions, or the counts if the values are 1.
    #[inline(always)]
    pub fn prefetch(&self, positions: &[u32], are_ones: bool) {
        if are_ones {
            let ones = &self.ones[..];
            for &position in positions {
                prefetch(ones, position as usize);
            }
        } else {
            let lines = &self.lines[..];
            for &position in positions {
                prefetch(lines, position as usize);
            }
        }
    }

    /// Replace the statistics at a position, which was met.
    #[inline(always)]
    pub fn put(&mut self, position: u32, line: Line) {
        let own = &mut self.lines[position as usize];
        if own[0] > 0.0 {
            *own = line;
        } else {
            self.put_first(position, line);
        }
    }

    /// Replace the statistics at these positions, which are different and were met, by those at the same places of
    /// the counts, the means and the sums of squares.
    #[inline(always)]
    pub fn put_all(&mut self, positions: &[u32], [counts, means, squares]: [&[f64; 8]; 3]) {
        let (lines, mut first) = (&mut self.lines[..], 0_u8);
        for (k, &position) in positions.iter().enumerate().take(8) {
            let own = &mut lines[position as usize];
            if own[0] > 0.0 {
                // Number by number. A line that is put together in memory, and is then copied as one vector, fails
                // store forwarding: a third of the time of scaling.
                (own[0], own[1], own[2]) = (counts[k], means[k], squares[k]);
            } else {
                first |= 1 << k;
            }
        }
        while first != 0 {
            let k = first.trailing_zeros() as usize;
            self.put_first(positions[k], [counts[k], means[k], squares[k], 0.0]);
            first &= first - 1;
        }
    }

    /// The statistics, to look up many of them.
    #[inline(always)]
    pub fn view(&self) -> View<'_> {
        View { ones: &self.ones, lines: &self.lines }
    }

    /// Replace statistics where there is no line, or one of no values.
    #[inline(never)]
    fn put_first(&mut self, position: u32, line: Line) {
        let [count, mean, squares, _] = line;
        let ones = &mut self.ones[position as usize];
        let is_ones = mean == 1.0 && squares == 0.0 && count < f64::from(HAS_LINE);
        if *ones != HAS_LINE && (is_ones || count == 0.0) {
            *ones = count as u32;
            return;
        }
        self.with_line += u32::from(*ones != HAS_LINE);
        *ones = HAS_LINE;
        self.lines[position as usize] = line;
    }

    /// Count one more value of 1 for the features at these positions. Skips those for which that is not all: with a
    /// line, or in all of the `examples` so far. Appends their places in the list to `others`.
    #[inline(always)]
    pub fn count_ones(&mut self, positions: &[u32], examples: u64, others: &mut Vec<u32>) {
        let ones = &mut self.ones[..];
        // No count comes to `HAS_LINE`.
        let most = examples.min(u64::from(HAS_LINE)) as u32 - 1;
        for (k, &position) in positions.iter().enumerate() {
            let count = &mut ones[position as usize];
            if *count < most {
                *count += 1;
            } else {
                others.push(k as u32);
            }
        }
    }
}

/// Lines by their positions.
pub(super) trait Lines {
    /// The line at a position.
    fn line(&self, position: u32) -> Line;
}

/// The statistics of [`Columns`] as slices: a table checks its memory whenever it is used.
pub struct View<'a> {
    ones: &'a [u32],
    lines: &'a [Line],
}

impl Lines for View<'_> {
    #[inline(always)]
    fn line(&self, position: u32) -> Line {
        let line = &self.lines[position as usize];
        if line[0] > 0.0 {
            // Number by number, as they are stored.
            [line[0], line[1], line[2], 0.0]
        } else {
            line_of_ones(self.ones[position as usize])
        }
    }
}

/// The statistics where there is no line, or one of no values.
#[inline(always)]
fn line_of_ones(count: u32) -> Line {
    match count {
        0 | HAS_LINE => [0.0; 4],
        count => [f64::from(count), 1.0, 0.0, 0.0],
    }
}

impl Lines for [Line; 2] {
    #[inline(always)]
    fn line(&self, position: u32) -> Line {
        self[position as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wild_value_counts_as_one_that_makes_the_spread_ten_times_as_large() {
        let known = Moments { count: 4.0, mean: 2.0, squares: 4.0 };
        assert_eq!(known.counted(3.0), 3.0);
        assert_eq!(known.counted(1e30), 2.0 + (99.0_f64 * 4.0).sqrt());
        assert_eq!(known.counted(-1e30), 2.0 - (99.0_f64 * 4.0).sqrt());
        assert_eq!(Moments::default().counted(1e30), 1e30);
    }

    #[test]
    fn a_table_holds_what_was_put_last() -> Result<()> {
        let index = Arc::new(SlotIndex::new(5)?);
        let mut table = MomentTable::new(5);
        table.share(Arc::clone(&index));
        assert_eq!(table.get(3), None);
        // A reader meets slots before any of them has statistics.
        index.meet(1);
        let mut positions = Vec::new();
        table.meet(&[3, 0], &mut positions)?;
        table.set(3, Moments::of(2.0, 1));
        table.set(0, Moments::of(7.0, 1));
        table.meet(&[3, 4], &mut positions)?;
        assert_eq!(positions, [2, 4]);
        table.set(3, Moments::of(4.0, 9));
        assert_eq!((table.get(3), table.get(1)), (Some(Moments::of(4.0, 9)), None));
        assert_eq!(table.get(4), None);
        assert_eq!(table.slots(), [0, 3]);
        Ok(())
    }

    fn count(table: &mut MomentTable, others: &mut Vec<u32>) {
        if let Some(columns) = table.columns_mut() {
            columns.count_ones(&[1, 2, 3], 9, others);
        }
    }

    #[test]
    fn ones_are_counted_without_a_line_until_another_value_comes() -> Result<()> {
        let (mut table, mut others) = (MomentTable::new(5), Vec::new());
        table.meet(&[0, 1, 2], &mut Vec::new())?;
        table.set(2, Moments::of(1.0, 6));
        for _ in 0..2 {
            count(&mut table, &mut others);
        }
        assert_eq!(
            (table.get(0), table.get(2)),
            (Some(Moments::of(1.0, 2)), Some(Moments::of(1.0, 8)))
        );
        // A feature in all nine examples, and one with another value, are left to others.
        table.set(1, Moments::of(3.0, 4));
        count(&mut table, &mut others);
        assert_eq!((others.as_slice(), table.get(0)), (&[1, 2][..], Some(Moments::of(1.0, 3))));
        for _ in 0..2 {
            table.uncount_one(0);
        }
        assert_eq!(table.get(0), Some(Moments::of(1.0, 1)));
        table.uncount_one(0);
        assert_eq!((table.get(0), table.get(1)), (None, Some(Moments::of(3.0, 4))));
        // A feature whose line came later is undone to what it was with ones.
        table.set(2, Moments { count: 9.0, mean: 1.5, squares: 2.0 });
        table.set(2, Moments::of(1.0, 8));
        table.uncount_one(2);
        assert_eq!(table.get(2), Some(Moments::of(1.0, 7)));
        Ok(())
    }
}
