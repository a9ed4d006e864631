//! A block of lines, or a batch of an Arrow file, read into examples.
//!
//! Whoever reads a block need not know what stands before it, but for one thing: whether the file writes
//! its negatives 0 or -1. A block is read as if that were still open; when its turn comes and the file has
//! decided otherwise, it is read once more. The same is done for the intercept, should the caller change
//! it. So the examples and the errors are those of one reader that goes from line to line.

use crate::example::{Chunk, Requirements};
use crate::read::arrow::batch::BatchReader;
use crate::read::arrow::messages::Batch;
use crate::read::fast::{BlockReader, Report};
use crate::read::format::{Fault, Format, LabelReader};
use crate::read::source::LONGEST_LINE;

use super::files::{Piece, Task};

/// Blocks are longer than this only if a single line is.
const LONGEST_FOR_HELPERS: usize = 1 << 20;

/// A task and what came of it.
#[derive(Debug)]
pub struct Parsed {
    /// The task; its lines are kept in case they must be read again.
    pub task: Task,
    /// The examples.
    pub chunk: Chunk,
    /// The bad lines.
    pub report: Report,
    /// Why there are no examples, where nothing in the block can be used.
    pub damage: Option<Fault>,
    /// What the labels showed.
    pub labels: LabelReader,
    /// Whether the lines have not been read yet: the stream's own thread is to do it.
    pub is_left: bool,
}

/// Reads tasks.
#[derive(Debug)]
pub struct Parser {
    /// What reads the lines.
    pub lines: BlockReader,
    /// What reads batches.
    pub batches: BatchReader,
}

impl Parser {
    /// Read the lines of a task, in a file whose labels are known as far as `labels` says.
    pub fn parse(&mut self, task: Task, chunk: Chunk, labels: LabelReader) -> Parsed {
        let mut parsed = Parsed::left(task, chunk, labels);
        self.read(&mut parsed, labels);
        parsed
    }

    /// The same for a block whose turn has not come.
    ///
    /// Lines are left to the stream while their format is not known, as after Arrow files, which do not show
    /// it. So is a block with a very long line: then the stream's reader is the only one that needs memory
    /// for it.
    pub fn parse_or_leave(&mut self, task: Task, chunk: Chunk, labels: LabelReader) -> Parsed {
        let is_text = !matches!(task.piece, Piece::Batch(_));
        let is_unknown = is_text && self.lines.reader.format() == Format::Auto;
        if is_unknown || task.block.lines().len() > LONGEST_FOR_HELPERS {
            return Parsed::left(task, chunk, labels);
        }
        self.parse(task, chunk, labels)
    }

    /// A parser for another thread.
    pub fn sibling(&self) -> Parser {
        Parser { lines: self.lines.sibling(), batches: self.batches }
    }

    /// Read the lines of a task again.
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
        let outcome = match task.piece {
            Piece::Lines => Ok(self.lines.read(task.block.text(), task.block.lines(), chunk)),
            Piece::Batch(batch) => self.read_batch(batch, task, chunk),
            Piece::TooLong => {
                Ok(Report { lines: 1, bad: vec![0], first_bad: Some((1, too_long())) })
            }
            Piece::Failed(_) | Piece::End => Ok(Report::default()),
        };
        parsed.damage = outcome.as_ref().err().cloned();
        parsed.report = outcome.unwrap_or_default();
        parsed.labels = self.lines.reader.labels();
        parsed.is_left = false;
        parsed.chunk.look_up_positions();
    }

    fn read_batch(
        &mut self,
        batch: Batch,
        task: &Task,
        chunk: &mut Chunk,
    ) -> Result<Report, Fault> {
        if self.lines.reader.names().is_some() {
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
    /// A task that is still to be read.
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
