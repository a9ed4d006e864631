//! Moves through a line from separator to separator.
//!
//! ```text
//! text        1 |user age:3 new\n
//! separators   ^^    ^   ^ ^   ^
//!                        └ a word ends here, and its separator is ':'
//! ```

use std::ops::Range;

use super::numbers;
use crate::simd::Simd;
use crate::simd::pairs4::{FOUR, Pairs4};

/// A position in a line: a word, and the separator that ends it.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    text: &'a [u8],
    separators: &'a [u32],
    /// The number of separators passed.
    passed: usize,
    /// The start of the word.
    pub start: usize,
    /// The end of the word.
    pub end: usize,
    /// The byte that ends the word.
    pub separator: u8,
}

impl<'a> Cursor<'a> {
    /// A cursor at the word that starts at byte `start` and ends with the first separator.
    #[inline(always)]
    pub fn from_start(text: &'a [u8], separators: &'a [u32], start: usize) -> Option<Self> {
        let cursor = Cursor {
            text,
            separators,
            passed: 1,
            start,
            end: *separators.first()? as usize,
            separator: 0,
        };
        cursor.with_separator()
    }

    /// A cursor at separator number `passed`, from 1, without a word.
    #[inline(always)]
    pub fn from_separator(text: &'a [u8], separators: &'a [u32], passed: usize) -> Option<Self> {
        let end = *separators.get(passed - 1)? as usize;
        Cursor { text, separators, passed, start: end, end, separator: 0 }.with_separator()
    }

    #[inline(always)]
    fn with_separator(self) -> Option<Self> {
        Some(Cursor { separator: *self.text.get(self.end)?, ..self })
    }

    /// Move to the next word.
    #[inline(always)]
    pub fn step(&mut self) -> Option<()> {
        self.start = self.end + 1;
        self.end = *self.separators.get(self.passed)? as usize;
        self.passed += 1;
        self.separator = *self.text.get(self.end)?;
        Some(())
    }

    /// Move to the next separator if it follows immediately and is `byte`; returns whether it was.
    #[inline(always)]
    pub fn step_over(&mut self, byte: u8) -> bool {
        let found = self.text.get(self.end + 1) == Some(&byte);
        if found {
            self.end += 1;
            self.passed += 1;
            self.separator = byte;
        }
        found
    }

    /// Whether the word has no bytes.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.end == self.start
    }

    /// The byte range of the word.
    #[inline(always)]
    pub fn word(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The word as a number; see [`super::numbers::decimal`].
    #[inline(always)]
    pub fn float(&self) -> Option<f32> {
        match numbers::decimal(self.text, self.start, self.end) {
            None => any_float(self.text.get(self.word())?),
            number => number,
        }
    }

    /// Read four features at a time, as long as they are pairs of an integer and a fraction after a blank.
    #[inline(always)]
    pub fn step_by_fours<V: Simd>(
        &mut self,
        simd: V,
        mut take: impl FnMut(Pairs4) -> Option<()>,
    ) -> Option<()> {
        while self.separator == b' ' {
            let Some(separators) = self.separators[self.passed - 1..].first_chunk() else { break };
            let Some(pairs) = simd.pairs4(self.text, separators) else { break };
            take(pairs)?;
            self.passed += 2 * FOUR;
            self.end = separators[2 * FOUR] as usize;
            self.separator = *self.text.get(self.end)?;
        }
        Some(())
    }

    /// The number of separators of the line, if it ends here.
    #[inline(always)]
    pub fn separators_of_line(&self) -> Option<usize> {
        match self.separator {
            b'\n' => Some(self.passed),
            b'\r' if self.text.get(self.end + 1) == Some(&b'\n') => Some(self.passed + 1),
            _ => None,
        }
    }
}

/// Parse a long number, or one with an exponent.
#[inline(never)]
pub fn any_float(word: &[u8]) -> Option<f32> {
    let number = fast_float2::parse::<f64, _>(word).ok()? as f32;
    number.is_finite().then_some(number)
}
