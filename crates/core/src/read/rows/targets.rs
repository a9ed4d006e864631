//! The labels, importances and base margins of rows.

use crate::error::{InputError, Result};
use crate::example::Chunk;
use crate::loss::Labels;

/// Labels, importances and base margins, one per row, checked.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'a> {
    kind: Labels,
    labels: Option<&'a [f64]>,
    importances: Option<&'a [f64]>,
    bases: Option<&'a [f64]>,
}

impl<'a> Targets<'a> {
    /// Check labels of this kind for this many rows. Importances are 1 and base margins 0 if none are given.
    pub fn new(
        kind: Labels,
        rows: usize,
        labels: Option<&'a [f64]>,
        importances: Option<&'a [f64]>,
        bases: Option<&'a [f64]>,
    ) -> Result<Self> {
        if let Some(labels) = labels {
            check_labels(kind, rows, labels)?;
        }
        if let Some(importances) = importances {
            check_importances(rows, importances)?;
        }
        if let Some(bases) = bases {
            check_bases(kind, rows, bases)?;
        }
        Ok(Targets { kind, labels, importances, bases })
    }

    /// Whether the labels, importances and bases of a chunk, copied from these, are what they were when checked.
    pub fn are_sound(&self, chunk: &Chunk) -> bool {
        let is_label = is_label(self.kind);
        let labels =
            self.labels.is_none() || chunk.labels().iter().all(|&label| is_label(f64::from(label)));
        let bases = chunk.bases().iter().all(|base| base.is_finite());
        labels && bases && chunk.importances().iter().all(|&h| is_importance(f64::from(h)))
    }

    /// The label of a row, NaN if there is none, its importance and its base margin.
    #[inline(always)]
    pub fn of(&self, row: usize) -> (f32, f32, f32) {
        let label = self.labels.map_or(f32::NAN, |labels| labels[row] as f32);
        let importance = self.importances.map_or(1.0, |importances| importances[row] as f32);
        (label, importance, self.bases.map_or(0.0, |bases| bases[row] as f32))
    }
}

/// Whether a number is a label of this kind.
fn is_label(kind: Labels) -> fn(f64) -> bool {
    match kind {
        Labels::Binary => |y| y.abs() == 1.0,
        Labels::Classes => |y| y.fract() == 0.0 && y.abs() <= f64::from(Labels::MOST),
        Labels::Real => |y| (y as f32).is_finite(),
        Labels::Count => |y| Labels::Count.holds(y as f32),
        Labels::Any => |y| y.is_nan() || (y as f32).is_finite(),
    }
}

fn is_importance(h: f64) -> bool {
    h >= 0.0 && (h as f32).is_finite()
}

fn check_labels(kind: Labels, rows: usize, labels: &[f64]) -> Result<()> {
    check_length("y", labels, rows)?;
    let is_label = is_label(kind);
    let Some(row) = labels.iter().position(|&label| !is_label(label)) else {
        return Ok(());
    };
    let expected = match kind {
        Labels::Binary => "a label -1 or 1",
        Labels::Classes => "a whole number, the code of a class",
        Labels::Real => "a finite number",
        Labels::Count => "a count, a number from 0 to 16777216",
        Labels::Any => "a finite number, or NaN where there is no label",
    };
    Err(InputError::argument(format!("y[{row}]"), labels[row], expected).into())
}

fn check_importances(rows: usize, importances: &[f64]) -> Result<()> {
    check_length("importance", importances, rows)?;
    match importances.iter().position(|&h| !is_importance(h)) {
        None => Ok(()),
        Some(row) => {
            let place = format!("importance[{row}]");
            Err(InputError::argument(place, importances[row], "a number from 0 up").into())
        }
    }
}

fn check_bases(kind: Labels, rows: usize, bases: &[f64]) -> Result<()> {
    check_length("base", bases, rows)?;
    if let Some(row) = bases.iter().position(|&base| base != 0.0)
        && !kind.takes_base()
    {
        let expected = format!("no base margin, since labels are {}", kind.plural());
        return Err(InputError::argument(format!("base[{row}]"), bases[row], expected).into());
    }
    match bases.iter().position(|&base| !(base as f32).is_finite()) {
        None => Ok(()),
        Some(row) => {
            Err(InputError::argument(format!("base[{row}]"), bases[row], "a finite number").into())
        }
    }
}

fn check_length(name: &str, found: &[f64], rows: usize) -> Result<()> {
    if found.len() == rows {
        return Ok(());
    }
    let expected = format!("one entry for each of {rows} rows");
    Err(InputError::argument(name, format!("{} entries", found.len()), expected).into())
}
