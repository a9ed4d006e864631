//! Examples kept in memory, to be learned from many times and by many learners.

use super::json::{JsonReader, Plain};
use super::rows::Rows;
use super::stream::Stream;
use crate::error::{InputError, Result};
use crate::example::{Chunk, Ordered, Requirements};
use crate::spec::FeatureSpace;

/// Examples in memory, hashed and checked for one feature space.
#[derive(Debug)]
pub struct Examples {
    space: FeatureSpace,
    chunk: Chunk,
    /// The same examples with their zeros, if there are any: learners differ in whether a zero is a value.
    with_zeros: Option<Chunk>,
}

impl Examples {
    /// No examples yet.
    pub fn new(space: FeatureSpace) -> Self {
        Examples { space, chunk: Chunk::new(None), with_zeros: None }
    }

    /// Add the next `limit` examples of a stream, or all remaining ones.
    pub fn take(&mut self, stream: &mut Stream, limit: Option<usize>) -> Result<()> {
        let mut block = self.block();
        let mut left = limit.unwrap_or(usize::MAX);
        while left > 0 && stream.fill(&mut block, left)? > 0 {
            self.append(&block);
            left -= block.len();
            stream.check_interrupt()?;
        }
        Ok(())
    }

    /// The examples of a body of JSON; `None` if it is not plain: see `read/json`.
    pub fn of_json(
        space: &FeatureSpace,
        reader: &JsonReader,
        body: &[u8],
        is_lines: bool,
        most: usize,
    ) -> Option<(Examples, bool)> {
        let Plain { chunk, is_many } = reader.read(body, is_lines, most)?;
        let mut examples = Examples::new(space.clone());
        examples.append(&chunk);
        Some((examples, is_many))
    }

    /// Add examples in memory, of the same feature space, in this order.
    pub fn take_examples(&mut self, examples: &Examples, order: Option<&[u32]>) -> Result<()> {
        let ordered = examples.ordered(order, true)?;
        let mut block = Chunk::new(None);
        for k in 0..ordered.len() {
            block.append_example(&ordered.example(k), ordered.tag(k));
        }
        self.append(&block);
        Ok(())
    }

    /// An empty chunk for examples as they are read.
    fn block(&self) -> Chunk {
        let intercept = self.space.intercept_slot();
        Chunk::for_requirements(Requirements { intercept, zeros: true, index: None })
    }

    fn append(&mut self, block: &Chunk) {
        if !block.is_any_zero() && self.with_zeros.is_none() {
            return self.chunk.append(block);
        }
        self.with_zeros.get_or_insert_with(|| self.chunk.clone()).append(block);
        let mut without = block.clone();
        without.drop_all_zeros();
        self.chunk.append(&without);
    }

    /// Add the rows of a matrix.
    pub fn take_rows(&mut self, rows: &Rows<'_>) -> Result<()> {
        let mut block = self.block();
        rows.chunks(0..rows.len(), &mut block, |block| {
            self.append(block);
            Ok(())
        })
    }

    /// The feature space of the examples.
    pub fn space(&self) -> &FeatureSpace {
        &self.space
    }

    /// The examples without zeros.
    pub fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    /// The examples in the given order, or in their own order without one, with or without zeros.
    pub fn ordered<'a>(&'a self, order: Option<&'a [u32]>, zeros: bool) -> Result<Ordered<'a>> {
        let count = self.chunk.len();
        let with_zeros = self.with_zeros.as_ref().filter(|_| zeros);
        match order.unwrap_or(&[]).iter().find(|&&number| number as usize >= count) {
            None => Ok(Ordered::new(with_zeros.unwrap_or(&self.chunk), order)),
            Some(number) => {
                let expected = format!("numbers below {count}");
                Err(InputError::argument("order", number, expected).into())
            }
        }
    }
}
