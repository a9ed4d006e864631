//! The two readers of tables: the fast one in two stages, and the strict one that it must equal.

use std::io::{Cursor, Read};
use std::sync::Arc;

use lessregret_core::{
    BadLines, Chunk, Classes, Column, Dialect, Encoder, Error, Fault, FeatureSpace, Format,
    InputError, InstructionSet, Kind, Labels, Layout, NamesFrom, RecordReader, Requirements,
    Schema, Stream, StreamSpec, TableReader, record_at,
};

use super::copies::{Copied, copied};

/// What a reader makes of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The examples.
    pub examples: Vec<Copied>,
    /// Every bad record: its line and its fault. Only the first if the reading stops there.
    pub bad: Vec<InputError>,
}

/// How a table is to be read.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// How it is written; it has no header.
    pub dialect: Dialect,
    /// The kind of its labels.
    pub labels: Labels,
    /// What to do with bad records.
    pub bad_lines: BadLines,
    /// Whether all columns are numbers and categories.
    pub easy: bool,
    /// Whether the columns of the schema are in the order of the table.
    pub order: bool,
}

const NAMES: [&str; 6] = ["c", "number", "long name of a column", "y", "id", "w"];

impl Table {
    fn space(&self) -> (FeatureSpace, Arc<Schema>) {
        let third = if self.easy { Kind::Category } else { Kind::Text };
        let kinds = [Kind::Category, Kind::Number, third, Kind::Label, Kind::Tag, Kind::Weight];
        let column = |(name, kind): (&str, Kind)| {
            let words = if kind == Kind::Text { 2 } else { 1 };
            Column { name: name.to_owned(), kind, words }
        };
        let mut columns: Vec<Column> = NAMES.into_iter().zip(kinds).map(column).collect();
        if !self.order {
            columns.reverse();
        }
        let classes = Classes { negative: Some("no".to_owned()), positive: "yes".to_owned() };
        let cross = ["c", "number"].map(str::to_owned).to_vec();
        let schema = Arc::new(Schema {
            columns,
            missing: ["", "?", "NA", "-9"].map(str::to_owned).to_vec(),
            classes: Some(classes),
            names: Vec::new(),
            crosses: if self.easy { Vec::new() } else { vec![cross] },
        });
        let space = FeatureSpace::text(20, self.labels);
        (FeatureSpace { schema: Some(Arc::clone(&schema)), ..space }, schema)
    }

    fn readers(&self) -> Option<(Encoder, Layout)> {
        let (space, schema) = self.space();
        let names = NAMES.map(str::to_owned);
        let Dialect { delimiter, .. } = self.dialect;
        let layout = Layout::new(&names, NamesFrom::Given, delimiter, &schema, self.labels).ok()?;
        Some((Encoder::new(&space, &schema).ok()?, layout))
    }
}

fn told(line: u64, fault: Fault) -> InputError {
    let Fault { column, expected, found } = fault;
    InputError { file: "data".to_owned(), line, column, found, expected }
}

fn with_newline(bytes: &[u8]) -> Vec<u8> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    [bytes, b"\n"].concat()
}

/// The result of the strict reader, record by record.
pub fn strict(bytes: &[u8], table: &Table, required: &Requirements) -> Outcome {
    let mut outcome = Outcome { examples: Vec::new(), bad: Vec::new() };
    let Some((encoder, layout)) = table.readers() else { return outcome };
    let (mut reader, text) = (RecordReader::new(encoder), with_newline(bytes));
    let mut chunk = Chunk::for_requirements(required.clone());
    let (mut at, mut line) = (0, 1);
    while at < text.len() {
        let (record, next) = record_at(&text, at, table.dialect.delimiter);
        if let Err((offset, fault)) = reader.read(&text[record], &layout, &mut chunk, None) {
            outcome.bad.push(told(line + offset, fault));
            if table.bad_lines == BadLines::Stop {
                break;
            }
        }
        line += text[at..next].iter().filter(|&&byte| byte == b'\n').count() as u64;
        at = next;
    }
    outcome.examples = copied(&chunk);
    outcome
}

/// The result of the fast reader for one block, and its number of bad records. Only the first has its fault.
pub fn fast(
    path: InstructionSet,
    bytes: &[u8],
    table: &Table,
    required: &Requirements,
) -> (Outcome, u64) {
    let nothing = Outcome { examples: Vec::new(), bad: Vec::new() };
    let Some((encoder, layout)) = table.readers() else { return (nothing, 0) };
    let mut text = with_newline(bytes);
    let records = 0..text.len();
    // The bytes after the records must not matter.
    text.extend(b"a,1,b,yes,\"t\",1\n".iter().cycle().take(80));
    let mut reader = TableReader::new(encoder, path, table.bad_lines == BadLines::Stop);
    let mut chunk = Chunk::for_requirements(required.clone());
    let report = reader.read(&text, records, &layout, &mut chunk, None);
    let bad = report.first_bad.map(|(line, fault)| told(line, fault)).into_iter().collect();
    (Outcome { examples: copied(&chunk), bad }, report.bad.len() as u64)
}

/// Returns a few bytes at a time.
struct Trickle(Cursor<Vec<u8>>, usize);

impl Read for Trickle {
    fn read(&mut self, scratch: &mut [u8]) -> std::io::Result<usize> {
        let count = scratch.len().min(self.1);
        self.0.read(&mut scratch[..count])
    }
}

/// The result of a stream: `step` bytes at a time, `limit` examples at a time, on some threads.
pub fn streamed(
    bytes: &[u8],
    table: &Table,
    required: &Requirements,
    [step, limit, threads]: [usize; 3],
) -> (Outcome, u64) {
    let spec = StreamSpec {
        format: Format::Csv(table.dialect),
        space: table.space().0,
        bad_lines: table.bad_lines,
        names: false,
    };
    let source = Trickle(Cursor::new(bytes.to_vec()), step);
    let stream = Stream::over("data", Box::new(source), spec).threads(threads);
    let mut stream = stream.column_names(NAMES.map(str::to_owned).to_vec());
    let mut chunk = Chunk::for_requirements(required.clone());
    let mut examples = Vec::new();
    loop {
        match stream.fill(&mut chunk, limit) {
            Ok(0) => break,
            Ok(_) => examples.extend(copied(&chunk)),
            Err(Error::Input(error)) => return (Outcome { examples, bad: vec![error] }, 1),
            Err(error) => panic!("{error}"),
        }
    }
    let bad = stream.first_skipped().cloned().into_iter().collect();
    (Outcome { examples, bad }, stream.skipped())
}
