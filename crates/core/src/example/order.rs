//! The order in which a block of examples is learned.

use std::sync::Arc;

use super::{Chunk, Example};

/// Examples to learn from: those of a chunk, in their own order or in another one.
#[derive(Clone, Copy, Debug)]
pub struct Ordered<'a> {
    chunk: &'a Chunk,
    order: Option<&'a [u32]>,
    /// Without an order: the first example, and how many there are.
    start: usize,
    len: usize,
}

impl<'a> Ordered<'a> {
    /// The examples in the order of these indices, or in their own order without one.
    pub fn new(chunk: &'a Chunk, order: Option<&'a [u32]>) -> Self {
        Ordered { chunk, order, start: 0, len: order.map_or(chunk.len(), <[u32]>::len) }
    }

    /// The examples from number `start` on, at most `most`.
    pub fn part(&self, start: usize, most: usize) -> Self {
        let len = most.min(self.len - start);
        match self.order {
            Some(order) => Ordered { order: Some(&order[start..start + len]), len, ..*self },
            None => Ordered { start: self.start + start, len, ..*self },
        }
    }

    /// The examples in parts of at most `most`.
    pub fn parts(self, most: usize) -> impl Iterator<Item = Self> {
        (0..self.len).step_by(most).map(move |start| self.part(start, most))
    }

    /// The chunk, if its examples are meant as they stand.
    pub fn whole(&self) -> Option<&'a Chunk> {
        let is_whole = self.order.is_none() && self.len == self.chunk.len();
        is_whole.then_some(self.chunk)
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The number of features of all examples.
    pub fn features(&self) -> usize {
        match self.whole() {
            Some(chunk) => chunk.features(),
            None => (0..self.len()).map(|k| self.example(k).slots.len()).sum(),
        }
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Example number `k` in this order.
    #[inline(always)]
    pub fn example(&self, k: usize) -> Example<'a> {
        self.chunk.example(self.number(k))
    }

    /// The positions of the slots of example number `k`, if they were looked up in the index `known`.
    #[inline]
    pub fn positions<I>(&self, k: usize, known: &Arc<I>) -> Option<&'a [u32]> {
        self.chunk.positions(self.number(k), known)
    }

    /// The tag of example number `k`; empty if it has none.
    pub fn tag(&self, k: usize) -> &'a [u8] {
        self.chunk.tag(self.number(k))
    }

    #[inline]
    fn number(&self, k: usize) -> usize {
        self.order.map_or(self.start + k, |order| order[k] as usize)
    }

    /// Add the base margins of the examples to their margins.
    pub fn add_bases(&self, margins: &mut [f64]) {
        if self.chunk.bases().is_empty() {
            return;
        }
        for (k, margin) in margins.iter_mut().enumerate() {
            *margin += f64::from(self.chunk.base(self.number(k)));
        }
    }

    /// Whether any value may be outside `[-1, 1]`.
    pub fn is_any_large(&self) -> bool {
        self.chunk.is_any_large()
    }

    /// Whether any value may be other than 1.
    pub fn is_any_not_one(&self) -> bool {
        self.chunk.is_any_not_one()
    }

    /// The examples in this order.
    pub fn examples(self) -> impl Iterator<Item = Example<'a>> {
        (0..self.len()).map(move |k| self.example(k))
    }
}

impl<'a> From<&'a Chunk> for Ordered<'a> {
    fn from(chunk: &'a Chunk) -> Self {
        Ordered::new(chunk, None)
    }
}
