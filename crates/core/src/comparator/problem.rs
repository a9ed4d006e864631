//! Merged rows, and the passes over them.

use std::collections::HashMap;
use std::ops::Range;

use super::columns::Columns;
use crate::example::Example;
use crate::loss::{Loss, Point, Target};

/// The number of parts that the rows are cut into, for the cores to share.
pub const PARTS: usize = 4;

/// The fewest features per column in a part. With fewer, adding up the gradients costs more than it saves.
const FEATURES_PER_COLUMN: usize = 2;

/// The fewest features in a part: starting a thread takes as long as processing some thousands.
const FEATURES_PER_PART: usize = 1 << 13;

/// Examples as rows over columns. Examples with the same features and base margin are merged into one row.
#[derive(Debug)]
pub struct Problem {
    loss: Loss,
    width: usize,
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
    /// The base margin of each row.
    bases: Vec<f32>,
    targets: Vec<Target>,
    constant: f64,
}

/// Sums over the rows, in addition to the gradient and the curvatures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Σ h ℓ.
    pub loss: f64,
    /// Σ h times the smoothed loss, which the search minimises.
    pub smooth: f64,
    /// Σ −(hℓ)*(slope).
    pub dual: f64,
}

impl Problem {
    /// Merge the examples over these columns, which must contain all their slots.
    pub fn new<'a>(
        loss: Loss,
        columns: &Columns,
        examples: impl Iterator<Item = Example<'a>>,
    ) -> Self {
        let mut problem = Problem {
            loss,
            width: columns.slots().len(),
            ends: vec![],
            columns: vec![],
            values: vec![],
            bases: vec![],
            targets: vec![],
            constant: 0.0,
        };
        let mut known = Known::default();
        for example in examples {
            problem.add(columns, &example, &mut known);
        }
        problem
    }

    fn add(&mut self, columns: &Columns, example: &Example<'_>, known: &mut Known) {
        let start = self.columns.len();
        for (&slot, &value) in example.slots.iter().zip(example.values) {
            if let Some(column) = columns.column(slot) {
                self.columns.push(column);
                self.values.push(value);
            }
        }
        let (label, importance) = (f64::from(example.label), f64::from(example.importance));
        let row = match known.find(self, start, label, example.base) {
            Some(row) => {
                self.columns.truncate(start);
                self.values.truncate(start);
                row
            }
            None => {
                self.ends.push(self.columns.len());
                self.bases.push(example.base);
                self.targets.push(Target::default());
                self.rows() - 1
            }
        };
        self.constant += self.loss.merge(&mut self.targets[row], label, importance);
    }

    /// The number of distinct rows.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The distinct rows, compressed: where each ends, and the columns and values of all of them.
    pub fn features(&self) -> (&[usize], &[u32], &[f32]) {
        (&self.ends, &self.columns, &self.values)
    }

    /// The importance of the labels +1 and that of the labels −1 in each row, for a loss of classes.
    pub fn classes(&self) -> [Vec<f64>; 2] {
        [0, 1].map(|class| self.targets.iter().map(|target| target.classes()[class]).collect())
    }

    /// Whether any row has a base margin.
    pub fn has_bases(&self) -> bool {
        self.bases.iter().any(|&base| base != 0.0)
    }

    fn row(&self, row: usize) -> Range<usize> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        start..self.ends[row]
    }

    fn margin(&self, row: usize, point: &[f64]) -> f64 {
        let range = self.row(row);
        let features = self.columns[range.clone()].iter().zip(&self.values[range]);
        features.map(|(&column, &value)| point[column as usize] * f64::from(value)).sum()
    }

    fn scatter(&self, row: usize, factor: f64, into: &mut [f64]) {
        let range = self.row(row);
        for (&column, &value) in self.columns[range.clone()].iter().zip(&self.values[range]) {
            into[column as usize] += factor * f64::from(value);
        }
    }

    /// The sums at `point`. Adds the gradient to `gradient` and sets the curvatures.
    pub fn evaluate(
        &self,
        point: &[f64],
        temperature: f64,
        gradient: &mut [f64],
        curvatures: &mut [f64],
    ) -> Sums {
        let sums = self.in_parts(gradient, curvatures, |rows, gradient, curvatures| {
            let mut sums = Sums::default();
            for (row, curvature) in rows.zip(curvatures) {
                let base = f64::from(self.bases[row]);
                let margin = base + self.margin(row, point);
                let seen = self.loss.point(&self.targets[row], margin, temperature);
                sums = sums.and(&seen, base);
                *curvature = seen.curvature;
                if seen.slope != 0.0 {
                    self.scatter(row, seen.slope, gradient);
                }
            }
            sums
        });
        sums.into_iter().fold(Sums::constant(self.constant), Sums::plus)
    }

    /// Add the diagonal of the Hessian with these curvatures to `diagonal`.
    pub fn diagonal(&self, curvatures: &[f64], diagonal: &mut [f64]) {
        self.in_parts(diagonal, &mut [], |rows, diagonal, _| {
            for row in rows {
                let curvature = curvatures[row];
                let range = self.row(row);
                let features = self.columns[range.clone()].iter().zip(&self.values[range]);
                for (&column, &value) in features {
                    diagonal[column as usize] += curvature * f64::from(value) * f64::from(value);
                }
            }
        });
    }

    /// Add the Hessian with these curvatures times `direction` to `product`.
    pub fn times(&self, curvatures: &[f64], direction: &[f64], product: &mut [f64]) {
        self.in_parts(product, &mut [], |rows, product, _| {
            for row in rows {
                self.scatter(row, curvatures[row] * self.margin(row, direction), product);
            }
        });
    }

    /// Run `work` on each part with a vector of its own, and add the vectors up in order.
    ///
    /// `written`, if not empty, has an entry for each row; a part gets those of its rows.
    fn in_parts<S: Send>(
        &self,
        into: &mut [f64],
        written: &mut [f64],
        work: impl Fn(Range<usize>, &mut [f64], &mut [f64]) -> S + Sync,
    ) -> Vec<S> {
        let enough = FEATURES_PER_PART.max(FEATURES_PER_COLUMN * self.width);
        if self.columns.len() < PARTS * enough {
            return vec![work(0..self.rows(), into, written)];
        }
        let results: Vec<(S, Vec<f64>)> = std::thread::scope(|scope| {
            let mut rest = written;
            let mut workers = Vec::with_capacity(PARTS);
            for part in self.parts() {
                let (own, others) = rest.split_at_mut(part.len().min(rest.len()));
                rest = others;
                let work = &work;
                workers.push(scope.spawn(move || {
                    let mut vector = vec![0.0; self.width];
                    (work(part, &mut vector, own), vector)
                }));
            }
            let finished = |worker: std::thread::ScopedJoinHandle<'_, (S, Vec<f64>)>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().map(finished).collect()
        });
        let mut outcomes = Vec::with_capacity(PARTS);
        for (outcome, vector) in results {
            into.iter_mut().zip(vector).for_each(|(sum, own)| *sum += own);
            outcomes.push(outcome);
        }
        outcomes
    }

    /// The rows in parts with about equal numbers of features.
    fn parts(&self) -> impl Iterator<Item = Range<usize>> {
        let cut = |part: usize| {
            self.ends.partition_point(|&end| end <= part * self.columns.len() / PARTS)
        };
        let last = self.rows();
        (0..PARTS).map(move |part| {
            let stop = if part + 1 == PARTS { last } else { cut(part + 1) };
            cut(part).min(stop)..stop
        })
    }
}

impl Sums {
    fn constant(loss: f64) -> Self {
        Sums { loss, smooth: loss, dual: loss }
    }

    /// The sums with one more row. The conjugate of ℓ(p + b) is ℓ*(α) − αb, so the base adds αb to the dual.
    fn and(self, point: &Point, base: f64) -> Self {
        Sums {
            loss: self.loss + point.loss,
            smooth: self.smooth + point.smooth,
            dual: self.dual + (point.dual + point.slope * base),
        }
    }

    fn plus(self, other: Sums) -> Self {
        Sums {
            loss: self.loss + other.loss,
            smooth: self.smooth + other.smooth,
            dual: self.dual + other.dual,
        }
    }
}

/// The rows so far, by the hash of their features.
#[derive(Default)]
struct Known {
    first: HashMap<u64, usize>,
}

impl Known {
    /// Find the row with this base and the features at the end of the problem's arrays, and with this label if
    /// the loss does not merge labels. A new row is added to the table.
    ///
    /// Of several rows with the same hash only the first is found again. A collision prevents a merge, and
    /// never merges rows that differ.
    fn find(&mut self, problem: &Problem, start: usize, label: f64, base: f32) -> Option<usize> {
        let (columns, values) = (&problem.columns[start..], &problem.values[start..]);
        let any_label = problem.loss.merges_labels();
        let first = u64::from(base.to_bits()) ^ if any_label { 0 } else { label.to_bits() };
        let found = *self.first.entry(hash(first, columns, values)).or_insert(problem.rows());
        if found == problem.rows() {
            return None;
        }
        let range = problem.row(found);
        let same = problem.bases[found] == base
            && problem.columns[range.clone()] == *columns
            && problem.values[range].iter().zip(values).all(|(a, b)| a.to_bits() == b.to_bits())
            && (any_label || problem.targets[found].mean().1 == label);
        same.then_some(found)
    }
}

fn hash(first: u64, columns: &[u32], values: &[f32]) -> u64 {
    columns.iter().zip(values).fold(first ^ columns.len() as u64, |state, (&column, &value)| {
        let word = u64::from(column) << 32 | u64::from(value.to_bits());
        (state.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}
