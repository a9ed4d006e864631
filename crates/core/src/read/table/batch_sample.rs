//! What the columns of a table of batches seem to be, from its first rows.
//!
//! The type of a column decides before its cells do: a column of numbers is a number also if it holds codes, and a
//! dictionary is a category. The cells of text are looked at as those of a CSV file are.

use std::sync::Arc;

use super::batch::{Batch, Content, TableColumn};
use super::infer::ColumnSample;
use crate::spec::Kind;

/// A column and what was seen of it.
#[derive(Clone, Debug)]
pub struct SampledColumn {
    /// The name of the column.
    pub name: String,
    /// What the column seems to be.
    pub kind: Kind,
    /// What was seen of its cells; nothing of a column that cannot be read.
    pub seen: ColumnSample,
}

/// What the columns seem to be from the first `rows` rows of the batches.
pub fn sample_batches(
    columns: &[TableColumn],
    batches: &[Arc<dyn Batch>],
    missing: &[String],
    rows: usize,
) -> Vec<SampledColumn> {
    let of = |(number, column): (usize, &TableColumn)| {
        let seen = match column.content {
            Content::Other => ColumnSample::default(),
            _ => cells(number, batches, missing, rows),
        };
        SampledColumn { name: column.name.clone(), kind: kind(column, &seen), seen }
    };
    columns.iter().enumerate().map(of).collect()
}

fn cells(
    number: usize,
    batches: &[Arc<dyn Batch>],
    missing: &[String],
    rows: usize,
) -> ColumnSample {
    let (mut seen, mut left) = (ColumnSample::default(), rows);
    for batch in batches {
        let count = batch.rows().min(left);
        let array = batch.column(number, 0..count).with_text(count);
        (0..count).for_each(|row| seen.add(array.cell(row), missing));
        left -= count;
    }
    seen
}

fn kind(column: &TableColumn, seen: &ColumnSample) -> Kind {
    let has_cells = seen.cells > seen.missing;
    match column.content {
        _ if !has_cells => Kind::Ignore,
        _ if column.is_dictionary => Kind::Category,
        Content::Numbers => Kind::Number,
        Content::Times => Kind::Time,
        Content::Nothing | Content::Other => Kind::Ignore,
        Content::Text => seen.kind(),
    }
}
