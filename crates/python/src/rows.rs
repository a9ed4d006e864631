//! Rows of a sparse matrix, read in place out of numpy arrays.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use lessregret_core::Chunk;
use lessregret_core::loss::Loss;
use lessregret_core::vectors::{Path, Vectors, Work};
use pyo3::prelude::*;

use crate::errors::argument;
use crate::slices::{Floats, Indices, Slice};

/// Rows are turned into chunks of this many: few enough that a chunk of text is still in the cache when
/// it is learned from.
const BLOCK: usize = 64;

/// With fewer blocks than this the work is done before a thread has started.
const BLOCKS_FOR_A_THREAD: usize = 16;

/// And to look at fewer features than this.
const FEATURES_FOR_A_THREAD: usize = 1 << 18;

/// A sparse matrix by rows, checked: every index in range, every value finite as float32.
pub struct Rows<'a> {
    indptr: Slice<'a, i32, i64>,
    indices: Slice<'a, i32, i64>,
    values: Slice<'a, f32, f64>,
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
    /// Check the whole matrix, so that nothing is learned from a part of it.
    pub fn new(
        py: Python<'_>,
        indptr: &'a Indices<'_>,
        indices: &'a Indices<'_>,
        values: &'a Floats<'_>,
        columns: usize,
    ) -> PyResult<Self> {
        let (indptr, indices, values) = (indptr.slice()?, indices.slice()?, values.slice()?);
        let mut rows = Rows { indptr, indices, values, look: Look::AT_NOTHING };
        rows.check_shape(py)?;
        rows.look = py.detach(|| rows.look_at_all(columns));
        if !rows.look.good {
            // Row by row only now, to name the place.
            (0..rows.len()).try_for_each(|row| rows.check_row(py, row, columns))?;
        }
        Ok(rows)
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.indices.len()
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.indptr.len() - 1
    }

    /// As many parts of about equal size as there are cores, in order; small ones are not parted.
    pub fn parts(&self) -> Vec<Range<usize>> {
        parts(0..self.len(), BLOCK)
    }

    /// Hand over some rows in chunks, in order; `label` gives a row's label and importance.
    pub fn chunks<E>(
        &self,
        rows: Range<usize>,
        chunk: &mut Chunk,
        label: impl Fn(usize) -> (f32, f32),
        mut take: impl FnMut(&Chunk) -> Result<(), E>,
    ) -> Result<(), E> {
        for block in blocks(rows) {
            self.fill(chunk, block, &label);
            take(chunk)?;
        }
        Ok(())
    }

    /// The same for all rows. Where places are to be looked up in many, another thread makes the next
    /// chunks while one is taken; without that, what is handed over costs more than what is spared.
    pub fn chunks_ahead<E>(
        &self,
        chunk: &mut Chunk,
        label: impl Fn(usize) -> (f32, f32) + Send,
        mut take: impl FnMut(&Chunk) -> Result<(), E>,
    ) -> Result<(), E> {
        let alone = chunk.wishes().places.is_none() || cores() == 1;
        if alone || self.len() < BLOCKS_FOR_A_THREAD * BLOCK {
            return self.chunks(0..self.len(), chunk, label, take);
        }
        let wishes = chunk.wishes().clone();
        let (give, made) = sync_channel(2);
        let (give_back, used) = channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                for block in blocks(0..self.len()) {
                    let new = |_| Chunk::for_wishes(wishes.clone());
                    let mut chunk = used.try_recv().unwrap_or_else(new);
                    self.fill(&mut chunk, block, &label);
                    chunk.find_places();
                    // Nobody takes any more: there was an error, and it is told there.
                    if give.send(chunk).is_err() {
                        return;
                    }
                }
            });
            made.into_iter().try_for_each(|chunk| {
                take(&chunk)?;
                // The other thread may have made its last.
                give_back.send(chunk).unwrap_or_default();
                Ok(())
            })
        })
    }

    fn fill(&self, chunk: &mut Chunk, rows: Range<usize>, label: impl Fn(usize) -> (f32, f32)) {
        chunk.clear();
        for row in rows {
            self.extend(chunk, self.range(row));
            let (label, importance) = label(row);
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
        let path = Path::chosen().unwrap_or(Path::Portable);
        path.run(Looking { matrix: self, rows, columns })
    }

    #[inline(always)]
    fn look_at_block(&self, rows: Range<usize>, columns: usize) -> Look {
        let entries = self.range(rows.start).start..self.range(rows.end - 1).end;
        let sizes = self.values.sizes(entries.clone());
        Look {
            good: self.indices.are_below(entries.clone(), columns) && !sizes.any_infinite,
            // All neighbours are compared at once; those of which the second begins a row do not count.
            plain: self.indices.descents(entries) == self.descents_between(rows) && !sizes.any_zero,
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
                count += usize::from(self.indices.at(start - 1) >= self.indices.at(start));
            }
        }
        count
    }

    /// Add entries to the example being written; a loop for each pair of types, without questions.
    fn extend(&self, chunk: &mut Chunk, entries: Range<usize>) {
        match self.indices {
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
        match self.values {
            Slice::Narrow(values) => chunk.extend_with(slots, values[entries].iter().copied()),
            Slice::Wide(values) => {
                chunk.extend_with(slots, values[entries].iter().map(|&value| value as f32));
            }
        }
    }

    #[inline(always)]
    fn range(&self, row: usize) -> Range<usize> {
        self.indptr.at(row) as usize..self.indptr.at(row + 1) as usize
    }

    fn check_shape(&self, py: Python<'_>) -> PyResult<()> {
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
        Err(argument(py, "X".into(), "others".into(), expected))
    }

    fn check_row(&self, py: Python<'_>, row: usize, columns: usize) -> PyResult<()> {
        for k in self.range(row) {
            let (column, value) = (self.indices.at(k), self.values.at(k));
            let place = || format!("X[{row}, {column}]");
            if column < 0 || column as usize >= columns {
                let expected = format!("a column from 0 to {}", columns as i64 - 1);
                return Err(argument(py, place(), column.to_string(), &expected));
            }
            if !value.is_finite() {
                let expected = "a finite number that fits a float32";
                return Err(argument(py, place(), value.to_string(), expected));
            }
        }
        Ok(())
    }
}

/// Rows to be looked at, as work for [`Path::run`].
struct Looking<'a> {
    matrix: &'a Rows<'a>,
    rows: Range<usize>,
    columns: usize,
}

impl Work for Looking<'_> {
    type Output = Look;

    #[inline(always)]
    fn call<V: Vectors>(self, _vectors: V) -> Look {
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

/// Labels and importances, if given, must fit the loss before any row is learned.
pub fn check_targets(
    py: Python<'_>,
    loss: Loss,
    rows: usize,
    labels: &[f64],
    importances: Option<&[f64]>,
) -> PyResult<()> {
    check_length(py, "y", labels, rows)?;
    let binary = loss.is_classification();
    let is_label = |y: f64| if binary { y.abs() == 1.0 } else { (y as f32).is_finite() };
    if let Some(row) = labels.iter().position(|&label| !is_label(label)) {
        let expected = if binary { "a label -1 or 1" } else { "a finite number" };
        return Err(argument(py, format!("y[{row}]"), labels[row].to_string(), expected));
    }
    let Some(importances) = importances else { return Ok(()) };
    check_length(py, "importance", importances, rows)?;
    let is_importance = |h: f64| h >= 0.0 && (h as f32).is_finite();
    if let Some(row) = importances.iter().position(|&h| !is_importance(h)) {
        let place = format!("importance[{row}]");
        return Err(argument(py, place, importances[row].to_string(), "a number from 0 up"));
    }
    Ok(())
}

fn check_length(py: Python<'_>, name: &str, found: &[f64], rows: usize) -> PyResult<()> {
    if found.len() == rows {
        return Ok(());
    }
    let expected = format!("one entry for each of {rows} rows");
    Err(argument(py, name.into(), format!("{} entries", found.len()), &expected))
}
