//! Rows of a sparse matrix, read in place from its arrays.
//!
//! All rows and labels are checked before the first is handed over, so that nothing is learned from a part of
//! a matrix with a bad entry. Cost: one vectorised pass over the arrays, on all cores if the matrix is large.
//!
//! The arrays are the caller's, and another thread may change them after the check. So the row pointers are
//! copied before they are checked, and each chunk is checked once more after it was copied: such a change is
//! an error, never an index out of range. Cost: eight bytes a row, and one more instruction a feature.

mod copied;
mod slices;
mod targets;

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use crate::alloc::reserved;
use crate::error::{InputError, Result};
use crate::example::{Chunk, ValueSizes};
use crate::simd::{InstructionSet, Simd, WithSimd};
pub use slices::{Floats, Indices, Slice};
pub use targets::Targets;

/// The number of rows in a chunk: few enough that a chunk is still in the cache when it is learned.
const BLOCK: usize = 64;

/// The fewest blocks worth a thread: fewer are done before a thread has started.
const BLOCKS_FOR_A_THREAD: usize = 16;

/// The fewest features whose check is worth a thread.
const FEATURES_FOR_A_THREAD: usize = 1 << 18;

/// A sparse matrix in CSR form, as given by the caller.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// The start of each row, and the end of the last one.
    pub indptr: Indices<'a>,
    /// The columns of the values.
    pub indices: Indices<'a>,
    /// The values.
    pub values: Floats<'a>,
}

/// A sparse matrix in CSR form, checked: every index in range, every value finite as float32.
pub struct Rows<'a> {
    matrix: Matrix<'a>,
    /// The row pointers, copied.
    starts: Vec<usize>,
    columns: usize,
    targets: Targets<'a>,
    look: Look,
}

/// The result of checking some rows, kept so that they are scanned only once.
#[derive(Clone, Copy)]
struct Look {
    /// Whether all rows satisfy what [`Rows`] guarantees.
    good: bool,
    /// Whether the indices of every row ascend.
    ascending: bool,
    /// What is known of the values.
    sizes: ValueSizes,
}

impl Look {
    fn at_nothing() -> Look {
        Look { good: true, ascending: true, sizes: ValueSizes::default() }
    }

    fn and(self, other: Look) -> Look {
        Look {
            good: self.good && other.good,
            ascending: self.ascending && other.ascending,
            sizes: self.sizes.and(other.sizes),
        }
    }
}

impl<'a> Rows<'a> {
    /// Check the whole matrix, so that nothing is learned from a part of it. `starts` are those of
    /// [`Matrix::starts`], and `targets` are already checked for this number of rows.
    pub fn new(
        matrix: Matrix<'a>,
        starts: Vec<usize>,
        columns: usize,
        targets: Targets<'a>,
    ) -> Result<Self> {
        let mut rows = Rows { matrix, starts, columns, targets, look: Look::at_nothing() };
        rows.look = rows.look_at_all(columns);
        if !rows.look.good {
            // Row by row only now, to name the position of the bad entry.
            (0..rows.len()).try_for_each(|row| rows.check_row(row, columns))?;
            return Err(copied::changed());
        }
        Ok(rows)
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.matrix.indices.len()
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// One part for every core, of about equal size, in order. A small matrix is one part.
    pub fn parts(&self) -> Vec<Range<usize>> {
        parts(0..self.len(), BLOCK)
    }

    /// Pass some rows to `take` in chunks, in order.
    pub fn chunks(
        &self,
        rows: Range<usize>,
        chunk: &mut Chunk,
        mut take: impl FnMut(&Chunk) -> Result<()>,
    ) -> Result<()> {
        for block in blocks(rows) {
            self.fill(chunk, block)?;
            take(chunk)?;
        }
        Ok(())
    }

    /// Pass all rows to the consumer in chunks, in order.
    ///
    /// If the positions of many slots must be looked up, another thread prepares the next chunks while one is
    /// consumed. Otherwise the hand-over costs more than it saves.
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
                    let filled = self.fill(&mut chunk, block);
                    let (last, chunk) = (filled.is_err(), filled.map(|()| chunk));
                    let chunk = chunk.map(|mut chunk| {
                        chunk.look_up_positions();
                        chunk
                    });
                    // A closed channel means that the learner returned an error, which is reported there.
                    if give.send(chunk).is_err() || last {
                        return;
                    }
                }
            });
            made.into_iter().try_for_each(|chunk| {
                let chunk = chunk?;
                take(&chunk)?;
                // The other thread may have finished its last chunk and ended.
                give_back.send(chunk).unwrap_or_default();
                Ok(())
            })
        })
    }

    /// Replace the chunk's examples by these rows. They are checked as copied.
    fn fill(&self, chunk: &mut Chunk, rows: Range<usize>) -> Result<()> {
        chunk.clear();
        for row in rows {
            self.extend(chunk, self.range(row));
            let (label, importance, base) = self.targets.of(row);
            chunk.set_base_unchecked(base);
            let Look { ascending, sizes, .. } = self.look;
            if ascending && (!sizes.any_zero || chunk.requirements().zeros) {
                chunk.finish_plain(label, importance, sizes);
            } else {
                chunk.finish(label, importance, b"");
            }
        }
        let slots = self.columns + usize::from(chunk.intercept().is_some());
        match copied::is_sound(chunk, slots) && self.targets.are_sound(chunk) {
            true => Ok(()),
            false => Err(copied::changed()),
        }
    }

    /// Check all rows, on all cores.
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
            looks.fold(Look::at_nothing(), Look::and)
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
            // All neighbours are compared in one vectorised loop; descents at the start of a row are not
            // counted.
            ascending: self.matrix.indices.descents(entries) == self.descents_between(rows),
            sizes: sizes.known,
        }
    }

    /// The number of rows whose first index is not above the entry before it, which belongs to another row.
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

    /// Add entries to the example being written. One loop for each pair of types, without branches.
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
        self.starts[row]..self.starts[row + 1]
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
    /// The row pointers, copied and checked to fit the entries.
    pub fn starts(&self) -> Result<Vec<usize>> {
        let entries = self.values.len();
        let mut starts = reserved(self.indptr.len())?;
        // As unsigned, a negative number is a large one.
        starts.extend((0..self.indptr.len()).map(|k| self.indptr.at(k) as usize));
        let whole = starts.is_sorted()
            && starts.last().is_some_and(|&end| end <= entries)
            && self.indices.len() == entries;
        if whole {
            return Ok(starts);
        }
        let expected = "row pointers from 0 to the number of values, ascending";
        Err(InputError::argument("X", "others", expected).into())
    }
}

/// The check of some rows, as work for [`InstructionSet::run`].
struct Looking<'a> {
    matrix: &'a Rows<'a>,
    rows: Range<usize>,
    columns: usize,
}

impl WithSimd for Looking<'_> {
    type Output = Look;

    #[inline(always)]
    fn call<V: Simd>(self, _simd: V) -> Look {
        let mut look = Look::at_nothing();
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

/// One part for every core, of about equal size, none smaller than `least`.
fn parts(whole: Range<usize>, least: usize) -> Vec<Range<usize>> {
    let (end, size) = (whole.end, whole.len().div_ceil(cores()).max(least));
    whole.step_by(size).map(|start| start..end.min(start + size)).collect()
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get())
}
