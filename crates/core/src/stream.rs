//! A stream of examples out of files, one file after another.
//!
//! ```text
//! stream = { file }
//! ```
//!
//! A file is opened when its turn comes. [`Stream::fill`] hands out whole chunks: the examples before a
//! bad line come first, the error comes with the next call and with every call after it.
//!
//! Cost: one block of 256 KiB, more only for lines longer than that and never more than twice
//! [`LONGEST_LINE`], beside the chunk, which belongs to the caller.

use std::collections::VecDeque;
use std::io::Read;
use std::path::PathBuf;

use crate::error::{Error, InputError, Result};
use crate::example::Chunk;
use crate::names::Names;
use crate::text::{
    Fault, Format, LONGEST_LINE, Labels, LineFault, Lines, OnInterrupt, Origin, Reader, Source,
};

/// A chunk is full with this many features: about half a megabyte of slots and values.
const FULL: usize = 1 << 16;
/// And with this many bytes of tags, which can be as long as lines.
const FULL_OF_TAGS: usize = 1 << 20;

/// What to do with a line that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadLines {
    /// Stop with an error.
    Stop,
    /// Count it and go on.
    Skip,
}

/// How to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamSpec {
    /// The format of all files.
    pub format: Format,
    /// What the labels mean.
    pub labels: Labels,
    /// There are 2^bits slots, 1 to 31.
    pub bits: u32,
    /// What to do with a bad line.
    pub bad_lines: BadLines,
    /// Whether to record the names of the features.
    pub names: bool,
}

/// Examples from files.
pub struct Stream {
    waiting: VecDeque<Waiting>,
    open: Option<Open>,
    reader: Reader,
    bad_lines: BadLines,
    skipped: u64,
    first_skipped: Option<InputError>,
    finished_bytes: u64,
    failed: Option<Error>,
    on_interrupt: OnInterrupt,
}

enum Waiting {
    Named(PathBuf),
    Given(String, Box<dyn Read + Send>),
}

struct Open {
    lines: Lines,
    origin: Origin,
}

impl Stream {
    /// The examples of `files` in order; `-` is standard input.
    pub fn open<P: Into<PathBuf>>(files: Vec<P>, spec: StreamSpec) -> Stream {
        let named = |file: P| Waiting::Named(file.into());
        Stream::new(files.into_iter().map(named).collect(), spec)
    }

    /// Ask this when a signal interrupts a read.
    pub fn on_interrupt(self, on_interrupt: OnInterrupt) -> Stream {
        Stream { on_interrupt, ..self }
    }

    /// The examples that `reader` gives; `name` stands for it in messages.
    pub fn over(name: &str, reader: Box<dyn Read + Send>, spec: StreamSpec) -> Stream {
        let given = Waiting::Given(name.to_owned(), reader);
        Stream::new(VecDeque::from([given]), spec)
    }

    fn new(waiting: VecDeque<Waiting>, spec: StreamSpec) -> Stream {
        let possible = (1..=31).contains(&spec.bits);
        let bits = if possible { spec.bits } else { 1 };
        let failed = format!("bits must be from 1 to 31, not {}", spec.bits);
        Stream {
            waiting,
            open: None,
            reader: Reader::new(spec.format, spec.labels, bits, spec.names),
            bad_lines: spec.bad_lines,
            skipped: 0,
            first_skipped: None,
            finished_bytes: 0,
            failed: (!possible).then_some(Error::Spec(failed)),
            on_interrupt: || Ok(()),
        }
    }

    /// Replace the chunk's examples by the next ones, at most `limit` and at least one, and return how
    /// many; 0 after the last. A chunk is also full with about 65,536 features or a megabyte of tags.
    pub fn fill(&mut self, chunk: &mut Chunk, limit: usize) -> Result<usize> {
        chunk.clear();
        if self.failed.is_none() {
            self.failed = self.read_up_to(chunk, limit.max(1)).err();
        }
        match &self.failed {
            Some(error) if chunk.is_empty() => Err(error.clone()),
            _ => Ok(chunk.len()),
        }
    }

    /// How many lines were skipped.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// What was wrong with the first skipped line.
    pub fn first_skipped(&self) -> Option<&InputError> {
        self.first_skipped.as_ref()
    }

    /// How many bytes were taken from the files, packed as they are.
    pub fn bytes_read(&self) -> u64 {
        let open = self.open.as_ref().map_or(0, |open| open.origin.consumed());
        self.finished_bytes + open
    }

    /// The names met so far, if they are recorded.
    pub fn names(&self) -> Option<&Names> {
        self.reader.names()
    }

    fn read_up_to(&mut self, chunk: &mut Chunk, limit: usize) -> Result<()> {
        while chunk.len() < limit && !is_full(chunk) {
            if self.open.is_none() && !self.open_next()? {
                break;
            }
            self.read_line(chunk)?;
        }
        Ok(())
    }

    /// Open the next file; false after the last.
    fn open_next(&mut self) -> Result<bool> {
        let source = match self.waiting.pop_front() {
            None => return Ok(false),
            Some(Waiting::Named(name)) => Source::open(&name, self.on_interrupt)?,
            Some(Waiting::Given(name, reader)) => Source::new(&name, reader, self.on_interrupt)?,
        };
        self.open = Some(Open { lines: Lines::new(source.bytes), origin: source.origin });
        self.reader.next_file();
        Ok(true)
    }

    /// Read a line of the open file, or close it at its end.
    fn read_line(&mut self, chunk: &mut Chunk) -> Result<()> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let fault = match open.lines.next_line() {
            Ok(Some(line)) => self.reader.read(line, chunk).err(),
            Ok(None) => {
                self.close();
                None
            }
            Err(LineFault::TooLong) => Some(too_long()),
            Err(LineFault::Broken(error)) => return Err(open.origin.broken(&error).into()),
        };
        match fault {
            Some(fault) => self.bad_line(fault),
            None => Ok(()),
        }
    }

    fn close(&mut self) {
        self.finished_bytes = self.bytes_read();
        self.open = None;
    }

    fn bad_line(&mut self, fault: Fault) -> Result<()> {
        let error = InputError {
            file: self.open.as_ref().map_or_else(String::new, |open| open.origin.name.clone()),
            line: self.open.as_ref().map_or(0, |open| open.lines.number()),
            column: fault.column,
            found: fault.found,
            expected: fault.expected,
        };
        if self.bad_lines == BadLines::Stop {
            return Err(error.into());
        }
        self.skipped += 1;
        self.first_skipped.get_or_insert(error);
        Ok(())
    }
}

fn is_full(chunk: &Chunk) -> bool {
    chunk.features() >= FULL || chunk.tag_bytes() >= FULL_OF_TAGS
}

fn too_long() -> Fault {
    Fault {
        column: 0,
        expected: format!("a line of at most {} MiB", LONGEST_LINE >> 20),
        found: "a longer one".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    const SPEC: StreamSpec = StreamSpec {
        format: Format::Auto,
        labels: Labels::Binary,
        bits: 18,
        bad_lines: BadLines::Stop,
        names: false,
    };
    const SKIP: StreamSpec = StreamSpec { bad_lines: BadLines::Skip, ..SPEC };

    fn over(text: &[u8], spec: StreamSpec) -> Stream {
        Stream::over("data", Box::new(Cursor::new(text.to_vec())), spec)
    }

    fn files(texts: &[&[u8]]) -> (tempfile::TempDir, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let write = |(i, text): (usize, &&[u8])| {
            let path = folder.path().join(format!("{i}.txt"));
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let names = texts.iter().enumerate().map(write).collect();
        (folder, names)
    }

    fn message(outcome: Result<usize>) -> String {
        outcome.unwrap_err().to_string()
    }

    #[test]
    fn chunks_hold_at_most_the_limit() {
        let mut stream = over(b"1 1:1\n\n0 2:1\n# note\n1 3:1\n", SPEC);
        let mut chunk = Chunk::new(Some(9));
        assert_eq!(stream.fill(&mut chunk, 2), Ok(2));
        assert_eq!(chunk.example(1).slots, [2, 9]);
        assert_eq!(stream.fill(&mut chunk, 2), Ok(1));
        assert_eq!(stream.fill(&mut chunk, 2), Ok(0));
        assert_eq!(stream.fill(&mut chunk, 2), Ok(0));
        assert!(chunk.is_empty());
    }

    #[test]
    fn chunks_hold_about_the_full_number_of_features() {
        let line = "1 |a b c d e f g h i j k l m n o p q\n";
        let mut stream = over(line.repeat(10_000).as_bytes(), SPEC);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, usize::MAX), Ok(FULL / 16));
        assert_eq!(stream.fill(&mut chunk, 0), Ok(1));
    }

    #[test]
    fn chunks_hold_about_a_megabyte_of_tags() {
        let line = format!("1 '{} |a b\n", "x".repeat(FULL_OF_TAGS / 4));
        let mut stream = over(line.repeat(10).as_bytes(), SPEC);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, 100), Ok(4));
    }

    #[test]
    fn examples_before_a_bad_line_come_first_and_the_error_stays() {
        let mut stream = over(b"1 1:1\n0 2:1\n1 x\n1 3:1\n", SPEC);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, 10), Ok(2));
        for _ in 0..2 {
            let told = "data:3:3: expected an index, 0 or more, found 'x'";
            assert_eq!(message(stream.fill(&mut chunk, 10)), told);
            assert!(chunk.is_empty());
        }
    }

    #[test]
    fn bad_lines_are_skipped_and_counted() {
        let text = b"1 1:1\n2 2:1\n1 x\n1 3:1\n\xff\xfe\n";
        let mut stream = over(text, SKIP);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, 10), Ok(2));
        assert_eq!(stream.skipped(), 3);
        let first = stream.first_skipped().unwrap().to_string();
        assert_eq!(first, "data:2:1: expected a label 1, 0 or -1, found '2'");
        assert_eq!(stream.fill(&mut chunk, 10), Ok(0));
        assert_eq!(stream.bytes_read(), text.len() as u64);
    }

    #[test]
    fn a_line_too_long_is_one_bad_line() {
        let long = [b"1 ".repeat(LONGEST_LINE), b"\n1 2:1\n".to_vec()].concat();
        let mut chunk = Chunk::new(None);
        let told = "data:1: expected a line of at most 16 MiB, found a longer one";
        assert_eq!(message(over(&long, SPEC).fill(&mut chunk, 9)), told);
        let mut stream = over(&long, SKIP);
        assert_eq!(stream.fill(&mut chunk, 9), Ok(1));
        assert_eq!(stream.skipped(), 1);
    }

    #[test]
    fn files_follow_each_other_each_with_its_own_lines_and_negatives() {
        let (_folder, names) =
            files(&[b"0 1:1", b"", b"\xef\xbb\xbf-1 2:1\r\n", b"\n1 3:1\n2 1:1"]);
        let mut stream = Stream::open(names.clone(), SPEC);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, 10), Ok(3));
        let told = format!("{}:3:1: expected a label 1, 0 or -1, found '2'", names[3]);
        assert_eq!(message(stream.fill(&mut chunk, 10)), told);
        assert_eq!(stream.bytes_read(), 5 + 11 + 12);
    }

    #[test]
    fn a_format_found_holds_for_all_files() {
        let (_folder, names) = files(&[b"1 |a b\n", b"1 1:1\n"]);
        let mut stream = Stream::open(names.clone(), SPEC);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, 10), Ok(1));
        let told = format!("{}:1:6: expected '|' before the features, found end of line", names[1]);
        assert_eq!(message(stream.fill(&mut chunk, 10)), told);
    }

    #[test]
    fn a_missing_file_is_met_when_its_turn_comes() {
        let (_folder, mut names) = files(&[b"1 1:1\n"]);
        names.push("no/such.txt".to_owned());
        // Skipping is for lines, not for files.
        let mut stream = Stream::open(names, SKIP);
        let mut chunk = Chunk::new(None);
        assert_eq!(stream.fill(&mut chunk, 10), Ok(1));
        let told = "no/such.txt: expected a file that can be read, found no such file";
        assert_eq!(message(stream.fill(&mut chunk, 10)), told);
        assert_eq!(stream.skipped(), 0);
    }

    #[test]
    fn nothing_is_not_an_error() {
        let mut chunk = Chunk::new(None);
        for text in ["", "\n\n", "# note\n", "\u{feff}"] {
            assert_eq!(over(text.as_bytes(), SPEC).fill(&mut chunk, 1), Ok(0));
        }
        assert_eq!(Stream::open(Vec::<String>::new(), SPEC).fill(&mut chunk, 1), Ok(0));
    }

    #[test]
    fn impossible_bits_are_refused() {
        for bits in [0, 32, 64, u32::MAX] {
            let outcome = over(b"", StreamSpec { bits, ..SPEC }).fill(&mut Chunk::new(None), 1);
            assert_eq!(message(outcome), format!("bits must be from 1 to 31, not {bits}"));
        }
    }
}
