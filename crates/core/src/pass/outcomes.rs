//! The results of a pass.

use crate::example::{Chunk, Ordered};
use crate::learn::explain::Explanation;
use crate::metrics::Played;

/// The results of the examples, one entry per example.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcomes {
    /// The margins. In learning, each is computed before its example is learned.
    pub margins: Vec<f64>,
    /// The labels; NaN if an example has none.
    pub labels: Vec<f32>,
    /// The importances.
    pub importances: Vec<f32>,
    /// The tags, concatenated.
    pub tags: Vec<u8>,
    /// The end of each tag in `tags`.
    pub tag_ends: Vec<usize>,
}

/// The results of the examples, and what each of their features gave to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explained {
    /// The margins, labels, importances and tags.
    pub outcomes: Outcomes,
    /// The parts of each margin.
    pub explanations: Vec<Explanation>,
}

/// What is known of the labels of a pass without an array of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelSums {
    /// Σh.
    pub importance: f64,
    /// Σhy/Σh, the mean label; 0 if Σh is 0.
    pub mean: f64,
    /// Σh(y − mean)².
    pub squares: f64,
}

impl Outcomes {
    /// Memory for so many examples.
    pub(super) fn with_capacity(examples: usize) -> Self {
        Outcomes {
            margins: Vec::with_capacity(examples),
            labels: Vec::with_capacity(examples),
            importances: Vec::with_capacity(examples),
            tags: Vec::new(),
            tag_ends: Vec::with_capacity(examples),
        }
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The sums over the labels of the examples, in float64.
    pub fn label_sums(&self) -> LabelSums {
        let weighted = || {
            self.labels.iter().zip(&self.importances).map(|(&y, &h)| (f64::from(y), f64::from(h)))
        };
        let importance: f64 = weighted().map(|(_, h)| h).sum();
        let total: f64 = weighted().map(|(y, h)| h * y).sum();
        let mean = if importance > 0.0 { total / importance } else { 0.0 };
        let squares = weighted().map(|(y, h)| h * (y - mean).powi(2)).sum();
        LabelSums { importance, mean, squares }
    }

    /// The rounds, for metrics.
    pub fn played(&self) -> Played<'_> {
        let Outcomes { margins, labels, importances, .. } = self;
        Played { margins, labels, importances }
    }

    /// The tag of an example; empty if it has none.
    pub fn tag(&self, k: usize) -> &[u8] {
        let start = if k == 0 { 0 } else { self.tag_ends[k - 1] };
        &self.tags[start..self.tag_ends[k]]
    }

    /// Append labels, importances and tags of these examples, not their margins.
    pub(super) fn note(&mut self, examples: Ordered<'_>) {
        if let Some(chunk) = examples.whole() {
            return self.note_chunk(chunk);
        }
        for k in 0..examples.len() {
            let example = examples.example(k);
            self.labels.push(example.label);
            self.importances.push(example.importance);
            self.tags.extend_from_slice(examples.tag(k));
            self.tag_ends.push(self.tags.len());
        }
    }

    /// Append labels, importances and tags of a chunk's examples, in their own order. Whole arrays are copied:
    /// one example at a time took 8 nanoseconds each.
    pub(super) fn note_chunk(&mut self, chunk: &Chunk) {
        let had = self.tags.len();
        self.labels.extend_from_slice(chunk.labels());
        self.importances.extend_from_slice(chunk.importances());
        self.tags.extend_from_slice(chunk.tags_of(0..chunk.len()));
        self.tag_ends.extend(chunk.tag_ends().iter().map(|end| had + end));
    }

    /// Append the outcomes of later examples.
    pub(super) fn append(&mut self, later: &Outcomes) {
        let tags = self.tags.len();
        self.margins.extend_from_slice(&later.margins);
        self.labels.extend_from_slice(&later.labels);
        self.importances.extend_from_slice(&later.importances);
        self.tags.extend_from_slice(&later.tags);
        self.tag_ends.extend(later.tag_ends.iter().map(|end| end + tags));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_labels_are_weighted_by_importance() {
        let mut outcomes = Outcomes::with_capacity(3);
        outcomes.labels = vec![1.0, 4.0, 9.0];
        outcomes.importances = vec![2.0, 1.0, 0.0];
        let found = outcomes.label_sums();
        let squares = 2.0 * 1.0 + 4.0;
        let expected = LabelSums { importance: 3.0, mean: 2.0, squares };
        assert_eq!(found, expected);
    }
}
