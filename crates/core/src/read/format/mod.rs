//! The strict readers of text: one grammar per file, and their common parts.
//!
//! A grammar turns one line into one example of a [`Chunk`], or into a [`Fault`] that names the column, or
//! into nothing if the line is blank or a comment. It has no access to files or other lines. Only the
//! spelling of negative labels is kept, per file, by the [`LabelReader`].
//!
//! ```text
//! bytes ─source─▶ unpacked ─lines─▶ line ─svmlight | vw─▶ example
//!                          ─records─▶ record ─csv─▶ cells ─table─▶ example
//! ```
//!
//! Tables are different: a record may have many lines, and what its cells are is known from the header and the schema.
//! [`csv`] has their grammar, and `read/table` makes the examples.
//!
//! Cost: a line is scanned for NUL bytes once, then parsed by its grammar. No memory is allocated for good
//! lines beyond what the chunk keeps.

mod by;
pub mod csv;
mod fault;
mod labels;
mod namespaces;
mod numbers;
mod svmlight;
mod vw;

use std::sync::Arc;

use memchr::{memchr, memchr2};

pub use by::ByNamespaces;
pub use fault::{Fault, quote};
pub use labels::LabelReader;
pub use namespaces::{NamespaceReader, Uncrossable};
pub use vw::Head;

use crate::example::Chunk;
use crate::example::{Name, Names};
use crate::loss::Labels;
use crate::spec::Namespaces;
use svmlight::Svmlight;

/// The text format of the examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Detected from the first line that is not blank, for all files.
    Auto,
    /// `<label> <index>:<value> ...`
    Svmlight,
    /// `<label> |<namespace> <feature>:<value> ...`
    Vw,
    /// Rows of cells, by the schema of the feature space.
    Csv(csv::Dialect),
}

impl Format {
    /// The format of a line: Vowpal Wabbit's if it contains a `|` before any `#`.
    pub fn of(line: &[u8]) -> Format {
        match memchr2(b'|', b'#', line) {
            Some(at) if line[at] == b'|' => Format::Vw,
            _ => Format::Svmlight,
        }
    }
}

/// The state that the grammars write to, in addition to the chunk.
#[derive(Debug)]
pub struct ReadState {
    pub(in crate::read) labels: LabelReader,
    pub(in crate::read) mask: u64,
    /// Which namespaces are read and crossed, if not just all of them read.
    pub(in crate::read) namespaces: Option<Box<NamespaceReader>>,
    names: Option<Names>,
    /// The namespaces whose features are written behind the tags, if there are any.
    pub(in crate::read) by: Option<Box<ByNamespaces>>,
}

impl ReadState {
    fn feature(&mut self, chunk: &mut Chunk, hash: u64, value: f32, name: Name<'_>) {
        let slot = (hash & self.mask) as u32;
        chunk.push(slot, value);
        if let Some(names) = &mut self.names
            && (value != 0.0 || chunk.requirements().zeros)
        {
            names.note(slot, name);
        }
        if let (Some(names), Some(_)) = (&mut self.names, &self.namespaces) {
            names.note_part(name);
        }
    }

    /// Begin a line of features in namespaces.
    fn begin_line(&mut self) {
        if let Some(namespaces) = &mut self.namespaces {
            namespaces.begin_line();
        }
        if let Some(by) = &mut self.by {
            by.begin_line();
        }
    }

    /// Whether the features of a namespace are read.
    fn selects(&self, namespace: &[u8]) -> bool {
        self.namespaces.as_ref().is_none_or(|namespaces| namespaces.selects(namespace))
    }

    /// Note a block: its features are those of the example from number `first` on.
    fn end_block(&mut self, namespace: &[u8], first: usize, chunk: &Chunk) {
        if let Some(namespaces) = &mut self.namespaces {
            namespaces.add_block(namespace, first..chunk.unfinished().0.len());
        }
    }

    /// Add the crossed features of a line.
    fn append_crosses(&mut self, chunk: &mut Chunk) -> Result<(), Uncrossable> {
        match &mut self.namespaces {
            Some(namespaces) => {
                namespaces.append_crosses(chunk, self.mask as u32, self.names.as_mut())
            }
            None => Ok(()),
        }
    }
}

/// Reads lines of one format into chunks.
#[derive(Debug)]
pub struct Reader {
    pub(in crate::read) format: Format,
    svmlight: Svmlight,
    pub(in crate::read) state: ReadState,
}

impl Reader {
    /// A reader for 2^bits slots (a valid number, checked by the caller), with or without recording names.
    pub fn new(format: Format, labels: Labels, bits: u32, names: bool) -> Self {
        Reader {
            format,
            svmlight: Svmlight::default(),
            state: ReadState {
                labels: LabelReader::new(labels),
                mask: (1 << bits) - 1,
                namespaces: None,
                names: names.then(Names::default),
                by: None,
            },
        }
    }

    /// Let lines have no label.
    pub fn unlabelled(mut self, may_lack_labels: bool) -> Self {
        if may_lack_labels {
            self.state.labels = self.state.labels.or_none();
        }
        self
    }

    /// Write the features of these namespaces behind the tags.
    pub fn by(mut self, namespaces: &[String]) -> Self {
        let by = |namespaces| Box::new(ByNamespaces::new(namespaces));
        self.state.by = (!namespaces.is_empty()).then(|| by(namespaces));
        self
    }

    /// Set which namespaces are read and crossed; they are checked by the caller.
    pub fn namespaces(mut self, namespaces: Option<Arc<Namespaces>>) -> Self {
        let reader = |namespaces| Box::new(NamespaceReader::new(namespaces));
        self.state.namespaces = namespaces.map(reader);
        self
    }

    /// The fault of the text, if it is known not to have the namespaces that are to be selected or crossed.
    pub fn lacks_namespaces(&self) -> Option<Fault> {
        let crossed = self.state.namespaces.as_ref().map(|it| it.spec().described());
        let asked = crossed.or_else(|| self.state.by.as_ref().map(|by| by.described()))?;
        (self.format == Format::Svmlight).then(|| Fault {
            column: 0,
            expected: format!("Vowpal Wabbit text, which has namespaces ({asked})"),
            found: "svmlight text, which has none".to_owned(),
        })
    }

    /// Prepare for the next file.
    pub fn next_file(&mut self) {
        self.state.labels.next_file();
    }

    /// The format; `Auto` while it is not detected.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The spelling of labels in the file, as far as it is known.
    pub fn labels(&self) -> LabelReader {
        self.state.labels
    }

    /// Set the spelling of labels in the file.
    pub fn set_labels(&mut self, labels: LabelReader) {
        self.state.labels = labels;
    }

    /// A reader of the same format, with the spelling of labels undecided, that records no names.
    pub fn sibling(&self) -> Reader {
        let mut labels = self.state.labels;
        labels.next_file();
        Reader {
            format: self.format,
            svmlight: Svmlight::default(),
            state: ReadState {
                labels,
                mask: self.state.mask,
                namespaces: self.state.namespaces.clone(),
                names: None,
                by: self.state.by.clone(),
            },
        }
    }

    /// The names met so far, if they are recorded.
    pub fn names(&self) -> Option<&Names> {
        self.state.names.as_ref()
    }

    /// Whether names of features are recorded, or written behind the tags.
    pub fn asks_for_names(&self) -> bool {
        self.state.names.is_some() || self.state.by.is_some()
    }

    /// The names met so far, if they are recorded, to add to them.
    pub fn names_mut(&mut self) -> Option<&mut Names> {
        self.state.names.as_mut()
    }

    /// Add the example of `line` to `chunk`; false if the line has none. A bad line does not change the
    /// chunk.
    pub fn read(&mut self, line: &[u8], chunk: &mut Chunk) -> Result<bool, Fault> {
        let labels = self.state.labels;
        let outcome = self.parse(line, chunk);
        if outcome.is_err() {
            self.state.labels.take_back(&labels);
            chunk.discard();
        }
        if let Some(names) = &mut self.state.names {
            match outcome {
                Ok(_) => names.keep(),
                Err(_) => names.forget(),
            }
        }
        outcome
    }

    fn parse(&mut self, line: &[u8], chunk: &mut Chunk) -> Result<bool, Fault> {
        if let Some(at) = memchr(0, line) {
            return Err(Fault::at(line, at..at, "text without NUL bytes"));
        }
        if skip_blanks(line, 0) == line.len() {
            return Ok(false);
        }
        if self.format == Format::Auto {
            self.format = Format::of(line);
        }
        match self.format {
            Format::Vw => vw::read(line, &mut self.state, chunk).map(|()| true),
            // The rows of tables never come here: they are no lines.
            Format::Auto | Format::Svmlight | Format::Csv(_) => {
                self.svmlight.read(line, &mut self.state, chunk)
            }
        }
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// The position of the first byte from `at` on that is not a blank, or the end.
fn skip_blanks(line: &[u8], mut at: usize) -> usize {
    while line.get(at).is_some_and(|&byte| is_blank(byte)) {
        at += 1;
    }
    at
}

/// The position of the first blank from `at` on, or the end.
fn word_end(line: &[u8], mut at: usize) -> usize {
    while line.get(at).is_some_and(|&byte| !is_blank(byte)) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(format: Format) -> Reader {
        Reader::new(format, Labels::Binary, 18, true)
    }

    #[test]
    fn the_first_line_that_is_not_blank_shows_the_format() {
        for (line, format) in [
            ("1 |a b", Format::Vw),
            ("|a #b", Format::Vw),
            ("1 1:1", Format::Svmlight),
            ("# made by a | b", Format::Svmlight),
            ("1 1:1 # a | b", Format::Svmlight),
            ("garbage", Format::Svmlight),
        ] {
            let mut reader = reader(Format::Auto);
            let mut chunk = Chunk::new(None);
            assert_eq!(reader.read(b" \t", &mut chunk), Ok(false));
            assert_eq!(reader.format, Format::Auto);
            let _ = reader.read(line.as_bytes(), &mut chunk);
            assert_eq!(reader.format, format, "{line}");
        }
    }

    #[test]
    fn nul_bytes_are_not_text() {
        for format in [Format::Auto, Format::Svmlight, Format::Vw] {
            let fault = reader(format).read(b"1 |a \0b", &mut Chunk::new(None)).unwrap_err();
            assert_eq!((fault.column, fault.found.as_str()), (6, r"'\x00'"));
            assert_eq!(fault.expected, "text without NUL bytes");
        }
    }

    #[test]
    fn a_bad_line_leaves_no_trace() {
        let mut reader = reader(Format::Svmlight);
        let mut chunk = Chunk::new(None);
        assert_eq!(reader.read(b"1 1:1", &mut chunk), Ok(true));
        assert!(reader.read(b"0 2:1 x", &mut chunk).is_err());
        assert_eq!(reader.read(b"-1 3:1", &mut chunk), Ok(true));
        assert_eq!((chunk.len(), chunk.features()), (2, 2));
        assert_eq!(chunk.example(1).slots, [3]);
        assert_eq!(reader.names().map(Names::slots), Some(vec![1, 3]));
    }

    #[test]
    fn names_are_recorded_where_values_are_not_zero() {
        let mut reader = reader(Format::Vw);
        let line = b"1 |user age:3 mood:0 |a :1 | x";
        assert_eq!(reader.read(line, &mut Chunk::new(None)), Ok(true));
        let names = reader.names().unwrap();
        let mut found: Vec<_> = names.slots().into_iter().filter_map(|s| names.get(s)).collect();
        found.sort_unstable();
        assert_eq!(found, [&b"a^:0"[..], b"user^age", b"x"]);
        assert_eq!(names.get(23_567), Some(&b"user^age"[..]));
    }
}
