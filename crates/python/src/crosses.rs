//! The Python functions of namespaces and crosses.

use lessregret_core::{
    self as core, Error, Group, InputError, MOST_CROSSED, Table, crossed_count, for_each_crossed,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::fetch_numpy;
use crate::errors::to_python;
use crate::json::json;

type Rows<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Check namespaces in JSON; returns them in their normal form.
#[pyfunction]
pub fn ordered_namespaces(py: Python<'_>, namespaces: &str) -> PyResult<String> {
    let namespaces = core::Namespaces::parse(namespaces).map_err(|error| to_python(py, error))?;
    Ok(json(&namespaces))
}

/// Rows of hashed features with crossed features after those of each row. Every row has the same number of groups; the
/// features of group g of row r end at `ends[r * groups + g]`. A cross is the numbers of its groups.
#[pyfunction]
pub fn cross_rows<'py>(
    py: Python<'py>,
    ends: PyReadonlyArray1<'py, i64>,
    slots: PyReadonlyArray1<'py, i64>,
    values: PyReadonlyArray1<'py, f64>,
    groups: usize,
    crosses: Vec<Vec<usize>>,
    bits: u32,
) -> PyResult<Rows<'py>> {
    fetch_numpy(py);
    Table::Bits(bits).check().map_err(|error| to_python(py, error))?;
    let (ends, slots, values) = (ends.as_slice()?, slots.as_slice()?, values.as_slice()?);
    check(ends, slots, values, groups, &crosses).map_err(|error| to_python(py, error))?;
    let mut crosser = Crosser { groups, crosses, mask: (1 << bits) - 1, ..Crosser::default() };
    crosser.ends.push(0);
    for (row, ends) in ends.chunks_exact(groups).enumerate() {
        crosser.add(row, ends, slots, values).map_err(|error| to_python(py, error))?;
    }
    let Crosser { ends, slots, values, .. } = crosser;
    Ok((ends.into_pyarray(py), slots.into_pyarray(py), values.into_pyarray(py)))
}

fn check(
    ends: &[i64],
    slots: &[i64],
    values: &[f64],
    groups: usize,
    crosses: &[Vec<usize>],
) -> core::Result<()> {
    let last = ends.last().copied().unwrap_or(0);
    let sound = groups > 0
        && ends.len().is_multiple_of(groups)
        && ends.first().is_none_or(|&first| first >= 0)
        && ends.is_sorted()
        && usize::try_from(last) == Ok(slots.len())
        && slots.len() == values.len()
        && crosses.iter().flatten().all(|&group| group < groups);
    if sound { Ok(()) } else { Err(Error::Spec("the rows and crosses do not fit".to_owned())) }
}

/// Rows that are being crossed.
#[derive(Default)]
struct Crosser {
    groups: usize,
    crosses: Vec<Vec<usize>>,
    mask: u32,
    read: usize,
    ends: Vec<i64>,
    slots: Vec<i64>,
    values: Vec<f64>,
}

impl Crosser {
    fn add(&mut self, row: usize, ends: &[i64], slots: &[i64], values: &[f64]) -> core::Result<()> {
        let mut groups = vec![Group::default(); self.groups];
        for (group, &end) in groups.iter_mut().zip(ends) {
            for k in self.read..end as usize {
                group.extend(&[slots[k] as u32], &[values[k] as f32]);
                self.slots.push(slots[k]);
                self.values.push(values[k]);
            }
            self.read = end as usize;
        }
        let counts = self.crosses.iter().map(|cross| crossed_count(&groups, cross));
        let count = counts.fold(0, u64::saturating_add);
        if count > MOST_CROSSED {
            let expected = format!("at most {MOST_CROSSED} crossed features");
            return Err(InputError::argument(format!("X[{row}]"), count, expected).into());
        }
        self.append(row, &groups)
    }

    fn append(&mut self, row: usize, groups: &[Group]) -> core::Result<()> {
        let Crosser { crosses, mask, slots, values, .. } = self;
        let before = values.len();
        for cross in crosses.iter() {
            for_each_crossed(groups, cross, |crossed| {
                slots.push(i64::from(crossed.hash & *mask));
                values.push(f64::from(crossed.value));
            });
        }
        if let Some(value) = values[before..].iter().find(|value| !value.is_finite()) {
            let expected = "values whose products are within ±3.4e38";
            return Err(InputError::argument(format!("X[{row}]"), value, expected).into());
        }
        self.ends.push(slots.len() as i64);
        Ok(())
    }
}
