//! Lines out of bytes that come in blocks.
//!
//! ```text
//! file = [BOM] { line "\n" } [line]
//! line = bytes without "\n" and at most LONGEST_LINE of them, ["\r"]
//! ```
//!
//! The `\r` of Windows, a byte-order mark at the start of the file and a missing newline at its end are
//! accepted. A line that is too long is passed over without being kept, so memory is bounded by
//! [`LONGEST_LINE`] whatever the bytes.
//!
//! Cost: every byte is looked at once by memchr; a line is borrowed from the block it came in. Only the
//! unfinished line at the end of a block is moved.

use std::io::{self, ErrorKind, Read};

use memchr::memchr;

/// The longest line that is read: 16 MiB.
pub const LONGEST_LINE: usize = 16 << 20;

const BLOCK: usize = 256 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why there is no line.
#[derive(Debug)]
pub enum LineFault {
    /// The line is longer than allowed. The next call goes on after it.
    TooLong,
    /// The bytes cannot be had.
    Broken(io::Error),
}

/// The lines of one file.
pub struct Lines {
    source: Box<dyn Read + Send>,
    longest: usize,
    buffer: Vec<u8>,
    /// The line being read starts here; no newline stands between here and `scanned`.
    start: usize,
    scanned: usize,
    /// What was read ends here; the rest of the buffer is room.
    end: usize,
    number: u64,
    passing_over: bool,
}

impl Lines {
    /// The lines of `source`.
    pub fn new(source: Box<dyn Read + Send>) -> Self {
        Lines::with_sizes(source, BLOCK, LONGEST_LINE)
    }

    fn with_sizes(source: Box<dyn Read + Send>, block: usize, longest: usize) -> Self {
        Lines {
            source,
            longest,
            buffer: vec![0; block],
            start: 0,
            scanned: 0,
            end: 0,
            number: 0,
            passing_over: false,
        }
    }

    /// The number of the line last given out or refused, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its end, or `None` after the last.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, LineFault> {
        if self.passing_over {
            self.pass_over().map_err(LineFault::Broken)?;
        }
        loop {
            if let Some(distance) = memchr(b'\n', &self.buffer[self.scanned..self.end]) {
                let newline = self.scanned + distance;
                return self.cut(newline, newline + 1).map(Some);
            }
            self.scanned = self.end;
            if self.end - self.start > self.longest {
                self.passing_over = true;
                return self.cut(self.end, self.end).map(Some);
            }
            if !self.read_more().map_err(LineFault::Broken)? {
                return self.last_line();
            }
        }
    }

    fn last_line(&mut self) -> Result<Option<&[u8]>, LineFault> {
        if self.start == self.end {
            return Ok(None);
        }
        self.cut(self.end, self.end).map(Some)
    }

    /// Give out the line that stops before `stop` and go on at `next`.
    fn cut(&mut self, stop: usize, next: usize) -> Result<&[u8], LineFault> {
        let start = self.start;
        self.start = next;
        self.scanned = next;
        self.number += 1;
        if stop - start > self.longest {
            return Err(LineFault::TooLong);
        }
        let line = &self.buffer[start..stop];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(match self.number {
            1 => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
            _ => line,
        })
    }

    /// Drop bytes up to and with the next newline.
    fn pass_over(&mut self) -> io::Result<()> {
        loop {
            if let Some(distance) = memchr(b'\n', &self.buffer[self.scanned..self.end]) {
                self.scanned += distance + 1;
                break;
            }
            (self.start, self.scanned, self.end) = (0, 0, 0);
            if !self.read_more()? {
                break;
            }
        }
        self.start = self.scanned;
        self.passing_over = false;
        Ok(())
    }

    /// Read a block behind what is there; false at the end of the file.
    fn read_more(&mut self) -> io::Result<bool> {
        if self.end == self.buffer.len() {
            self.make_room();
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn make_room(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.scanned -= self.start;
        self.start = 0;
        // Doubling keeps the moving linear when one line spans many blocks.
        if self.end > self.buffer.len() / 2 {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives `step` bytes at a time, and is interrupted before each.
    struct Trickle {
        bytes: Vec<u8>,
        at: usize,
        step: usize,
        interrupted: bool,
    }

    impl Read for Trickle {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.interrupted = !self.interrupted;
            if self.interrupted {
                return Err(ErrorKind::Interrupted.into());
            }
            let count = self.step.min(room.len()).min(self.bytes.len() - self.at);
            room[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
            self.at += count;
            Ok(count)
        }
    }

    /// All lines; a line that is too long as `None`.
    fn lines(bytes: &[u8], step: usize, block: usize, longest: usize) -> Vec<Option<Vec<u8>>> {
        let source = Trickle { bytes: bytes.to_vec(), at: 0, step, interrupted: false };
        let mut lines = Lines::with_sizes(Box::new(source), block, longest);
        let mut all = Vec::new();
        loop {
            match lines.next_line() {
                Ok(Some(line)) => all.push(Some(line.to_vec())),
                Ok(None) => break,
                Err(LineFault::TooLong) => all.push(None),
                Err(LineFault::Broken(error)) => panic!("{error}"),
            }
            assert_eq!(lines.number(), all.len() as u64);
            assert!(lines.buffer.len() <= 4 * block.max(longest + 1));
        }
        assert!(matches!(lines.next_line(), Ok(None)));
        all
    }

    /// The same from the whole file at once.
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
            for (step, block) in [(1, 1), (1, 4), (2, 3), (3, 64), (100, 5), (100, 100)] {
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
