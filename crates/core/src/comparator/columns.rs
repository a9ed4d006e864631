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
