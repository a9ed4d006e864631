//! Cuts a stream of bytes into blocks of whole lines.
//!
//! ```text
//! file = [BOM] { line "\n" } [line]
//! line = bytes without "\n" and at most LONGEST_LINE of them, ["\r"]
//! ```
//!
//! A [`Block`] holds whole lines, each with its newline. A missing newline at the end of the file is added,
//! and a byte-order mark at its start is removed. A line that is too long is skipped without being stored, so
//! memory is bounded by [`LONGEST_LINE`] for any input. The bytes of a pipe are handed on as soon as they
//! contain a whole line, so that a user at a terminal gets an answer.
//!
//! Cost: the bytes are read straight into the block. Only the unfinished line at its end is moved.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::simd::GROUP as PADDING;

/// The longest line that is read: 16 MiB.
pub const LONGEST_LINE: usize = 16 << 20;

/// The size of a block: large enough to amortise the switch from one block to the next, small enough for the
/// L2 cache to hold most of a block and its examples.
const BLOCK: usize = 512 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whole lines, or a batch of an Arrow file, followed by padding.
#[derive(Debug, Default)]
pub struct Block {
    bytes: Vec<u8>,
    lines: Range<usize>,
}

impl Block {
    /// The bytes, with the padding that the fast readers need.
    pub fn text(&self) -> &[u8] {
        &self.bytes
    }

    /// The byte range of the lines in the text.
    pub fn lines(&self) -> Range<usize> {
        self.lines.clone()
    }

    /// Whether the block has held a line longer than a block.
    pub fn is_large(&self) -> bool {
        self.bytes.len() > 4 * BLOCK
    }

    /// Clear the block.
    pub fn empty(&mut self) {
        self.lines = 0..0;
    }

    /// Append this many bytes of `source`, which are not lines. Memory grows as they arrive.
    pub fn add(&mut self, source: &mut impl Read, count: usize) -> io::Result<()> {
        let end = self.lines.end + count;
        while self.lines.end < end {
            let next = end.min(self.lines.end + BLOCK);
            self.reserve(next);
            source.read_exact(&mut self.bytes[self.lines.end..next])?;
            self.lines.end = next;
        }
        Ok(())
    }

    fn begin(&mut self, rest: &[u8]) {
        self.lines = 0..0;
        self.reserve(rest.len());
        self.bytes[..rest.len()].copy_from_slice(rest);
    }

    /// Reserve memory for this many bytes, a newline and the padding.
    fn reserve(&mut self, used: usize) {
        let needed = used + 1 + PADDING;
        if self.bytes.len() < needed {
            self.bytes.resize(needed, 0);
        }
    }
}

/// What the next bytes of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Whole lines.
    Lines,
    /// One line that is longer than allowed. The next call continues after it.
    TooLong,
    /// The end of the file.
    End,
}

/// The blocks of one file.
pub struct Blocks {
    source: Box<dyn Read + Send>,
    size: usize,
    longest: usize,
    /// The start of a line whose end has not been read yet.
    rest: Vec<u8>,
    at_start: bool,
    passing_over: bool,
}

impl Blocks {
    /// The blocks of `source`.
    pub fn new(source: Box<dyn Read + Send>) -> Self {
        Blocks::with_sizes(source, BLOCK, LONGEST_LINE)
    }

    fn with_sizes(source: Box<dyn Read + Send>, size: usize, longest: usize) -> Self {
        let rest = Vec::new();
        Blocks { source, size, longest, rest, at_start: true, passing_over: false }
    }

    /// Read the next lines into `block`.
    pub fn next_block(&mut self, block: &mut Block) -> io::Result<Cut> {
        if self.passing_over {
            self.pass_over(block)?;
        }
        block.begin(&self.rest);
        let mut used = self.rest.len();
        let mut scanned = 0;
        self.rest.clear();
        loop {
            if let Some(distance) = memrchr(b'\n', &block.bytes[scanned..used]) {
                return Ok(self.cut(block, scanned + distance + 1, used));
            }
            if used > self.longest {
                self.passing_over = true;
                self.at_start = false;
                return Ok(Cut::TooLong);
            }
            scanned = used;
            used += self.read_more(block, used)?;
            if used == scanned {
                return Ok(self.last(block, used));
            }
        }
    }

    /// Hand out the lines up to byte `end` and keep the rest.
    fn cut(&mut self, block: &mut Block, end: usize, used: usize) -> Cut {
        // Only the first line began before the last read, which is never longer than a block.
        if used > self.longest
            && let Some(length) = memchr(b'\n', &block.bytes[..end])
            && length > self.longest
        {
            self.at_start = false;
            self.rest.extend_from_slice(&block.bytes[length + 1..used]);
            return Cut::TooLong;
        }
        self.rest.extend_from_slice(&block.bytes[end..used]);
        let marked = self.at_start && block.bytes[..end].starts_with(BYTE_ORDER_MARK);
        self.at_start = false;
        block.lines = if marked { BYTE_ORDER_MARK.len() } else { 0 }..end;
        Cut::Lines
    }

    fn last(&mut self, block: &mut Block, used: usize) -> Cut {
        if used == 0 {
            return Cut::End;
        }
        block.bytes[used] = b'\n';
        self.cut(block, used + 1, used + 1)
    }

    /// Skip bytes up to and including the next newline.
    fn pass_over(&mut self, block: &mut Block) -> io::Result<()> {
        loop {
            let count = self.read_more(block, 0)?;
            let newline = memchr(b'\n', &block.bytes[..count]);
            if count == 0 || newline.is_some() {
                let start = newline.map_or(0, |newline| newline + 1);
                self.rest.extend_from_slice(&block.bytes[start..count]);
                self.passing_over = false;
                return Ok(());
            }
        }
    }

    /// Read at most a block after the first `used` bytes; returns 0 at the end of the file.
    fn read_more(&mut self, block: &mut Block, used: usize) -> io::Result<usize> {
        let end = if used < self.size { self.size } else { used + self.size };
        block.reserve(end);
        loop {
            match self.source.read(&mut block.bytes[used..end]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `step` bytes at a time, and is interrupted before each.
    struct Trickle {
        bytes: Vec<u8>,
        at: usize,
        step: usize,
        interrupted: bool,
    }

    impl Read for Trickle {
        fn read(&mut self, scratch: &mut [u8]) -> io::Result<usize> {
            self.interrupted = !self.interrupted;
            if self.interrupted {
                return Err(ErrorKind::Interrupted.into());
            }
            let count = self.step.min(scratch.len()).min(self.bytes.len() - self.at);
            scratch[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
            self.at += count;
            Ok(count)
        }
    }

    /// All lines; `None` for a line that is too long.
    fn lines(bytes: &[u8], step: usize, size: usize, longest: usize) -> Vec<Option<Vec<u8>>> {
        let source = Trickle { bytes: bytes.to_vec(), at: 0, step, interrupted: false };
        let mut blocks = Blocks::with_sizes(Box::new(source), size, longest);
        let mut block = Block::default();
        let mut all = Vec::new();
        loop {
            match blocks.next_block(&mut block).unwrap() {
                Cut::Lines => all.extend(split(&block)),
                Cut::TooLong => all.push(None),
                Cut::End => break,
            }
            assert!(block.bytes.len() <= longest + 2 * size + PADDING + 2);
        }
        assert_eq!(blocks.next_block(&mut block).unwrap(), Cut::End);
        all
    }

    fn split(block: &Block) -> Vec<Option<Vec<u8>>> {
        assert!(block.bytes.len() >= block.lines.end + PADDING);
        let lines = block.bytes[block.lines()].strip_suffix(b"\n").unwrap();
        let strip = |line: &[u8]| Some(line.strip_suffix(b"\r").unwrap_or(line).to_vec());
        lines.split(|&byte| byte == b'\n').map(strip).collect()
    }

    /// All lines of `bytes`, computed from the whole file at once; `None` for a line that is too long.
    fn oracle(bytes: &[u8], longest: usize) -> Vec<Option<Vec<u8>>> {
        let mut parts: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
        if parts.last().is_some_and(|last| last.is_empty()) {
            parts.pop();
        }
        let strip = |(i, line): (usize, &[u8])| {
            let short = line.len() <= longest;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let mark = if i == 0 { BYTE_ORDER_MARK } else { b"" };
            short.then(|| line.strip_prefix(mark).unwrap_or(line).to_vec())
        };
        parts.into_iter().enumerate().map(strip).collect()
    }

    #[test]
    fn lines_are_those_of_the_oracle_whatever_the_blocks() {
        let files: [&[u8]; 12] = [
            b"",
            b"\n",
            b"\n\n\r\n",
            b"one",
            b"one\ntwo\n",
            b"one\r\ntwo\r",
            b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n",
            b"\xef\xbb\xbf",
            b"a line too long\nshort\nanother too long\r\n",
            b"12345678\n123456789\n12345678\r\n1234567\r\n",
            b"short\ntoo long without end",
            b"\r\r\n\xff\x00\n",
        ];
        for bytes in files {
            for (step, block) in [(1, 1), (1, 4), (2, 3), (3, 8), (100, 5), (100, 8)] {
                let found = lines(bytes, step, block, 8);
                assert_eq!(found, oracle(bytes, 8), "{bytes:?} {step} {block}");
            }
        }
    }

    #[test]
    fn a_long_line_is_not_kept() {
        let mut bytes = vec![b'x'; 1 << 20];
        bytes.extend_from_slice(b"\nshort\n");
        let found = lines(&bytes, 1 << 10, 16, 100);
        assert_eq!(found, vec![None, Some(b"short".to_vec())]);
    }
}
