//! Parses a block of lines, or a batch of an Arrow file, into examples.
//!
//! A block can be parsed without knowing the blocks before it, with one exception: whether the file writes
//! its negative labels 0 or -1. A block is parsed as if that were undecided. If the file has decided
//! otherwise when the block's turn comes, the block is parsed again. It is also parsed again if the caller
//! changes the intercept in between. So the examples and the errors are those of a sequential reader.

use crate::example::{Chunk, Requirements};
use crate::read::arrow::batch::BatchReader;
use crate::read::arrow::messages::Batch;
use crate::read::fast::csv::TableReader;
use crate::read::fast::{BlockReader, Report};
use crate::read::format::{Fault, Format, LabelReader};
use crate::read::source::LONGEST_LINE;
use crate::read::table::batch::{PieceReader, RowPiece};

use super::files::{Piece, Task};
use super::tables;

/// The longest block that helper threads parse. Blocks are longer than this only if a single line is.
const LONGEST_FOR_HELPERS: usize = 1 << 20;

/// A task and its result.
#[derive(Debug)]
pub struct Parsed {
    /// The task. Its lines are kept in case they must be parsed again.
    pub task: Task,
    /// The examples.
    pub chunk: Chunk,
    /// The bad lines.
    pub report: Report,
    /// The fault, if nothing in the block can be used.
    pub damage: Option<Fault>,
    /// The spelling of labels after this block.
    pub labels: LabelReader,
    /// Whether the lines are not parsed yet and are left to the stream's own thread.
    pub is_left: bool,
}

/// Parses tasks.
#[derive(Debug)]
pub struct Parser {
    /// The reader of lines.
    pub lines: BlockReader,
    /// The reader of Arrow batches.
    pub batches: BatchReader,
    /// The reader of tables, if text is tables.
    pub tables: Option<TableReader>,
    /// The reader of the rows of tables, if the feature space has a schema.
    pub rows: Option<PieceReader>,
}

impl Parser {
    /// Parse a task. `labels` is the spelling of labels, as far as it is known.
    pub fn parse(&mut self, task: Task, chunk: Chunk, labels: LabelReader) -> Parsed {
        let mut parsed = Parsed::left(task, chunk, labels);
        self.read(&mut parsed, labels);
        parsed
    }

    /// Parse a block ahead of its turn, or leave it to the stream's own thread.
    ///
    /// Lines are left to the stream while their format is not known; Arrow files do not determine it. A block
    /// with a very long line is also left to the stream, so that only one reader needs memory for it.
    pub fn parse_or_leave(&mut self, task: Task, chunk: Chunk, labels: LabelReader) -> Parsed {
        let is_text = !matches!(task.piece, Piece::Batch(_) | Piece::Rows(_));
        let is_unknown = is_text && self.lines.reader.format() == Format::Auto;
        if is_unknown || task.block.lines().len() > LONGEST_FOR_HELPERS {
            return Parsed::left(task, chunk, labels);
        }
        self.parse(task, chunk, labels)
    }

    /// Parse a block ahead of its turn without knowing the blocks before it, or leave it to the stream's own thread.
    pub fn parse_unknown(&mut self, task: Task, chunk: Chunk) -> Parsed {
        let mut labels = self.lines.reader.labels();
        labels.next_file();
        self.parse_or_leave(task, chunk, labels)
    }

    /// A parser for another thread.
    pub fn sibling(&self) -> Parser {
        let (tables, rows) = (self.tables.clone(), self.rows.clone());
        Parser { lines: self.lines.sibling(), batches: self.batches, tables, rows }
    }

    /// Parse a task again.
    pub fn parse_again(
        &mut self,
        parsed: &mut Parsed,
        requirements: &Requirements,
        labels: LabelReader,
    ) {
        parsed.chunk.restart(requirements.clone());
        self.read(parsed, labels);
    }

    fn read(&mut self, parsed: &mut Parsed, labels: LabelReader) {
        self.lines.reader.set_labels(labels);
        let Parsed { task, chunk, .. } = parsed;
        let outcome = match &task.piece {
            Piece::Lines => {
                let report = self.read_lines(task, chunk);
                self.lines.reader.lacks_namespaces().map_or(Ok(report), Err)
            }
            Piece::Batch(batch) => self.read_batch(*batch, task, chunk),
            Piece::Rows(piece) => Ok(self.read_rows(piece, chunk)),
            Piece::TooLong => {
                let is_table = task.layout.is_some();
                let fault = if is_table { tables::too_long().located(&[]).1 } else { too_long() };
                Ok(Report { lines: 1, bad: vec![0], first_bad: Some((1, fault)) })
            }
            Piece::Failed(_) | Piece::End => Ok(Report::default()),
        };
        parsed.damage = outcome.as_ref().err().cloned();
        parsed.report = outcome.unwrap_or_default();
        parsed.labels = self.lines.reader.labels();
        parsed.is_left = false;
        parsed.chunk.look_up_positions();
    }

    fn read_lines(&mut self, task: &Task, chunk: &mut Chunk) -> Report {
        let (text, lines) = (task.block.text(), task.block.lines());
        match (&mut self.tables, &task.layout) {
            (Some(tables), Some(layout)) => {
                tables.read(text, lines, layout, chunk, self.lines.reader.names_mut())
            }
            _ => self.lines.read(text, lines, chunk),
        }
    }

    fn read_rows(&mut self, piece: &RowPiece, chunk: &mut Chunk) -> Report {
        let names = self.lines.reader.names_mut();
        self.rows.as_mut().map(|rows| rows.read(piece, names, chunk)).unwrap_or_default()
    }

    fn read_batch(
        &mut self,
        batch: Batch,
        task: &Task,
        chunk: &mut Chunk,
    ) -> Result<Report, Fault> {
        if self.lines.reader.asks_for_names() {
            return Err(Fault {
                column: 0,
                expected: "text, whose features have names to keep".to_owned(),
                found: "an Arrow file, whose features have none".to_owned(),
            });
        }
        let mut labels = self.lines.reader.labels();
        let report = self.batches.read(batch, &task.block, chunk, &mut labels);
        self.lines.reader.set_labels(labels);
        report
    }
}

impl Parsed {
    /// A task that is left to the stream's own thread.
    fn left(task: Task, chunk: Chunk, labels: LabelReader) -> Parsed {
        Parsed { task, chunk, report: Report::default(), damage: None, labels, is_left: true }
    }
}

fn too_long() -> Fault {
    Fault {
        column: 0,
        expected: format!("a line of at most {} MiB", LONGEST_LINE >> 20),
        found: "a longer one".to_owned(),
    }
}
