//! CSV and TSV: rows of cells, as RFC 4180 has them.
//!
//! ```text
//! table  = [BOM] { record end } [record]
//! end    = "\n" | "\r\n"
//! record = cell { delimiter cell }
//! cell   = { byte }                          no delimiter, quote, "\r", "\n"
//!        | '"' { byte | '""' } '"'           any byte but a quote; '""' is one quote
//! ```
//!
//! The delimiter is one byte. No byte is NUL. An empty line is no record. A "\r" outside quotes that no "\n" follows is
//! refused, because some programs end lines with it and others do not.
//!
//! A quote opens a quoted cell only where a cell begins. Anywhere else it is a fault of its record, and the record ends with its
//! line: one stray quote does not swallow the rows that follow. [`RecordEnds`] and [`Cells`] agree about that, so blocks
//! can be cut anywhere and give the same records.
//!
//! Cost: [`RecordEnds::last_end`] searches for quotes, 32 bytes at a time, and stops only at them. [`Cells`] copies every
//! cell; it is the oracle of `read/fast/csv.rs` and reads what that one leaves.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr2, memrchr};

use super::fault::Fault;
use crate::error::{Error, InputError, Result};

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The byte between two cells.
    pub delimiter: u8,
    /// Whether the first record holds the names of the columns.
    pub header: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Dialect { delimiter: b',', header: true }
    }
}

impl Dialect {
    /// Check that the delimiter can be told from what else has a meaning.
    pub fn check(self) -> Result<()> {
        if !matches!(self.delimiter, b'"' | b'\r' | b'\n' | 0) && self.delimiter.is_ascii() {
            return Ok(());
        }
        let found = (self.delimiter as char).escape_default();
        Err(Error::Spec(format!(
            "the delimiter of a table must be one ASCII character other than a quote, a line end and NUL, found '{found}'"
        )))
    }
}

/// Finds where records end, in bytes that arrive piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct RecordEnds {
    delimiter: u8,
    /// The byte to go on at.
    at: usize,
    in_quotes: bool,
}

impl RecordEnds {
    /// Begin with the record at byte `start`.
    pub fn new(delimiter: u8, start: usize) -> Self {
        RecordEnds { delimiter, at: start, in_quotes: false }
    }

    /// The end of the last record that ends in `bytes`, which are those before and more. The first record begins at
    /// byte `start`.
    pub fn last_end(&mut self, bytes: &[u8], start: usize) -> Option<usize> {
        let mut last = None;
        while !self.in_quotes || self.leave_quotes(bytes) {
            let quote = memchr(b'"', &bytes[self.at..]).map(|distance| self.at + distance);
            let outside = &bytes[self.at..quote.unwrap_or(bytes.len())];
            if let Some(newline) = memrchr(b'\n', outside) {
                last = Some(self.at + newline + 1);
            }
            let Some(quote) = quote else {
                self.at = bytes.len();
                break;
            };
            self.meet(bytes, quote, start);
        }
        last
    }

    /// The end of the next record.
    pub fn next_end(&mut self, bytes: &[u8], start: usize) -> Option<usize> {
        while !self.in_quotes || self.leave_quotes(bytes) {
            let Some(distance) = memchr2(b'"', b'\n', &bytes[self.at..]) else {
                self.at = bytes.len();
                break;
            };
            let place = self.at + distance;
            if bytes[place] == b'\n' {
                self.at = place + 1;
                return Some(self.at);
            }
            self.meet(bytes, place, start);
        }
        None
    }

    /// Go on with `bytes` of which all but the last one are gone, and more follow it.
    pub fn keep_one_byte(&mut self, length: usize) {
        self.at = (self.at + 1).saturating_sub(length).min(1);
    }

    /// Pass over a quote outside of quotes.
    fn meet(&mut self, bytes: &[u8], quote: usize, start: usize) {
        let before = quote.checked_sub(1).map(|before| bytes[before]);
        self.in_quotes =
            quote == start || before.is_some_and(|byte| byte == self.delimiter || byte == b'\n');
        self.at = quote + 1;
    }

    /// Pass over the closing quote; false if it is not there yet.
    fn leave_quotes(&mut self, bytes: &[u8]) -> bool {
        while let Some(distance) = memchr(b'"', &bytes[self.at..]) {
            let quote = self.at + distance;
            match bytes.get(quote + 1) {
                Some(b'"') => self.at = quote + 2,
                Some(_) => {
                    self.at = quote + 1;
                    self.in_quotes = false;
                    return true;
                }
                None => {
                    // The next byte decides.
                    self.at = quote;
                    return false;
                }
            }
        }
        self.at = bytes.len();
        false
    }
}

/// The record that starts at byte `start`: the bytes before its newline, and the start of the next one. Without an end,
/// because a quote is not closed, all bytes are the record.
pub fn record_at(bytes: &[u8], start: usize, delimiter: u8) -> (Range<usize>, usize) {
    match RecordEnds::new(delimiter, start).next_end(bytes, start) {
        Some(end) => (start..end - 1, end),
        None => (start..bytes.len(), bytes.len()),
    }
}

/// The number of lines in which bytes begin.
pub fn newlines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// A fault, and the byte of the record at which it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordFault {
    /// The byte of the record; `None` for the whole record.
    pub at: Option<usize>,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl RecordFault {
    fn new(at: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        RecordFault { at: Some(at), expected: expected.into(), found: found.into() }
    }

    /// The line, counted from 0 at the record's first, and the fault in that line.
    pub fn located(self, record: &[u8]) -> (u64, Fault) {
        let RecordFault { at, expected, found } = self;
        let before = &record[..at.unwrap_or(0).min(record.len())];
        let line_start = memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let column = at.map_or(0, |at| (at - line_start) as u64 + 1);
        (newlines(before), Fault { column, expected, found })
    }
}

/// The cells of one record, without quotes, in memory that is reused from record to record.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    text: Vec<u8>,
    /// For every cell, where it begins in the record and where it ends in the text.
    places: Vec<(usize, usize)>,
}

impl Cells {
    /// The number of cells.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The content of cell `k`.
    pub fn get(&self, k: usize) -> &[u8] {
        let start = if k == 0 { 0 } else { self.places[k - 1].1 };
        &self.text[start..self.places[k].1]
    }

    /// The byte of the record at which cell `k` begins.
    pub fn start(&self, k: usize) -> usize {
        self.places[k].0
    }

    /// All cells.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|k| self.get(k))
    }

    /// Read the cells of a record, which comes without its newline; false if the line is empty.
    pub fn split(
        &mut self,
        record: &[u8],
        delimiter: u8,
    ) -> std::result::Result<bool, RecordFault> {
        self.text.clear();
        self.places.clear();
        if let Some(at) = memchr(0, record) {
            return Err(RecordFault::new(at, "text without NUL bytes", r"'\x00'"));
        }
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        if record.is_empty() {
            return Ok(false);
        }
        let mut start = 0;
        loop {
            let end = match record.get(start) {
                Some(b'"') => self.quoted(record, start, delimiter)?,
                _ => self.plain(record, start, delimiter)?,
            };
            self.places.push((start, self.text.len()));
            if end == record.len() {
                return Ok(true);
            }
            start = end + 1;
        }
    }

    /// Read the cell at byte `start`, which has no quotes; returns its end.
    fn plain(
        &mut self,
        record: &[u8],
        start: usize,
        delimiter: u8,
    ) -> std::result::Result<usize, RecordFault> {
        let rest = &record[start..];
        let cell = &rest[..memchr(delimiter, rest).unwrap_or(rest.len())];
        if let Some(at) = memchr2(b'"', b'\r', cell) {
            return Err(match cell[at] {
                b'"' => RecordFault::new(
                    start + at,
                    "no quote inside a cell without quotes (write the cell in quotes, and every quote in it twice)",
                    "'\"'",
                ),
                _ => RecordFault::new(
                    start + at,
                    "a newline after '\\r' (write the cell in quotes if '\\r' belongs to it)",
                    next_byte(record, start + at + 1),
                ),
            });
        }
        self.text.extend_from_slice(cell);
        Ok(start + cell.len())
    }

    /// Read the cell whose opening quote is byte `start`; returns the byte after its closing quote.
    fn quoted(
        &mut self,
        record: &[u8],
        start: usize,
        delimiter: u8,
    ) -> std::result::Result<usize, RecordFault> {
        let mut at = start + 1;
        loop {
            let Some(distance) = memchr(b'"', &record[at..]) else {
                let expected = "a quote that closes the quoted cell";
                return Err(RecordFault::new(start, expected, "the end of the file"));
            };
            let quote = at + distance;
            self.text.extend_from_slice(&record[at..quote]);
            match record.get(quote + 1) {
                None => return Ok(quote + 1),
                Some(&byte) if byte == delimiter => return Ok(quote + 1),
                Some(b'"') => self.text.push(b'"'),
                Some(_) => {
                    let delimiter = super::quote(&[delimiter]);
                    return Err(RecordFault::new(
                        quote + 1,
                        format!(
                            "{delimiter} or the end of the line after a quoted cell (write a quote inside it twice)"
                        ),
                        next_byte(record, quote + 1),
                    ));
                }
            }
            at = quote + 2;
        }
    }
}

/// The cells of all records of a text, for tests; or the first fault.
pub fn all_cells(text: &[u8], delimiter: u8) -> std::result::Result<Vec<Vec<Vec<u8>>>, InputError> {
    let text = [text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text), b"\n"].concat();
    let (mut cells, mut rows, mut at) = (Cells::default(), Vec::new(), 0);
    while at < text.len() {
        let (record, next) = record_at(&text, at, delimiter);
        match cells.split(&text[record.clone()], delimiter) {
            Ok(true) => rows.push(cells.iter().map(<[u8]>::to_vec).collect()),
            Ok(false) => {}
            Err(fault) => {
                let (line, Fault { column, expected, found }) = fault.located(&text[record]);
                let line = newlines(&text[..at]) + line + 1;
                return Err(InputError { file: "table".into(), line, column, found, expected });
            }
        }
        at = next;
    }
    Ok(rows)
}

fn next_byte(record: &[u8], at: usize) -> String {
    record.get(at..at + 1).map_or_else(|| "end of line".to_owned(), super::quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(record: &str) -> std::result::Result<Vec<String>, (u64, u64, String)> {
        let mut cells = Cells::default();
        let text = |cell: &[u8]| String::from_utf8(cell.to_vec()).unwrap();
        match cells.split(record.as_bytes(), b',') {
            Ok(_) => Ok(cells.iter().map(text).collect()),
            Err(fault) => {
                let (line, fault) = fault.located(record.as_bytes());
                Err((line, fault.column, fault.found))
            }
        }
    }

    #[test]
    fn cells_are_those_of_rfc_4180() {
        for (record, expected) in [
            ("a,b,c", &["a", "b", "c"][..]),
            ("", &[]),
            ("\r", &[]),
            (",", &["", ""]),
            (" ", &[" "]),
            ("a,\"b,\n\"\"c\"\"\",\"\"\r", &["a", "b,\n\"c\"", ""]),
            ("\"\r\n\"", &["\r\n"]),
            ("\"\"\"\"", &["\""]),
        ] {
            assert_eq!(cells(record), Ok(expected.iter().map(|&cell| cell.into()).collect()));
        }
    }

    #[test]
    fn faults_name_line_and_column() {
        for (record, line, column, found) in [
            ("a,b\"c", 0, 4, "'\"'"),
            ("a, \"b\"", 0, 4, "'\"'"),
            ("\"a\"b", 0, 4, "'b'"),
            ("\"a\n\"\"\",\"b\nc\" d", 2, 3, "' '"),
            ("a,\"b", 0, 3, "the end of the file"),
            ("a\rb", 0, 2, "'b'"),
            ("a\r\r", 0, 2, "end of line"),
            ("a\n\0", 1, 1, "'\\x00'"),
        ] {
            assert_eq!(cells(record), Err((line, column, found.to_owned())), "{record:?}");
        }
    }

    /// The ends of all records, found at once.
    fn all_ends(bytes: &[u8]) -> Vec<usize> {
        let mut ends = RecordEnds::new(b',', 0);
        std::iter::from_fn(|| ends.next_end(bytes, 0)).collect()
    }

    #[test]
    fn ends_are_the_same_wherever_the_bytes_are_cut() {
        let files: [&[u8]; 8] = [
            b"a,b\nc,d\n",
            b"\"a\nb\",\"\"\"\n\"\nc\n",
            b"a\"b\nc\"d\n",
            b"\"a\"b\"\nc\n\"d\n",
            b"\"\"\n\"\"\"\"\n",
            b"x,\"y\n",
            b"\n\n\"\n\"\n",
            b"\"a\" \"b\n\",\"c\n\"\n",
        ];
        for bytes in files {
            let expected = all_ends(bytes);
            for cut in 0..=bytes.len() {
                let mut ends = RecordEnds::new(b',', 0);
                let first = ends.last_end(&bytes[..cut], 0);
                let last = ends.last_end(bytes, 0).or(first);
                assert_eq!(last, expected.last().copied(), "{bytes:?} {cut}");
                // A record whose last byte is not known to end it is not given out.
                assert!(first.is_none_or(|first| expected.contains(&first)), "{bytes:?} {cut}");
            }
        }
    }

    #[test]
    fn a_stray_quote_ends_with_its_line() {
        assert_eq!(all_ends(b"a\"b\nc\"d\n"), [4, 8]);
        assert_eq!(all_ends(b"\"a\nb\"\n"), [6]);
    }

    #[test]
    fn delimiters_that_have_another_meaning_are_refused() {
        for delimiter in *b",;\t| " {
            assert_eq!(Dialect { delimiter, header: true }.check(), Ok(()));
        }
        for delimiter in [b'"', b'\n', b'\r', 0, 0xe9] {
            assert!(Dialect { delimiter, header: true }.check().is_err());
        }
    }
}
