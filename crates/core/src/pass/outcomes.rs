//! The results of a pass.

use crate::example::{Chunk, Ordered};

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
