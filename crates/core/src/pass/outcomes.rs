//! What a pass gives back.

use crate::example::{Chunk, Ordered};

/// What examples showed, one entry an example.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcomes {
    /// The margins; where something was learned, each made before its example was.
    pub margins: Vec<f64>,
    /// The labels, NaN where there is none.
    pub labels: Vec<f32>,
    /// The importances.
    pub importances: Vec<f32>,
    /// The tags, one after another, and where each ends.
    pub tags: Vec<u8>,
    /// Where each tag ends.
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

    /// Whether there was no example.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The tag of an example, empty where it has none.
    pub fn tag(&self, k: usize) -> &[u8] {
        let start = if k == 0 { 0 } else { self.tag_ends[k - 1] };
        &self.tags[start..self.tag_ends[k]]
    }

    /// Note all of these examples but their margins.
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

    /// Note all examples of a chunk but their margins: whole arrays are copied, since one example at a time
    /// took 8 nanoseconds each.
    pub(super) fn note_chunk(&mut self, chunk: &Chunk) {
        let had = self.tags.len();
        self.labels.extend_from_slice(chunk.labels());
        self.importances.extend_from_slice(chunk.importances());
        self.tags.extend_from_slice(chunk.tags_of(0..chunk.len()));
        self.tag_ends.extend(chunk.tag_ends().iter().map(|end| had + end));
    }

    /// Add what other examples showed.
    pub(super) fn append(&mut self, later: &Outcomes) {
        let tags = self.tags.len();
        self.margins.extend_from_slice(&later.margins);
        self.labels.extend_from_slice(&later.labels);
        self.importances.extend_from_slice(&later.importances);
        self.tags.extend_from_slice(&later.tags);
        self.tag_ends.extend(later.tag_ends.iter().map(|end| end + tags));
    }
}
