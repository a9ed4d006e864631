//! Rows of hashed features in groups, with crossed features after the others: the crosses of dicts.

use super::cross::{Group, MOST_CROSSED, crossed_count, for_each_crossed};
use crate::error::{Error, InputError, Result};

/// Rows whose features stand in groups, one group after another.
#[derive(Clone, Copy, Debug)]
pub struct GroupedRows<'a> {
    /// The number of groups of every row.
    pub groups: usize,
    /// The end of every group of every row.
    pub ends: &'a [i64],
    /// The slots of the features.
    pub slots: &'a [i64],
    /// The values of the features.
    pub values: &'a [f64],
}

/// Rows in CSR form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CrossedRows {
    /// The start of each row, and the end of the last one.
    pub indptr: Vec<i64>,
    /// The slots of the values.
    pub slots: Vec<i64>,
    /// The values.
    pub values: Vec<f64>,
}

impl CrossedRows {
    /// The rows with their crosses, each the numbers of its groups, for 2^bits slots (a valid number).
    pub fn new(rows: GroupedRows<'_>, crosses: &[Vec<usize>], bits: u32) -> Result<Self> {
        rows.check(crosses)?;
        let mut crossed = CrossedRows { indptr: vec![0], ..CrossedRows::default() };
        let mut start = 0;
        for (row, ends) in rows.ends.chunks_exact(rows.groups).enumerate() {
            let end = ends[rows.groups - 1] as usize;
            crossed.slots.extend_from_slice(&rows.slots[start..end]);
            crossed.values.extend_from_slice(&rows.values[start..end]);
            let groups = rows.groups_of(start, ends);
            check_count(&groups, crosses, row)?;
            crossed.append(&groups, crosses, (1 << bits) - 1, row)?;
            start = end;
        }
        Ok(crossed)
    }

    /// Add the crosses of a row and end it.
    fn append(
        &mut self,
        groups: &[Group],
        crosses: &[Vec<usize>],
        mask: u32,
        row: usize,
    ) -> Result<()> {
        let first = self.values.len();
        for cross in crosses {
            for_each_crossed(groups, cross, |crossed| {
                self.slots.push(i64::from(crossed.hash & mask));
                self.values.push(f64::from(crossed.value));
            });
        }
        if let Some(value) = self.values[first..].iter().find(|value| !value.is_finite()) {
            let expected = "values whose products are within ±3.4e38";
            return Err(InputError::argument(format!("X[{row}]"), value, expected).into());
        }
        self.indptr.push(self.slots.len() as i64);
        Ok(())
    }
}

impl GroupedRows<'_> {
    fn check(&self, crosses: &[Vec<usize>]) -> Result<()> {
        let GroupedRows { groups, ends, slots, values } = *self;
        let is_sound = groups > 0
            && ends.len().is_multiple_of(groups)
            && ends.first().is_none_or(|&first| first >= 0)
            && ends.is_sorted()
            && usize::try_from(ends.last().copied().unwrap_or(0)) == Ok(slots.len())
            && slots.len() == values.len()
            && crosses.iter().flatten().all(|&group| group < groups);
        if is_sound { Ok(()) } else { Err(Error::Spec("rows and crosses do not fit".to_owned())) }
    }

    /// The groups of the row that begins at feature `start` and whose groups have these ends.
    fn groups_of(&self, mut start: usize, ends: &[i64]) -> Vec<Group> {
        let mut groups = vec![Group::default(); self.groups];
        for (group, &end) in groups.iter_mut().zip(ends) {
            for k in start..end as usize {
                group.extend(&[self.slots[k] as u32], &[self.values[k] as f32]);
            }
            start = end as usize;
        }
        groups
    }
}

fn check_count(groups: &[Group], crosses: &[Vec<usize>], row: usize) -> Result<()> {
    let counts = crosses.iter().map(|cross| crossed_count(groups, cross));
    match counts.fold(0, u64::saturating_add) {
        0..=MOST_CROSSED => Ok(()),
        count => {
            let expected = format!("at most {MOST_CROSSED} crossed features");
            Err(InputError::argument(format!("X[{row}]"), count, expected).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: GroupedRows<'_> = GroupedRows {
        groups: 2,
        ends: &[1, 3, 3, 4],
        slots: &[5, 6, 7, 8],
        values: &[2.0, 3.0, 4.0, 1.0],
    };

    #[test]
    fn crosses_follow_the_features_of_their_row() -> Result<()> {
        let crossed = CrossedRows::new(ROWS, &[vec![0, 1]], 8)?;
        assert_eq!(crossed.indptr, [0, 5, 6]);
        let hash = |one: u32, other: u32| i64::from((one.wrapping_mul(16_777_619) ^ other) & 255);
        assert_eq!(crossed.slots, [5, 6, 7, hash(5, 6), hash(5, 7), 8]);
        assert_eq!(crossed.values, [2.0, 3.0, 4.0, 6.0, 8.0, 1.0]);
        Ok(())
    }

    #[test]
    fn what_cannot_be_crossed_is_refused() {
        assert!(CrossedRows::new(ROWS, &[vec![0, 2]], 8).is_err());
        assert!(CrossedRows::new(GroupedRows { groups: 3, ..ROWS }, &[], 8).is_err());
        let large = GroupedRows { values: &[3e38, 3e38, 1.0, 1.0], ..ROWS };
        assert!(CrossedRows::new(large, &[vec![0, 1]], 8).is_err());
    }
}
