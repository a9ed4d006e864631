//! The results of a pass.

use crate::example::{Chunk, Ordered};
use crate::learn::explain::Explanation;
use crate::metrics::{Played, PlayedClasses};

/// The results of the examples, one entry per example; of many classes one margin per class and example.
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
    /// The number of classes, if there may be more than two; the margins of an example stand together.
    pub classes: Option<usize>,
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
            classes: None,
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

    /// The sums over the labels of the examples that have one, in float64.
    pub fn label_sums(&self) -> LabelSums {
        let weighted = || {
            let pairs = self.labels.iter().zip(&self.importances);
            pairs.map(|(&y, &h)| (f64::from(y), f64::from(h))).filter(|(y, _)| !y.is_nan())
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

    /// The rounds of many classes, whose codes are these, for metrics.
    pub fn played_classes<'a>(&'a self, codes: &'a [i32]) -> PlayedClasses<'a> {
        let Outcomes { margins, labels, importances, .. } = self;
        PlayedClasses {
            codes: codes.get(..self.width()).unwrap_or(codes),
            margins,
            labels,
            importances,
        }
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

    /// The number of margins of each example.
    pub(super) fn width(&self) -> usize {
        self.classes.unwrap_or(1)
    }

    /// Make place in the margins of the first `rows` examples for classes that were met later: before, they had no
    /// probability.
    pub(super) fn widen(&mut self, rows: usize, classes: Option<usize>) {
        let before = self.classes.unwrap_or(0);
        if let Some(width) = classes.filter(|_| self.classes != classes) {
            let mut wider = Vec::with_capacity(rows * width);
            for k in 0..rows {
                wider.extend_from_slice(&self.margins[k * before..(k + 1) * before]);
                wider.resize((k + 1) * width, f64::NEG_INFINITY);
            }
            (self.margins, self.classes) = (wider, Some(width));
        }
    }

    /// Append the outcomes of later examples.
    pub(super) fn append(&mut self, later: &Outcomes) {
        let tags = self.tags.len();
        self.append_margins(later);
        self.labels.extend_from_slice(&later.labels);
        self.importances.extend_from_slice(&later.importances);
        self.tags.extend_from_slice(&later.tags);
        self.tag_ends.extend(later.tag_ends.iter().map(|end| end + tags));
    }

    /// Append margins. Either side may know fewer classes: the parts of a matrix are predicted side by side while others
    /// learn.
    fn append_margins(&mut self, later: &Outcomes) {
        let classes = self.classes.max(later.classes);
        self.widen(self.len(), classes);
        if later.classes == classes {
            return self.margins.extend_from_slice(&later.margins);
        }
        let mut wider = later.clone();
        wider.widen(later.len(), classes);
        self.margins.append(&mut wider.margins);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_of_fewer_classes_are_widened() {
        let rows = |margins: &[f64], classes| {
            let (labels, tag_ends) = (vec![0.0; 2], vec![0; 2]);
            let margins = margins.to_vec();
            Outcomes { margins, labels, tag_ends, classes: Some(classes), ..Outcomes::default() }
        };
        let (few, many) = (rows(&[1.0, 2.0], 1), rows(&[3.0, 4.0, 5.0, 6.0], 2));
        let (mut first, mut second) = (Outcomes::default(), Outcomes::default());
        first.append(&few);
        first.append(&many);
        second.append(&many);
        second.append(&few);
        let none = f64::NEG_INFINITY;
        assert_eq!(first.margins, [1.0, none, 2.0, none, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(second.margins, [3.0, 4.0, 5.0, 6.0, 1.0, none, 2.0, none]);
        assert_eq!((first.len(), first.width()), (4, 2));
    }

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
