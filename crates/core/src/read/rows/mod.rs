//! Rows of a sparse matrix, read in place out of arrays.
//!
//! All rows and labels are checked before the first is handed over, so that nothing is learned from a
//! part of a matrix with a bad entry. Cost: a pass over the arrays with vector instructions, on all cores
//! where the matrix is large.

mod slices;
mod targets;

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use crate::error::{InputError, Result};
use crate::example::Chunk;
use crate::simd::{InstructionSet, Simd, WithSimd};
pub use slices::{Floats, Indices, Slice};
pub use targets::Targets;

/// Rows are turned into chunks of this many: few enough that a chunk of text is still in the cache when
/// it is learned from.
const BLOCK: usize = 64;

/// With fewer blocks than this the work is done before a thread has started.
const BLOCKS_FOR_A_THREAD: usize = 16;

/// And to look at fewer features than this.
const FEATURES_FOR_A_THREAD: usize = 1 << 18;

/// A sparse matrix by rows, as it is given.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// Where each row begins, and where the last one ends.
    pub indptr: Indices<'a>,
    /// The columns of the values.
    pub indices: Indices<'a>,
    /// The values.
    pub values: Floats<'a>,
}

/// A sparse matrix by rows, checked: every index in range, every value finite as float32.
pub struct Rows<'a> {
    matrix: Matrix<'a>,
    targets: Targets<'a>,
    look: Look,
}

/// What was seen of some rows when they were checked, so that nobody need look again.
#[derive(Clone, Copy)]
struct Look {
    /// Whether all is such as [`Rows`] promises.
    good: bool,
    /// Whether the indices of every row ascend and no value is 0.
    plain: bool,
    /// Whether a value is beyond -1 and 1.
    any_large: bool,
}

impl Look {
    const AT_NOTHING: Look = Look { good: true, plain: true, any_large: false };

    fn and(self, other: Look) -> Look {
        Look {
            good: self.good && other.good,
            plain: self.plain && other.plain,
            any_large: self.any_large || other.any_large,
        }
    }
}

impl<'a> Rows<'a> {
    /// Check the whole matrix, so that nothing is learned from a part of it; `targets` were checked for
    /// its number of rows.
    pub fn new(matrix: Matrix<'a>, columns: usize, targets: Targets<'a>) -> Result<Self> {
        let mut rows = Rows { matrix, targets, look: Look::AT_NOTHING };
        rows.look = rows.look_at_all(columns);
        if !rows.look.good {
            // Row by row only now, to name the place.
            (0..rows.len()).try_for_each(|row| rows.check_row(row, columns))?;
        }
        Ok(rows)
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.matrix.indices.len()
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.matrix.rows()
    }

    /// As many parts of about equal size as there are cores, in order; small ones are not parted.
    pub fn parts(&self) -> Vec<Range<usize>> {
        parts(0..self.len(), BLOCK)
    }

    /// Hand over some rows in chunks, in order.
    pub fn chunks(
        &self,
        rows: Range<usize>,
        chunk: &mut Chunk,
        mut take: impl FnMut(&Chunk) -> Result<()>,
    ) -> Result<()> {
        for block in blocks(rows) {
            self.fill(chunk, block);
            take(chunk)?;
        }
        Ok(())
    }

    /// Hand over all rows in chunks, in order.
    ///
    /// Where the positions of many slots are to be looked up, another thread makes the next chunks while
    /// one is taken; without that, the hand-over costs more than what is saved.
    pub fn chunks_ahead(
        &self,
        chunk: &mut Chunk,
        mut take: impl FnMut(&Chunk) -> Result<()>,
    ) -> Result<()> {
        let alone = chunk.requirements().index.is_none() || cores() == 1;
        if alone || self.len() < BLOCKS_FOR_A_THREAD * BLOCK {
            return self.chunks(0..self.len(), chunk, take);
        }
        let requirements = chunk.requirements().clone();
        let (give, made) = sync_channel(2);
        let (give_back, used) = channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                for block in blocks(0..self.len()) {
                    let new = |_| Chunk::for_requirements(requirements.clone());
                    let mut chunk = used.try_recv().unwrap_or_else(new);
                    self.fill(&mut chunk, block);
                    chunk.look_up_positions();
                    // A closed channel means that the learner met an error, which is told there.
                    if give.send(chunk).is_err() {
                        return;
                    }
                }
            });
            made.into_iter().try_for_each(|chunk| {
                take(&chunk)?;
                // The other thread may have made its last chunk and be gone.
                give_back.send(chunk).unwrap_or_default();
                Ok(())
            })
        })
    }

    fn fill(&self, chunk: &mut Chunk, rows: Range<usize>) {
        chunk.clear();
        for row in rows {
            self.extend(chunk, self.range(row));
            let (label, importance) = self.targets.of(row);
            match self.look {
                Look { plain: true, any_large, .. } => {
                    chunk.finish_plain(label, importance, any_large);
                }
                _ => chunk.finish(label, importance, b""),
            }
        }
    }

    /// Look at all rows, on all cores.
    fn look_at_all(&self, columns: usize) -> Look {
        if self.features() < FEATURES_FOR_A_THREAD {
            return self.look_at(0..self.len(), columns);
        }
        thread::scope(|scope| {
            let look = |part| scope.spawn(move || self.look_at(part, columns));
            let looks: Vec<_> = self.parts().into_iter().map(look).collect();
            let looks = looks
                .into_iter()
                .map(|look| look.join().unwrap_or_else(|panic| resume_unwind(panic)));
            looks.fold(Look::AT_NOTHING, Look::and)
        })
    }

    fn look_at(&self, rows: Range<usize>, columns: usize) -> Look {
        let path = InstructionSet::chosen().unwrap_or(InstructionSet::Portable);
        path.run(Looking { matrix: self, rows, columns })
    }

    #[inline(always)]
    fn look_at_block(&self, rows: Range<usize>, columns: usize) -> Look {
        let entries = self.range(rows.start).start..self.range(rows.end - 1).end;
        let sizes = self.matrix.values.sizes(entries.clone());
        Look {
            good: self.matrix.indices.are_below(entries.clone(), columns) && !sizes.any_infinite,
            // All neighbours are compared at once; those of which the second begins a row do not count.
            plain: self.matrix.indices.descents(entries) == self.descents_between(rows)
                && !sizes.any_zero,
            any_large: sizes.any_large,
        }
    }

    /// How many rows begin with an index that is not above the one before it, which is another row's.
    #[inline(always)]
    fn descents_between(&self, rows: Range<usize>) -> usize {
        let (first, mut count) = (self.range(rows.start).start, 0);
        for row in rows.start + 1..rows.end {
            let Range { start, end } = self.range(row);
            if first < start && start < end {
                count +=
                    usize::from(self.matrix.indices.at(start - 1) >= self.matrix.indices.at(start));
            }
        }
        count
    }

    /// Add entries to the example being written; a loop for each pair of types, without questions.
    fn extend(&self, chunk: &mut Chunk, entries: Range<usize>) {
        match self.matrix.indices {
            Slice::Narrow(indices) => {
                let slots = indices[entries.clone()].iter().map(|&index| index as u32);
                self.extend_with(chunk, slots, entries);
            }
            Slice::Wide(indices) => {
                let slots = indices[entries.clone()].iter().map(|&index| index as u32);
                self.extend_with(chunk, slots, entries);
            }
        }
    }

    fn extend_with(
        &self,
        chunk: &mut Chunk,
        slots: impl ExactSizeIterator<Item = u32>,
        entries: Range<usize>,
    ) {
        match self.matrix.values {
            Slice::Narrow(values) => chunk.extend_with(slots, values[entries].iter().copied()),
            Slice::Wide(values) => {
                chunk.extend_with(slots, values[entries].iter().map(|&value| value as f32));
            }
        }
    }

    #[inline(always)]
    fn range(&self, row: usize) -> Range<usize> {
        self.matrix.indptr.at(row) as usize..self.matrix.indptr.at(row + 1) as usize
    }

    fn check_row(&self, row: usize, columns: usize) -> Result<()> {
        for k in self.range(row) {
            let (column, value) = (self.matrix.indices.at(k), self.matrix.values.at(k));
            let place = || format!("X[{row}, {column}]");
            if column < 0 || column as usize >= columns {
                let expected = format!("a column from 0 to {}", columns as i64 - 1);
                return Err(InputError::argument(place(), column, expected).into());
            }
            if !value.is_finite() {
                let expected = "a finite number that fits a float32";
                return Err(InputError::argument(place(), value, expected).into());
            }
        }
        Ok(())
    }
}

impl Matrix<'_> {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.indptr.len().saturating_sub(1)
    }

    /// Whether the row pointers fit the entries.
    pub fn check_shape(&self) -> Result<()> {
        let (rows, entries) = (self.indptr.len(), self.values.len());
        let ascending = (1..rows).all(|k| self.indptr.at(k - 1) <= self.indptr.at(k));
        let whole = rows > 0
            && ascending
            && self.indptr.at(0) >= 0
            && self.indptr.at(rows - 1) as usize <= entries
            && self.indices.len() == entries;
        if whole {
            return Ok(());
        }
        let expected = "row pointers from 0 to the number of values, ascending";
        Err(InputError::argument("X", "others", expected).into())
    }
}

/// Rows to be looked at, as work for [`InstructionSet::run`].
struct Looking<'a> {
    matrix: &'a Rows<'a>,
    rows: Range<usize>,
    columns: usize,
}

impl WithSimd for Looking<'_> {
    type Output = Look;

    #[inline(always)]
    fn call<V: Simd>(self, _simd: V) -> Look {
        let mut look = Look::AT_NOTHING;
        for block in blocks(self.rows) {
            look = look.and(self.matrix.look_at_block(block, self.columns));
        }
        look
    }
}

fn blocks(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    rows.step_by(BLOCK).map(move |start| start..end.min(start + BLOCK))
}

/// As many parts of about equal size as there are cores, none of them smaller than `least`.
fn parts(whole: Range<usize>, least: usize) -> Vec<Range<usize>> {
    let (end, size) = (whole.end, whole.len().div_ceil(cores()).max(least));
    whole.step_by(size).map(|start| start..end.min(start + size)).collect()
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get())
}
