//! Cuts a stream of bytes into blocks of whole lines, or of whole records of a table.
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
//! A record of a table may have newlines inside quotes. All of the above holds for records in place of lines, and
//! `read/format/csv.rs` says where they end. It does not depend on how the bytes arrive.
//!
//! Cost: the bytes are read straight into the block. Only the unfinished line at its end is moved.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::read::format::csv::{RecordEnds, newlines};
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
    lines_before: u64,
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

    /// The number of lines of the file, just before the block, that no reader sees.
    pub fn lines_before(&self) -> u64 {
        self.lines_before
    }

    /// Take the lines up to byte `start` out of the block; readers do not see them.
    pub fn pass_lines(&mut self, start: usize) {
        self.lines_before += newlines(&self.bytes[self.lines.start..start]);
        self.lines.start = start;
    }

    /// Count this many more lines before the block.
    pub fn add_lines_before(&mut self, lines: u64) {
        self.lines_before += lines;
    }

    /// Whether the block has held a line longer than a block.
    pub fn is_large(&self) -> bool {
        self.bytes.len() > 4 * BLOCK
    }

    /// Clear the block.
    pub fn empty(&mut self) {
        self.lines = 0..0;
        self.lines_before = 0;
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

    fn begin(&mut self, rest: &[u8], lines_before: u64) {
        self.lines = 0..0;
        self.lines_before = lines_before;
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
    ends: Ends,
    /// The start of a line whose end has not been read yet.
    rest: Vec<u8>,
    at_start: bool,
    passing_over: bool,
    /// The number of lines of long records that were passed over, without the first of each.
    lines_passed: u64,
}

/// Where blocks may be cut.
#[derive(Clone, Copy)]
enum Ends {
    /// After any newline.
    Lines,
    /// After a record of a table with this delimiter; the state of the search.
    Records(u8, RecordEnds),
}

impl Ends {
    /// Search from byte 0 on.
    fn restart(&mut self) {
        if let Ends::Records(delimiter, ends) = self {
            *ends = RecordEnds::new(*delimiter, 0);
        }
    }

    /// The end of the last line or record in `bytes`, of which the first `scanned` were searched before.
    fn last(&mut self, bytes: &[u8], scanned: usize, at_start: bool) -> Option<usize> {
        match self {
            Ends::Lines => memrchr(b'\n', &bytes[scanned..]).map(|place| scanned + place + 1),
            Ends::Records(_, ends) => ends.last_end(bytes, first_byte(bytes, at_start)),
        }
    }

    /// The end of the first line or record in `bytes`.
    fn first(self, bytes: &[u8], at_start: bool) -> Option<usize> {
        match self {
            Ends::Lines => memchr(b'\n', bytes).map(|place| place + 1),
            Ends::Records(delimiter, _) => {
                RecordEnds::new(delimiter, 0).next_end(bytes, first_byte(bytes, at_start))
            }
        }
    }

    /// The end of the line or record that `bytes` are in the middle of, after `kept` bytes that were searched before.
    fn next(&mut self, bytes: &[u8], kept: usize) -> Option<usize> {
        match self {
            Ends::Lines => memchr(b'\n', &bytes[kept..]).map(|place| kept + place + 1),
            Ends::Records(_, ends) => ends.next_end(bytes, usize::MAX),
        }
    }

    /// Go on where only the last of `length` bytes is kept.
    fn keep_one_byte(&mut self, length: usize) {
        if let Ends::Records(_, ends) = self {
            ends.keep_one_byte(length);
        }
    }
}

/// The first byte that is not of a byte-order mark.
fn first_byte(bytes: &[u8], at_start: bool) -> usize {
    if at_start && bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

impl Blocks {
    /// The blocks of `source`, which are lines.
    pub fn new(source: Box<dyn Read + Send>) -> Self {
        Blocks::with_sizes(source, Ends::Lines, BLOCK, LONGEST_LINE)
    }

    /// The blocks of `source`, which are records of a table.
    pub fn of_records(source: Box<dyn Read + Send>, delimiter: u8) -> Self {
        let ends = Ends::Records(delimiter, RecordEnds::new(delimiter, 0));
        Blocks::with_sizes(source, ends, BLOCK, LONGEST_LINE)
    }

    fn with_sizes(source: Box<dyn Read + Send>, ends: Ends, size: usize, longest: usize) -> Self {
        Blocks {
            source,
            size,
            longest,
            ends,
            rest: Vec::new(),
            at_start: true,
            passing_over: false,
            lines_passed: 0,
        }
    }

    /// Read the next lines into `block`.
    pub fn next_block(&mut self, block: &mut Block) -> io::Result<Cut> {
        if self.passing_over {
            self.pass_over(block)?;
        }
        block.begin(&self.rest, std::mem::take(&mut self.lines_passed));
        let mut used = self.rest.len();
        let mut scanned = 0;
        self.rest.clear();
        self.ends.restart();
        loop {
            if let Some(end) = self.ends.last(&block.bytes[..used], scanned, self.at_start) {
                return Ok(self.cut(block, end, used));
            }
            if used > self.longest {
                self.passing_over = true;
                self.at_start = false;
                self.lines_passed = newlines(&block.bytes[..used]);
                self.rest.push(block.bytes[used - 1]);
                self.ends.keep_one_byte(used);
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
            && let Some(first) = self.ends.first(&block.bytes[..end], self.at_start)
            && first - 1 > self.longest
        {
            self.at_start = false;
            self.lines_passed = newlines(&block.bytes[..first]).saturating_sub(1);
            self.rest.extend_from_slice(&block.bytes[first..used]);
            return Cut::TooLong;
        }
        self.rest.extend_from_slice(&block.bytes[end..used]);
        let start = first_byte(&block.bytes[..end], self.at_start);
        self.at_start = false;
        block.lines = start..end;
        Cut::Lines
    }

    fn last(&mut self, block: &mut Block, used: usize) -> Cut {
        if used == 0 {
            return Cut::End;
        }
        block.bytes[used] = b'\n';
        self.cut(block, used + 1, used + 1)
    }

    /// Skip bytes up to and including the end of the line or record. The last byte before them is in `rest`.
    fn pass_over(&mut self, block: &mut Block) -> io::Result<()> {
        block.begin(&self.rest, 0);
        self.rest.clear();
        loop {
            let used = 1 + self.read_more(block, 1)?;
            let end = self.ends.next(&block.bytes[..used], 1);
            let passed = &block.bytes[1..end.unwrap_or(used)];
            self.lines_passed += newlines(passed);
            if used == 1 || end.is_some() {
                // The line in which the record begins is counted by its error.
                self.lines_passed = self.lines_passed.saturating_sub(1);
                self.rest.extend_from_slice(&block.bytes[end.unwrap_or(used)..used]);
                self.passing_over = false;
                return Ok(());
            }
            self.ends.keep_one_byte(used);
            block.bytes[0] = block.bytes[used - 1];
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
        let ends = Ends::Lines;
        let source = Trickle { bytes: bytes.to_vec(), at: 0, step, interrupted: false };
        let mut blocks = Blocks::with_sizes(Box::new(source), ends, size, longest);
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

    /// All records with the numbers of their lines; `None` for a record that is too long.
    fn records(bytes: &[u8], step: usize, size: usize) -> Vec<(u64, Option<Vec<u8>>)> {
        let source = Trickle { bytes: bytes.to_vec(), at: 0, step, interrupted: false };
        let ends = Ends::Records(b',', RecordEnds::new(b',', 0));
        let mut blocks = Blocks::with_sizes(Box::new(source), ends, size, 12);
        let (mut block, mut all, mut line) = (Block::default(), Vec::new(), 1);
        loop {
            let cut = blocks.next_block(&mut block).unwrap();
            line += block.lines_before();
            match cut {
                Cut::End => return all,
                Cut::TooLong => {
                    all.push((line, None));
                    line += 1;
                }
                Cut::Lines => {
                    let lines = block.lines();
                    let (bytes, mut at) = (&block.bytes[..lines.end], lines.start);
                    while at < lines.end {
                        let (record, next) = crate::read::format::csv::record_at(bytes, at, b',');
                        all.push((line, Some(bytes[record].to_vec())));
                        line += newlines(&bytes[at..next]);
                        at = next;
                    }
                }
            }
        }
    }

    #[test]
    fn records_are_the_same_whatever_the_blocks() {
        let files: [&[u8]; 10] = [
            b"",
            b"a,b\n\"c\nd\",e\nf\n",
            b"\xef\xbb\xbf\"a\nb\"\n\"\"\"\n\"\n",
            b"a\"b\nc\"\nd",
            b"\"never\nclosed",
            b"\"too\nlong\nfor\nthis\"\"\n\",\"\n\"\nshort\n",
            b"a too\" long line\nb\n\"too\nlong and without end\n\n",
            b"\"123456\n890\"\n\"123456\n8901\"\n\"123456\n89012\"\nx\n",
            b"\"a\"\"\n\"\"\"\r\n\"\"\n",
            b"\n\n\"\n\n\"\n\n",
        ];
        for bytes in files {
            let expected = all_records(bytes);
            for (step, size) in [(1, 1), (1, 4), (2, 3), (3, 8), (100, 5), (100, 8), (7, 12)] {
                assert_eq!(records(bytes, step, size), expected, "{bytes:?} {step} {size}");
            }
        }
    }

    /// What [`records`] gives, computed from the whole file at once.
    fn all_records(bytes: &[u8]) -> Vec<(u64, Option<Vec<u8>>)> {
        let mut text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).to_vec();
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        let (mut all, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let (record, next) = crate::read::format::csv::record_at(&text, at, b',');
            let line = newlines(&text[..at]) + 1;
            all.push((line, Some(text[record].to_vec()).filter(|record| record.len() <= 12)));
            at = next;
        }
        all
    }

    #[test]
    fn a_long_record_is_passed_over_whole() {
        let bytes = b"\"too\nlong\nfor\nthis\"\"\n\",\"\n\"\nshort\n";
        assert_eq!(records(bytes, 3, 4), [(1, None), (7, Some(b"short".to_vec()))]);
    }

    #[test]
    fn a_long_line_is_not_kept() {
        let mut bytes = vec![b'x'; 1 << 20];
        bytes.extend_from_slice(b"\nshort\n");
        let found = lines(&bytes, 1 << 10, 16, 100);
        assert_eq!(found, vec![None, Some(b"short".to_vec())]);
    }
}
