//! The features that occur, numbered without gaps in the order in which they are first met.

use crate::alloc::zeroed;
use crate::error::Result;
use crate::example::Example;

/// A column number for each slot that occurs, and the importance with which each column was active.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The column of each slot plus 1, and 0 for a slot without one: memory of zeros costs nothing before it
    /// is touched.
    of_slot: Vec<u32>,
    slots: Vec<u32>,
    importances: Vec<f64>,
    total: f64,
}

/// Examples as rows over columns, compressed: where each row ends, and the columns and values of all of them.
#[derive(Clone, Debug, Default)]
pub struct ColumnRows {
    /// The end of each row.
    pub ends: Vec<usize>,
    /// The columns of all rows.
    pub columns: Vec<u32>,
    /// The values of all rows.
    pub values: Vec<f32>,
    /// The label of each row.
    pub labels: Vec<f32>,
    /// The importance of each row.
    pub importances: Vec<f32>,
}

impl Columns {
    /// No columns yet, for slots below `slots`.
    pub fn new(slots: usize) -> Result<Self> {
        Ok(Columns { of_slot: zeroed(slots)?, slots: vec![], importances: vec![], total: 0.0 })
    }

    /// Number the features that these examples have for the first time, and add up their importances.
    ///
    /// Examples of importance 0 are skipped: features that only they have would become columns on which every
    /// point, even an infinite one, has the same loss.
    pub fn meet<'a>(&mut self, examples: impl Iterator<Item = Example<'a>>) {
        for example in examples.filter(|example| example.importance > 0.0) {
            self.total += f64::from(example.importance);
            for &slot in example.slots {
                let column = self.column_or_new(slot);
                self.importances[column] += f64::from(example.importance);
            }
        }
    }

    fn column_or_new(&mut self, slot: u32) -> usize {
        let column = &mut self.of_slot[slot as usize];
        if *column == 0 {
            self.slots.push(slot);
            self.importances.push(0.0);
            *column = self.slots.len() as u32;
        }
        *column as usize - 1
    }

    /// The examples of importance above 0 as rows over these columns, which must contain all their slots.
    pub fn rows<'a>(&self, examples: impl Iterator<Item = Example<'a>>) -> ColumnRows {
        let mut rows = ColumnRows::default();
        for example in examples.filter(|example| example.importance > 0.0) {
            let features = example.slots.iter().zip(example.values);
            for (column, &value) in features.filter_map(|(&s, v)| Some((self.column(s)?, v))) {
                rows.columns.push(column);
                rows.values.push(value);
            }
            rows.ends.push(rows.columns.len());
            rows.labels.push(example.label);
            rows.importances.push(example.importance);
        }
        rows
    }

    /// The number of slots, met or not.
    pub fn capacity(&self) -> usize {
        self.of_slot.len()
    }

    /// The column of a slot; none if it was not met.
    pub fn column(&self, slot: u32) -> Option<u32> {
        self.of_slot.get(slot as usize).and_then(|column| column.checked_sub(1))
    }

    /// The slot of each column.
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// Σ h over the examples in which each column is active.
    pub fn importances(&self) -> &[f64] {
        &self.importances
    }

    /// Σ h over all examples.
    pub fn total(&self) -> f64 {
        self.total
    }
}
