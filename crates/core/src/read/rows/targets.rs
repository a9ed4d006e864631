//! The labels and importances of rows.

use crate::error::{InputError, Result};
use crate::loss::Labels;

/// Labels and importances, one per row, checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Targets<'a> {
    labels: Option<&'a [f64]>,
    importances: Option<&'a [f64]>,
}

impl<'a> Targets<'a> {
    /// Check labels of this kind for this many rows. Importances are 1 if none are given.
    pub fn new(
        kind: Labels,
        rows: usize,
        labels: Option<&'a [f64]>,
        importances: Option<&'a [f64]>,
    ) -> Result<Self> {
        if let Some(labels) = labels {
            check_labels(kind, rows, labels)?;
        }
        if let Some(importances) = importances {
            check_importances(rows, importances)?;
        }
        Ok(Targets { labels, importances })
    }

    /// The label of a row, NaN if there is none, and its importance.
    #[inline(always)]
    pub fn of(&self, row: usize) -> (f32, f32) {
        let label = self.labels.map_or(f32::NAN, |labels| labels[row] as f32);
        (label, self.importances.map_or(1.0, |importances| importances[row] as f32))
    }
}

fn check_labels(kind: Labels, rows: usize, labels: &[f64]) -> Result<()> {
    check_length("y", labels, rows)?;
    let (expected, is_label): (_, fn(f64) -> bool) = match kind {
        Labels::Binary => ("a label -1 or 1", |y| y.abs() == 1.0),
        Labels::Real => ("a finite number", |y| (y as f32).is_finite()),
        Labels::Any => ("a finite number, or NaN where there is no label", |y| {
            y.is_nan() || (y as f32).is_finite()
        }),
    };
    match labels.iter().position(|&label| !is_label(label)) {
        None => Ok(()),
        Some(row) => Err(InputError::argument(format!("y[{row}]"), labels[row], expected).into()),
    }
}

fn check_importances(rows: usize, importances: &[f64]) -> Result<()> {
    check_length("importance", importances, rows)?;
    let is_importance = |h: f64| h >= 0.0 && (h as f32).is_finite();
    match importances.iter().position(|&h| !is_importance(h)) {
        None => Ok(()),
        Some(row) => {
            let place = format!("importance[{row}]");
            Err(InputError::argument(place, importances[row], "a number from 0 up").into())
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
