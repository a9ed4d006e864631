//! A block of lines read into examples.
//!
//! Whoever reads a block need not know what stands before it, but for one thing: whether the file writes
//! its negatives 0 or -1. A block is read as if that were still open; when its turn comes and the file has
//! decided otherwise, it is read once more. The same is done for the intercept, should the caller change
//! it. So the examples and the errors are those of one reader that goes from line to line.

use crate::example::Chunk;
use crate::text::{BlockReader, Fault, LONGEST_LINE, LabelReader, Report};

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
}

impl Parser {
    /// Read the lines of a task, in a file whose labels are known as far as `labels` says.
    pub fn parse(&mut self, task: Task, mut chunk: Chunk, labels: LabelReader) -> Parsed {
        let report = self.read(&task, &mut chunk, labels);
        Parsed { task, chunk, report, labels: self.lines.reader.labels(), is_left: false }
    }

    /// The same, but leave a block with a very long line to the stream, whose reader then is the only one
    /// that needs memory for it.
    pub fn parse_or_leave(&mut self, task: Task, chunk: Chunk, labels: LabelReader) -> Parsed {
        if task.block.lines().len() <= LONGEST_FOR_HELPERS {
            return self.parse(task, chunk, labels);
        }
        Parsed { task, chunk, report: Report::default(), labels, is_left: true }
    }

    /// Read the lines of a task again.
    pub fn parse_again(
        &mut self,
        parsed: &mut Parsed,
        intercept: Option<u32>,
        labels: LabelReader,
    ) {
        parsed.chunk.restart(intercept);
        parsed.report = self.read(&parsed.task, &mut parsed.chunk, labels);
        parsed.labels = self.lines.reader.labels();
        parsed.is_left = false;
    }

    fn read(&mut self, task: &Task, chunk: &mut Chunk, labels: LabelReader) -> Report {
        self.lines.reader.set_labels(labels);
        match task.piece {
            Piece::Lines => self.lines.read(task.block.text(), task.block.lines(), chunk),
            Piece::TooLong => Report { lines: 1, bad: vec![0], first_bad: Some((1, too_long())) },
            Piece::Failed(_) | Piece::End => Report::default(),
        }
    }
}

fn too_long() -> Fault {
    Fault {
        column: 0,
        expected: format!("a line of at most {} MiB", LONGEST_LINE >> 20),
        found: "a longer one".to_owned(),
    }
}
