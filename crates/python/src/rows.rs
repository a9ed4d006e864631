//! Rows of a sparse matrix, read in place out of numpy arrays.

use std::ops::Range;

use lessregret_core::Chunk;
use lessregret_core::loss::Loss;
use numpy::{Element, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::argument;

/// Rows are turned into chunks of this many, to bound the memory, not for speed.
const BLOCK: usize = 1024;

/// A numpy array of one of two types.
#[derive(FromPyObject)]
pub enum Either<'py, A: Element, B: Element> {
    /// The narrow type.
    Narrow(PyReadonlyArray1<'py, A>),
    /// The wide type.
    Wide(PyReadonlyArray1<'py, B>),
}

/// 32- or 64-bit indices.
pub type Indices<'py> = Either<'py, i32, i64>;
/// 32- or 64-bit floats.
pub type Floats<'py> = Either<'py, f32, f64>;

/// The entries of an array, whichever type they have.
#[derive(Clone, Copy)]
pub enum Slice<'a, A, B> {
    Narrow(&'a [A]),
    Wide(&'a [B]),
}

impl<'py, A: Element, B: Element> Either<'py, A, B> {
    fn slice(&self) -> PyResult<Slice<'_, A, B>> {
        Ok(match self {
            Either::Narrow(array) => Slice::Narrow(array.as_slice()?),
            Either::Wide(array) => Slice::Wide(array.as_slice()?),
        })
    }
}

impl Slice<'_, i32, i64> {
    fn at(&self, k: usize) -> i64 {
        match self {
            Slice::Narrow(entries) => entries[k].into(),
            Slice::Wide(entries) => entries[k],
        }
    }

    fn len(&self) -> usize {
        match self {
            Slice::Narrow(entries) => entries.len(),
            Slice::Wide(entries) => entries.len(),
        }
    }
}

impl Slice<'_, f32, f64> {
    fn at(&self, k: usize) -> f32 {
        match self {
            Slice::Narrow(entries) => entries[k],
            Slice::Wide(entries) => entries[k] as f32,
        }
    }

    fn len(&self) -> usize {
        match self {
            Slice::Narrow(entries) => entries.len(),
            Slice::Wide(entries) => entries.len(),
        }
    }
}

/// A sparse matrix by rows, checked: every index in range, every value finite as float32.
pub struct Rows<'a> {
    indptr: Slice<'a, i32, i64>,
    indices: Slice<'a, i32, i64>,
    values: Slice<'a, f32, f64>,
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
        let rows =
            Rows { indptr: indptr.slice()?, indices: indices.slice()?, values: values.slice()? };
        rows.check_shape(py)?;
        for row in 0..rows.len() {
            rows.check_row(py, row, columns)?;
        }
        Ok(rows)
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.indptr.len() - 1
    }

    /// As many parts of about equal size as there are cores, in order; small ones are not parted.
    pub fn parts(&self) -> Vec<Range<usize>> {
        let cores = std::thread::available_parallelism().map_or(1, |count| count.get());
        let size = self.len().div_ceil(cores).max(BLOCK);
        let part = |start: usize| start..self.len().min(start + size);
        (0..self.len()).step_by(size).map(part).collect()
    }

    /// Hand over some rows in chunks, in order; `label` gives a row's label and importance.
    pub fn chunks<E>(
        &self,
        rows: Range<usize>,
        chunk: &mut Chunk,
        label: impl Fn(usize) -> (f32, f32),
        mut take: impl FnMut(&Chunk) -> Result<(), E>,
    ) -> Result<(), E> {
        for start in rows.clone().step_by(BLOCK) {
            chunk.clear();
            for row in start..rows.end.min(start + BLOCK) {
                for k in self.range(row) {
                    chunk.push(self.indices.at(k) as u32, self.values.at(k));
                }
                let (label, importance) = label(row);
                chunk.finish(label, importance, b"");
            }
            take(chunk)?;
        }
        Ok(())
    }

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

/// Labels and importances must fit the loss before any row is learned.
pub fn check_targets(
    py: Python<'_>,
    loss: Loss,
    rows: usize,
    labels: &[f64],
    importances: &[f64],
) -> PyResult<()> {
    for (name, found) in [("y", labels.len()), ("importance", importances.len())] {
        if found != rows {
            let expected = format!("one entry for each of {rows} rows");
            return Err(argument(py, name.into(), format!("{found} entries"), &expected));
        }
    }
    let binary = loss.is_classification();
    let is_label = |y: f64| if binary { y.abs() == 1.0 } else { (y as f32).is_finite() };
    if let Some(row) = labels.iter().position(|&label| !is_label(label)) {
        let expected = if binary { "a label -1 or 1" } else { "a finite number" };
        return Err(argument(py, format!("y[{row}]"), labels[row].to_string(), expected));
    }
    let is_importance = |h: f64| h >= 0.0 && (h as f32).is_finite();
    if let Some(row) = importances.iter().position(|&h| !is_importance(h)) {
        let place = format!("importance[{row}]");
        return Err(argument(py, place, importances[row].to_string(), "a number from 0 up"));
    }
    Ok(())
}
