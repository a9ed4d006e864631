//! Examples kept in memory, to be learned from many times and by many learners.

use super::rows::Rows;
use super::stream::Stream;
use crate::error::{InputError, Result};
use crate::example::{Chunk, Ordered};
use crate::spec::FeatureSpace;

/// Examples in memory, hashed and checked for one feature space.
#[derive(Debug)]
pub struct Examples {
    space: FeatureSpace,
    chunk: Chunk,
}

impl Examples {
    /// No examples yet.
    pub fn new(space: FeatureSpace) -> Self {
        Examples { space, chunk: Chunk::new(None) }
    }

    /// Add the next `limit` examples of a stream, or all remaining ones.
    pub fn take(&mut self, stream: &mut Stream, limit: Option<usize>) -> Result<()> {
        let mut block = Chunk::new(self.space.intercept_slot());
        let mut left = limit.unwrap_or(usize::MAX);
        while left > 0 && stream.fill(&mut block, left)? > 0 {
            self.chunk.append(&block);
            left -= block.len();
            stream.check_interrupt()?;
        }
        Ok(())
    }

    /// Add examples of the same feature space.
    pub fn take_ordered(&mut self, examples: Ordered<'_>) {
        for k in 0..examples.len() {
            self.chunk.append_example(&examples.example(k), examples.tag(k));
        }
    }

    /// Add the rows of a matrix.
    pub fn take_rows(&mut self, rows: &Rows<'_>) -> Result<()> {
        let mut block = Chunk::new(self.space.intercept_slot());
        rows.chunks(0..rows.len(), &mut block, |block| {
            self.chunk.append(block);
            Ok(())
        })
    }

    /// The feature space of the examples.
    pub fn space(&self) -> &FeatureSpace {
        &self.space
    }

    /// The examples.
    pub fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    /// The examples in the given order, or in their own order without one.
    pub fn ordered<'a>(&'a self, order: Option<&'a [u32]>) -> Result<Ordered<'a>> {
        let count = self.chunk.len();
        match order.unwrap_or(&[]).iter().find(|&&number| number as usize >= count) {
            None => Ok(Ordered::new(&self.chunk, order)),
            Some(number) => {
                let expected = format!("numbers below {count}");
                Err(InputError::argument("order", number, expected).into())
            }
        }
    }
}
