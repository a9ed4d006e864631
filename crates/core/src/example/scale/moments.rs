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
//! Cost: a line of 24 bytes for every feature met, in the order of first use, and four bytes a slot that tell
//! the line; memory of zeros is allocated on first touch.

use lessregret_prefetch::prefetch;

use super::line::EQUAL;
use crate::alloc::{too_many, zeroed};
use crate::error::Result;

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

/// The statistics of all features that have any.
#[derive(Clone, Debug, Default)]
pub struct MomentTable {
    /// The place of the line of each slot, 0 if it has none. Empty before the first line.
    places: Vec<u32>,
    /// Line 0 stands for all slots that have none, and never changes.
    lines: Vec<Moments>,
    /// The slot of each line but the first.
    slots: Vec<u32>,
}

impl MomentTable {
    /// Allocate the memory for this many more lines of a table with so many slots.
    pub fn reserve(&mut self, slots: usize, more: usize) -> Result<()> {
        if self.places.is_empty() {
            self.places = zeroed(slots)?;
        }
        let lines = self.lines.try_reserve(more + 1).and_then(|()| self.slots.try_reserve(more));
        lines.map_err(|_| too_many::<Moments>(self.lines.len() + more))?;
        if self.lines.is_empty() {
            self.lines.push(Moments::default());
        }
        Ok(())
    }

    /// The statistics of a slot, if it has any.
    pub fn get(&self, slot: u32) -> Option<Moments> {
        let place = *self.places.get(slot as usize)?;
        (place > 0).then(|| self.lines[place as usize])
    }

    /// Replace `places` by those of the lines of these slots. The lines are prefetched: all lookups of an
    /// example overlap, and the first loop that uses a line finds it near.
    pub fn find(&self, slots: &[u32], places: &mut Vec<u32>) {
        places.clear();
        places.extend(slots.iter().map(|&slot| self.places[slot as usize]));
        for &place in &*places {
            prefetch(&self.lines, place as usize);
        }
    }

    /// Prefetch the places of these slots.
    pub fn prefetch(&self, slots: &[u32]) {
        for &slot in slots {
            prefetch(&self.places, slot as usize);
        }
    }

    /// All lines, indexed by place. Line 0 stands for all slots that have none.
    pub fn lines(&self) -> &[Moments] {
        &self.lines
    }

    /// Replace the statistics of a slot whose line has this place. A slot without a line gets the next one;
    /// this requires a call of [`MomentTable::reserve`] before.
    #[inline(always)]
    pub fn set(&mut self, slot: u32, place: u32, moments: Moments) {
        if place > 0 {
            self.lines[place as usize] = moments;
        } else {
            self.places[slot as usize] = self.lines.len() as u32;
            self.lines.push(moments);
            self.slots.push(slot);
        }
    }

    /// The slots that have statistics, in the order of first use.
    pub fn slots(&self) -> &[u32] {
        &self.slots
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
        let mut table = MomentTable::default();
        assert_eq!(table.get(3), None);
        table.reserve(5, 2)?;
        let mut places = Vec::new();
        table.set(3, 0, Moments::of(2.0, 1));
        table.set(0, 0, Moments::of(7.0, 1));
        table.find(&[3, 1], &mut places);
        table.set(3, places[0], Moments::of(4.0, 9));
        assert_eq!((table.get(3), table.get(1)), (Some(Moments::of(4.0, 9)), None));
        assert_eq!((table.lines()[places[0] as usize], places[1]), (Moments::of(4.0, 9), 0));
        assert_eq!(table.slots(), [3, 0]);
        Ok(())
    }
}
