//! The sums of slices: of all rounds with the same value of a column.
//!
//! The values of an example stand behind its tag (`example/fields.rs`). A column has at most [`MOST`] slices; rounds
//! with further values are added up together, so that the slices of a column always add up to the whole.

use std::collections::HashMap;

use super::{Played, Sums};
use crate::example::fields;
use crate::loss::Loss;

/// The most slices of a column.
const MOST: usize = 10_000;

/// The slices of a few columns.
pub struct Slices {
    loss: Loss,
    columns: Vec<Column>,
}

/// The slices of one column.
#[derive(Clone, Debug, Default)]
struct Column {
    sums: HashMap<Vec<u8>, Sums>,
    /// The sums of the values that were met when there were too many.
    others: Sums,
}

impl Slices {
    /// The slices of so many columns, without rounds.
    pub fn new(loss: Loss, columns: usize) -> Self {
        Slices { loss, columns: vec![Column::default(); columns] }
    }

    /// Add rounds; `tag` gives the tag of each, with the values of its columns.
    pub fn add<'a>(&mut self, played: Played<'_>, tag: impl Fn(usize) -> &'a [u8]) {
        let Played { margins, labels, importances } = played;
        for (k, &margin) in margins.iter().enumerate() {
            let (label, importance) = (f64::from(labels[k]), f64::from(importances[k]));
            if importance > 0.0 && !label.is_nan() {
                for (column, value) in self.columns.iter_mut().zip(fields(tag(k))) {
                    column.of(value).add(self.loss, margin, label, importance);
                }
            }
        }
    }

    /// The values of a column and their sums, and the sums of all further values.
    pub fn column(&self, number: usize) -> (Vec<(&[u8], Sums)>, Sums) {
        let Column { sums, others } = &self.columns[number];
        (sums.iter().map(|(value, sums)| (value.as_slice(), *sums)).collect(), *others)
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }
}

impl Column {
    fn of(&mut self, value: &[u8]) -> &mut Sums {
        if self.sums.len() >= MOST && !self.sums.contains_key(value) {
            return &mut self.others;
        }
        self.sums.entry(value.to_vec()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_add_up() {
        let mut slices = Slices::new(Loss::Hinge, 2);
        let tags: [&[u8]; 3] = [b"\x1enl\x1f1", b"\x1ede\x1f1", b"\x1enl\x1f2"];
        let (margins, labels, importances) = ([0.0, 2.0, 0.5], [1.0, -1.0, 1.0], [1.0, 1.0, 2.0]);
        slices.add(Played { margins: &margins, labels: &labels, importances: &importances }, |k| {
            tags[k]
        });
        let (mut found, others) = slices.column(0);
        found.sort_by_key(|(value, _)| value.to_vec());
        let told = |&(value, sums): &(&[u8], Sums)| (value.to_vec(), sums.examples, sums.loss);
        let told: Vec<_> = found.iter().map(told).collect();
        assert_eq!(told, [(b"de".to_vec(), 1, 3.0), (b"nl".to_vec(), 2, 2.0)]);
        assert_eq!(others, Sums::default());
    }

    #[test]
    fn further_values_are_added_up_together() {
        let mut slices = Slices::new(Loss::Hinge, 1);
        let tags: Vec<_> = (0..MOST + 3).map(|k| format!("\x1e{k}").into_bytes()).collect();
        let (margins, ones) = (vec![0.0; tags.len()], vec![1.0; tags.len()]);
        let played = Played { margins: &margins, labels: &ones, importances: &ones };
        slices.add(played, |k| &tags[k]);
        slices.add(played, |k| &tags[k]);
        let (found, others) = slices.column(0);
        assert_eq!((found.len(), others.examples), (MOST, 6));
    }
}
