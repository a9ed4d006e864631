//! The order in which a block of examples is learned.

use std::sync::Arc;

use super::{Chunk, Example};

/// What a learner is to learn from: the examples of a chunk as they stand, or in another order.
#[derive(Clone, Copy, Debug)]
pub struct Ordered<'a> {
    chunk: &'a Chunk,
    order: Option<&'a [u32]>,
}

impl<'a> Ordered<'a> {
    /// The examples in the order of these numbers, as they stand without.
    pub fn new(chunk: &'a Chunk, order: Option<&'a [u32]>) -> Self {
        Ordered { chunk, order }
    }

    /// The chunk, if its examples are meant as they stand.
    pub fn whole(&self) -> Option<&'a Chunk> {
        self.order.is_none().then_some(self.chunk)
    }

    /// How many examples there are.
    pub fn len(&self) -> usize {
        self.order.map_or(self.chunk.len(), <[u32]>::len)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Example number `k` of the course.
    #[inline(always)]
    pub fn example(&self, k: usize) -> Example<'a> {
        self.chunk.example(self.number(k))
    }

    /// The positions of its slots, if they were looked up there.
    #[inline]
    pub fn positions<I>(&self, k: usize, known: &Arc<I>) -> Option<&'a [u32]> {
        self.chunk.positions(self.number(k), known)
    }

    /// The tag of example number `k`, empty where it has none.
    pub fn tag(&self, k: usize) -> &'a [u8] {
        self.chunk.tag(self.number(k))
    }

    #[inline]
    fn number(&self, k: usize) -> usize {
        self.order.map_or(k, |order| order[k] as usize)
    }

    /// Whether there may be a value beyond -1 and 1.
    pub fn is_any_large(&self) -> bool {
        self.chunk.is_any_large()
    }

    /// The examples, one after another.
    pub fn examples(self) -> impl Iterator<Item = Example<'a>> {
        (0..self.len()).map(move |k| self.example(k))
    }
}

impl<'a> From<&'a Chunk> for Ordered<'a> {
    fn from(chunk: &'a Chunk) -> Self {
        Ordered::new(chunk, None)
    }
}
