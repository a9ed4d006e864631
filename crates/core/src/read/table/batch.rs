//! Batches of rows in columns, such as Arrow record batches, and the way from them to examples.
//!
//! ```text
//! batches ─matched to the schema once─▶ pieces of some thousand rows ─encoder, on any thread─▶ chunk
//! ```
//!
//! Who has batches implements [`Batches`] and [`Batch`]; the core knows nothing of where they come from. Columns are
//! found by their names, so their order does not matter. What cannot be read is refused before the first row.
//!
//! Cost: two virtual calls for a column of a piece, none for a cell. Pieces share their batch.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::array::{Array, Values};
use super::encoder::Encoder;
use super::faults::CellFault;
use crate::error::{Error, InputError, Result};
use crate::example::{Chunk, Names};
use crate::loss::Labels;
use crate::read::fast::Report;
use crate::read::format::Fault;
use crate::spec::{Column, FeatureSpace, Kind, Schema};

/// The number of cells of a piece, about: three quarters of the features of a full chunk.
const CELLS: usize = 48_000;
/// The most rows of a piece.
const MOST_ROWS: usize = 8_192;
/// The fewest rows of a piece, if the batch has as many.
const FEWEST_ROWS: usize = 64;

/// What the type of a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing: all cells are missing.
    Nothing,
    /// Numbers, or true and false.
    Numbers,
    /// Text.
    Text,
    /// Dates, with or without a time of day.
    Times,
    /// What no column can be, such as lists.
    Other,
}

/// A column as its table declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// The name.
    pub name: String,
    /// The name of the type, for messages.
    pub type_name: String,
    /// What the type holds.
    pub content: Content,
    /// Whether the cells are places in a list of values.
    pub is_dictionary: bool,
}

/// Rows in columns.
pub trait Batch: Send + Sync + fmt::Debug {
    /// The number of rows.
    fn rows(&self) -> usize;

    /// The cells of column number `column` in some rows; not called for a column of [`Content::Other`].
    fn column(&self, column: usize, rows: Range<usize>) -> Array<'_>;
}

/// The batches of a table, one after another.
pub trait Batches: Send {
    /// The columns of every batch.
    fn columns(&self) -> &[TableColumn];

    /// The next batch; `None` after the last. An error is one line.
    fn next_batch(&mut self) -> std::result::Result<Option<Arc<dyn Batch>>, String>;
}

/// Where the cells of a column of the schema come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The column of the table with this number.
    Column(usize),
    /// Nowhere: the column is ignored, or is the label or the tag of rows that have none.
    Nowhere,
    /// Nowhere: all weights are 1.
    One,
}

/// Some rows of a batch.
#[derive(Debug)]
pub struct RowPiece {
    batch: Arc<dyn Batch>,
    rows: Range<usize>,
    places: Arc<[Place]>,
}

/// Cuts batches into pieces.
pub struct Pieces {
    batches: Box<dyn Batches>,
    places: Arc<[Place]>,
    rows_of_piece: usize,
    open: Option<(Arc<dyn Batch>, usize)>,
}

/// Turns pieces into examples.
#[derive(Clone, Debug)]
pub struct PieceReader {
    encoder: Encoder,
    stops: bool,
}

impl Pieces {
    /// The pieces of a table called `name` in messages, for a space with a schema. Also gives the names of the columns
    /// that the schema does not have.
    pub fn new(
        name: &str,
        batches: Box<dyn Batches>,
        space: &FeatureSpace,
    ) -> Result<(Pieces, Vec<String>)> {
        let Some(schema) = space.schema.as_ref().filter(|_| space.has_columns()) else {
            let cure = "infer one from the table, or give Column kinds";
            return Err(Error::Spec(format!("{name}: a table needs a schema; {cure}")));
        };
        let place = |column| place(name, column, batches.columns(), schema, space.labels);
        let places = schema.columns.iter().map(place).collect::<Result<Vec<_>>>()?;
        let used = places.iter().filter(|place| matches!(place, Place::Column(_))).count();
        let is_extra = |column: &&TableColumn| schema.column(&column.name).is_none();
        let extra = batches.columns().iter().filter(is_extra).map(|column| column.name.clone());
        let extra = extra.collect();
        let rows_of_piece = (CELLS / used.max(1)).clamp(FEWEST_ROWS, MOST_ROWS);
        Ok((Pieces { batches, places: places.into(), rows_of_piece, open: None }, extra))
    }

    /// Read these columns, too, if the schema ignores them.
    pub fn also_read(&mut self, columns: &[String], schema: &Schema) {
        let mut places = self.places.to_vec();
        for (place, column) in places.iter_mut().zip(&schema.columns) {
            let is_it =
                |other: &TableColumn| other.name == column.name && other.content != Content::Other;
            if *place == Place::Nowhere && columns.contains(&column.name) {
                let found = self.batches.columns().iter().position(is_it);
                *place = found.map_or(Place::Nowhere, Place::Column);
            }
        }
        self.places = places.into();
    }

    /// The next piece; `None` after the last.
    pub fn next_piece(&mut self) -> std::result::Result<Option<RowPiece>, Fault> {
        loop {
            if let Some((batch, start)) = self.open.take()
                && start < batch.rows()
            {
                let end = batch.rows().min(start + self.rows_of_piece);
                let places = Arc::clone(&self.places);
                self.open = Some((Arc::clone(&batch), end));
                return Ok(Some(RowPiece { batch, rows: start..end, places }));
            }
            match self.batches.next_batch().map_err(broken)? {
                Some(batch) => self.open = Some((batch, 0)),
                None => return Ok(None),
            }
        }
    }
}

impl RowPiece {
    /// The arrays of the schema's columns, in its order.
    fn arrays(&self, schema: &Schema) -> Vec<Array<'_>> {
        let array = |(column, place): (&Column, &Place)| match place {
            Place::Nowhere => Array::missing(),
            Place::One => Array { present: None, values: Values::Constant(1) },
            Place::Column(number) => {
                let array = self.batch.column(*number, self.rows.clone());
                let has_text = needs_text(column.kind, schema) || array.is_decimal();
                if has_text { array.with_text(self.rows.len()) } else { array }
            }
        };
        schema.columns.iter().zip(&*self.places).map(array).collect()
    }
}

impl PieceReader {
    /// A reader that either stops at the first bad row of a piece, or reports it and continues.
    pub fn new(encoder: Encoder, stops: bool) -> Self {
        PieceReader { encoder, stops }
    }

    /// Append the examples of a piece to the chunk, and record the names of their features if asked for.
    pub fn read(
        &mut self,
        piece: &RowPiece,
        mut names: Option<&mut Names>,
        chunk: &mut Chunk,
    ) -> Report {
        let schema = Arc::clone(self.encoder.schema());
        let arrays = piece.arrays(&schema);
        let mut report = Report::default();
        for row in 0..piece.rows.len() {
            report.lines += 1;
            let cell = |k: usize| arrays[k].cell(row);
            let outcome = match names.as_deref_mut() {
                None => self.encoder.encode(cell, chunk),
                Some(names) => self.encoder.encode_named(cell, chunk, names),
            };
            if let Err(fault) = outcome {
                report.bad.push(chunk.len() as u32);
                let line = report.lines;
                report.first_bad.get_or_insert_with(|| (line, of_row(fault)));
                if self.stops {
                    break;
                }
            }
        }
        report
    }
}

/// Whether cells of this kind are compared or hashed as text.
fn needs_text(kind: Kind, schema: &Schema) -> bool {
    match kind {
        Kind::Category | Kind::Text | Kind::Tag => true,
        Kind::Label => schema.classes.is_some() || !schema.names.is_empty(),
        _ => false,
    }
}

/// A fault of a row: the column is named in the message and has no place in bytes.
fn of_row(CellFault { expected, found, .. }: CellFault) -> Fault {
    Fault { column: 0, expected, found }
}

fn broken(reason: String) -> Fault {
    let expected = "a table that can be read".to_owned();
    Fault { column: 0, expected, found: format!("trouble ({reason})") }
}

/// The place of a column of the schema in a table.
fn place(
    table: &str,
    column: &Column,
    columns: &[TableColumn],
    schema: &Schema,
    labels: Labels,
) -> Result<Place> {
    if column.kind == Kind::Ignore {
        return Ok(Place::Nowhere);
    }
    let mut found = (0..columns.len()).filter(|&k| columns[k].name == column.name);
    let Some(number) = found.next() else {
        return absent(table, column, columns, labels);
    };
    if found.next().is_some() {
        return Err(refuse(
            table,
            format!("one column with the name '{}'", column.name),
            "two of them".to_owned(),
        ));
    }
    check_type(table, column, &columns[number], schema)?;
    Ok(Place::Column(number))
}

fn absent(table: &str, column: &Column, columns: &[TableColumn], labels: Labels) -> Result<Place> {
    match column.kind {
        Kind::Label | Kind::Tag if labels == Labels::Any => Ok(Place::Nowhere),
        Kind::Weight if labels == Labels::Any => Ok(Place::One),
        kind => Err(refuse(
            table,
            format!("a column '{}', which is a {}", column.name, kind.name()),
            found_names(columns),
        )),
    }
}

fn found_names(columns: &[TableColumn]) -> String {
    let names: Vec<&str> = columns.iter().take(10).map(|column| column.name.as_str()).collect();
    let more = if columns.len() > names.len() { ", …" } else { "" };
    format!("the columns {}{more}", names.join(", "))
}

fn check_type(table: &str, column: &Column, found: &TableColumn, schema: &Schema) -> Result<()> {
    let (name, kind) = (&column.name, column.kind);
    let (can_hold, expected) = match (kind, found.content) {
        (_, Content::Other) => (false, "numbers, text, dates or true and false"),
        (Kind::Number | Kind::Weight | Kind::Base, Content::Times) => (false, "numbers"),
        (Kind::Label, Content::Times) if !needs_text(kind, schema) => (false, "numbers"),
        (Kind::Time, Content::Numbers) => (false, "dates"),
        _ => (true, ""),
    };
    if can_hold {
        return Ok(());
    }
    let cure = match found.content {
        Content::Other => format!("leave it out with --ignore {name}"),
        _ => format!("train with --category {name}, or leave it out with --ignore {name}"),
    };
    let expected = format!("{expected} in column '{name}'; {cure}");
    Err(refuse(table, expected, format!("the type {}", found.type_name)))
}

fn refuse(table: &str, expected: String, found: String) -> Error {
    InputError::argument(table, found, expected).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::format::Format;
    use crate::read::stream::{BadLines, Stream, StreamSpec};
    use crate::spec::Classes;

    /// A batch of integers and text: the number of the row, and whether it is odd.
    #[derive(Debug)]
    struct Numbers {
        numbers: Vec<i64>,
        text: Vec<u8>,
        ends: Vec<i32>,
    }

    struct Source {
        columns: Vec<TableColumn>,
        batches: Vec<Arc<dyn Batch>>,
    }

    impl Numbers {
        fn batch(rows: Range<i64>) -> Arc<dyn Batch> {
            let words = rows.clone().map(|row| if row % 2 == 1 { "odd" } else { "even" });
            let (mut text, mut ends) = (Vec::new(), vec![0]);
            for word in words {
                text.extend_from_slice(word.as_bytes());
                ends.push(text.len() as i32);
            }
            Arc::new(Numbers { numbers: rows.collect(), text, ends })
        }
    }

    impl Batch for Numbers {
        fn rows(&self) -> usize {
            self.numbers.len()
        }

        fn column(&self, column: usize, rows: Range<usize>) -> Array<'_> {
            let values = match column {
                0 => Values::Int64(&self.numbers[rows]),
                _ => Values::Text { ends: &self.ends[rows.start..=rows.end], bytes: &self.text },
            };
            Array { present: None, values }
        }
    }

    impl Batches for Source {
        fn columns(&self) -> &[TableColumn] {
            &self.columns
        }

        fn next_batch(&mut self) -> std::result::Result<Option<Arc<dyn Batch>>, String> {
            Ok((!self.batches.is_empty()).then(|| self.batches.remove(0)))
        }
    }

    fn source(rows: &[Range<i64>]) -> Box<Source> {
        let column = |(name, content): (&str, Content)| TableColumn {
            name: name.to_owned(),
            type_name: format!("{content:?}"),
            content,
            is_dictionary: false,
        };
        let columns = [("n", Content::Numbers), ("word", Content::Text), ("more", Content::Other)];
        Box::new(Source {
            columns: columns.into_iter().map(column).collect(),
            batches: rows.iter().cloned().map(Numbers::batch).collect(),
        })
    }

    fn spec(columns: &[(&str, Kind)], labels: Labels) -> StreamSpec {
        let column =
            |&(name, kind): &(&str, Kind)| Column { name: name.to_owned(), kind, words: 1 };
        let schema = Schema {
            columns: columns.iter().map(column).collect(),
            missing: Vec::new(),
            classes: Some(Classes { negative: None, positive: "odd".to_owned() }),
            names: Vec::new(),
            crosses: Vec::new(),
        };
        let space =
            FeatureSpace { schema: Some(Arc::new(schema)), ..FeatureSpace::text(10, labels) };
        StreamSpec { format: Format::Auto, space, bad_lines: BadLines::Stop, names: false }
    }

    fn told(columns: &[(&str, Kind)]) -> String {
        let spec = spec(columns, Labels::Binary);
        let stream = Stream::over_table("frame", source(&[]), spec);
        stream.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn rows_of_all_batches_come_in_order_on_any_number_of_threads() {
        let columns = [("word", Kind::Label), ("n", Kind::Number)];
        for threads in [1, 4] {
            let rows = source(&[1..20_001, 20_001..20_001, 20_001..50_001]);
            let spec = spec(&columns, Labels::Binary);
            let stream = Stream::over_table("frame", rows, spec).unwrap();
            assert_eq!(stream.ignored_columns(), ["more"]);
            let (mut stream, mut chunk) = (stream.threads(threads), Chunk::new(None));
            let mut row = 0;
            while stream.fill(&mut chunk, 7_000).unwrap() > 0 {
                for k in 0..chunk.len() {
                    row += 1;
                    let label = if row % 2 == 1 { 1.0 } else { -1.0 };
                    let example = chunk.example(k);
                    assert_eq!((example.label, example.values), (label, &[row as f32][..]));
                }
            }
            assert_eq!(row, 50_000);
        }
    }

    #[test]
    fn a_table_that_does_not_fit_is_told_before_its_first_row() {
        assert_eq!(told(&[("n", Kind::Number), ("word", Kind::Label)]), "");
        assert_eq!(
            told(&[("age", Kind::Number)]),
            "frame: expected a column 'age', which is a number, found the columns n, word, more"
        );
        assert_eq!(
            told(&[("n", Kind::Time)]),
            "frame: expected dates in column 'n'; train with --category n, or leave it out with \
             --ignore n, found the type Numbers"
        );
        assert_eq!(
            told(&[("more", Kind::Text)]),
            "frame: expected numbers, text, dates or true and false in column 'more'; leave it \
             out with --ignore more, found the type Other"
        );
        assert_eq!(told(&[("more", Kind::Ignore)]), "");
    }

    #[test]
    fn a_bad_row_is_told_by_its_number() {
        let columns = [("word", Kind::Number), ("n", Kind::Ignore)];
        let spec = spec(&columns, Labels::Any);
        let mut stream = Stream::over_table("frame", source(&[0..2, 2..3]), spec).unwrap();
        let told = stream.fill(&mut Chunk::new(None), 9).unwrap_err().to_string();
        assert!(told.starts_with("frame:1: expected a number in column 'word'"), "{told}");
    }
}
